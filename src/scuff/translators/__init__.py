"""Small translators in PyTorch: the LSTM and the Transformer of Michel et al. (2019), by words or by subwords (BPE)."""

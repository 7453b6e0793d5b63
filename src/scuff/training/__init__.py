"""Training data with perturbed copies (data augmentation)."""

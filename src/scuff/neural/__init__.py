"""Networks of Hugging Face, run in full batches: what victims and perturbations that need one share. Loads torch when used."""

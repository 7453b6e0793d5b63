"""Hugging Face networks in full batches, for victims and perturbations. Loads torch when used."""

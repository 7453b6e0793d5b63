"""Training data with perturbed copies."""

"""Data in and out: data sets, file formats, perturbed files, the Zéroe benchmark."""

"""Runs: what an evaluation and an attack have in common, from settings to a folder of trials. Imports neither."""

"""Runs: what evaluations and attacks share: settings, opened model and data, jobs, and the run folder. Imports neither."""

"""Engines, which do the jobs of a run: in this process, in processes of this machine, or on a Ray cluster."""

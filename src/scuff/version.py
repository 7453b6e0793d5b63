"""The version of Scuff: part of every signature, so in a file of its own that any room may import."""

__version__ = "0.8.0"

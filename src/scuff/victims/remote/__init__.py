"""Victims behind an address: JSON endpoints and chat models."""

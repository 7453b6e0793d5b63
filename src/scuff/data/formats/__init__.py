"""File formats: each reads records in chunks and writes them back with other texts."""

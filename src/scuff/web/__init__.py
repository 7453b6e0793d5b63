"""The playground: a local page, and typed JSON endpoints for other programs, in front of one victim."""

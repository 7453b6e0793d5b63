"""The command line: one file per command. Nothing outside this package prints."""

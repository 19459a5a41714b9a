"""One finding a file, each with its `RULE`."""

"""The rungs, a file each."""

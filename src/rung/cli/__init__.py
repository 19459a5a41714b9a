"""The command line. Verbs import what they need when they run, so that `rung --help` is quick."""

from rung.cli.app import main

__all__ = ["main"]

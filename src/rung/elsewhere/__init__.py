"""Running a command of Rung on another machine, and having its recordings here.

An `Errand` says what is run and what has to travel; `hf_jobs.run` and `ssh.run` carry it out and leave the
same two things in a folder: `result.json`, what the command said with --json, and `traces/`. `back` takes
them from there.
"""

from __future__ import annotations

from rung.elsewhere.errand import Errand
from rung.elsewhere.package import own_wheel
from rung.elsewhere.target import Target, parse

__all__ = ["Errand", "Target", "own_wheel", "parse"]

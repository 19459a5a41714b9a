"""The errors a user can meet. Each is one line that says what is wrong, where, and what to do."""

from __future__ import annotations


class RungError(Exception):
    """A failure that is explained by its message alone; the command line prints it without a traceback."""

    exit_code = 1


class UsageError(RungError):
    """What was asked makes no sense: an unknown key, region, variant or option value."""

    exit_code = 2


class UnreadableTraceError(RungError):
    """The input cannot be read as a trace."""

    exit_code = 3


class MachineError(RungError):
    """The machine lacks what was asked for, such as a CUDA device or torch."""

    exit_code = 4

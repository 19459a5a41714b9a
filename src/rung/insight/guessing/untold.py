"""The error that stays inside: what a trace does not say."""

from __future__ import annotations

from rung.errors import RungError


class UntoldError(RungError):
    """The trace does not say what was asked; a guess about it does not hold."""

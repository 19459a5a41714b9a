"""What `rung diff` does with a gate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rung.insight.gate import GateVerdict
    from rung.trace import Trace


def held(
    base: Trace, new: Trace, expect: Sequence[str], file: Path | None, region: str | None
) -> GateVerdict | None:
    """Judge what `-e` and `--gate` ask for; None if they ask for nothing."""
    from rung.insight.gate import hold, load_gate
    from rung.insight.gating.language import parse

    rules = [parse(line, region) for line in expect]
    rules += load_gate(file, region) if file is not None else []
    return hold(base, new, rules) if rules else None


def announce(
    verdict: GateVerdict | None, title: str, changed: Sequence[str], github: bool | None, summary: Path | None
) -> None:
    """Annotations on stderr and the step summary, where CI wants them; exit 1 if the gate does not hold."""
    from rung.show import ci
    from rung.show.plain import printable

    if verdict is None:
        return
    github = ci.on_github(github)
    if github:
        for annotation in ci.of_gate(verdict, "rung diff"):
            typer.echo(printable(annotation.command()), err=True)
    if path := ci.summary_path(summary, github):
        ci.add_summary(path, ci.gate_markdown(verdict, title, changed))
    if not verdict.held:
        raise typer.Exit(1)

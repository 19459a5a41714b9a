"""`rung name KERNEL...`: what a kernel's name says."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

MOST = 1 << 26
"""Bytes of names on standard input, which need not end."""


def name(
    kernel: Annotated[
        list[str], typer.Argument(help="Kernel names; - reads standard input, one name a line.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: an object, or a list of several.")
    ] = False,
) -> None:
    """Say in plain words what kernel names mean.

    One that no family knows is said to be unknown.
    """
    from rung.errors import UsageError
    from rung.names import decode, decode_op
    from rung.show import names as show

    wanted = [one for argument in kernel for one in (_standard_input() if argument == "-" else [argument])]
    if not all(one.strip() for one in wanted):
        raise UsageError("a kernel's name is empty; for example: rung name ampere_sgemm_128x64_tn")
    decoded = [decode(one.strip()) for one in wanted]
    # `aten::mm` is no kernel, but the op that stands in for one on a trace without a GPU.
    decoded = [decode_op(one.name) if one.family == "unknown" else one for one in decoded]
    alone = len(kernel) == 1 and kernel[0] != "-"
    if as_json:
        typer.echo(show.as_json(decoded, alone=alone))
    elif decoded:
        typer.echo(show.page(decoded, alone=alone))


def _standard_input() -> list[str]:
    """The lines that are not blank; bytes that are no UTF-8 become U+FFFD."""
    from rung import units
    from rung.errors import UnreadableTraceError

    if sys.stdin is None:
        raise UnreadableTraceError("standard input is closed; names for - come from a pipe or a file.")
    try:
        read = sys.stdin.buffer.read(MOST + 1)
    except OSError as error:
        raise UnreadableTraceError(f"standard input cannot be read: {error.strerror or error}.") from None
    if len(read) > MOST:
        raise UnreadableTraceError(
            f"standard input is more than {units.size(MOST)}: give fewer names at once."
        )
    text = read.decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()]

"""The tables of docs/kernels.md, made of `benchmarks/results/glu.json`: what was measured, and each target.

python benchmarks/tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from targets import TARGETS, Judged, Target, Values, judge

RESULTS = Path(__file__).parent / "results/glu.json"
GROUPS = {
    "forward": ("Forward, GPU time in µs", ("burst", "steady", "flushed")),
    "rows": ("More and fewer rows at 768, 3072, forward, GPU time in µs", ("burst", "steady", "flushed")),
    "few": ("Small batches, forward, GPU time in a CUDA graph in µs", ("burst",)),
    "wall": ("A forward called from Python at 768, 3072, µs", ("wall", "cpu")),
    "train": ("A training step, µs", ("burst", "wall")),
    "memory": ("Memory of a training step, MB", ("peak MB", "activation MB")),
    "glu": ("act(gate) * up alone, [8192, 3072], GPU time in µs", ("burst", "flushed")),
    "random": (
        "50 random T in 1..8192 at 768, 3072, the first calls of a process, caches on disk cold or warm, s",
        ("cold, s", "warm, s"),
    ),
    "first": ("The first of them, s", ("cold, s", "warm, s")),
}
"""Title and measures by the first word of a row's name."""


def tables(result: dict[str, Any]) -> str:
    """Every table, in Markdown."""
    values = {name: row.get("values", {}) for name, row in result["rows"].items()}
    return "\n\n".join([*_measured(values), targets(values)]) + "\n"


def targets(rows: dict[str, Values]) -> str:
    """What was to be reached and what was; a ratio that misses it stands in bold."""
    lines = ["| row | ratio | measured | at most | aim | |", "|---|---|---|---|---|---|"]
    for target in TARGETS:
        judged = judge(target, rows.get(target.row, {}))
        if judged:
            lines.append(f"| {' | '.join(_cells(target, judged))} |")
    return "\n".join(lines)


def _cells(target: Target, judged: list[Judged]) -> list[str]:
    over = f"{target.who} / {' or '.join(target.peers)}" if target.peers else target.who
    found = ", ".join(f"{one.measure} {_bold(f'{one.ratio:.2f}', not one.met)}" for one in judged)
    return [target.row, over, found, _limits(target.must), _limits(target.aim), _verdict(target, judged)]


def _verdict(target: Target, judged: list[Judged]) -> str:
    aimed = f"aim {'met' if all(one.aimed for one in judged) else 'missed'}" if target.aim else ""
    if not target.must:
        return aimed
    reached = "met" if all(one.met for one in judged) else "**missed**"
    return f"{reached}, {aimed}" if aimed else reached


def _limits(limits: Any) -> str:
    """One number where all measures have the same limit."""
    if len(set(limits.values())) <= 1:
        return "".join(f"{limit:.2f}" for limit in list(limits.values())[:1])
    return ", ".join(f"{measure} {limit:.2f}" for measure, limit in limits.items())


def _measured(rows: dict[str, Values]) -> list[str]:
    found = []
    for group, (title, measures) in GROUPS.items():
        mine = {name: values for name, values in rows.items() if name.split("-")[0] == group and values}
        if mine:
            found.append(f"{title}: {' / '.join(measures)}\n\n{_table(mine, measures)}")
    return found


def _table(rows: dict[str, Values], measures: tuple[str, ...]) -> str:
    contenders = list(dict.fromkeys(name for values in rows.values() for name in values))
    lines = ["| | " + " | ".join(contenders) + " |", "|---" * (len(contenders) + 1) + "|"]
    for name, values in rows.items():
        cells = [_bold(_cell(values.get(one, {}), measures), one == "rung") for one in contenders]
        lines.append(f"| {name.split('-', 1)[1]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values: Any, measures: tuple[str, ...]) -> str:
    return " / ".join(_number(values[measure]) for measure in measures if measure in values) or "-"


def _number(value: float) -> str:
    return f"{value:.{0 if value >= 1000 else 1 if value >= 10 else 2}f}"


def _bold(text: str, really: bool) -> str:
    return f"**{text}**" if really and text != "-" else text


if __name__ == "__main__":
    print(tables(json.loads(RESULTS.read_text())))

"""Write docs/findings.md: every finding, with an example that Rung itself makes.

python tools/write_findings_doc.py
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

os.environ["RUNG_NO_CACHE"] = "1"  # what was measured on this machine must not colour the examples

from finding_examples import EXAMPLES, H200, Example, ships
from rich.console import Console

from rung.insight.findings import Finding, Rule, examine, findings, rules
from rung.show.fitting import point
from rung.show.why import findings as table

DOC = Path(__file__).parent.parent / "docs/findings.md"

WIDTH = 118
LONG = 60
"""Letters of a kernel's name that are shown."""

TOPICS = {
    "limit": "What limits it",
    "launch": "Launches",
    "kernels": "Which kernels",
    "fusion": "Fusion",
    "compiler": "The compiler",
    "data": "Data on the way",
    "ranks": "Many ranks",
    "recording": "The recording itself",
}

INTRO = """\
# Findings

What `rung why TRACE` can conclude, each by a rule of its own in `src/rung/insight/findings/rules/`.
`python tools/write_findings_doc.py` writes this page: every example is what Rung says of the trace named
above it.

- A finding has an **id** that stays as it is, a **title** with its number in it, the **cost** (the part of a
  typical call's wall time that it accounts for, and its share), **evidence** for programs (`--json`, times in
  ns), and **advice**.
- The **severity** comes from the share: high from 10 %, medium from 2 %, low below; what costs nothing is a
  note.
- `--only ID` and `--ignore ID` choose, `--min-share 5%` leaves out the cheap ones. Costs overlap (a kernel
  can be a hotspot and move its bytes in vain): they do not add up.
- Those marked ¶ explain a list of kernels: `rung read` and `rung climb` say them below it.
"""


def document() -> str:
    """The whole page."""
    told = [(topic, [rule for rule in rules().values() if rule.topic == topic]) for topic in TOPICS]
    parts = [INTRO, *_contents(told)]
    for topic, of_topic in told:
        parts.append(f"## {TOPICS[topic]}\n")
        parts += [_section(rule) for rule in of_topic]
    return "\n".join(parts).rstrip() + "\n"


def _contents(told: list[tuple[str, list[Rule]]]) -> Iterator[str]:
    yield "| | |\n|---|---|"
    for topic, of_topic in told:
        ids = ", ".join(f"[{one.id}](#{one.id}){' ¶' if one.explains else ''}" for one in of_topic)
        yield f"| {TOPICS[topic]} | {ids} |"
    yield ""


def _section(rule: Rule) -> str:
    said = {"The trace shows": rule.shows, "It means": rule.means, "What to do": rule.do}
    lines = [textwrap.fill(f"- **{head}:** {text}", WIDTH, **_HANGING) for head, text in said.items()]
    return "\n".join([f"### {rule.id}\n", *lines, "", _example(rule)])


_HANGING: dict[str, Any] = {
    "subsequent_indent": "  ",
    "break_long_words": False,
    "break_on_hyphens": False,
}


def _example(rule: Rule) -> str:
    """What the rule says of its example trace, as `rung why` prints it, with its evidence as JSON has it."""
    example, found = _shown(rule)
    if example is None or found is None:
        return "No recording that ships shows it.\n"
    evidence = textwrap.fill(json.dumps(_cut(dict(found.evidence)), ensure_ascii=False), WIDTH, **_HANGING)
    return f"Example ({example.source}):\n\n```\n{_printed(found)}\n\n{evidence}\n```\n"


def _cut(value: Any) -> Any:
    """Evidence with its long kernel names cut."""
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_cut(one) for one in value]
    return f"{value[:LONG]}..." if isinstance(value, str) and len(value) > LONG else value


def _shown(rule: Rule) -> tuple[Example | None, Finding | None]:
    """The example of a rule, or the first recording that shows it, and the dearest of its findings there."""
    recordings = sorted(str(path.relative_to(H200)) for path in H200.rglob("*.json.gz"))
    chosen = [EXAMPLES[rule.id]] if rule.id in EXAMPLES else [ships(one[:-8]) for one in recordings]
    for example in chosen:
        trace, *peers = example.traces()
        seen = findings(examine(trace, peers=tuple(peers)), only=[rule.id])
        if seen:
            return example, seen[0]
    return None, None


def _printed(found: Finding) -> str:
    page = StringIO()
    console = Console(file=page, width=WIDTH, highlight=False, markup=False, emoji=False, color_system=None)
    parts = [table([found], with_region=True)] if found.cost_ns else [point(f"{found.id}: {found.title}")]
    if not found.cost_ns:
        parts.append(point(found.advice))
    console.print(*parts)
    return "\n".join(line.rstrip() for line in page.getvalue().rstrip().splitlines())


if __name__ == "__main__":
    DOC.write_text(document(), encoding="utf-8")

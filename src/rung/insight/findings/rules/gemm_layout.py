"""What the layout letters in the GEMMs' names stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        meant: dict[str, str] = {}
        often: Counter[str] = Counter()
        for row in forward.rows:
            meaning = names.product_of(row.decoded) if row.kind == "gemm" else None
            if meaning is not None and "layout" in row.decoded.fields:
                meant[row.decoded.fields["layout"]] = meaning
                often[row.decoded.fields["layout"]] += 1
        if meant:
            said = [
                _said([layout for layout in meant if meant[layout] == one], one) for one in _in_turn(meant)
            ]
            which = "the GEMM's name" if often.total() == 1 else f"the names of {often.total()} GEMMs"
            yield Sighting(
                title=f"the layout is in {which}: {units.listing(said)}",
                advice="Nothing to do: the kernel reads the weight as it lies, no transpose is ever run.",
                forward=forward,
                evidence={"layouts": meant, "gemms": dict(often)},
            )


def _in_turn(meant: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(meant.values()))


def _said(layouts: list[str], meaning: str) -> str:
    return f"{units.listing(layouts)} {'is' if len(layouts) == 1 else 'are'} {meaning}"


RULE = Rule(
    id="gemm-layout",
    topic="kernels",
    shows="Layout letters such as `TNT` or `tn` in the name of a GEMM.",
    means="The kernel reads a matrix as it is stored or transposed; `aten::t` only chooses which.",
    do="Nothing: calling `.contiguous()` on a transposed weight would only add a copy.",
    find=find,
    explains=True,
)

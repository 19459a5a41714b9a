"""A bias that the GEMM adds as it writes its output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import grouped_by_op
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, WorkRow


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        groups = grouped_by_op(forward, "aten::addmm")
        alone = [gemm for group in groups if (gemm := _the_one_gemm(group)) is not None]
        if alone:
            yield _sighting(forward, alone, len(groups))


def _the_one_gemm(group: Sequence[WorkRow]) -> WorkRow | None:
    """The GEMM of an addmm that runs nothing else (a cleared workspace aside) and adds a vector."""
    kernels = [row for row in group if row.category != "memset"]
    if len(kernels) != 1 or kernels[0].kind != "gemm":
        return None
    shapes = kernels[0].shapes
    return kernels[0] if not shapes or len(shapes[0]) == 1 else None


def _sighting(forward: Forward, gemms: Sequence[WorkRow], ops: int) -> Sighting:
    named = sum("bias" in row.decoded.fields.get("epilogue", ()) for row in gemms)
    many = f"all {ops}" if len(gemms) == ops else f"{len(gemms)} of {ops}"
    which = "aten::addmm is one kernel" if ops == 1 else f"{many} aten::addmm are one kernel each"
    says = {0: "", len(gemms): " (its name says bias)" if named == 1 else " (their names say bias)"}
    title = f"{which}{says.get(named, '')}: the bias rides in the GEMM's epilogue, there is no aten::add"
    if gemms[0].category == "op":
        title = "aten::addmm multiplies and adds the bias in one op, there is no aten::add"
        title = title if ops == 1 else f"{units.count(ops, 'aten::addmm')}: each {title.split(' ', 1)[1]}"
    return Sighting(
        title=title,
        advice="Nothing is left to fuse here: the bias costs no pass over the output.",
        forward=forward,
        evidence={
            "addmm": ops,
            "one_kernel": len(gemms),
            "named_bias": named,
            "kernels": list(dict.fromkeys(row.name for row in gemms)),
        },
    )


RULE = Rule(
    id="bias-in-epilogue",
    topic="kernels",
    shows="`aten::addmm` with one GEMM and no kernel that adds.",
    means="The bias rides in the GEMM's write-back (its epilogue).",
    do="Nothing is left to fuse.",
    find=find,
    explains=True,
)

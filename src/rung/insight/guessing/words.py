"""A guess in plain words: what each line expects, and on which device."""

from __future__ import annotations

from rung import units
from rung.insight.guessing.language import Expectation
from rung.insight.guessing.tolerance import Near
from rung.insight.guessing.wants import Amount, DtypeWant, Order, quoted

_TIMES = {
    "gpu_busy": "the GPU is busy for",
    "cpu": "the region is open on the CPU for",
    "gpu_idle_share": "the GPU idles for",
}
_COMPARED = {
    "==": "exactly",
    "!=": "anything but",
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
}


def in_words(expectation: Expectation) -> str:
    """One line as a sentence without its place: `exactly 3 GEMM kernels`."""
    match expectation.want:
        case DtypeWant(comparison, dtype):
            return (
                f"every GEMM multiplies in {dtype}"
                if comparison == "=="
                else f"no GEMM multiplies in {dtype}"
            )
        case Order(items):
            return f"the kernels run in this order: {', '.join(map(_item, items))}"
        case Near() as want:
            return f"{_TIMES[expectation.subject]} {_near(expectation, want)}"
        case Amount() as want if want.unit == "count":
            return f"{_amount(want)} {_noun(expectation, want)}"
        case Amount() as want:
            of = " of the wall time" if want.unit == "share" else ""
            return f"{_TIMES[expectation.subject]} {_amount(want)}{of}"


def place_in_words(expectation: Expectation) -> str:
    """Where a line counts: `mlp_fwd, on h200`."""
    region = expectation.region or "the outermost annotations"
    scope = expectation.scope
    where = f", {scope}" if str(scope) else ""
    if scope.section is None and scope.but:
        where = f", except on {units.listing(scope.but)}"
    return f"{region}{where}"


def _amount(want: Amount) -> str:
    value = str(want).partition(" ")[2]
    if want.comparison == "in":
        return f"from {value.replace('..', ' to ')}"
    if want.comparison in ("==", "<=") and want.bounds[0] == 0:
        return "no" if want.unit == "count" else "no time"
    return f"{_COMPARED[want.comparison]} {value}"


def _near(expectation: Expectation, want: Near) -> str:
    bound, _, slack = str(want).partition(" ")[2].partition(" ± ")
    bound = bound.replace("baseline", "the baseline's median")
    against = "" if expectation.scope.names_a_model and want.bound else ", on the baseline's device only"
    return f"{_COMPARED[want.comparison]} {bound}" + (f", give or take {slack}" if slack else "") + against


def _noun(expectation: Expectation, want: Amount) -> str:
    one = want.comparison != "in" and want.bounds[0] == 1
    subject, pattern = expectation.subject, expectation.pattern
    if pattern is not None:
        what = {"op": "op", "kernel": "kernel", "family": "kernel"}[subject]
        named = "of the family" if subject == "family" else "named"
        return f"{what if one else what + 's'} {named} {pattern}"
    singular = {"kernels": "kernel", "copies": "copy", "memsets": "memset", "launches": "launch"}.get(subject)
    if singular is None and subject not in ("copy", "memset"):
        singular = f"{'GEMM' if subject == 'gemm' else subject} kernel"
    return units.plural(singular or subject) if not one else singular or subject


def _item(item: str) -> str:
    return "anything or nothing" if item == "..." else quoted(item)

"""Functions that take traces point whoever gives them something else to `rung.read`, in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rung
from handmade import GELU, events, ran
from rung.insight.gate import gate
from tracelib import read

TRACE = read(*events(ran(GELU, "aten::gelu")))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("why", rung.why),
        ("why", lambda given: rung.why(TRACE, given)),
        ("diff", lambda given: rung.diff(given, TRACE)),
        ("diff", lambda given: rung.diff(TRACE, given)),
        ("check", rung.guess(kernels=1).check),
        ("check", lambda given: rung.guess(kernels=1).check(TRACE, baseline=given)),
        ("gate", lambda given: gate(given, TRACE, "kernels <= +0")),
        ("gate", lambda given: gate(TRACE, given, "kernels <= +0")),
    ],
)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x.json", "not a path: rung.read('x.json') gives one"),
        (Path("x.json"), "not a path: rung.read('x.json') gives one"),
        (3, "not something of type int: rung.read(path) gives one"),
    ],
)
def test_what_is_no_trace(name: str, call: Callable[[Any], object], given: object, said: str) -> None:
    with pytest.raises(rung.RungError, match=re.escape(f"{name} takes a trace, {said}")):
        call(given)

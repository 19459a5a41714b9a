"""Light views on one row of a trace's tables. They own nothing: a view is a trace and a row number."""

from __future__ import annotations

from rung.trace.views.kernel import Kernel
from rung.trace.views.launch import Launch
from rung.trace.views.op import Op
from rung.trace.views.region import Region, Step

__all__ = ["Kernel", "Launch", "Op", "Region", "Step"]

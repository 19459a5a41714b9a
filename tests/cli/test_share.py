"""`rung share` from the command line, to a folder: what it sends, says, asks and refuses."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from handmade import GELU, MUL, events, ran
from rung.cli.app import run as run_app
from tracelib import annotation, write

pytest.importorskip("fsspec", reason="fsspec, which stores files, is not installed")

CHAIN = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64]))


def run(*arguments: str | Path) -> int:
    return run_app([str(argument) for argument in arguments])


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    (folder / "b").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    write(folder / "a.json", *CHAIN)
    write(folder / "b" / "a.json.gz", *CHAIN)
    write(folder / ".hidden" / "a.json", *CHAIN)
    (folder / "notes.json").write_text("{}")
    (folder / "readme.txt").write_text("no trace")
    return folder


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


def lying(shelf: Path) -> list[str]:
    return sorted(path.relative_to(shelf).as_posix() for path in shelf.rglob("*") if path.is_file())


def test_the_traces_of_a_folder_keep_their_places(
    traces: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("share", traces, "--to", shelf.as_uri()) == 0
    told = capsys.readouterr()
    assert lying(shelf) == ["a.json", "b/a.json.gz"]
    sizes = [(traces / name).stat().st_size for name in lying(shelf)]
    first, second = told.out.splitlines()
    assert first == f"a.json       {sizes[0] / 1000:.2f} kB  {(shelf / 'a.json').as_uri()}"
    assert second.endswith((shelf / "b" / "a.json.gz").as_uri())
    assert told.err.splitlines()[0] == "left out, for they are no traces: notes.json"
    assert told.err.splitlines()[1].startswith("2 files, ")


def test_one_trace_goes_by_its_own_name(traces: Path, shelf: Path) -> None:
    assert run("share", traces / "b" / "a.json.gz", "-b", shelf.as_uri()) == 0  # an address will do, too
    assert lying(shelf) == ["a.json.gz"]


def test_markdown_is_a_table_that_names_cannot_break(
    tmp_path: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = write(tmp_path / "a_b|c [x](y).json", *CHAIN)
    assert run("share", trace, "--to", shelf.as_uri(), "--html", "--markdown") == 0
    head, rule, row = capsys.readouterr().out.splitlines()
    assert (head, rule) == ("| trace | size | open |", "| --- | ---: | --- |")
    name, rest = row.removeprefix("| ").split(" | ", 1)
    assert name == r"a\_b\|c \[x\](y).json"
    page, file = (shelf / f"a_b|c [x](y).{kind}" for kind in ("html", "json"))
    assert rest.endswith(f"[page](<{page.as_uri()}>) · [file](<{file.as_uri()}>) |")


def test_a_page_tells_nothing_of_where_it_was_made(traces: Path, shelf: Path) -> None:
    assert run("share", traces, "--to", shelf.as_uri(), "--html") == 0
    assert lying(shelf) == ["a.html", "a.json", "b/a.html", "b/a.json.gz"]
    page = (shelf / "b" / "a.html").read_text()
    assert "<title>b/a - Rung</title>" in page and str(traces) not in page


def test_two_traces_of_one_name_have_two_pages(
    traces: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(traces / "b" / "a.json", *CHAIN)
    assert run("share", traces / "b", "--to", shelf.as_uri(), "--html", "--json") == 0
    pages = [one["page"] for one in json.loads(capsys.readouterr().out)["artifacts"]]
    assert pages == [(shelf / name).as_uri() for name in ("a.html", "a.json.gz.html")]
    assert lying(shelf) == ["a.html", "a.json", "a.json.gz", "a.json.gz.html"]


def test_scrubbed_copies_go_and_originals_stay(
    traces: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = write(traces / "tux_7.1.pt.trace.json", *CHAIN, annotation("to tux for /home/grace/x", 0, 1))
    before = secret.read_bytes()
    assert run("share", traces, "--to", shelf.as_uri(), "--scrub", "--hide", "mul", "--json") == 0
    told = capsys.readouterr()
    assert lying(shelf) == ["a.json", "b/a.json.gz", "host_7.1.pt.trace.json"]
    kept = json.loads((shelf / "host_7.1.pt.trace.json").read_bytes())["traceEvents"]
    assert kept[-1]["name"] == "to <host> for <path>"
    assert secret.read_bytes() == before
    counts = json.loads(told.out)["scrubbed"]
    assert counts["path in a name"] == counts["host in a name"] == 1
    assert "taken out:" in told.err and "1  path in a name" in told.err


def test_a_scrubbed_copy_replaces_one_that_was_not(traces: Path, shelf: Path) -> None:
    """Even if the old one is as large and newer."""
    assert run("share", traces / "a.json", "--to", shelf.as_uri(), "--scrub") == 0
    clean = (shelf / "a.json").read_bytes()
    (shelf / "a.json").write_bytes(b"x" * len(clean))
    os.utime(shelf / "a.json", (2e9, 2e9))
    assert run("share", traces / "a.json", "--to", shelf.as_uri(), "--scrub") == 0
    assert (shelf / "a.json").read_bytes() == clean


def test_names_that_become_one_stay_two(tmp_path: Path, shelf: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    for host in ("tux", "puffin"):
        write(folder / f"{host}_7.1.pt.trace.json", *CHAIN)
    assert run("share", folder, "--to", shelf.as_uri(), "--scrub") == 0
    assert lying(shelf) == ["1-host_7.1.pt.trace.json", "host_7.1.pt.trace.json"]


@pytest.mark.parametrize(
    ("answer", "left"), [("y\n", ["a.json", "b/a.json.gz"]), ("n\n", ["a.json", "b/a.json.gz", "old.json"])]
)
def test_deleting_is_asked_at_a_terminal(
    traces: Path,
    shelf: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    left: list[str],
) -> None:
    shelf.mkdir()
    write(shelf / "old.json", *CHAIN)
    monkeypatch.setattr("rung.cli.streams.is_asked", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    code = run("share", traces, "--to", shelf.as_uri(), "--delete")
    assert code == (0 if answer == "y\n" else 130)
    assert "delete 1 file at" in capsys.readouterr().err
    assert lying(shelf) == left


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["{traces}"], 2, "--bucket NAME on the Hub, or --to s3://bucket/folder"),
        (["{traces}", "-b", "x", "--to", "s3://b"], 2, "say where to"),
        (["{traces}", "--to", "folder"], 2, "folder is no address"),
        (["{traces}", "--to", "https://x/y"], 2, "nothing can be put at https://"),
        (["{traces}", "--to", "gopher://x"], 2, "no address that Rung knows"),
        (["{traces}", "--to", "hf://datasets/a/b"], 2, "names no bucket; one is hf://buckets/NAMESPACE/NAME"),
        (["{traces}", "--to", "file:///x", "-n", "me"], 2, "--namespace goes with --bucket"),
        (["{traces}", "-b", "you/shelf", "-n", "me"], 2, "you/shelf names a namespace already"),
        (["{traces}", "--to", "file:///x", "--days", "8"], 2, "--days takes 1 to 7"),
        (["{traces}", "--to", "file:///x", "--hide", "me"], 2, "--hide goes with --scrub"),
        (["{traces}", "--to", "file:///x", "--json", "--markdown"], 2, "give one of them"),
        (["{traces}", "--to", "file:///x", "--private"], 2, "--private is about a new bucket on the Hub"),
        (["{traces}/a.json", "--to", "file:///x", "--delete"], 2, "share a folder"),
        (["{traces}/notes.json", "--to", "file:///x"], 3, "holds no trace events"),
        (["{traces}/none.json", "--to", "file:///x"], 3, "none.json does not exist"),
        (["{traces}/empty", "--to", "file:///x"], 2, "has no traces in it"),
        (["{traces}", "--to", "file:///proc/nothing"], 4, "was not uploaded to file:///proc/nothing"),
    ],
)
def test_a_mistake_is_one_line(
    traces: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    (traces / "empty").mkdir()
    filled = [argument.replace("{traces}", str(traces)) for argument in arguments]
    assert run("share", *filled) == code
    told = capsys.readouterr()
    assert told.out == "" and said in told.err.splitlines()[-1] and "Traceback" not in told.err

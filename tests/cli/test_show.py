"""`rung show` and `rung convert` from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from handmade import GELU, MUL, events, ran
from recordings import h200
from rung.cli.app import run as run_app
from rung.trace import read as read_file
from tracelib import read, write

CHAIN = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64]))


def run(*arguments: str | Path) -> int:
    return run_app([str(argument) for argument in arguments])


def test_the_page_lies_beside_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = write(tmp_path / "eager.json.gz", *CHAIN)
    assert run("show", trace, "--no-open") == 0
    assert capsys.readouterr().out == f"{tmp_path / 'eager.html'}\n"
    assert "<title>eager.json - Rung" not in (tmp_path / "eager.html").read_text()
    assert "<title>eager - Rung</title>" in (tmp_path / "eager.html").read_text()


def test_or_where_it_is_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = write(tmp_path / "eager.json", *CHAIN)
    assert run("show", trace, "--no-open", "-o", tmp_path / "page.html", "--json") == 0
    (artifact,) = json.loads(capsys.readouterr().out)["artifacts"]
    assert artifact == {"path": str(tmp_path / "page.html"), "bytes": (tmp_path / "page.html").stat().st_size}


def test_variants_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "mlp.json", *CHAIN)
    both = [tmp_path / folder / "mlp.json" for folder in ("a", "b")]
    assert run("show", *both, "--no-open", "-o", tmp_path / "page.html") == 0
    assert "<title>a/mlp, b/mlp - Rung</title>" in (tmp_path / "page.html").read_text()


def test_one_file_twice_is_told_apart_by_number(tmp_path: Path) -> None:
    trace = write(tmp_path / "mlp.json", *CHAIN)
    assert run("show", trace, trace, "--no-open", "-o", tmp_path / "page.html") == 0
    folder = tmp_path.name
    assert f"<title>{folder}/mlp (1), {folder}/mlp (2) - Rung</title>" in (tmp_path / "page.html").read_text()


def test_a_page_and_a_picture_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = write(tmp_path / "mlp.json", *CHAIN)
    assert run("show", trace, "--svg", tmp_path / "a.svg", "-o", tmp_path / "a.html") == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "a.svg"), str(tmp_path / "a.html")]
    assert (tmp_path / "a.svg").exists() and (tmp_path / "a.html").exists()
    assert run("show", trace, "--svg", tmp_path / "b.svg") == 0
    assert not (tmp_path / "mlp.html").exists()


def test_standard_input_becomes_trace_html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with write(tmp_path / "in.json", *CHAIN).open() as given:
        monkeypatch.setattr("sys.stdin", given)
        assert run("show", "-", "--no-open") == 0
    assert "<title>standard input - Rung</title>" in Path("trace.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.json"], 3, "missing.json does not exist."),
        (["{trace}", "--region", "nowhere"], 2, "has no region 'nowhere'"),
        (["{trace}", "-o", "{folder}/none/page.html"], 2, "write it elsewhere"),
        (["{trace}", "--between", "5s..6s"], 2, "ends 30.0 \u00b5s after its first event, before 5.00 s."),
        (["{trace}", "--perfetto", "-o", "x.html"], 2, "--perfetto writes no file: leave --output out"),
        (["{trace}", "--online", "--png", "x.png"], 2, "leave --png out. (rung convert writes a copy.)"),
        (["-", "--perfetto"], 2, "save standard input to one first"),
        (["{trace}", "--between", "7"], 2, "--between takes a range of times"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    trace = write(tmp_path / "eager.json", *CHAIN)
    filled = [a.replace("{trace}", str(trace)).replace("{folder}", str(tmp_path)) for a in arguments]
    assert run("show", *filled, "--no-open") == code
    told = capsys.readouterr()
    assert told.out == "" and said in told.err and "Traceback" not in told.err


def test_convert_keeps_a_region_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three forwards of five kernels and two memsets, one of which is asked for."""
    target = tmp_path / "one.json.gz"
    assert run("convert", h200("03_mlp_eager"), "-o", target, "--region", "mlp_fwd") == 0
    assert "outside the stretch, left out" in capsys.readouterr().out
    kept = json.loads(gzip.decompress(target.read_bytes()))["traceEvents"]
    assert sum(event.get("cat") == "kernel" for event in kept) == 5
    assert sum(event.get("cat") == "gpu_memset" for event in kept) == 2


def test_convert_merges_variants_that_begin_together(tmp_path: Path) -> None:
    target = tmp_path / "both.json"
    assert run("convert", h200("03_mlp_eager"), h200("03_mlp_compile"), "-o", target) == 0
    kept = json.loads(target.read_bytes())["traceEvents"]
    starts = {}
    for event in kept:
        if event["name"] == "mlp_fwd" and event.get("cat") == "user_annotation":
            starts.setdefault(event["pid"], []).append(event["ts"])
    first, second = (min(times) for times in starts.values())
    assert first == pytest.approx(second, abs=0.001)


def test_convert_says_what_it_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.json", *CHAIN)
    source.write_bytes(source.read_bytes().replace(b"aten::gelu", b"aten::\x01gelu"))
    assert run("convert", source, "-o", tmp_path / "out.json") == 0
    assert "1 event damaged and mended" in capsys.readouterr().out


def test_what_convert_writes_reads_the_same(tmp_path: Path) -> None:
    source = write(tmp_path / "in.json", *CHAIN)
    assert run("convert", source, "-o", tmp_path / "out.json") == 0

    assert [k.name for k in read_file(tmp_path / "out.json").kernels] == [
        k.name for k in read(*CHAIN).kernels
    ]


def test_climbing_writes_a_page_of_the_whole_rung(tmp_path: Path) -> None:
    target = tmp_path / "rung.html"
    arguments = ("climb", "matmul-add", "--recorded", "h200", "--guess", "kernels=2", "--out", tmp_path)
    assert run(*arguments, "--html", target) == 0
    text = target.read_text()
    assert text.count('class="scene"') == 4  # both sizes, cold and warm
    assert "The guess holds." in text
    assert "<title>Matmul and add - Rung</title>" in text


def test_a_copy_does_not_take_the_place_of_its_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.json", *CHAIN)
    before = source.read_bytes()
    assert run("convert", source, "-o", source, "--between", "0us..1us") == 2
    assert "is one of the traces" in capsys.readouterr().err
    assert source.read_bytes() == before

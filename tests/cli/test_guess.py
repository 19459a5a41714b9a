"""`rung guess`: exit codes, what goes to stdout, and the questions it asks."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console

from rung.cli.guess import guess
from rung.errors import UnreadableTraceError, UsageError
from rung.show.guess import Question, ask
from tracelib import annotation, kernel, launch, text, write

EVENTS = [annotation("fwd", 0, 50), launch(10, 5, correlation=1), kernel("nvjet_a", 20, 10, correlation=1)]
HELD = ["fwd (1 instance)", "  kernels == 1   1   yes", "The guess holds."]


@pytest.fixture(autouse=True)
def _away_from_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


@pytest.fixture
def trace(tmp_path: Path) -> str:
    return str(write(tmp_path / "one.json.gz", *EVENTS))


def exit_code(*args: object, **options: object) -> int:
    try:
        guess(*args, **options)  # type: ignore[arg-type]
    except typer.Exit as exit:
        return exit.exit_code
    return 0


def test_a_guess_that_holds_exits_with_0(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(trace, ["kernels=1"]) == 0
    assert capsys.readouterr().out.splitlines() == HELD


def test_a_guess_that_does_not_hold_exits_with_1(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(trace, ["kernels=1", "pointwise=1"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "The guess does not hold."


def test_json_keeps_the_contract(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(trace, ["kernels=2"], as_json=True) == 1
    assert json.loads(capsys.readouterr().out) == {
        "schema_version": 1,
        "held": False,
        "reason": None,
        "checks": [
            {"region": "fwd", "step": None, "key": "kernels", "want": "== 2", "got": 1, "held": False}
        ],
    }


def test_a_file_and_options_are_judged_together(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.guess.toml"
    file.write_text("[fwd]\ngemm = 2\n")
    assert exit_code(trace, ["kernels=1"], file, as_json=True) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [(check["key"], check["held"]) for check in checks] == [("kernels", True), ("gemm", False)]


def test_a_cut_trace_exits_with_1_and_stderr_names_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = text(*EVENTS, kernel("lost", 30, 5))
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[:-20])
    assert exit_code(str(cut), ["kernels=1"]) == 1
    said = capsys.readouterr()
    assert "truncated" in said.out
    assert said.err == "--allow-incomplete judges what is left.\n"
    assert exit_code(str(cut), ["kernels=1"], allow_incomplete=True) == 0


def test_mistakes_are_usage_and_a_missing_trace_is_unreadable(trace: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown key 'gem'"):
        guess(trace, ["gem=1"])
    with pytest.raises(UsageError, match="there are: fwd"):
        guess(trace, ["gemm=1"], region="backward")
    with pytest.raises(UsageError, match=r"rung guess .* -e kernels=5"):
        guess(trace)
    with pytest.raises(UnreadableTraceError):
        guess(str(tmp_path / "none.json"), ["gemm=1"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answers", "code", "last"),
    [
        ("1\n1\n\n", 0, "The guess holds."),
        ("5\n\n\n", 1, "The guess does not hold."),
        ("\n\n\n", 0, "fwd: 1 kernel (gemm), 1 launch"),
    ],
)
def test_in_a_terminal_it_asks_first(
    answers: str,
    code: int,
    last: str,
    trace: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(answers))
    monkeypatch.setattr("sys.stderr", Terminal())
    assert exit_code(trace) == code
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_an_answer_that_cannot_be_read_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("many\n>= 3\n"))
    page = io.StringIO()
    questions = [Question("kernels", "how many kernels?"), Question("gemm", "how many GEMMs?")]
    found = ask(Console(file=page, width=100), questions, region="mlp")
    assert str(found) == "kernels >= 3  in mlp"
    assert "kernels takes a whole number, such as 5, not 'many'" in page.getvalue()
    assert page.getvalue().count("how many kernels?") == 2


def test_write_drafts_a_file_that_holds(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(trace, write=True, level="loose") == 0
    draft = capsys.readouterr().out
    assert draft.splitlines()[1:] == ["", "[gpu.fwd]", 'kernels = "<= 1"', 'launches = "<= 1"']
    out = tmp_path / "new.guess.toml"
    assert exit_code(trace, write=True, out=out) == 0
    assert capsys.readouterr().err == f"{out}: new, 4 lines\n"
    assert exit_code(trace, None, out) == 0
    out.write_text(out.read_text().replace("kernels = 1", "kernels = 3  # mine"))
    assert exit_code(trace, write=True, out=out) == 0
    assert capsys.readouterr().err == f"{out}: line 4, column 1: kernels = 3 -> 1\n"
    assert "kernels = 1  # mine" in out.read_text()


def test_explain_says_a_guess_in_plain_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_text("[fwd]\ngemm = 3\n")
    words = "fwd\n  exactly 3 GEMM kernels\n"
    assert exit_code(str(path), explain=True) == 0
    assert exit_code(None, None, path, explain=True) == 0
    assert capsys.readouterr().out == words * 2


def test_explain_with_a_trace_shows_what_broke_it(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(trace, ["kernels=0"], explain=True, as_json=True) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["held"] is False
    assert "nvjet_a   <-- breaks kernels == 0" in said.err


def test_what_broke_it_is_part_of_the_answer(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(trace, ["kernels=0"], explain=True) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[2] == "The guess does not hold."
    assert said.out.splitlines()[-1].endswith("nvjet_a   <-- breaks kernels == 0")
    assert said.err == ""


def test_a_broken_line_is_annotated_under_github(
    trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.guess.toml").write_text("[fwd]\n\ngemm = 3\n")
    summary = tmp_path / "summary.md"
    assert exit_code(trace, None, Path("one.guess.toml"), github=True, summary=summary) == 1
    assert capsys.readouterr().err == (
        "::error file=one.guess.toml,line=3,col=1,title=rung guess::"
        "fwd (1 instance): gemm == 3, but got 1: nvjet_a\n"
    )
    assert "| gemm == 3 | 1 | **no** | nvjet\\_a |" in summary.read_text()


def test_a_baseline_settles_a_tolerance(trace: str) -> None:
    assert exit_code(trace, ["gpu_busy <= baseline ± 1 %"], baseline=trace) == 0
    assert exit_code(trace, ["gpu_busy <= baseline ± 1 %"]) == 1


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(schema=True) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Rung guess file (*.guess.toml)"


def test_without_a_trace_it_asks_for_one() -> None:
    with pytest.raises(UsageError, match="which trace"):
        guess(None, ["gemm=1"])

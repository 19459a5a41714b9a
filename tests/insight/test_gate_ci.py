"""What CI shows: annotations at a guess's line, a step summary in Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.errors import UsageError
from rung.insight.gate import gate
from rung.insight.guess import guess, load
from rung.show import ci
from rung.trace import Trace
from tracelib import annotation, kernel, launch, read


@pytest.fixture
def trace() -> Trace:
    work = [launch(10, 5, correlation=1), kernel("a|b_<c>*", 20, 5, correlation=1)]
    return read(annotation("fwd", 0, 50), *work)


def test_an_annotation_stands_at_the_guesses_line(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "sub" / "one.guess.toml"
    path.parent.mkdir()
    path.write_text("[fwd]\nkernels = 1\n  gemm = 3\n")
    (found,) = ci.of_verdict(load(path).check(trace), "rung guess")
    assert found.command() == (
        "::error file=sub/one.guess.toml,line=3,col=3,title=rung guess::"
        "fwd (1 instance): gemm == 3, but got 0"
    )


def test_without_a_file_it_belongs_to_the_run_and_is_escaped(trace: Trace) -> None:
    (found,) = ci.of_verdict(guess("gpu_idle_share < 1 %").check(trace), "a, b: c")
    assert found.command() == (
        "::error title=a%2C b%3A c::fwd (1 instance): gpu_idle_share < 1 %25, but got 90 %25"
    )


def test_what_holds_annotates_nothing_and_what_cannot_be_judged_does(trace: Trace) -> None:
    assert ci.of_verdict(guess(kernels=1).check(trace), "t") == []
    (found,) = ci.of_verdict(guess(dtype="bf16").check(trace), "t")
    assert "dtype == bf16, but got ?" in found.message
    assert ci.of_gate(gate(trace, trace, "kernels <= +0"), "t") == []
    (found,) = ci.of_gate(gate(trace, trace, "kernels <= -1"), "t")
    assert found.message == "fwd: kernels <= -1, but 1 -> 1 (+0)"


def test_the_summary_is_a_table_that_no_name_can_break(trace: Trace) -> None:
    page = ci.verdict_markdown(guess("kernel:a*=0").check(trace), "one | two")
    assert page.splitlines() == [
        "### one \\| two",
        "",
        "| region | expected | got | held |  |",
        "| --- | --- | --- | --- | --- |",
        "| fwd (1 instance) | kernel:a\\* == 0 | 1 | **no** | a\\|b\\_&lt;c>\\* |",
        "",
        "The guess does not hold.",
        "",
    ]


def test_a_gates_summary_has_the_table_of_what_changed(trace: Trace) -> None:
    page = ci.gate_markdown(gate(trace, trace, "kernels <= +0"), "diff", ["kernels a forward: 5 -> 4"])
    assert "| fwd | kernels &lt;= +0 | 1 | 1 | +0 | yes |  |" in page
    assert "\nWhat changed:\n\n- kernels a forward: 5 -> 4\n" in page


def test_github_is_found_by_its_environment_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert ci.on_github() and not ci.on_github(False)
    assert ci.summary_path(None, github=True) == tmp_path / "summary.md"
    assert ci.summary_path(None, github=False) is None
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert not ci.on_github() and ci.on_github(True)


def test_summaries_add_up_and_a_folder_is_refused(tmp_path: Path) -> None:
    for page in ("one\n", "two\n"):
        ci.add_summary(tmp_path / "s.md", page)
    assert (tmp_path / "s.md").read_text() == "one\ntwo\n"
    with pytest.raises(UsageError, match="the summary cannot be written"):
        ci.add_summary(tmp_path, "x")

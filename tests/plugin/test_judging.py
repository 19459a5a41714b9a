"""Marked tests against recorded traces: no torch, no GPU."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rung.insight.guess import load
from rung.ladder import shipped

MLP = shipped.RECORDINGS / "h200" / "mlp"

MARKED = """
import pytest

@pytest.mark.rung(guess="mlp.guess.toml", trace="{variant}.json.gz", variant="{variant}")
def test_mlp(rung_record):
    assert rung_record().variant == "{variant}"
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    """A test of the compiled MLP's recording, beside it a guess that holds."""
    for variant in ("eager", "compiled"):
        shutil.copy(MLP / f"{variant}.json.gz", pytester.path)
    pytester.makepyfile(MARKED.format(variant="compiled"))
    guess(pytester.path, "[mlp_fwd]\nkernels = 4\n")
    return pytester.path


def guess(folder: Path, text: str) -> Path:
    path = folder / "mlp.guess.toml"
    path.write_text(text)
    return path


def test_a_guess_that_holds_passes(suite: Path, pytester: pytest.Pytester) -> None:
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_broken_guess_shows_the_tree_and_the_culprits(suite: Path, pytester: pytest.Pytester) -> None:
    guess(suite, '[mlp_fwd]\ngemm = 3\nkernels = 3\n"kernel:triton*" = 0\n')
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*mlp.guess.toml does not hold of compiled.json.gz",
            "mlp_fwd, step 2: 4 kernels (3 gemm, 1 pointwise), 2 memsets, 6 launches",
            "  kernels == 3   is 4   (*mlp.guess.toml line 3)",
            "  kernel:triton* == 0   is 1   (*mlp.guess.toml line 4)",
            "*cuLaunchKernelEx",
            "*triton_poi_fused__unsafe_view_gelu_mul_0   <-- breaks kernels == 3, kernel:triton[*] == 0",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_the_marker_alone_judges_its_trace(suite: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.rung(guess="mlp.guess.toml", trace="compiled.json.gz")
        def test_one(): pass
        @pytest.mark.rung(guess="mlp.guess.toml", trace="eager.json.gz")
        def test_two(): pass
        """
    )
    pytester.runpytest().assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        (
            'guess="mlp.guess.toml"',
            "the marker gives the guess mlp.guess.toml, but this test recorded nothing",
        ),
        ('guess="none.guess.toml", trace="eager.json.gz"', "*no guess file *pytest --rung-update drafts one"),
        ('"mlp.guess.toml"', "@pytest.mark.rung takes guess, variant, region, device, trace by name*"),
        ("gues=3", "@pytest.mark.rung takes guess, variant*not gues"),
        ('guess="mlp.guess.toml", trace="none.json.gz"', "rung: *none.json.gz*"),
        (
            'guess="mlp.guess.toml", trace="eager.json.gz", variant="compiled"',
            "rung: *was recorded as eager, not compiled",
        ),
    ],
)
def test_what_cannot_be_judged_fails_in_one_line(
    marker: str, says: str, suite: Path, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.rung({marker})\ndef test_one(): pass\n")
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([says])


def test_a_mistake_in_the_guess_file_fails_with_its_place(suite: Path, pytester: pytest.Pytester) -> None:
    guess(suite, "[mlp_fwd]\ngem = 3\n")
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rung: *mlp.guess.toml: line 2, column 1: *unknown key 'gem'*"])


def test_a_failing_body_is_not_judged(suite: Path, pytester: pytest.Pytester) -> None:
    guess(suite, "kernels = 99\n")
    pytester.makepyfile(MARKED.format(variant="compiled") + "    assert 1 == 2\n")
    result = pytester.runpytest()
    result.stdout.no_fnmatch_line("*does not hold*")
    result.stdout.fnmatch_lines(["E*assert 1 == 2"])


def test_update_drafts_then_changes_and_says_so(suite: Path, pytester: pytest.Pytester) -> None:
    path = suite / "mlp.guess.toml"
    path.unlink()
    result = pytester.runpytest("--rung-update", "--rung-level=loose")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*rung: guess files*", f"{path}: new, 3 lines"])
    assert load(path)
    path.write_text("# ours\n[mlp_fwd]\nkernels = 7  # why\n")
    result = pytester.runpytest("--rung-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"{path}: line 3, column 1: kernels = 7 -> 4"])
    assert path.read_text() == "# ours\n[mlp_fwd]\nkernels = 4  # why\n"
    result = pytester.runpytest("--rung-update")
    result.stdout.no_fnmatch_line("*rung: guess files*")


def test_traces_of_failing_tests_are_kept(suite: Path, pytester: pytest.Pytester) -> None:
    pytester.runpytest("--rung-trace-dir=kept").assert_outcomes(passed=1)
    assert not (suite / "kept").exists()
    guess(suite, "kernels = 9\n")
    result = pytester.runpytest("--rung-trace-dir=kept")
    (kept,) = (suite / "kept").iterdir()
    assert kept.name == "test_traces_of_failing_tests_are_kept.py-test_mlp-0-compiled.json.gz"
    assert kept.read_bytes() == (MLP / "compiled.json.gz").read_bytes()
    result.stdout.fnmatch_lines(["*rung: traces kept*", f"*{kept.name}"])


def test_github_gets_an_annotation_at_the_guesss_line_and_a_summary(
    suite: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    guess(suite, "[mlp_fwd]\n\nkernels = 9\n")
    summary = suite / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(
        ["::error file=mlp.guess.toml,line=3,col=1,title=*mlp_fwd (3 instances): kernels == 9*"]
    )
    assert "| mlp\\_fwd (3 instances) | kernels == 9 | 4, 4, 4 | **no** |" in summary.read_text()
    assert "::error" not in pytester.runpytest("--rung-github=off").stdout.str()


def test_junit_has_what_was_recorded(suite: Path, pytester: pytest.Pytester) -> None:
    pytester.runpytest("--junit-xml=junit.xml")
    found = ElementTree.parse(suite / "junit.xml").iter("property")
    properties = {one.attrib["name"]: one.attrib["value"] for one in found}
    assert properties.pop("rung.cpu_ns").isdigit()
    assert properties.pop("rung.gpu_busy_ns").isdigit()
    assert properties == {
        "rung.variant": "compiled",
        "rung.region": "mlp_fwd",
        "rung.device": "NVIDIA H200",
        "rung.guess": "mlp.guess.toml",
        "rung.kernels": "4",
        "rung.copies": "0",
        "rung.launches": "6",
        "rung.held": "True",
    }


EQUAL = """
from rung import guess, read
def test_equal(rung_record):
    recording = rung_record(trace="eager.json.gz")
    assert recording == guess(kernels=5, gemm=3)
    assert recording == guess(kernels=4, gemm=3)
"""


def test_an_assertion_explains_itself(suite: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(EQUAL)
    result = pytester.runpytest("--rung-github=on")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*the guess does not hold of mlp (eager)",
            "E*mlp_fwd (3 instances): kernels == 4, but got 5, 5, 5",
            "*rung: what ran*",
            "*aten::gelu",
            "*cudaLaunchKernel",
            "*pointwise gelu, 8 wide*<-- breaks kernels == 4",
            "::error file=*.py,line=5,*kernels == 4, but got 5, 5, 5*",
        ]
    )


def test_several_workers_say_the_same(suite: Path, pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    files = ("test_a.py", "test_b.py", "test_c.py")
    pytester.makepyfile(
        test_a=EQUAL, test_b=MARKED.format(variant="compiled"), test_c=MARKED.format(variant="eager")
    )
    guess(suite, "[mlp_fwd]\nkernels = '<= 1'\n")
    result = pytester.runpytest_subprocess(
        "-n2", "--rung-github=on", "--junit-xml=junit.xml", "--rung-trace-dir=kept", *files
    )
    result.assert_outcomes(failed=3)
    assert sorted(line[:40] for line in result.outlines if line.startswith("::error")) == [
        "::error file=mlp.guess.toml,line=2,col=1",
        "::error file=mlp.guess.toml,line=2,col=1",
        "::error file=test_a.py,line=5,col=1,titl",
    ]
    assert len(list((suite / "kept").iterdir())) == 3
    assert (suite / "junit.xml").read_text().count('name="rung.kernels"') == 3
    result = pytester.runpytest_subprocess("-n2", "--rung-update", "test_b.py", "test_c.py")
    result.stdout.fnmatch_lines(["*rung: guess files*", "*mlp.guess.toml: line 2, column 1: kernels = *"])
    assert not (suite / "mlp.guess.toml.lock").exists()


def test_a_test_that_is_run_again_starts_anew(suite: Path, pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(
        """
        import pytest
        from pathlib import Path
        @pytest.mark.rung(guess="mlp.guess.toml")
        def test_flaky(rung_record):
            first = not Path("once").exists()
            Path("once").touch()
            rung_record(trace="eager.json.gz" if first else "compiled.json.gz")
        """
    )
    result = pytester.runpytest(
        "--reruns=1", "--rung-trace-dir=kept", "--junit-xml=junit.xml", "--rung-github=on"
    )
    assert result.parseoutcomes() == {"passed": 1, "rerun": 1}
    assert list((suite / "kept").iterdir()) == []
    assert "::error" not in result.stdout.str()
    properties = ElementTree.parse(suite / "junit.xml").iter("property")
    assert [one.attrib["value"] for one in properties if one.attrib["name"] == "rung.kernels"] == ["5", "4"]

"""Suites that do not use Rung: nothing heavy is imported, and the output is the same."""

from __future__ import annotations

import re

import pytest

PLAIN = """
import pytest
def test_passes(): pass
def test_fails(): assert {"a": 1} == {"a": 2}
@pytest.mark.parametrize("n", [1, 2])
def test_skips(n): pytest.skip("why")
"""
NOSY = """
import sys
def pytest_sessionfinish():
    heavy = {"torch", "numpy", "msgspec", "rich", "typer"} | {m for m in sys.modules if m.startswith("rung.")}
    print("imported:", sorted((heavy & set(sys.modules)) - {"rung.pytest_plugin"}))
"""


@pytest.mark.parametrize("arguments", [("--collect-only",), ()], ids=["collect", "run"])
def test_nothing_heavy_is_imported(arguments: tuple[str, ...], pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLAIN)
    pytester.makeconftest(NOSY)
    result = pytester.runpytest_subprocess(*arguments, "-p", "no:xdist", "-p", "no:hypothesispytest")
    result.stdout.fnmatch_lines(["*imported: []"])


def normal(text: str) -> str:
    text = re.sub(r"\d+\.\d+s", "N s", text)
    text = re.sub(r"^[.Fs]+ +\[100%\]$|\[gw\d\]", "", text, flags=re.MULTILINE)  # workers race
    return re.sub(r"^plugins: .*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("arguments", [("-v", "-rA"), ("-n2",)], ids=["alone", "xdist"])
def test_output_is_that_without_the_plugin(
    arguments: tuple[str, ...], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "-n2" in arguments:
        pytest.importorskip("xdist")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    pytester.makepyfile(PLAIN)
    pages = [
        normal(pytester.runpytest_subprocess(*arguments, "-p", "no:cacheprovider", *without).stdout.str())
        for without in ((), ("-p", "no:rung", "-p", "no:rung.pytest_plugin"))
    ]
    if "-n2" in arguments:  # workers finish in any order
        pages = ["\n".join(sorted(page.splitlines())) for page in pages]
    assert pages[0] == pages[1]


def test_the_marker_and_the_options_are_documented(pytester: pytest.Pytester) -> None:
    pytester.runpytest("--markers").stdout.fnmatch_lines(
        ["@pytest.mark.rung(guess, variant, region, device, trace):*"]
    )
    pytester.runpytest("--help").stdout.fnmatch_lines(["*--rung-update*", "*--rung-trace-dir=DIR*"])

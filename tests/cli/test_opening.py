"""A page opens in the browser; where there is none, one calm line says where it lies."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from handmade import GELU, MUL, events, ran
from rung.cli.app import run
from rung.cli.opening import SCREENS, open_page
from tracelib import write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the way Linux opens a page")


@pytest.fixture(autouse=True)
def at_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SCREENS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":7")


def xdg_open(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """One that writes its argument to the file that is returned, and then does as the script says."""
    asked = folder / "asked"
    opener = folder / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {asked}\n{script}\n')
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return asked


def test_the_page_is_handed_over_and_nothing_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = xdg_open(tmp_path, monkeypatch, "echo hello; echo hello >&2")
    open_page("http://127.0.0.1:9/x")
    assert asked.read_text() == "http://127.0.0.1:9/x\n"
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_opened_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """By `rung show`, whose page has a blank in its name."""
    chain = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64]))
    complaint = "echo 'xdg-open: no method available for opening' >&2; exit 3"
    xdg_open(tmp_path, monkeypatch, complaint)
    trace = write(tmp_path / "an mlp.json", *chain)
    assert run(["show", str(trace)]) == 0
    out, err = capfd.readouterr()
    assert out == f"{tmp_path}/an mlp.html\n"
    assert err == f"No browser opens here: the page is file://{tmp_path}/an%20mlp.html\n"


def test_without_a_screen_nothing_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = xdg_open(tmp_path, monkeypatch, "")
    monkeypatch.delenv("DISPLAY")
    open_page("http://127.0.0.1:9/x")
    assert not asked.exists()
    assert capfd.readouterr().err == "No browser opens here: the page is http://127.0.0.1:9/x\n"


def test_without_an_opener(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    open_page("http://127.0.0.1:9/x")
    assert capfd.readouterr().err.startswith("No browser opens here")


def test_a_browser_in_the_foreground_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rung.cli.opening.PATIENCE_S", 0.1)
    xdg_open(tmp_path, monkeypatch, "exec sleep 5")
    began = time.monotonic()
    open_page("http://127.0.0.1:9/x")
    assert time.monotonic() - began < 4
    assert capfd.readouterr().err == ""

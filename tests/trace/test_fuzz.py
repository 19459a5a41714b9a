"""A few seconds of the fuzzer; `python fuzz/read.py` runs it for longer."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_read", ROOT / "fuzz/read.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_nothing_surprises_the_reader(
    fuzz: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seeds = fuzz.seeds(sorted(fuzz.RECORDINGS.rglob("*-64/*.json.gz")))
    assert fuzz.at_random(seeds, seconds=3, seed=1) > 20


def test_what_the_reader_must_not_do_is_noticed(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "decode", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fuzz.check(b"\0\0" + b'{"traceEvents": []}')

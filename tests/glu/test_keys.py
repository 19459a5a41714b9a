"""What compiled kernels are called on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from rung.glu.kernels import keys  # noqa: E402

pytestmark = pytest.mark.torch

KEYS = """
import json, sys
from rung.glu.kernels import table, table_hopper
from rung.glu.kernels.keys import settle
from rung.glu.kernels.launch import Kernel
kernels = {n: k for m in (table, table_hopper) for n, k in vars(m).items() if isinstance(k, Kernel)}
for name in sorted(kernels, reverse=sys.argv[1] == "backwards"):
    settle(kernels[name].function)
print(json.dumps({name: kernel.function.cache_key for name, kernel in kernels.items()}))
"""


def named(order: str) -> dict[str, str]:
    """Every kernel's key in a process of its own that comes to them in this order."""
    own = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    said = subprocess.run([sys.executable, "-c", KEYS, order], env=own, capture_output=True, check=True)
    names: dict[str, str] = json.loads(said.stdout)
    return names


def test_a_kernel_has_one_name_whatever_was_compiled_before_it() -> None:
    """Triton 3.6, left alone, gives three of them two names; Triton 3.8 gives each one."""
    assert named("forwards") == named("backwards")


@triton.jit
def _inner():  # type: ignore[no-untyped-def]
    pass


@triton.jit
def _middle():  # type: ignore[no-untyped-def]
    _inner()


@triton.jit
def _outer():  # type: ignore[no-untyped-def]
    _inner()
    _middle()


def test_callees_are_named_first(monkeypatch: pytest.MonkeyPatch) -> None:
    came = []

    def cache_key(function: Any) -> str:
        came.append(function.__name__)
        function.hash = "known"
        return "known"

    monkeypatch.setattr(keys.JITFunction, "cache_key", property(cache_key))
    keys.settle(_outer)
    keys.settle(_outer)
    assert came == ["_inner", "_middle", "_outer"]


def test_binaries_are_named_by_dates_and_sizes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(keys.triton, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "_C").mkdir()
    library = tmp_path / "_C/libtriton.so"
    library.write_bytes(b"code")
    key = keys._key.__wrapped__
    first = key()
    assert first.startswith(keys.triton.__version__)
    assert key() == first
    (tmp_path / "_C/notes.txt").write_text("no code")
    assert key() == first
    os.utime(library, ns=(1, 1))
    assert key() != first
    library.write_bytes(b"more code")
    os.utime(library, ns=(1, 1))
    assert len({first, key()}) == 2


def test_tritons_own_key_stays_for_others() -> None:
    """Those who compile in another thread at the same time, or later."""
    key = keys._ours_by_dates(lambda: "Triton's own")
    with keys.by_dates(), ThreadPoolExecutor(1) as other:
        assert key() == keys._key()
        assert other.submit(key).result() == "Triton's own"
    assert key() == "Triton's own"
    assert keys.kept.triton_key.__wrapped__() != keys._key()

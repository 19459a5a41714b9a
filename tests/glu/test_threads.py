"""A thread that Python did not make, held and held again."""

from __future__ import annotations

import ctypes
import sys

import pytest

pytest.importorskip("torch")

from rung.glu import threads

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="starts a thread of the C library"),
]


def test_a_thread_of_c_is_held_once() -> None:
    seen: list[bool] = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def run(_: object) -> None:
        for _ in range(3):
            threads.stay_known()
            seen.append(threads._LOCAL.held)

    library, thread = ctypes.CDLL(None), ctypes.c_ulong()
    assert library.pthread_create(ctypes.byref(thread), None, run, None) == 0
    assert library.pthread_join(thread, None) == 0
    assert seen == [True] * 3
    assert not hasattr(threads._LOCAL, "held")  # this thread is another one

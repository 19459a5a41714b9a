"""Families that another package registers under the entry point group `rung.names`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, cast

import pytest

from rung.names import Decoded, Kind, decode, registry


class Entry:
    """What Rung uses of `importlib.metadata.EntryPoint`."""

    def __init__(self, name: str, target: Any) -> None:
        self.name, self.target, self.value = name, target, f"package:{name}"

    def load(self) -> Any:
        if isinstance(self.target, Exception):
            raise self.target
        return self.target


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def with_entries(**targets: Any) -> None:
        def entry_points(*, group: str) -> list[Entry]:
            assert group == "rung.names"
            return [Entry(name, target) for name, target in targets.items()]

        monkeypatch.setattr(registry, "entry_points", entry_points)
        registry.forget()

    yield with_entries
    monkeypatch.undo()
    registry.forget()


def house_gemm(name: str) -> Decoded | None:
    return Decoded(name, "house", "gemm", {"tile": [8, 8]}) if name.startswith(("house_", "volta_")) else None


def families(*names: str) -> list[str]:
    return [decode(name).family for name in names]


def test_a_registered_family_decodes_its_own_names(register: Any) -> None:
    register(house=house_gemm)
    assert decode("house_8x8") == Decoded("house_8x8", "house", "gemm", {"tile": [8, 8]})
    assert decode("ampere_sgemm_128x64_tn").family == "cublas"


def test_a_registered_family_goes_first(register: Any) -> None:
    register(house=house_gemm)
    assert decode("volta_sgemm_128x64_nn").family == "house"


def test_a_family_that_cannot_be_loaded_is_left_out_with_one_warning(register: Any) -> None:
    register(broken=ImportError("no module named nonsense"), house=house_gemm)
    with pytest.warns(RuntimeWarning, match="'broken'.*no module named nonsense") as caught:
        assert families("house_8x8", "house_9x9") == ["house", "house"]
    assert len(caught) == 1


def test_a_family_that_fails_is_passed_over_and_warned_of_once(register: Any) -> None:
    def fails(name: str) -> Decoded | None:
        raise KeyError(name)

    register(fails=fails, house=house_gemm)
    with pytest.warns(RuntimeWarning, match="fails.* is passed over: KeyError") as caught:
        assert families("house_8x8", "volta_sgemm_128x64_nn", "nonsense") == ["house", "house", "unknown"]
    assert len(caught) == 1


@pytest.mark.parametrize("answer", ["a text", Decoded("n", "f", cast("Kind", "no such kind"))])
def test_an_answer_that_is_none_is_a_failure(register: Any, answer: Any) -> None:
    register(odd=lambda name: answer)
    with pytest.warns(RuntimeWarning, match="is passed over"):
        assert decode("volta_sgemm_128x64_nn").family == "cublas"


def test_a_family_can_neither_rename_a_kernel_nor_call_it_a_copy(register: Any) -> None:
    register(bold=lambda name: Decoded("other name", "bold", "copy"))
    assert decode("k", "kernel") == Decoded("k", "bold", "other")
    assert decode("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy").family == "memcpy"


def test_without_entry_points_nothing_is_said(register: Any) -> None:
    register()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode("volta_sgemm_128x64_nn").family == "cublas"

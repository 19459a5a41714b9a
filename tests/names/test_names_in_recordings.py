"""Every kernel in the project's own recordings is of a family Rung knows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rung.names import decode
from rung.trace import read

RECORDINGS = Path(__file__).parents[3] / "shared" / "traces"
DEVICE_EVENTS = ("kernel", "gpu_memcpy", "gpu_memset")


def device_events() -> dict[tuple[str, str], str]:
    """(name, category) of every device event of the recordings, and a file it is in."""
    found: dict[tuple[str, str], str] = {}
    for folder in ("h200", "h200_ranks"):
        for path in sorted((RECORDINGS / folder).glob("*.json.gz")):
            for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]:
                if event.get("cat") in DEVICE_EVENTS:
                    found.setdefault((event["name"], event["cat"]), path.name)
    return found


@pytest.fixture(scope="module")
def events() -> dict[tuple[str, str], str]:
    if not (RECORDINGS / "h200").is_dir():
        pytest.skip(f"no recordings at {RECORDINGS}: they are shared beside the checkout")
    return device_events()


def test_no_kernel_is_of_an_unknown_family(events: dict[tuple[str, str], str]) -> None:
    unknown = {key: path for key, path in events.items() if decode(*key).family == "unknown"}
    assert not unknown
    assert len(events) > 80


def test_copies_and_memsets_are_those_of_their_category(events: dict[tuple[str, str], str]) -> None:
    expected = {"kernel": None, "gpu_memcpy": "copy", "gpu_memset": "memset"}
    for name, category in events:
        kind = decode(name, category).kind
        assert (kind if kind in ("copy", "memset") else None) == expected[category], name


def test_gemms_of_the_recordings_have_a_tile_or_are_vectors(events: dict[tuple[str, str], str]) -> None:
    gemms = [decode(*key) for key in events if decode(*key).kind == "gemm"]
    assert gemms
    assert [gemm.name for gemm in gemms if "tile" not in gemm.fields and "gemv" not in gemm.fields] == []


def is_transposed(strides: list[int]) -> bool:
    """Of a matrix whose rows are contiguous in the other order."""
    return strides[-1] != 1 and strides[-2] == 1


@pytest.mark.parametrize(
    "recording", ["03_mlp_eager", "07_mlp_train_eager", "01_matmul_add_4096_bf16_warm_eager"]
)
def test_the_layout_letters_of_nvjet_follow_the_strides_of_the_matrices(recording: str) -> None:
    """PyTorch is row-major, BLAS column-major: the second matrix is BLAS's A, so its letter comes first."""
    path = RECORDINGS / "h200" / f"{recording}.json.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there: the recordings are shared beside the checkout")
    checked = 0
    for kernel in read(path).kernels:
        if kernel.family != "nvjet" or kernel.op is None:
            continue
        bias = 1 if kernel.op.name == "aten::addmm" else 0
        first, second = kernel.op.strides[bias : bias + 2]
        letters = "".join("T" if is_transposed(strides) else "N" for strides in (second, first))
        assert kernel.decoded.fields["layout"][:2] == letters
        checked += 1
    assert checked >= 3

"""What devices can do at most: the table, what was measured, which of them counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rung.insight import ceilings
from rung.insight.ceilings import Ceiling, ceiling_for, ceiling_of, data_sheet, file_name, store
from rung.insight.peaks import DTYPES, SHEETS, SOURCES, Sheet, sheet_of
from tracelib import annotation, kernel, launch, op, read

MEASURED = Ceiling("Test GPU", 2e12, {"bf16": 400e12}, 100, "measured on this device by hand")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNG_NO_CACHE", "0")
    monkeypatch.setenv("RUNG_CACHE_DIR", str(tmp_path))
    return tmp_path / "ceilings"


class TestSheets:
    @pytest.mark.parametrize(
        ("device", "model"),
        [
            ("NVIDIA A100-SXM4-80GB", "A100-SXM-80GB"),
            ("A100-SXM4-40GB", "A100-SXM-40GB"),
            ("NVIDIA A100 80GB PCIe", "A100-PCIe-80GB"),
            ("NVIDIA H100 80GB HBM3", "H100-SXM"),
            ("NVIDIA H100 NVL", "H100-NVL"),
            ("NVIDIA H200", "H200"),
            ("NVIDIA H200 NVL", "H200-NVL"),
            ("NVIDIA B200", "B200"),
            ("NVIDIA L4", "L4"),
            ("NVIDIA L40S", "L40S"),
            ("NVIDIA GeForce RTX 3090", "RTX-3090"),
            ("NVIDIA GeForce RTX 5090", "RTX-5090"),
            ("Tesla V100-SXM2-16GB", "V100-SXM"),
            ("Tesla V100S-PCIE-32GB", "V100S"),
            ("Tesla T4", "T4"),
            ("AMD Instinct MI210", "MI210"),
            ("AMD Instinct MI250X", "MI250X"),
            ("AMD Instinct MI300X VF", "MI300X"),
        ],
    )
    def test_names_as_traces_carry_them(self, device: str, model: str) -> None:
        sheet = sheet_of(device)
        assert sheet is not None
        assert sheet.model == model

    @pytest.mark.parametrize(
        "device",
        [
            *(
                "NVIDIA L40",
                "NVIDIA GeForce RTX 3090 Ti",
                "NVIDIA GeForce RTX 4090 Laptop GPU",
                "NVIDIA GB200",
            ),
            *(
                "NVIDIA GeForce RTX 4090 D",
                "AMD Instinct MI250X / MI250",
                "NVIDIA A100-PG509-200",
                "AMD EPYC",
            ),
            "",
        ],
    )
    def test_another_device_is_not_taken_for_one_of_a_like_name(self, device: str) -> None:
        assert sheet_of(device) is None
        assert data_sheet(device) is None

    @pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.model)
    def test_rates_are_dense_and_in_order(self, sheet: Sheet) -> None:
        """A narrower dtype is never slower; fp8 with sparsity would be four times bf16, not two."""
        rates = sheet.flop_per_s
        matrix = [rates[dtype] for dtype in ("fp32", "tf32", "bf16", "fp8") if dtype in rates]
        assert matrix == sorted(matrix)
        if "fp8" in rates:
            assert rates["fp8"] / rates["bf16"] == pytest.approx(2, rel=0.03)
        assert set(rates) <= set(DTYPES)

    @pytest.mark.parametrize(
        ("model", "ghz", "flop_a_clock"),
        [
            ("V100-SXM", 1.53, 1024),
            ("T4", 1.59, 1024),
            ("A100-SXM-80GB", 1.41, 2048),
            ("H100-SXM", 1.83, 4096),
            ("H100-PCIe", 1.62, 4096),
            ("H200", 1.83, 4096),
            ("L4", 2.04, 1024),
            ("L40S", 2.52, 1024),
            ("RTX-3090", 1.695, 512),
            ("RTX-4090", 2.52, 512),
            ("RTX-5090", 2.407, 512),
            ("MI210", 1.7, 1024),
            ("MI250", 1.7, 1024),
            ("MI250X", 1.7, 1024),
            ("MI300X", 2.1, 2048),
        ],
    )
    def test_fp16_is_multiprocessors_times_clock_times_what_one_does(
        self, model: str, ghz: float, flop_a_clock: int
    ) -> None:
        """Boost clocks, and dense fp16 FLOP a clock that the architectures' papers give for an SM or CU."""
        (sheet,) = (sheet for sheet in SHEETS if sheet.model == model)
        by_hand = sheet.multiprocessors * ghz * 1e9 * flop_a_clock
        assert sheet.flop_per_s["fp16"] == pytest.approx(by_hand, rel=0.015)

    def test_each_source_is_used_and_an_address(self) -> None:
        assert {sheet.source for sheet in SHEETS} == set(SOURCES.values())
        assert all(source.startswith("https://") for source in SOURCES.values())

    def test_ridges(self) -> None:
        """312 / 2.039 and 989.4 / 4.8 FLOP a byte."""
        a100, h200 = data_sheet("NVIDIA A100-SXM4-80GB"), data_sheet("NVIDIA H200")
        assert a100 is not None and h200 is not None
        assert a100.ridge("bf16") == pytest.approx(153.0, abs=0.1)
        assert h200.ridge("bf16") == pytest.approx(206.1, abs=0.1)
        assert a100.ridge("fp8") is None


class TestMeasured:
    def test_what_was_measured_here_comes_first(self, kept: Path) -> None:
        assert ceiling_for("NVIDIA H200") == ceilings._measured(ceilings.SHIPPED / "nvidia-h200.json")
        mine = replace(MEASURED, device="NVIDIA H200")
        assert store(mine) == kept / "nvidia-h200.json"
        assert ceiling_for("NVIDIA H200") == mine

    def test_a_listed_device_has_its_data_sheet(self, kept: Path) -> None:
        assert ceiling_for("NVIDIA B200") == data_sheet("NVIDIA B200")
        assert ceiling_for("Test GPU") is None

    def test_measuring_one_dtype_keeps_the_others(self, kept: Path) -> None:
        store(MEASURED)
        store(replace(MEASURED, bytes_per_s=3e12, flop_per_s={"fp16": 300e12}))
        found = ceiling_for("Test GPU")
        assert found is not None
        assert (found.bytes_per_s, found.flop_per_s) == (3e12, {"bf16": 400e12, "fp16": 300e12})

    def test_without_the_cache_nothing_is_kept_or_found(
        self, kept: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store(MEASURED)
        monkeypatch.setenv("RUNG_NO_CACHE", "1")
        assert ceiling_for("Test GPU") is None
        assert store(MEASURED) is None

    def test_a_folder_that_cannot_be_written(self, kept: Path) -> None:
        kept.write_text("a file in its place")
        assert store(MEASURED) is None

    @pytest.mark.parametrize("text", ["", "{}", '{"device": 3}', "not JSON"])
    def test_a_damaged_file_is_as_good_as_none(self, kept: Path, text: str) -> None:
        kept.mkdir()
        (kept / file_name("NVIDIA B200")).write_text(text)
        assert ceiling_for("NVIDIA B200") == data_sheet("NVIDIA B200")

    def test_two_devices_never_share_a_file(self) -> None:
        assert file_name("NVIDIA H200") == "nvidia-h200.json"
        assert file_name("NVIDIA H200 NVL") != file_name("NVIDIA H200")

    def test_the_shipped_one_is_of_an_h200(self) -> None:
        """Copies between 80 % and all of the data sheet's bandwidth; bf16 products within 5 % of 809 TFLOP/s,
        what an 8192 product was measured at before."""
        shipped, sheet = ceiling_for("NVIDIA H200"), data_sheet("NVIDIA H200")
        assert shipped is not None and sheet is not None
        assert shipped.source.startswith("measured on an NVIDIA H200")
        assert 0.8 < shipped.bytes_per_s / sheet.bytes_per_s < 1
        assert shipped.flop_per_s["bf16"] == pytest.approx(809e12, rel=0.05)
        assert all(shipped.flop_per_s[dtype] < rate for dtype, rate in sheet.flop_per_s.items())


class TestOfATrace:
    def test_by_the_device_it_names(self) -> None:
        gpu = {"id": 0, "name": "NVIDIA B200"}
        work = [annotation("fwd", 0, 9), launch(1, 1, 1), kernel("k", 3, 4, 1)]
        assert ceiling_of(read(*work, device=gpu)) == data_sheet("NVIDIA B200")
        assert ceiling_of(read(*work)) is None

    def test_on_a_cpu_by_what_the_recorder_wrote(self, kept: Path) -> None:
        trace = read(op("aten::mm", 0, 9), device=None, rung={"device_name": "Test CPU"})
        assert ceiling_of(trace) is None
        mine = replace(MEASURED, device="Test CPU")
        store(mine)
        assert ceiling_of(trace) == mine


def test_a_file_says_what_it_holds(kept: Path) -> None:
    file = store(MEASURED)
    assert file is not None
    assert json.loads(file.read_text()) == {
        "device": "Test GPU",
        "bytes_per_s": 2e12,
        "flop_per_s": {"bf16": 400e12},
        "multiprocessors": 100,
        "source": "measured on this device by hand",
    }

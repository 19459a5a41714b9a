"""`rung_record` on a CPU, and where the machine lacks what is asked for."""

from __future__ import annotations

import shutil

import pytest

torch = pytest.importorskip("torch")

from rung.ladder import shipped  # noqa: E402

pytestmark = pytest.mark.torch


def test_it_records_and_compares(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import torch
        from rung import guess
        def work(x): return torch.relu(x @ x)
        def test_one(rung_record):
            recording = rung_record(work, torch.ones(4, 4), region="toy", active=2)
            assert recording == guess(kernels=2, gemm=1, region="toy")
            assert len(recording.trace.regions) == 2
            again = rung_record(work, torch.ones(4, 4))
            assert again.path != recording.path
            assert recording == guess(kernels=2, region="toy")
            assert recording == guess(kernels=1)
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*toy (2 instances): kernels == 1, but got 2, 2", "*aten::mm*<-- breaks kernels == 1"]
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_an_absent_device_skips_with_its_reason_unless_a_trace_is_given(pytester: pytest.Pytester) -> None:
    shutil.copy(shipped.RECORDINGS / "h200" / "mlp" / "eager.json.gz", pytester.path)
    pytester.makepyfile(
        """
        import pytest, torch
        from rung import guess
        @pytest.mark.rung(device="cuda")
        def test_skipped(rung_record):
            rung_record(torch.relu, torch.ones(2))
        def test_recorded(rung_record):
            recording = rung_record(torch.relu, torch.ones(2), device="cuda", trace="eager.json.gz")
            assert recording == guess(kernels=5)
            assert recording.metadata["device_name"] == "NVIDIA H200"
        """
    )
    result = pytester.runpytest("-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*rung: device cuda was asked for, but *--device cpu*"])


def test_a_variant_that_is_not_for_this_work_skips(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import torch
        def test_liger(rung_record):
            rung_record(torch.relu, torch.ones(2), variant="liger")
        def test_unknown(rung_record):
            rung_record(torch.relu, torch.ones(2), variant="fast")
        """
    )
    result = pytester.runpytest("-rs")
    result.assert_outcomes(skipped=1, failed=1)
    result.stdout.fnmatch_lines(
        ["rung: variant 'fast' is not known*", "SKIPPED*rung: variant liger cannot be recorded*"]
    )

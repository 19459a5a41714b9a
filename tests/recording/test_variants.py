"""Variants: what each runs, what it notes, and why one is left out."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.ladder.modules import GeGLUMLP  # noqa: E402
from rung.recording import Recording, Settings, Skipped, make_work, record, record_work  # noqa: E402
from tracefile import files, load, spans, within  # noqa: E402

pytestmark = pytest.mark.torch

KERNEL = """
from torch import nn

class LigerGEGLUMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, hidden = config.hidden_size, config.intermediate_size
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        gate = nn.functional.gelu(self.gate_proj(x), approximate="tanh")
        return SCALE * self.down_proj(gate * self.up_proj(x))
"""

RECORD_LIGER = """
import json, sys
from pathlib import Path
from rung.ladder import record_rung
from rung.recording import Settings, Skipped
(result,) = record_rung("mlp", variants=["liger"], device="cpu", settings=Settings(out=Path(sys.argv[1])))
if isinstance(result, Skipped):
    print(json.dumps({"reason": result.reason}))
else:
    print(json.dumps({**result.metadata["notes"], **result.metadata["against_eager"]}))
"""

RECORD_RUNG = """
import json, sys, torch
from rung.ladder.modules import GeGLUMLP
from rung.recording import record
torch.manual_seed(0)
recording = record(GeGLUMLP(16, 32), torch.randn(4, 16), variant="rung", out=sys.argv[1])
made = recording.metadata
print(json.dumps({**made["notes"], **made["against_eager"], "emulated": made["emulated"]}))
"""


def mlp() -> tuple[Any, Any]:
    torch.manual_seed(0)
    return GeGLUMLP(16, 32), torch.randn(4, 16)


def local_kernel(folder: Path, scale: str) -> Path:
    """A kernel repository as the `kernels` client lays it out, built for what this torch is made for."""
    made_for = "cpu" if torch.version.cuda is None else "cuda"
    build = folder / "build" / f"torch-{made_for}"
    build.mkdir(parents=True)
    about = {
        "id": f"_tiny_{scale.replace('.', '')}",
        "name": "liger-kernels",
        "version": 1,
        "license": "apache-2.0",
    }
    (build / "metadata.json").write_text(
        json.dumps({**about, "python-depends": [], "backend": {"type": made_for}})
    )
    (build / "__init__.py").write_text("from . import layers\n")
    (build / "layers.py").write_text(KERNEL.replace("SCALE", scale))
    return folder


def record_liger(tmp_path: Path, endpoint: str, **environment: str) -> tuple[dict[str, Any], float]:
    """Records the liger variant in a process of its own (client and hub read their settings at import)."""
    settings = {
        "TRITON_INTERPRET": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_ENDPOINT": endpoint,
        **environment,
    }
    kept = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RECORD_LIGER, str(tmp_path / "traces")],
        env={**kept, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), time.monotonic() - start


def test_compiled_shows_its_fused_loop_and_agrees_with_eager(tmp_path: Path) -> None:
    module, x = mlp()
    eager, compiled = record_work(make_work(module, (x,), {}), ["eager", "compiled"], Settings(out=tmp_path))
    assert isinstance(eager, Recording)
    assert isinstance(compiled, Recording)

    def compute(recording: Recording) -> list[str]:
        trace = load(recording.path)
        names = within(trace, spans(trace, "ge_glumlp_fwd")[1])
        return [n for n in names if n in ("aten::mm", "aten::gelu", "aten::mul") or "fused" in n]

    assert compute(eager) == ["aten::mm", "aten::mm", "aten::gelu", "aten::mul", "aten::mm"]
    names = compute(compiled)
    assert names.count("aten::mm") == 3
    (fused,) = (name for name in names if name != "aten::mm")
    assert "cpp_fused" in fused
    assert "gelu_mul" in fused
    assert compiled.metadata["notes"] == {"compile_mode": "default"}
    assert compiled.metadata["against_eager"]["relative_error"] < 1e-5


def test_cold_compiled_has_the_compilation_in_its_first_step(tmp_path: Path) -> None:
    module, x = mlp()
    trace = load(record(module, x, variant="compiled", cold=True, out=tmp_path, name="mlp").path)
    first, *rest = spans(trace, "mlp_fwd")
    assert len(rest) == 2
    assert not any("compile_inner" in name for region in rest for name in within(trace, region))
    (compiling,) = spans(trace, "_compile.compile_inner (dynamo_timed)")
    assert first["ts"] <= compiling["ts"]
    assert compiling["ts"] + compiling["dur"] <= first["ts"] + first["dur"]
    assert first["dur"] < 2 * compiling["dur"]  # 1.004 times as long, the other two a thousandth


def test_compiled_recordings_do_not_meet_each_other(tmp_path: Path) -> None:
    """Without a reset the second would be region 1/0 or carry the first's recompilations."""
    for size in (3, 5):
        recording = record(
            torch.nn.Linear(4, 4), torch.ones(size, 4), variant="compiled", out=tmp_path, name="n"
        )
        names = {e["name"] for e in spans(load(recording.path)) if e["name"].startswith("Torch-Compiled")}
        assert names == {"Torch-Compiled Region: 0/0"}


def test_tuned_variants_say_why_they_are_left_out(tmp_path: Path) -> None:
    module, x = mlp()
    liger, rung = record_work(make_work(module, (x,), {}), ["liger", "rung"], Settings(out=tmp_path))
    assert isinstance(liger, Skipped)
    assert "need a CUDA device" in liger.reason
    assert isinstance(rung, Skipped)
    assert rung.reason.startswith("there is no kernel for a cpu device: Rung's kernels need a CUDA device")
    assert files(tmp_path) == []


@pytest.mark.parametrize("bias", [True, False])
def test_tuned_variants_take_only_a_glu_mlp_without_bias(tmp_path: Path, bias: bool) -> None:
    module, x = mlp()
    if bias:
        module.up_proj = torch.nn.Linear(16, 32)
    else:
        del module.up_proj
    (skipped,) = record_work(make_work(module, (x,), {}), ["liger"], Settings(out=tmp_path))
    assert isinstance(skipped, Skipped)
    assert ("must have no bias" if bias else "only a GLU MLP") in skipped.reason


def test_rung_variant_copies_the_weights(tmp_path: Path) -> None:
    """Under Triton's interpreter, in a process of its own."""
    pytest.importorskip("triton")
    done = subprocess.run(
        [sys.executable, "-c", RECORD_RUNG, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["source"] == "rung.glu"
    assert said["emulated"] is True
    assert said["relative_error"] < 1e-6


def test_liger_through_the_kernels_client(tmp_path: Path) -> None:
    pytest.importorskip("kernels")
    repository = local_kernel(tmp_path / "repo", "1.0")
    local = f"kernels-community/liger-kernels={repository}"
    said, _ = record_liger(tmp_path, "http://127.0.0.1:9", LOCAL_KERNELS=local)
    assert said == {
        "source": "kernels-community/liger-kernels version 1",
        "exchanged": {"LigerGEGLUMLP": 1},
        "max_abs_error": 0.0,
        "relative_error": 0.0,
    }
    assert (tmp_path / "traces/mlp/liger.json.gz").is_file()


def test_kernel_with_another_result_is_no_recording(tmp_path: Path) -> None:
    pytest.importorskip("kernels")
    local = f"kernels-community/liger-kernels={local_kernel(tmp_path / 'repo', '1.5')}"
    said, _ = record_liger(tmp_path, "http://127.0.0.1:9", LOCAL_KERNELS=local)
    assert said == {"reason": "its result is off by 0.5 of eager's norm: not the same work"}
    assert not (tmp_path / "traces").exists()


def test_silent_hub_costs_seconds_and_falls_back_to_the_installed_kernel(tmp_path: Path) -> None:
    pytest.importorskip("kernels")
    pytest.importorskip("liger_kernel")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said, seconds = record_liger(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")
    # Triton 3.8's interpreter has no tanh; what matters is which Liger was found, and how soon.
    assert "liger-kernel" in said.get("source", said.get("reason", ""))
    assert seconds < 30


def test_neither_hub_nor_installed(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    for name in ("kernels", "liger_kernel"):
        (blocked / name).mkdir(parents=True)
        (blocked / name / "__init__.py").write_text(f"raise ImportError('no {name} here')\n")
    said, _ = record_liger(
        tmp_path, "http://127.0.0.1:9", PYTHONPATH=os.pathsep.join([str(blocked), *sys.path])
    )
    hub = "not from the hub (ImportError: no kernels here)"
    installed = "not installed (ImportError: no liger_kernel here): pip install liger-kernel"
    assert said == {"reason": f"{hub} and {installed}"}

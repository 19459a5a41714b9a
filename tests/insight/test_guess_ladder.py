"""The ladder keeps to its own guesses, tests/guesses/SCENE-VARIANT.guess.toml: recordings, and a CPU."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rung.insight.guess import load
from rung.ladder import shipped
from rung.ladder.workloads import LADDER
from rung.trace import read

GUESSES = Path(__file__).parent.parent / "guesses"
SHIPPED = sorted((shipped.RECORDINGS / "h200").glob(f"*/*{shipped.SUFFIX}"))


def guess_file(scene: str, variant: str) -> Path:
    """A scene's, whatever its size and however warm."""
    return GUESSES / f"{re.sub('(-[0-9]+)?(-cold)?$', '', scene)}-{variant}.guess.toml"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_what_ships_keeps_to_its_guess(path: Path) -> None:
    file = guess_file(path.parent.name, path.name.removesuffix(shipped.SUFFIX))
    verdict = load(file).check(read(path))
    assert verdict, f"{file}\n{verdict}"


def test_a_variant_breaks_the_guess_of_another() -> None:
    eager = next(path for path in SHIPPED if path.parent.name == "mlp" and path.name.startswith("eager"))
    verdict = load(guess_file("mlp", "compiled")).check(read(eager))
    broken = {check.key for check in verdict.checks if not check.held}
    assert broken == {"kernels", "order", "kernel:triton_poi_*", "launches"}


@pytest.mark.torch
@pytest.mark.parametrize("variant", ["eager", "compiled"])
@pytest.mark.parametrize("name", LADDER)
def test_a_cpu_keeps_to_the_same_guess(name: str, variant: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from rung.recording import record

    rung = LADDER[name]
    if name == "model":
        pytest.importorskip("transformers")
    built = rung.build(rung.cpu[0], torch.device("cpu"), torch.bfloat16)
    recording = record(built.fn, *built.args, variant=variant, region=rung.region, out=tmp_path)
    verdict = load(guess_file(rung.folder(rung.cpu[0]), variant)).check(recording.trace)
    assert verdict, str(verdict)


@pytest.mark.torch
def test_rungs_own_module_runs_its_reference_on_a_cpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    glu = pytest.importorskip("rung.glu", reason="rung.glu is not part of this release")
    from rung.recording import record

    module = glu.GLUMLP(128, 512, dtype=torch.bfloat16)
    recording = record(module, torch.randn(8, 32, 128, dtype=torch.bfloat16), region="mlp_fwd", out=tmp_path)
    verdict = load(guess_file("mlp", "rung")).check(recording.trace)
    assert verdict, str(verdict)


def test_rungs_own_module_is_expected_to_run_two_kernels_on_an_h200() -> None:
    """Beside its recording, once that ships: see `test_what_ships_keeps_to_its_guess`."""
    wanted = {
        e.key: str(e.want) for e in load(guess_file("mlp", "rung")).expectations if e.scope.section == "h200"
    }
    assert wanted["kernels"] == "== 2"

"""What came back, put where it was asked for: all of it or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rung.elsewhere.back import take, written
from rung.errors import MachineError


def came(folder: Path, said: Any, *files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "result.json").write_text(json.dumps(said))
    return folder


def climbed(*paths: str | None) -> dict[str, Any]:
    return {"variants": [{"name": "eager", "trace": path} for path in paths], "rung": "mlp"}


def test_traces_and_tables_land_below_out(tmp_path: Path) -> None:
    folder = came(
        tmp_path / "b", climbed("traces/mlp/eager.json", None), "traces/mlp/eager.json", "traces/mlp/e.txt"
    )
    out = tmp_path / "out"
    assert take(folder, out) == climbed(f"{out}/mlp/eager.json", None)
    assert sorted(p.name for p in (out / "mlp").iterdir()) == ["e.txt", "eager.json"]
    assert (out / "mlp" / "eager.json").read_text() == "traces/mlp/eager.json"


def test_an_earlier_recording_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "out" / "mlp").mkdir(parents=True)
    (tmp_path / "out" / "mlp" / "eager.json").write_text("old")
    take(came(tmp_path / "b", climbed("traces/mlp/eager.json"), "traces/mlp/eager.json"), tmp_path / "out")
    assert (tmp_path / "out" / "mlp" / "eager.json").read_text() == "traces/mlp/eager.json"


def test_recorded_artifacts_are_named(tmp_path: Path) -> None:
    said = {"artifacts": [{"path": "traces/f/eager.json.gz"}, {"path": "traces/f/eager.txt"}], "skipped": []}
    assert written(came(tmp_path, said)) == ["traces/f/eager.json.gz", "traces/f/eager.txt"]


def test_what_is_missing_keeps_everything_away(tmp_path: Path) -> None:
    folder = came(tmp_path / "b", climbed("traces/a.json", "traces/b.json"), "traces/a.json")
    with pytest.raises(MachineError, match=r"it ran, but traces/b\.json did not come back"):
        take(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "said",
    [
        [1],
        {"variants": 3},
        {"artifacts": [{}]},
        climbed("/etc/passwd"),
        climbed("traces/../../x"),
        climbed(""),
    ],
)
def test_another_answer_is_refused(said: Any, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"what came back as result\.json is no answer of Rung"):
        take(came(tmp_path / "b", said), tmp_path / "out")
    assert not (tmp_path / "out").exists()

"""Times of Triton's interpreter: flagged wherever they show, and never a reason to call a variant faster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rung.insight.diff import diff
from rung.insight.forward import forward
from rung.ladder import MLP
from rung.ladder.shapes import Shapes, Visit
from rung.ladder.story import Source, Story, tell
from rung.ladder.sweep import Point, Sweep
from rung.ladder.winners import answers
from rung.recording import Recording
from rung.recording.machine import interpreted
from rung.show.as_json import story_json, trace_json
from rung.show.climb import pages
from rung.show.diff import headings
from rung.show.plain import EMULATED
from rung.show.read import heading
from rung.show.recorded import recorded_json, recorded_line
from rung.show.timing import shapes_page, sweep_page
from shown import shown
from tracelib import annotation, op, read, write


def forwards(took: int) -> list[Any]:
    """Three calls, each of one op."""
    starts = [1000 * i for i in range(3)]
    return [e for at in starts for e in (annotation("mlp_fwd", at, took), op("aten::mm", at, took - 2))]


def made(emulated: bool) -> dict[str, Any]:
    return {"device_name": "CPU", **({"emulated": True} if emulated else {})}


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Emulated, rung is the fastest: 10 µs against 100 and 80."""
    found = []
    for name, took in (("eager", 100), ("compiled", 80), ("rung", 10)):
        path = write(tmp_path / f"{name}.json", *forwards(took), device=None, rung=made(name == "rung"))
        found.append(Source("mlp", name, path))
    return tell(MLP, found)


def test_a_climb_says_so_and_names_no_winner_by_it(story: Story) -> None:
    assert story.scenes[0].outcome == "by the clock compiled is fastest, 80.0 µs (-20 % against eager)."
    text = "\n".join(shown(part) for part in pages(story, ()))
    (line,) = (line for line in text.splitlines() if EMULATED in line)
    assert line.startswith("rung ")
    assert "rung, emulated" in text
    told = story_json(story, ())["variants"]
    assert [one.get("emulated", False) for one in told] == [False, False, True]
    assert told[2]["limit"] is None


def test_two_variants_of_which_one_is_emulated_have_no_outcome(story: Story) -> None:
    (scene,) = story.scenes
    assert replace(scene, chapters=scene.chapters[::2]).outcome is None


def test_a_trace_says_so_later_on() -> None:
    emulated, real = (read(*forwards(took), device=None, rung=made(took == 90)) for took in (90, 10))
    assert EMULATED in shown(heading(emulated))
    assert EMULATED not in shown(heading(real))
    assert trace_json(emulated, [], [])["trace"]["emulated"] is True
    assert "emulated" not in trace_json(real, [], [])["trace"]
    found = diff(emulated, real)
    assert EMULATED in shown(headings(found)[0])
    assert not any("µs" in sentence for sentence in found.changed)
    assert any("CPU a forward: 10.0 µs -> 90.0 µs" in s for s in diff(real, read(*forwards(90))).changed)
    assert forward(emulated).cpu_ns.median == 90_000


SWEEP = Sweep(
    rung="mlp",
    parameter="batch",
    values=(1,),
    parameters={},
    train=False,
    made={},
    variants=("eager", "rung"),
    sources={"rung": "rung.glu"},
    skipped={},
    points=(Point(1, "eager", 80, 80, None), Point(1, "rung", 8, 8, None)),
    regimes=(),
    emulated=("rung",),
)


def test_a_sweep_says_so_and_compares_none() -> None:
    assert answers(SWEEP) == ("Fastest by the clock: eager at batch 1.",)
    assert answers(SWEEP.only([1], ["rung"])) == ()
    assert SWEEP.only([1], ["eager"]).emulated == ()
    assert f"rung: {EMULATED}" in "\n".join(shown(part) for part in sweep_page(SWEEP, MLP))


def test_shapes_say_so() -> None:
    visit = Visit("rung", (1, 2), 9, 0, 0, 0, 0, 8)
    found = Shapes("mlp", ((1, 2),), {}, False, {}, {}, (visit,), ("rung",))
    assert f"rung: {EMULATED}" in "\n".join(shown(part) for part in shapes_page(found, MLP))
    assert found.only(["eager"]).emulated == ()


def test_a_recording_says_so(tmp_path: Path) -> None:
    about = {"schedule": {"cold": False, "warmup": 3, "active": 2}, "region": "mlp_fwd"}
    real = Recording("mlp", "eager", tmp_path / "a", tmp_path / "b", about)
    emulated = replace(real, variant="rung", metadata={**about, "emulated": True})
    assert recorded_line(real) == "recorded eager: 2 steps of mlp_fwd, after 3 warm-up calls"
    assert recorded_line(emulated).endswith(f"3 warm-up calls; {EMULATED}")
    flags = [one.get("emulated") for one in recorded_json([real, emulated])["artifacts"]]
    assert flags == [None, None, True, True]


def test_it_is_asked_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv("TRITON_INTERPRET", value)
        assert interpreted() is expected

"""The story of each rung, told from the shipped recordings and from the article's numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.errors import UsageError
from rung.insight.forward import instances
from rung.ladder import LINEAR, MATMUL_ADD, MLP, Rung, get_rung
from rung.ladder.shipped import recorded
from rung.ladder.story import Source, Story, tell

FUSED = "triton_poi_fused__unsafe_view_gelu_mul_0"
Counts = dict[str, tuple[int, int, int, int]]


def story(rung: Rung, collection: str, tmp_path: Path) -> Story:
    return tell(rung, recorded(rung, collection, tmp_path))


def counts(told: Story) -> Counts:
    """Kernels, copies, memsets and launches a forward."""
    return {
        f"{scene.name}/{c.variant}": (
            c.forward.kernels,
            c.forward.copies,
            c.forward.memsets,
            c.forward.launches,
        )
        for scene in told.scenes
        for c in scene.chapters
    }


@pytest.mark.parametrize(
    ("rung", "collection", "expected"),
    [
        (
            MATMUL_ADD,
            "h200",
            {
                "matmul-add-64-cold/eager": (2, 0, 0, 2),
                "matmul-add-64/eager": (2, 0, 0, 2),
                "matmul-add-64/compiled": (1, 1, 0, 2),
                "matmul-add-4096-cold/eager": (2, 0, 1, 3),
                "matmul-add-4096/eager": (2, 0, 1, 3),
                "matmul-add-4096/compiled": (1, 1, 1, 3),
            },
        ),
        (LINEAR, "h200", {"linear/eager": (1, 0, 0, 1), "linear/compiled": (1, 0, 0, 1)}),
        (
            MLP,
            "h200",
            {
                "mlp/eager": (5, 0, 2, 7),
                "mlp/compiled": (4, 0, 2, 6),
                "mlp/liger": (4, 0, 2, 6),
                "mlp/rung": (2, 0, 0, 2),
            },
        ),
        (
            get_rung("attention"),
            "h200",
            {
                "attention/eager": (5, 0, 1, 6),
                "attention/math": (13, 1, 2, 16),
                "attention/compiled": (5, 0, 1, 6),
            },
        ),
        (
            get_rung("block"),
            "h200",
            {
                "block/eager": (38, 0, 3, 41),
                "block/compiled": (13, 0, 3, 16),
                "block/liger": (14, 0, 3, 17),
                "block/rung": (35, 0, 1, 36),
            },
        ),
        (
            get_rung("model"),
            "h200",
            {
                "model-llama/eager": (106, 1, 7, 114),
                "model-llama/compiled": (35, 0, 7, 42),
                "model-llama/liger": (51, 1, 7, 59),
                "model-llama/rung": (100, 1, 3, 104),
            },
        ),
        (
            get_rung("mlp-graph-break"),
            "h200",
            {"mlp-graph-break/eager": (10, 1, 3, 14), "mlp-graph-break/compiled": (5, 1, 2, 8)},
        ),
        (
            MLP,
            "article",
            {"mlp/eager": (5, 0, 0, 5), "mlp/compiled": (4, 0, 0, 4), "mlp/liger": (4, 0, 0, 4)},
        ),
        (LINEAR, "article", {"linear/eager": (1, 0, 0, 1), "linear/compiled": (1, 0, 0, 1)}),
    ],
)
def test_counts(rung: Rung, collection: str, expected: Counts, tmp_path: Path) -> None:
    assert counts(story(rung, collection, tmp_path)) == expected


def test_a_training_step_is_another_scene_with_another_lesson(tmp_path: Path) -> None:
    told = tell(MLP, recorded(MLP, "h200", tmp_path, train=True))
    assert counts(told) == {
        "mlp-train/eager": (19, 0, 4, 23),
        "mlp-train/compiled": (15, 0, 4, 19),
        "mlp-train/liger": (16, 0, 4, 20),
        "mlp-train/rung": (10, 0, 1, 11),
    }
    assert told.lesson.startswith("Nine GEMMs")
    assert story(MLP, "h200", tmp_path).lesson == MLP.lesson


def test_new_shapes_compile_twice_more_and_dynamic_once_for_all(tmp_path: Path) -> None:
    """The calls take [64, 128], [64, 100], [3, 77] and these again: one that compiles takes hundreds of times
    as long."""
    (scene,) = story(get_rung("mlp-recompile"), "h200", tmp_path).scenes
    slow = {}
    for chapter in scene.chapters:
        calls = [call.cpu_ns for call in instances(chapter.forward.example.trace)]
        assert len(calls) == 6
        slow[chapter.variant] = [call > 100_000_000 for call in calls]
    # Eager's first call loads the library.
    assert slow["eager"] == [True, False, False, False, False, False]
    assert slow["compiled"] == [True, True, True, False, False, False]
    assert slow["dynamic"] == [True, False, False, False, False, False]


@pytest.mark.parametrize(
    ("rung", "variant", "expected"),
    [
        (MLP, "eager", ["gate", "up", "down"]),
        (MLP, "compiled", ["gate", "up", "down"]),
        (MLP, "liger", ["gate", "up", "down"]),
        (MLP, "rung", ["gate, up", "down"]),
        (get_rung("attention"), "eager", ["q", "k", "v", "o"]),
        (get_rung("block"), "compiled", ["q", "k", "v", "o", "gate", "up", "down"]),
        (get_rung("block"), "rung", ["q", "k", "v", "o", "gate, up", "down"]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_every_product_has_its_weights(rung: Rung, variant: str, expected: list[str], tmp_path: Path) -> None:
    (scene,) = tell(rung, recorded(rung, "h200", tmp_path, variants=[variant])).scenes
    (chapter,) = scene.chapters
    rows = zip(chapter.forward.rows, chapter.weights, strict=True)
    assert [weights for row, weights in rows if row.kind == "gemm"] == expected


def test_recorded_scenes_know_how_they_were_made(tmp_path: Path) -> None:
    (scene,) = story(MLP, "h200", tmp_path).scenes
    assert (scene.device, scene.drawn) == ("NVIDIA H200", False)
    assert scene.made["parameters"]["hidden"] == 3072
    assert not any(chapter.unpublished for chapter in scene.chapters)


@pytest.mark.parametrize("rung", [MATMUL_ADD, LINEAR, MLP], ids=lambda rung: rung.name)
def test_the_articles_scenes_are_drawn_and_know_what_it_does_not_print(rung: Rung, tmp_path: Path) -> None:
    for scene in story(rung, "article", tmp_path).scenes:
        assert scene.drawn
        assert scene.device == "NVIDIA A100-SXM4-80GB"
        assert all(chapter.unpublished for chapter in scene.chapters)


@pytest.mark.parametrize("collection", ["h200", "article"])
def test_the_mlp_fuses_gelu_and_mul_both_ways(collection: str, tmp_path: Path) -> None:
    (scene,) = story(MLP, collection, tmp_path).scenes
    compiled, liger, *_ = scene.diffs
    assert [fusion.into for fusion in compiled.fused] == [FUSED]
    assert [fusion.into for fusion in liger.fused] == ["_geglu_tanh_forward_kernel"]
    for diff in (compiled, liger):
        assert [trip.tensor_bytes for trip in diff.round_trips_removed] == [50_331_648]
        assert len([name for name in diff.same if "Memset" not in name]) == 3


def test_rungs_own_kernel_takes_in_two_gemms_the_gelu_and_the_mul(tmp_path: Path) -> None:
    """gate, up and gelu(gate), [8192, 3072] bf16 each, are neither written nor read back."""
    (scene,) = story(MLP, "h200", tmp_path).scenes
    diff = scene.diffs[-1]
    (fusion,) = diff.fused
    assert fusion.sources == ("aten::mm", "aten::mm", "aten::gelu", "aten::mul")
    assert fusion.into.startswith("rung_gate_up_hopper_gelu_tanh_")
    assert [trip.tensor_bytes for trip in diff.round_trips_removed] == [50_331_648] * 3
    gate_up = scene.chapters[-1].forward.rows[0]
    assert gate_up.work.flop == 2 * 38_654_705_664


@pytest.mark.parametrize("collection", ["h200", "article"])
def test_linear_is_one_kernel_either_way_with_its_bias_inside(collection: str, tmp_path: Path) -> None:
    (scene,) = story(LINEAR, collection, tmp_path).scenes
    (diff,) = scene.diffs
    assert (len(diff.same), diff.gone, diff.new, diff.fused) == (1, (), (), ())
    eager = scene.chapters[0]
    assert any("the bias rides in the GEMM's epilogue" in sentence for sentence in eager.remarks)
    assert eager.forward.launchless_ops["aten::t"] == 1


def test_small_matmul_add_is_overhead_and_big_is_not(tmp_path: Path) -> None:
    told = {scene.name: scene for scene in story(MATMUL_ADD, "h200", tmp_path).scenes}
    assert told["matmul-add-64"].chapters[0].bound.limit == "overhead-bound"
    assert told["matmul-add-64"].chapters[0].forward.gpu_idle_share > 0.9
    assert told["matmul-add-4096"].chapters[0].bound.limit == "compute-bound"
    cold = {
        name: scene.chapters[0].remarks[0].startswith("the first matmul_add takes ")
        for name, scene in told.items()
    }
    assert cold == {name: name.endswith("-cold") for name in told}


def test_compiled_matmul_add_copies_its_bias(tmp_path: Path) -> None:
    told = {scene.name: scene for scene in story(MATMUL_ADD, "h200", tmp_path).scenes}
    (copy,) = [row for row in told["matmul-add-4096"].chapters[1].forward.rows if row.category == "copy"]
    assert copy.work.nbytes == 33_554_432


def test_a_variant_without_a_trace_is_told_as_left_out(tmp_path: Path) -> None:
    found = [
        *recorded(MLP, "h200", tmp_path, variants=["eager"]),
        Source("mlp", "rung", None, "no kernel yet"),
    ]
    (scene,) = tell(MLP, found).scenes
    assert [chapter.variant for chapter in scene.chapters] == ["eager"]
    assert [(source.variant, source.skipped) for source in scene.skipped] == [("rung", "no kernel yet")]
    assert scene.diffs == ()


def test_a_scene_without_any_trace(tmp_path: Path) -> None:
    (scene,) = tell(MLP, [Source("mlp", "liger", None, "not installed")]).scenes
    assert (scene.chapters, scene.diffs, scene.device) == ((), (), None)


def test_the_outcome_names_the_winner_on_the_gpu_and_by_the_clock() -> None:
    """From the package's recordings: a kernel may save GPU time and lose it again on the CPU."""
    (scene,) = tell(MLP, recorded(MLP, "h200", Path())).scenes
    gpu = {c.variant: c.forward.gpu_busy_ns.median for c in scene.chapters}
    wall = {c.variant: c.forward.wall_ns.median for c in scene.chapters}
    assert scene.outcome is not None
    on_gpu, by_clock = scene.outcome.split("; ")
    assert on_gpu.startswith(f"on the GPU {min(gpu, key=gpu.__getitem__)} is fastest, ")
    assert by_clock.startswith(f"by the clock {min(wall, key=wall.__getitem__)} is fastest, ")


def test_the_outcome_names_who_is_within_the_spread() -> None:
    """One kernel of 2688, 2720, 2720 ns eager, 2688, 2689, 2689 compiled: none is surely less."""
    (scene,) = tell(LINEAR, recorded(LINEAR, "h200", Path())).scenes
    assert scene.outcome == (
        "on the GPU compiled is fastest, 2.69 µs (-1 % against eager), but eager is within the spread; "
        "by the clock eager is fastest, 113 µs."
    )


def test_a_mistyped_rung_has_a_neighbour() -> None:
    with pytest.raises(
        UsageError, match=r"'mpl': give matmul-add, .*, mlp-graph-break\. Did you mean 'mlp'\?$"
    ):
        get_rung("mpl")
    with pytest.raises(UsageError, match=r"give .*, mlp-graph-break\.$"):
        get_rung("stairs")


def test_drawn_traces_have_no_outcome(tmp_path: Path) -> None:
    assert all(scene.outcome is None for scene in tell(MLP, recorded(MLP, "article", tmp_path)).scenes)

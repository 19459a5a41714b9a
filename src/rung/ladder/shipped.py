"""Recordings that come with the package, for machines without a GPU; and the article's, drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rung.errors import UsageError
from rung.ladder import article
from rung.ladder.climb import COLD, TRAIN, check_variants
from rung.ladder.story import Source
from rung.ladder.values import Parameters, Rung

RECORDINGS = Path(__file__).parent / "recordings"
ARTICLE = "article"
SUFFIX = ".json.gz"
WARM = "-warm"


def collections() -> list[str]:
    """What `--recorded` can name: devices with recordings, and the article."""
    devices = sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()) if RECORDINGS.is_dir() else []
    return [*devices, ARTICLE]


def device_with(rung: Rung) -> str | None:
    """A device on which the rung was recorded, for machines that cannot; None where there is none."""
    devices = (one for one in collections() if one != ARTICLE)
    return next((one for one in devices if _shipped(rung, RECORDINGS / one)), None)


def recorded(
    rung: Rung,
    collection: str,
    folder: Path,
    *,
    parameters: Parameters | None = None,
    variants: Iterable[str] | None = None,
    warm: bool | None = None,
    train: bool = False,
) -> list[Source]:
    """The traces of a rung in a collection; drawn ones are written below `folder`.

    All of them, or those with these parameters, variants, and a warm-up (`warm`) or without one; of forward
    and backward with `train`.

    Raises:
        UsageError: there is no such collection, or it has nothing of the kind.
    """
    if collection not in collections():
        raise UsageError(f"there are no recordings {collection!r}: give {', '.join(collections())}.")
    found = _drawings(rung) if collection == ARTICLE else _shipped(rung, RECORDINGS / collection)
    if not found:
        raise UsageError(
            f"there is no recording of {rung.name} in {collection}; climb it here, without --recorded."
        )
    asked = rung.parameters("cuda", parameters or {})
    scene = rung.folder(asked) if parameters or rung.choices else None
    if asked not in [{**one, **{key: asked[key] for key in rung.choices}} for one in rung.gpu]:
        sets = "; ".join(", ".join(f"{k} {v}" for k, v in one.items()) for one in rung.gpu)
        raise UsageError(f"{rung.name} was recorded with {sets}; for other sizes leave --recorded out.")
    wanted = None if variants is None else check_variants(rung, variants)
    chosen = [
        source
        for source in found
        if (scene is None or _plain(source.scene) == scene)
        and source.scene.removesuffix(COLD).endswith(TRAIN) == train
        and (wanted is None or source.variant in wanted)
        and (warm is None or source.scene.endswith(COLD) != warm)
    ]
    if not chosen or not {source.variant for source in chosen}.issuperset(wanted or ()):
        there = ", ".join(f"{source.scene}/{source.variant}" for source in found)
        raise UsageError(
            f"the {collection} recordings of {rung.name} have none like that; there are: {there}."
        )
    return [_drawn(rung, s, folder / ARTICLE) for s in chosen] if collection == ARTICLE else chosen


def _plain(scene: str) -> str:
    """A scene's name without the way it was recorded."""
    for suffix in (COLD, WARM, TRAIN):
        scene = scene.removesuffix(suffix)
    return scene


def _shipped(rung: Rung, home: Path) -> list[Source]:
    return [
        Source(scene.name, path.name.removesuffix(SUFFIX), path)
        for scene in sorted(home.iterdir(), key=_telling_order)
        if _plain(scene.name) in rung.folders()
        for path in sorted(
            scene.glob(f"*{SUFFIX}"), key=lambda p: rung.variants.index(p.name.removesuffix(SUFFIX))
        )
    ]


def _telling_order(scene: Path) -> tuple[int, bool, str]:
    """By size, cold before warm."""
    sizes = [int(part) for part in scene.name.split("-") if part.isdigit()]
    return (sizes[0] if sizes else 0, not scene.name.endswith(COLD), scene.name)


def _drawings(rung: Rung) -> list[Source]:
    """The article's variants: `64-cold-eager` is variant eager of the scene matmul-add-64-cold."""
    found = []
    for drawn in article.drawn_variants(rung.name):
        *scene, variant = drawn.split("-")
        found.append(Source("-".join([rung.name, *scene]), variant))
    return found


def _drawn(rung: Rung, source: Source, folder: Path) -> Source:
    """The source with its trace drawn into the folder."""
    name = f"{source.scene}-{source.variant}".removeprefix(f"{rung.name}-")
    return replace(source, path=article.write(rung.name, name, folder))

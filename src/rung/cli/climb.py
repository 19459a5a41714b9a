"""`rung climb`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rung.cli.elsewhere import From, On, Yes
from rung.cli.sizes import with_sizes

if TYPE_CHECKING:
    from rung.insight.guess import Guess, Verdict
    from rung.ladder import Rung
    from rung.ladder.story import Source, Story
    from rung.recording import Settings

DTYPE = "bfloat16"


@with_sizes
def climb(
    sizes: dict[str, Any],
    ctx: typer.Context,
    rung: Annotated[
        str,
        typer.Argument(
            help="matmul-add, linear, mlp, attention, block, model, mlp-recompile, mlp-graph-break; ceiling.",
            show_default=False,
        ),
    ],
    dtype: Annotated[
        str | None, typer.Option(help=f"Dtype of weights and inputs. [default: {DTYPE}]")
    ] = None,
    variants: Annotated[
        str | None, typer.Option(help="Some of eager,math,compiled,dynamic,liger,rung.")
    ] = None,
    compile_mode: Annotated[str | None, typer.Option(help="torch.compile's mode for `compiled`.")] = None,
    warmup: Annotated[
        bool | None,
        typer.Option(
            "--warmup/--no-warmup", help="Warm up first, or record the very first call.", show_default=False
        ),
    ] = None,
    train: Annotated[bool, typer.Option("--train", help="A step is forward and backward.")] = False,
    sweep: Annotated[
        str | None, typer.Option(help="Time it, unprofiled, at several sizes: batch=1,16,64,1024,8192.")
    ] = None,
    shapes: Annotated[
        str | None,
        typer.Option(help="What new shapes cost, batch x seq: 64x128,64x100,3x77."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="With --sweep: draw it into this file.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or cuda:N. [default: cuda if there is one]")
    ] = None,
    recorded: Annotated[
        str | None,
        typer.Option(help="Tell it from recordings: h200, or article (drawn from its published times)."),
    ] = None,
    on: On = None,
    package: From = None,
    yes: Yes = False,
    guess: Annotated[str | None, typer.Option(help='Your guess about eager, as "kernels=5, gemm=3".')] = None,
    no_guess: Annotated[bool, typer.Option("--no-guess", help="Do not ask.")] = False,
    out: Annotated[Path, typer.Option(help="The folder for the traces.")] = Path("traces"),
    html: Annotated[Path | None, typer.Option(help="Write a page of it as well, as rung show does.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Climb a rung: run it in several variants and tell them apart.

    Each variant is recorded, and said kernel by kernel what it does. `ceiling` measures what this device can
    do at most.
    """
    from rung.cli.output import stderr, stdout, working
    from rung.errors import UsageError
    from rung.ladder import get_rung
    from rung.ladder.story import tell
    from rung.show.climb import title

    if rung == "ceiling":
        from rung.cli import ceiling

        more = {"variants": variants, "recorded": recorded, "sweep": sweep, "shapes": shapes, "guess": guess}
        ceiling.refuse(
            sizes=sizes or None, train=train or None, warmup=warmup, compile_mode=compile_mode, on=on, **more
        )
        ceiling.measure(device, dtype, json)
        return
    the_rung = get_rung(rung)
    chosen = [v.strip() for v in variants.split(",") if v.strip()] if variants is not None else None
    if svg is not None and sweep is None:
        raise UsageError("--svg draws a sweep: give --sweep too.")
    if recorded is not None:
        _refuse_with_recorded(device=device, dtype=dtype, compile_mode=compile_mode, on=on)
    if sweep is not None or shapes is not None:
        from rung.cli import timing

        _refuse_with_timing(sweep, shapes, guess=guess, warmup=warmup, compile_mode=compile_mode, on=on)
        asked = timing.Asked(the_rung, sizes, chosen, train, device, dtype or DTYPE, recorded, json)
        timing.sweep(asked, sweep, svg) if sweep is not None else timing.shapes(asked, shapes or "")
        return
    wanted = _written(guess)
    layouts = None
    if recorded is not None:
        from rung.ladder.shipped import recorded as find

        found = find(the_rung, recorded, out, parameters=sizes, variants=chosen, warm=warmup, train=train)
    elif on is not None:
        from rung.cli import elsewhere
        from rung.ladder.climb import check_variants

        check_variants(the_rung, chosen)
        the_rung.parameters("cuda", sizes)
        found, layouts = elsewhere.climb(ctx, the_rung, on, package, yes, out)
    else:
        from rung.recording import Settings

        settings = Settings(out=out, train=train, compile_mode=compile_mode)
        with working(f"recording {rung}"):
            found = _record(the_rung, sizes, chosen, device, dtype or DTYPE, warmup, settings)
    if not json:
        stdout().print(title(the_rung))
    if wanted is None and not (no_guess or json):
        wanted = _ask()
    if recorded is None and on is None and the_rung.name == "linear" and not train:
        from rung.ladder import linear_facts

        with working("compiling, to see which strides it insists on"):
            layouts = linear_facts(sizes, device=device, dtype=dtype or DTYPE)
    story = tell(the_rung, found, layouts)
    verdicts = _judge(wanted, story)
    _show(story, verdicts, json)
    if html is not None:
        from rung.cli.paging import write_page

        write_page(story, verdicts, html)
        stderr().print(f"the page: {html}")
    if guess is not None and not all(verdict.held for verdict in verdicts):
        raise typer.Exit(1)


def _refuse_with_timing(sweep: str | None, shapes: str | None, **options: object) -> None:
    from rung.errors import UsageError

    if sweep is not None and shapes is not None:
        raise UsageError("--sweep and --shapes ask two questions: give one of them.")
    for name, value in options.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} is about a recording; --sweep and --shapes time calls without."
            )


def _refuse_with_recorded(**options: object) -> None:
    from rung.errors import UsageError

    for name, value in options.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} says how to record; --recorded shows what was recorded before."
            )


def _record(
    rung: Rung,
    given: dict[str, Any],
    variants: list[str] | None,
    device: str | None,
    dtype: str,
    warm: bool | None,
    settings: Settings,
) -> list[Source]:
    """Record what was asked for; a rung asked for as it stands may open with its very first call."""
    from dataclasses import replace

    from rung.ladder import record_opening, record_rung
    from rung.ladder.story import sources

    results = []
    if rung.opens_cold and warm is None and not given and variants is None:
        results += record_opening(rung, device=device, dtype=dtype, settings=settings)
    settings = replace(settings, cold=warm is False)
    results += record_rung(rung, given, variants=variants, device=device, dtype=dtype, settings=settings)
    return sources(results)


def _written(text: str | None) -> Guess | None:
    if text is None:
        return None
    from rung.insight.guess import guess

    return guess(*_listed(text))


def _listed(text: str) -> list[str]:
    """The parts between commas, but for those in brackets, as of an order, and in quotes."""
    import re

    from rung.insight.guessing.wants import QUOTED

    parts = re.findall(rf"(?:\[(?:{QUOTED}|[^\]\"'])*\]|{QUOTED}|[^,])+", text)
    return [part for part in parts if part.strip()]


def _ask() -> Guess | None:
    from rung.cli.streams import is_asked

    if not is_asked():
        return None
    from rich.console import Console

    from rung.show.climb import QUESTIONS
    from rung.show.guess import ask

    return ask(Console(stderr=True), QUESTIONS)


def _judge(wanted: Guess | None, story: Story) -> list[Verdict]:
    """The guess against the first variant of each scene."""
    if wanted is None:
        return []
    return [wanted.check(scene.chapters[0].forward.example.trace) for scene in story.scenes if scene.chapters]


def _show(story: Story, verdicts: list[Verdict], json: bool) -> None:
    from rung.cli.output import print_json, stdout
    from rung.show.as_json import story_json
    from rung.show.climb import pages

    if json:
        print_json(story_json(story, verdicts))
        return
    console = stdout()
    for part in pages(story, verdicts):
        console.print(part, crop=False)

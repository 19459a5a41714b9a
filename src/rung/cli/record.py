"""`rung record TARGET`: run work under torch.profiler, once a variant."""

from __future__ import annotations

import json as json_text
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from rung.cli.elsewhere import From, On, Yes

if TYPE_CHECKING:
    from rung.recording import Recording, Settings, Skipped, Work

TARGET_HELP = """pkg.module:factory or file.py:factory, where factory() returns fn, (fn, inputs) or
(fn, inputs, kwargs); or a script.py, to which everything after it is handed."""

# Options that say how a function is called; a script is not called but run.
CALL_OPTIONS = (
    "variant", "variants", "region", "warmup", "wait", "profiler_warmup", "active", "repeat", "cold", "train",
    "dtype", "compile_mode",
)  # fmt: skip


class RecordCommand(TyperCommand):
    """Options may stand on both sides of a factory, but what follows a script is the script's own."""

    allow_extra_args = True
    allow_interspersed_args = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        from rung.recording.targets import names_a_script

        # Stops at TARGET; an unknown option before it is refused here as later.
        found, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        if not names_a_script(found.get("target") or ""):
            ctx.allow_interspersed_args, ctx.allow_extra_args = True, False
        return super().parse_args(ctx, args)


def record(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(help=TARGET_HELP, show_default=False)],
    variant: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="One of eager,math,compiled,dynamic,liger,rung. Repeatable."),
    ] = None,
    variants: Annotated[str | None, typer.Option(help="Several of them: eager,compiled.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or cuda:N. [default: where the work lies]")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for <name>/<variant>.json.gz and .txt.")] = Path(
        "traces"
    ),
    name: Annotated[str | None, typer.Option(help="The name of the work. [default: that of fn]")] = None,
    region: Annotated[
        str | None, typer.Option(help="The annotation around each call. [default: <name>_fwd]")
    ] = None,
    warmup: Annotated[int, typer.Option(help="Calls before the profiler starts.")] = 3,
    wait: Annotated[int, typer.Option(help="Steps the profiler idles.")] = 1,
    profiler_warmup: Annotated[int, typer.Option(help="Steps traced and thrown away.")] = 1,
    active: Annotated[int, typer.Option(help="Steps kept.")] = 3,
    repeat: Annotated[int, typer.Option(help="Windows in a row; the last is kept.")] = 1,
    cold: Annotated[
        bool, typer.Option("--cold", help="No warm-up at all: the first call is in the trace.")
    ] = False,
    shapes: Annotated[bool, typer.Option(help="Record input shapes.")] = True,
    stacks: Annotated[bool, typer.Option("--stacks", help="Record Python stacks.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="Record allocations.")] = False,
    flops: Annotated[bool, typer.Option("--flops", help="Let the profiler estimate FLOPs.")] = False,
    train: Annotated[bool, typer.Option("--train", help="A step is forward and backward.")] = False,
    seed: Annotated[int, typer.Option(help="Seeds torch before the factory and before each variant.")] = 0,
    dtype: Annotated[str | None, typer.Option(help="Cast module and inputs: bfloat16, float32, ...")] = None,
    compile_mode: Annotated[str | None, typer.Option(help="torch.compile's mode for `compiled`.")] = None,
    on: On = None,
    package: From = None,
    yes: Yes = False,
    json: Annotated[bool, typer.Option("--json", help="List the written files as JSON.")] = False,
) -> None:
    """Record work under torch.profiler, a trace for each variant."""
    from rung.recording import Settings
    from rung.recording.machine import interpreted, require_torch, resolve_device
    from rung.recording.targets import names_a_script
    from rung.recording.variants import check_names
    from rung.show.recorded import recorded_json, recorded_paths, traces_of

    settings = Settings(
        warmup=warmup, wait=wait, profiler_warmup=profiler_warmup, active=active, repeat=repeat, cold=cold,
        shapes=shapes, stacks=stacks, memory=memory, flops=flops, train=train, seed=seed,
        compile_mode=compile_mode, out=out,
    )  # fmt: skip
    names = [*(variant or []), *(part.strip() for part in (variants or "").split(",") if part.strip())]
    names = list(dict.fromkeys(names)) or ["eager"]
    check_names(names)
    if on is not None:
        from rung.cli import elsewhere

        if names_a_script(target):
            _refuse_for_script(ctx)
        said = elsewhere.record(ctx, target, on, package, yes, out)
        print(json_text.dumps(said, indent=1) if json else traces_of(said))
        return
    require_torch()
    if device is not None:
        resolve_device(device)
    if interpreted():
        print(
            "TRITON_INTERPRET=1: Triton kernels run in its interpreter, their times are emulated",
            file=sys.stderr,
        )
    # What the recorded code prints is no data of Rung's.
    with redirect_stdout(sys.stderr):
        if names_a_script(target):
            _refuse_for_script(ctx)
            results = _record_script(target, ctx.args, settings, name, device)
        else:
            results = _record_factory(target, names, settings, name, region, device, dtype)
    _refuse_nothing_recorded(results)
    said = recorded_json(results) | ({"interpreted": True} if interpreted() else {})
    print(json_text.dumps(said, indent=1) if json else recorded_paths(results))


def _record_script(
    target: str, arguments: list[str], settings: Settings, name: str | None, device: str | None
) -> list[Recording | Skipped]:
    from rung.recording.scripts import record_script

    result = record_script(Path(target), arguments, settings, name=name, device=device)
    _tell(result)
    return [result]


def _record_factory(
    target: str,
    variants: list[str],
    settings: Settings,
    name: str | None,
    region: str | None,
    device: str | None,
    dtype: str | None,
) -> list[Recording | Skipped]:
    from rung.recording import make_work
    from rung.recording.calls import cast
    from rung.recording.machine import require_torch
    from rung.recording.targets import call_factory, load_factory, user_code

    if settings.seed is not None:
        require_torch().manual_seed(settings.seed)
    fn, inputs, kwargs = call_factory(target, load_factory(target))
    if dtype is not None:
        inputs, kwargs = cast(fn, inputs, kwargs, dtype)
    work = make_work(fn, inputs, kwargs, name=name, region=region, device=device, train=settings.train)
    if settings.cold and len(variants) > 1:
        print(
            "only the first variant is cold through and through: the others meet warm libraries",
            file=sys.stderr,
        )
    with user_code(f"{work.name} from {target}"):
        return [_record_one(work, variant, settings) for variant in variants]


def _record_one(work: Work, variant: str, settings: Settings) -> Recording | Skipped:
    from rung.recording import record_work

    # A compiled variant takes seconds. No spinner: its thread would take the CPU from what is recorded.
    if sys.stderr.isatty():
        print(f"recording {variant} ...", file=sys.stderr, end="\r", flush=True)
    (result,) = record_work(work, [variant], settings)
    _tell(result)
    return result


def _tell(result: Recording | Skipped) -> None:
    from rung.show.recorded import recorded_line

    print(recorded_line(result), file=sys.stderr)


def _refuse_nothing_recorded(results: list[Recording | Skipped]) -> None:
    from rung.errors import MachineError
    from rung.recording import Skipped

    skipped = [result for result in results if isinstance(result, Skipped)]
    if len(skipped) == len(results):
        raise MachineError("nothing was recorded: " + "; ".join(f"{s.variant}: {s.reason}" for s in skipped))


def _refuse_for_script(ctx: typer.Context) -> None:
    """A script is run once, as it is: options that only make sense for calls are a mistake, not ignored."""
    from rung.errors import UsageError

    for option in CALL_OPTIONS:
        source = ctx.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does not apply to a script, which runs once as it is: name a factory")

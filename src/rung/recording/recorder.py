"""`record` and what it is made of: prepare a variant, warm up, profile, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rung.errors import MachineError, UsageError
from rung.recording.accuracy import compare
from rung.recording.artifacts import check_writable, pack, staged
from rung.recording.calls import bind, describe_inputs, find_device, name_of, place
from rung.recording.machine import require_torch, resolve_device, synchronize
from rung.recording.metadata import run_metadata
from rung.recording.values import Recording, Settings, Skipped, Work
from rung.recording.variants import Context, check_names, prepare
from rung.recording.weights import weight_readers
from rung.recording.window import caches_off, profile_calls, quiet, table

if TYPE_CHECKING:
    import torch


def record(
    fn: Callable[..., Any],
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    variant: str = "eager",
    name: str | None = None,
    region: str | None = None,
    device: str | None = None,
    warmup: int = 3,
    wait: int = 1,
    profiler_warmup: int = 1,
    active: int = 3,
    repeat: int = 1,
    cold: bool = False,
    shapes: bool = True,
    stacks: bool = False,
    memory: bool = False,
    flops: bool = False,
    train: bool = False,
    seed: int | None = 0,
    compile_mode: str | None = None,
    out: str | Path = "traces",
    compress: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> Recording:
    """Records `fn(*inputs, **kwargs)` under torch.profiler, in one variant.

    Writes `<out>/<name>/<variant>.json.gz` (`.json` without `compress`) and the profiler's table beside it as
    `.txt`; both whole or neither. `name` defaults to that of the function or module, `region` to `<name>_fwd`
    (`<name>_step` with `train`). Inputs may nest tensors in tuples, lists and dicts. With `device`, inputs
    are copied there and a module is moved there, as `Module.to` does; without, the work runs where it lies.

    `warmup` calls run first; the profiler then waits `wait` steps, traces and drops `profiler_warmup`, keeps
    `active`; of `repeat` such windows the last is kept. `cold=True` is no schedule: the profiler starts
    before the very first call, with the compiler's caches off. `train=True` makes a step forward and backward
    of the summed output, and clears the gradients. `seed` seeds torch (None leaves it alone). `metadata` is
    added to the object under the trace's key "rung".

    Raises UsageError for arguments that make no sense, MachineError for a device or variant that this machine
    cannot run, and whatever `fn` raises, unchanged.
    """
    if not callable(fn):
        raise UsageError(f"record calls a function or a module, not something of type {type(fn).__name__}")
    settings = Settings(
        warmup=warmup, wait=wait, profiler_warmup=profiler_warmup, active=active, repeat=repeat, cold=cold,
        shapes=shapes, stacks=stacks, memory=memory, flops=flops, train=train, seed=seed,
        compile_mode=compile_mode, out=Path(out), compress=compress, metadata=metadata or {},
    )  # fmt: skip
    work = make_work(fn, inputs, kwargs or {}, name=name, region=region, device=device, train=train)
    (result,) = record_work(work, [variant], settings)
    if isinstance(result, Skipped):
        raise MachineError(f"variant {variant} cannot be recorded: {result.reason}")
    return result


def make_work(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    name: str | None = None,
    region: str | None = None,
    device: str | None = None,
    train: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Work:
    """A Work with its names filled in and everything on `device` (None: left where it lies)."""
    if device is not None:
        args, kwargs = place(fn, args, kwargs, resolve_device(device))
    name = name or name_of(fn)
    # "matmul-add" is a good folder; a region is written as an identifier.
    region = region if region is not None else f"{name.replace('-', '_')}_{'step' if train else 'fwd'}"
    return Work(fn, args, kwargs, name, region, parameters or {})


def record_work(work: Work, variants: Iterable[str], settings: Settings) -> list[Recording | Skipped]:
    """Records `work` in each variant, in order. Raises as `record` does, but a skipped variant is a value."""
    names = list(dict.fromkeys(variants))
    check_names(names)
    require_torch()
    check_writable(settings.out / work.name)
    return [_record_variant(work, name, settings) for name in names]


def _record_variant(work: Work, variant: str, settings: Settings) -> Recording | Skipped:
    device = find_device(work.fn, (work.args, work.kwargs))
    context = Context(device, work.args, work.kwargs, settings.compile_mode)
    with quiet(), caches_off() if settings.cold else nullcontext():
        ready = prepare(variant, work.fn, context)
        if isinstance(ready, Skipped):
            return Skipped(ready.variant, ready.reason, work.name)
        profiler = _profile(bind(ready.fn, work, settings), work.region, device, settings)
        # After the window: before it, this call would warm up a cold recording.
        agreement = None if ready.fn is work.fn else compare(ready.fn, work, settings)
    if agreement and ready.tolerance and not agreement["relative_error"] <= ready.tolerance:
        reason = f"its result is off by {agreement['relative_error']:.2g} of eager's norm: not the same work"
        return Skipped(variant, reason, work.name)
    metadata = run_metadata(
        name=work.name,
        variant=variant,
        region=work.region,
        device=device,
        settings=settings,
        work={
            **describe_inputs(work.fn, work),
            "parameters": dict(work.parameters),
            "notes": dict(ready.notes),
            "against_eager": agreement,
            "weights": weight_readers(profiler, work.fn),
            **({"emulated": True} if ready.emulated else {}),
        },
    )
    path, table_path = write(profiler, device, settings, work.name, variant, metadata)
    return Recording(work.name, variant, path, table_path, metadata)


def _profile(call: Callable[[], Any], region: str, device: torch.device, settings: Settings) -> Any:
    if settings.seed is not None:
        require_torch().manual_seed(settings.seed)
    for _ in range(settings.warmup):
        call()
    synchronize(device)
    return profile_calls(call, region, device, settings)


def write(
    profiler: Any,
    device: torch.device,
    settings: Settings,
    name: str,
    variant: str,
    metadata: Mapping[str, Any],
) -> tuple[Path, Path]:
    """The stopped profiler's trace and table as two whole files; their paths."""
    folder = settings.out / name
    path = folder / (f"{variant}.json.gz" if settings.compress else f"{variant}.json")
    table_path = folder / f"{variant}.txt"
    text = table(profiler, device)
    with staged(path, table_path) as (new_path, new_table), TemporaryDirectory() as scratch:
        raw = Path(scratch) / path.name.removesuffix(".gz")
        profiler.export_chrome_trace(str(raw))
        pack(raw, new_path, metadata)
        new_table.write_text(text, encoding="utf-8")
    return path, table_path

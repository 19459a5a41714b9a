"""What a test records, and how the marker's guess file is held against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from rung.errors import MachineError, RungError, UsageError
from rung.insight.guess import Guess, Verdict, load
from rung.pytest_plugin.updating import update_locked
from rung.recording import Recording
from rung.trace import read

ARGUMENTS = ("guess", "variant", "region", "device", "trace")
WRONG = "not the same work"


@dataclass(repr=False)
class Bench:
    """The fixture `rung_record` of one test: records, remembers, and judges by the marker's guess."""

    item: pytest.Item
    folder: Path | None
    marked: Mapping[str, Any]
    recordings: list[Recording] = field(default_factory=list)
    judged: list[tuple[str, Verdict]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, item: pytest.Item, folder: Path | None) -> Bench:
        """A bench for a test, with the arguments of its nearest marker."""
        marker = item.get_closest_marker("rung")
        marked = dict(marker.kwargs) if marker else {}
        unknown = [
            *(repr(a) for a in (marker.args if marker else ())),
            *(k for k in marked if k not in ARGUMENTS),
        ]
        if unknown:
            pytest.fail(
                f"@pytest.mark.rung takes {', '.join(ARGUMENTS)} by name, not {unknown[0]}", pytrace=False
            )
        # A test that is run again starts with nothing to tell.
        item.user_properties[:] = [p for p in item.user_properties if not str(p[0]).startswith("rung.")]
        return cls(item, folder, marked)

    def __repr__(self) -> str:
        return f"<rung_record of {self.item.nodeid}>"

    def __call__(
        self,
        fn: Callable[..., Any] | None = None,
        *inputs: Any,
        variant: str | None = None,
        region: str | None = None,
        device: str | None = None,
        trace: str | Path | None = None,
        **settings: Any,
    ) -> Recording:
        """Record `fn(*inputs)`; see the fixture `rung_record`. Without `fn`, take the recorded trace."""
        variant = variant or self.marked.get("variant") or "eager"
        wanted = {
            "region": region or self.marked.get("region"),
            "device": device or self.marked.get("device"),
        }
        given = trace or self.marked.get("trace")
        try:
            if fn is None:
                recording = self._given(given, variant)
            else:
                recording = self._recorded(fn, inputs, given, {"variant": variant, **wanted, **settings})
        except RungError as error:
            _fail(error)
        self.recordings.append(recording)
        self._note(recording)
        return recording

    def judge(self) -> None:
        """Hold every recording against the marker's guess file; --rung-update brings it up to date first."""
        name = self.marked.get("guess")
        if name is None:
            return
        if not self.recordings and self.marked.get("trace"):
            self()
        if not self.recordings:
            pytest.fail(f"the marker gives the guess {name}, but this test recorded nothing", pytrace=False)
        try:
            for recording in self.recordings:
                self._judge(self._beside(name), recording)
        except RungError as error:
            _fail(error)

    def _judge(self, path: Path, recording: Recording) -> None:
        from rung.pytest_plugin.telling import explanation

        options = self.item.config.option
        if options.rung_update:
            self.said += update_locked(path, recording.trace, options.rung_level)
        elif not path.exists():
            pytest.fail(f"there is no guess file {path}: pytest --rung-update drafts one", pytrace=False)
        wanted = load(path)
        verdict = self.check(wanted, recording)
        if not verdict.held:
            lines = explanation(wanted, recording.trace, verdict)
            pytest.fail(f"{path} does not hold of {recording.path.name}\n" + "\n".join(lines), pytrace=False)

    def check(self, wanted: Guess, recording: Recording) -> Verdict:
        """Judge, and remember it for the report."""
        verdict = wanted.check(recording.trace)
        self.judged.append((str(recording.path.name), verdict))
        self.item.user_properties.append(("rung.held", verdict.held))
        return verdict

    def _recorded(
        self,
        fn: Callable[..., Any],
        inputs: tuple[Any, ...],
        given: str | Path | None,
        options: dict[str, Any],
    ) -> Recording:
        from rung.recording import record

        assert self.folder is not None
        try:
            return record(fn, *inputs, out=self.folder / str(len(self.recordings)), **options)
        except MachineError as error:
            if WRONG in str(error):  # the machine can, but the variant computes something else
                pytest.fail(str(error), pytrace=False)
            if given is None:
                pytest.skip(f"rung: {error}")
            return self._given(given, options["variant"])

    def _given(self, trace: str | Path | None, variant: str) -> Recording:
        """A recorded trace as if it had been recorded now."""
        if trace is None:
            raise UsageError("rung_record needs a function to record, or trace= with a recorded one")
        path = self._beside(trace)
        about = read(path).header.made
        if self.marked.get("variant") and about.get("variant", variant) != variant:
            raise UsageError(f"{path} was recorded as {about['variant']}, not {variant}")
        name = str(about.get("name") or path.name.split(".")[0])
        table = path.with_name(path.name.removesuffix(".gz").removesuffix(".json") + ".txt")
        return Recording(name, str(about.get("variant") or variant), path, table, about)

    def _beside(self, name: str | Path) -> Path:
        """A path from the marker: beside the test's file, else from where pytest was started."""
        beside = self.item.path.parent / name
        below = self.item.config.rootpath / name
        return below if below.exists() and not beside.exists() else beside

    def _note(self, recording: Recording) -> None:
        """What JUnit's XML says of the test."""
        from rung.insight.forward import forward

        trace = recording.trace
        typical = forward(trace)
        about = {
            "variant": recording.variant,
            "region": typical.region,
            "device": recording.metadata.get("device_name"),
            "guess": self.marked.get("guess"),
            "kernels": typical.kernels,
            "launches": typical.launches,
            "copies": typical.copies,
            "gpu_busy_ns": typical.gpu_busy_ns.median,
            "cpu_ns": typical.cpu_ns.median,
        }
        self.item.user_properties += [
            (f"rung.{key}", value) for key, value in about.items() if value is not None
        ]


def _fail(error: RungError) -> NoReturn:
    pytest.fail(f"rung: {error}", pytrace=False)

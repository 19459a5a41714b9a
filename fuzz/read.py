"""Fuzz the reader: whatever the bytes, a trace or one clear error, and the same in any pieces or halves.

    python fuzz/read.py --seconds 600 [--corpus fuzz/corpus] [SEED...]

Seeds are trace files, by default the recordings of the package. With `atheris` installed its coverage leads
the way; without it seeds are mutated at random.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from rung.errors import UnreadableTraceError
from rung.trace import Trace, halves
from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.source import Source, from_bytes
from rung.trace.stream import Stream

RECORDINGS = Path(__file__).parents[1] / "src/rung/ladder/recordings"
LONGEST = 1 << 16
PATIENCE_S = 20
"""No input of `LONGEST` bytes may take longer, on the slowest machine."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A source that comes in small blocks, as a big file does in large ones."""

    source: Source
    size: int

    @property
    def path(self) -> str:
        return self.source.path

    def blocks(self) -> Iterator[bytes]:
        for block in self.source.blocks():
            yield from (block[at : at + self.size] for at in range(0, len(block), self.size))

    def whole(self) -> Source:
        return self.source


def check(data: bytes) -> None:
    """One input: two bytes that say how to read, then the file. Raises on anything but a clear error."""
    if len(data) < 2:
        return
    salvage, size, file = bool(data[0] & 1), 16 + 4 * data[1], data[2:]
    with contextlib.suppress(UnreadableTraceError), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.json"
        source = from_bytes(str(path), file)
        began = time.monotonic()
        whole = looked_at(assemble(decode(source, salvage)))
        took = time.monotonic() - began
        assert took < PATIENCE_S, f"{len(file)} bytes took {took:.0f} s"
        assert looked_at(assemble(decode(Blocks(source, size), salvage))) == whole  # type: ignore[arg-type]
        if not source.cut:
            path.write_bytes(source.data)
            with in_halves(head_start=(data[1] - 127) * len(source.data) // 128):
                assert looked_at(assemble(decode(Stream(str(path)), salvage))) == whole


@contextlib.contextmanager
def in_halves(head_start: int) -> Iterator[None]:
    """Files are decoded in two halves, cut anywhere, both in this process: to start one takes too long."""

    @contextlib.contextmanager
    def here(half: halves.Half, stacks: bool) -> Iterator[Callable[[], halves.Decoded]]:
        yield lambda: halves.decode_half(half, stacks)

    with (
        patch.object(halves, "LARGE", 0),
        patch.object(halves, "HEAD_START", head_start),
        patch.object(halves, "_processors", lambda: 2),
        patch.object(halves, "_beside", here),
    ):
        yield


def looked_at(trace: Trace) -> list[object]:
    """Everything a trace says, asked for once."""
    for region in trace.regions:
        assert 0 <= region.gpu_busy_ns <= region.gpu_span_ns <= max(region.wall_ns, region.gpu_span_ns)
        assert region.gpu_idle_share <= 1
    return [
        trace.events,
        trace.skipped_events,
        trace.repaired_events,
        trace.header.metadata.keys(),
        trace.device,
        trace.rank,
        trace.warnings,
        trace.incomplete,
        [(r.name, r.step, r.cpu_ns, len(r.kernels), len(r.launches), r.gpu_busy_ns) for r in trace.regions],
        [(o.name, o.start_ns, o.thread, o.parent and o.parent.row, o.shapes, o.dtypes) for o in trace.ops],
        [(n.name, n.is_graph, n.op and n.op.row) for n in trace.launches],
        [(k.name, k.kind, k.stream, k.device, k.step, k.latency_ns, repr(k.args)) for k in trace.kernels],
        str(trace),
    ]


def seeds(paths: list[Path]) -> list[bytes]:
    """The inputs to start from: each file as text and as gzip."""
    found = []
    for path in paths:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        found += [b"\0\x40" + text[:LONGEST], b"\1\xff" + gzip.compress(text)[:LONGEST]]
    return found


TOKENS = [b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\0", b"\xff", b"null", b"NaN", b"-1", b"1e999", b"0"]
TOKENS += [
    b'"traceEvents": [',
    b'"ts": 1,',
    b'"args": {',
    b'{"ph": "X", "cat": "kernel", "name": "k", "ts": 1}',
]


def mutated(rng: random.Random, known: list[bytes]) -> bytes:
    """A seed with a few pieces cut out, doubled, overwritten, or taken from another seed."""
    data = bytearray(rng.choice(known))
    data[:2] = rng.randbytes(2)
    for _ in range(rng.randint(1, 8)):
        at, length = rng.randrange(2, len(data) + 1), rng.choice((1, 1, 2, 8, 64, 1024))
        match rng.randrange(5):
            case 0:
                del data[at : at + length]
            case 1:
                data[at:at] = data[at : at + length]
            case 2:
                data[at : at + 1] = rng.randbytes(1)
            case 3:
                data[at:at] = rng.choice(TOKENS)
            case 4:
                other = rng.choice(known)
                start = rng.randrange(len(other))
                data[at:at] = other[start : start + length]
    return bytes(data[: LONGEST + 2])


def at_random(known: list[bytes], seconds: float, seed: int) -> int:
    """Mutate and check until the time is over; how many inputs it were."""
    rng, until, done = random.Random(seed), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        data = mutated(rng, known)
        try:
            check(data)
        except BaseException:
            Path("crash.bin").write_bytes(data)
            raise
        done += 1
    return done


def by_coverage(known: list[bytes], seconds: int, corpus: Path) -> None:
    """Let atheris find inputs that reach new code; it ends the process itself."""
    import atheris

    corpus.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(known):
        (corpus / f"seed-{i}").write_bytes(data)
    atheris.instrument_all()
    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], check)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="*", type=Path)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, default=Path("fuzz/corpus"))
    parser.add_argument("--at-random", action="store_true", help="do without atheris")
    wanted = parser.parse_args()
    known = seeds(wanted.seeds or sorted(RECORDINGS.rglob("*.json.gz")))
    with contextlib.suppress(ImportError):
        if not wanted.at_random:
            return by_coverage(known, wanted.seconds, wanted.corpus)
    print(f"{at_random(known, wanted.seconds, wanted.seed)} inputs, no surprise")
    return None


if __name__ == "__main__":
    main()

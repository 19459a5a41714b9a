"""How much of the GPU time has FLOP or bytes: of the recordings that come with the package, or of others.

    python benchmarks/counted.py [TRACE ...]

Shares of the time of all work in a trace, and the dearest kernels without a count.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import rung
from rung.insight.work import Work, work_of

RECORDINGS = Path(__file__).parent.parent / "src/rung/ladder/recordings"
DEAREST = 3


def counted(path: Path) -> tuple[float, list[str]]:
    """The share of the time that is counted, and what is not, dearest first."""
    uncounted: Counter[str] = Counter()
    kernels = rung.read(path).kernels
    for kernel in kernels:
        if work_of(kernel) == Work():
            uncounted[f"{kernel.op.name if kernel.op else 'no op'}: {kernel.name[:60]}"] += kernel.dur_ns
    total = sum(kernel.dur_ns for kernel in kernels)
    return 1 - uncounted.total() / total if total else 0.0, [
        name for name, _ in uncounted.most_common(DEAREST)
    ]


def main() -> None:
    paths = [Path(word) for word in sys.argv[1:]] or sorted(RECORDINGS.rglob("*.json.gz"))
    for path in paths:
        share, missing = counted(path)
        name = str(path.relative_to(RECORDINGS)) if path.is_relative_to(RECORDINGS) else path.name
        print(f"{share:7.1%}  {name.removesuffix('.json.gz'):50} {'; '.join(missing)}")


if __name__ == "__main__":
    main()

"""`read`: from a path to a trace, by way of the cache."""

from __future__ import annotations

import os

from rung.trace.assemble import assemble
from rung.trace.collecting import no_collections
from rung.trace.document import decode
from rung.trace.model import Trace
from rung.trace.stream import Progress, Stream, open_source


def read(
    path: str | os.PathLike[str],
    *,
    cache: bool = True,
    salvage: bool = False,
    stacks: bool = True,
    progress: Progress | None = None,
) -> Trace:
    """Read a Kineto / Chrome trace: `.json`, `.json.gz`, `-` for standard input, or an address such as `https://`.

    A damaged file is read as far as it is intact; what was skipped or repaired is in `Trace.warnings`. A file
    that two processes wrote at once is refused, unless `salvage` asks for every intact event of both.

    Python frames take part in the nesting alone; without `stacks` they are dropped early. With `cache` a big
    trace is kept for the next time (see `rung.trace.cache`). `progress(done, total)` counts a file's bytes;
    of one far away twice, as it comes (from 0 on) and as it is read.

    Raises:
        UnreadableTraceError: the file is missing, a folder, empty, not JSON and not repairable, holds no
            events, or has two writers.
    """
    source = open_source(path, progress, anew=True)
    entry = None
    if cache and isinstance(source, Stream):
        from rung.trace import cache as cache_

        entry = cache_.entry(source.file, salvage, stacks)
        if entry and (kept := entry.load(source.path)):
            return kept
    with no_collections():
        trace = assemble(decode(source, salvage, stacks))
    if entry:
        entry.store(trace)
    return trace

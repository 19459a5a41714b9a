"""The ladder: every rung by its name, in the order of climbing."""

from __future__ import annotations

from difflib import get_close_matches

from rung.errors import UsageError
from rung.ladder.rungs.attention import ATTENTION
from rung.ladder.rungs.block import BLOCK
from rung.ladder.rungs.linear import LINEAR
from rung.ladder.rungs.matmul_add import MATMUL_ADD
from rung.ladder.rungs.mlp import MLP
from rung.ladder.rungs.model import MODEL
from rung.ladder.rungs.snags import GRAPH_BREAK, RECOMPILE
from rung.ladder.values import Rung

RUNGS = (MATMUL_ADD, LINEAR, MLP, ATTENTION, BLOCK, MODEL, RECOMPILE, GRAPH_BREAK)
LADDER: dict[str, Rung] = {rung.name: rung for rung in RUNGS}


def get_rung(name: str) -> Rung:
    """The rung called `name`. Raises UsageError, naming those there are, for any other."""
    if name not in LADDER:
        near = get_close_matches(name, LADDER, 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"there is no rung {name!r}: give {', '.join(LADDER)}.{meant}")
    return LADDER[name]

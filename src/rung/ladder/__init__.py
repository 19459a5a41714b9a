"""The ladder: workloads from a matmul to a language model, what they teach. Importing this takes no torch."""

from __future__ import annotations

from rung.ladder.climb import make_rung, record_opening, record_rung
from rung.ladder.linear_facts import Layout, LinearFacts, linear_facts
from rung.ladder.rungs.linear import LINEAR
from rung.ladder.rungs.matmul_add import MATMUL_ADD
from rung.ladder.rungs.mlp import MLP
from rung.ladder.values import Rung
from rung.ladder.workloads import LADDER, get_rung

__all__ = [
    "LADDER",
    "LINEAR",
    "MATMUL_ADD",
    "MLP",
    "Layout",
    "LinearFacts",
    "Rung",
    "get_rung",
    "linear_facts",
    "make_rung",
    "record_opening",
    "record_rung",
]

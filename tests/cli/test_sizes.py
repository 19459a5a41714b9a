"""The options of `rung climb` for sizes are those of the ladder's rungs."""

from __future__ import annotations

import pytest

from rung.cli.app import run
from rung.cli.sizes import NAMES, SIZES
from rung.ladder import LADDER


def test_every_parameter_has_an_option_that_names_its_rungs() -> None:
    wanted: dict[str, list[str]] = {}
    for rung in LADDER.values():
        for name in rung.gpu[0]:
            wanted.setdefault(name, []).append(rung.name)
    told = {name: text.split(":")[0].split(", ") for name, text in (SIZES | NAMES).items()}
    assert told == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["linear", "--seq", "3"], "linear has no parameter 'seq': give batch, in_dim, out_dim"),
        (["mlp", "--dim", "x"], "--dim"),
        (["mlp", "--dim", "0"], "dim is 0: it must be a whole number of at least 1"),
        (["model", "--family", "bert"], "family is 'bert': give llama, gemma, qwen"),
        (["mlp", "--dimm", "3"], "No such option: --dimm"),
    ],
)
def test_what_a_rung_does_not_have(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    assert run(["climb", *arguments, "--device", "cpu", "--no-guess"]) == 2
    assert message in capsys.readouterr().err

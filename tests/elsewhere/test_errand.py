"""Where to, and what travels."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.cli.app import run
from rung.elsewhere.errand import Errand, package_of, requirement
from rung.elsewhere.hf_jobs import command
from rung.elsewhere.target import Target, parse
from rung.errors import UsageError


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("hf-jobs", "hf-jobs", "a10g-small"),
        ("hf-jobs:h200x2", "hf-jobs", "h200x2"),
        ("ssh:me@gpu-1.lab", "ssh", "me@gpu-1.lab"),
    ],
)
def test_a_target_is_a_kind_and_a_name(text: str, kind: str, name: str) -> None:
    assert parse(text) == Target(kind, name)


@pytest.mark.parametrize("text", ["", "hf-jobs:", "ssh", "ssh:", "slurm:a100", "h200"])
def test_any_other_target_names_those_there_are(text: str) -> None:
    with pytest.raises(UsageError, match=r"give hf-jobs, hf-jobs:FLAVOR or ssh:HOST\."):
        parse(text)


@pytest.mark.parametrize(
    "text", ["ssh:-oProxyCommand=x", "ssh:a b", "ssh:host;ls", "ssh:host:22", "hf-jobs:../x"]
)
def test_no_name_is_an_option_or_a_path(text: str) -> None:
    with pytest.raises(UsageError, match="names nothing that can be asked for"):
        parse(text)


@pytest.mark.parametrize(
    ("package", "wanted"),
    [
        (
            Path("/here/rung-0.1.0-py3-none-any.whl"),
            "rung[torch,liger,models] @ file:///data/rung-0.1.0-py3-none-any.whl",
        ),
        ("git+https://host/rung@main", "rung[torch,liger,models] @ git+https://host/rung@main"),
        ("rung[torch]==0.1.0", "rung[torch]==0.1.0"),
    ],
)
def test_a_package_is_required_with_what_recording_needs(package: Path | str, wanted: str) -> None:
    assert requirement(package, "/data") == wanted


def test_a_wheel_travels_by_its_own_name(tmp_path: Path) -> None:
    wheel, work = tmp_path / "rung-9-py3-none-any.whl", tmp_path / "work.py"
    wheel.touch()
    assert package_of(str(wheel)) == wheel
    assert Errand(("record",), wheel, (work,)).luggage == (work, wheel)
    assert Errand(("record",), "rung==9", (work,)).luggage == (work,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gone.whl", "there is no wheel gone.whl"),
        (".", r"takes a wheel, not \.; build one: pip wheel --no-deps \."),
        ("git+https://me:secret@host/rung", "a URL with a token or password"),
    ],
)
def test_what_cannot_be_run_there_is_said_before(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        package_of(text)


def test_a_job_without_a_package_is_none() -> None:
    with pytest.raises(UsageError, match="starts from nothing"):
        command(Errand(("climb", "mlp"), None))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["climb", "mlp", "--on", "moon"], "--on 'moon' is not known"),
        (["climb", "mlp", "--on", "ssh:a", "--recorded", "h200"], "--on says how to record"),
        (["climb", "mlp", "--on", "ssh:a", "--sweep", "batch=1"], "--on is about a recording"),
        (["climb", "ceiling", "--on", "ssh:a"], "--on is about a workload"),
        (["climb", "mlp", "--on", "ssh:a", "--heads", "2"], "heads"),
        (["climb", "mlp", "--on", "ssh:a", "--variants", "fast"], "mlp has no variant 'fast'"),
        (["climb", "mlp", "--on", "ssh:a", "--from", "x.whl"], "there is no wheel x.whl"),
        (["record", "--on", "ssh:a", "gone.py"], "there is no file gone.py"),
        (["record", "--on", "ssh:a", "--variant", "fast", "a:b"], "variant 'fast' is not known"),
    ],
)
def test_a_mistake_is_said_here_before_anything_is_asked_for(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line

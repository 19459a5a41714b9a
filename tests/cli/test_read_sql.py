"""`rung read --sql`: the tables of a trace, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rung.cli.app import run
from rung.errors import MachineError
from rung.insight import sql
from tracelib import annotation, kernel, launch, op, work, write

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

EVENTS = [
    annotation("fwd", 5, 80),
    op("aten::mm", 10, 30),
    launch(20, 5, correlation=1),
    kernel("k1", 30, 10, correlation=1),
    work("kernel", "k2", 60, 5, stream=9),
]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    return str(write(tmp_path / "one.json", *EVENTS))


def asked(trace: str, capsys: pytest.CaptureFixture[str], text: str) -> tuple[list[str], list[list[object]]]:
    assert run(["read", trace, "--sql", text, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema_version"] == 1
    return found["columns"], found["rows"]


def test_tables_join_by_row(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = """select k.name, o.name as op, n.start_ns, r.name as region from kernels k
              left join ops o on k.op = o.row left join launches n on k.launch = n.row
              left join regions r on k.region = r.row order by k.start_ns"""
    columns, rows = asked(trace, capsys, text)
    assert columns == ["name", "op", "start_ns", "region"]
    assert rows == [["k1", "aten::mm", 15_000, "fwd"], ["k2", None, None, "fwd"]]


def test_sums_dates_and_lists_are_json(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "select sum(dur_ns), avg(dur_ns), list(stream), date '2024-02-03', 1.5::decimal(4,1) from kernels"
    assert asked(trace, capsys, text)[1] == [[15_000, 7_500.0, [7, 9], "2024-02-03", 1.5]]


def test_a_narrowed_trace_is_what_is_asked(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["read", trace, "--stream", "9", "--sql", "select name from kernels", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [["k2"]]


def test_a_terminal_shows_a_table(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["read", trace, "--sql", "select name, op, dur_ns from kernels order by 1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["name", "op", "dur_ns"], ["k1", "0", "10000"], ["k2", "5000"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selec", "SQL: Parser Error: syntax error"),
        ("select * from events", "SQL: Catalog Error: Table with name events does not exist!"),
        ("select nope from kernels", "nope"),
        ("select 1 / 0 from read_csv('/etc/passwd')", "SQL: Permission Error"),
        ("copy kernels to 'k.csv'", "SQL: Permission Error"),
        ("select 'x'::int from kernels", "SQL: Conversion Error"),
        (" ", "the query answers nothing"),
    ],
)
def test_a_wrong_query_is_one_line(
    trace: str, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    assert run(["read", trace, "--sql", text]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_regions_and_steps_are_chosen_in_the_query(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["read", trace, "--sql", "select 1", "--region", "fwd"]) == 2
    assert "choose in the query" in capsys.readouterr().err


def test_without_duckdb_the_command_is_named(
    trace: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str, extra: str) -> None:
        raise MachineError(f"{module} is not installed: pip install 'rung[{extra}]'.")

    monkeypatch.setattr(sql, "library", missing)
    assert run(["read", trace, "--sql", "select 1"]) == 4
    assert capsys.readouterr().err == "rung: duckdb is not installed: pip install 'rung[sql]'.\n"

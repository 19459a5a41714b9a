"""`rung name`, run as the command line runs it."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from rung.cli.name import name
from rung.errors import UnreadableTraceError, UsageError

app = typer.Typer()
app.command("name")(name)
app.command("other")(lambda: None)

GEMM = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"


def run(*arguments: str, typed: str | bytes = "") -> str:
    result = CliRunner().invoke(app, ["name", *arguments], input=typed, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_one_name_is_explained() -> None:
    assert run("volta_sgemm_128x64_nn") == (
        "GEMM, cuBLAS, built for Volta, ordinary cores, no tensor cores\n"
        "  inputs fp32, accumulates in fp32, output fp32\n"
        "  tile 128 x 64    neither transposed (nn): x @ w\n"
    )


def test_an_unknown_name_is_said_to_be_unknown_with_exit_0() -> None:
    assert run("some_kernel") == "unknown: no family Rung knows has names of this form\n"


def test_several_names_stand_above_their_words() -> None:
    assert run("some_kernel", "Memset (Device)") == (
        "some_kernel\n  unknown: no family Rung knows has names of this form\n"
        "\n"
        "Memset (Device)\n  memset, the device\n"
    )


def test_one_name_as_json_is_an_object() -> None:
    assert json.loads(run(GEMM, "--json")) == {
        "schema_version": 1,
        "name": GEMM,
        "family": "nvjet",
        "kind": "gemm",
        "decoded": {
            "arch": "sm_90",
            "tile": [256, 128, 64],
            "stages": 4,
            "cluster": [1, 2],
            "layout": "TNT",
        },
        "unknown": ["tst", "h", "bz", "coopA"],
    }


def test_several_names_as_json_are_a_list_in_order() -> None:
    told = json.loads(run(GEMM, "some_kernel", "--json"))
    assert told["schema_version"] == 1
    assert [one["name"] for one in told["names"]] == [GEMM, "some_kernel"]


@pytest.mark.parametrize(
    ("typed", "names"), [(f"{GEMM}\n\n  some_kernel  \r\n", [GEMM, "some_kernel"]), (GEMM, [GEMM]), ("", [])]
)
def test_standard_input_gives_a_name_a_line(typed: str, names: list[str]) -> None:
    told = json.loads(run("-", "--json", typed=typed))
    assert [one["name"] for one in told["names"]] == names


def test_more_than_anybody_has_names_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rung.cli.name.MOST", 10)
    assert json.loads(run("-", "--json", typed="a\n" * 5))["names"][0]["name"] == "a"
    with pytest.raises(UnreadableTraceError, match="more than 10 B: give fewer names at once"):
        run("-", typed="a\n" * 6)


def test_nothing_on_standard_input_says_nothing() -> None:
    assert run("-") == ""


def test_bytes_that_are_no_text_do_not_break_it() -> None:
    assert [one["name"] for one in json.loads(run("-", "--json", typed=b"a\xffb\n"))["names"]] == ["a\ufffdb"]


def test_an_op_is_explained_as_the_stand_in_it_is() -> None:
    assert json.loads(run("aten::mm", "--json"))["family"] == "aten-op"


def test_an_empty_name_is_usage() -> None:
    with pytest.raises(UsageError, match="a kernel's name is empty"):
        run(" ")

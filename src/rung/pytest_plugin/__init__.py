"""The pytest plugin: thin hooks. Nothing of Rung is imported before a test asks for it."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rung.pytest_plugin.bench import Bench

BENCH: pytest.StashKey[Bench] = pytest.StashKey()
MARKER = "rung(guess, variant, region, device, trace): record with rung_record and judge by a guess file"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rung", "Rung: guesses about PyTorch profiler traces")
    group.addoption(
        "--rung-update", action="store_true", help="write or update the guess files of marked tests"
    )
    group.addoption(
        "--rung-level",
        choices=("loose", "normal", "strict"),
        default="normal",
        help="how strict a new guess is",
    )
    group.addoption("--rung-trace-dir", metavar="DIR", help="keep the traces of failing tests in this folder")
    group.addoption(
        "--rung-github",
        choices=("auto", "on", "off"),
        default="auto",
        help="annotate broken guesses for GitHub (auto: under GITHUB_ACTIONS)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def rung_record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Record a function under torch.profiler: `rung_record(fn, *inputs, variant=..., region=...)`.

    Returns a `Recording`; compare it with a guess: `assert recording == rung.guess(kernels=5, gemm=3)`. Other
    keywords are those of `rung.record`. Where this machine cannot record what was asked, the recorded trace
    given as `trace=` is judged instead; without one the test is skipped. Defaults come from the marker.
    """
    from rung.pytest_plugin.bench import Bench

    bench = Bench.of(request.node, tmp_path_factory.mktemp("rung"))
    request.node.stash[BENCH] = bench
    return bench


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    result = yield
    if pyfuncitem.get_closest_marker("rung") is not None:
        from rung.pytest_plugin.bench import Bench

        if "rung_record" not in pyfuncitem.fixturenames:
            pyfuncitem.stash[BENCH] = Bench.of(pyfuncitem, None)
        pyfuncitem.stash[BENCH].judge()
    return result


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    if op != "==" or "rung.insight.guess" not in sys.modules:
        return None
    from rung.pytest_plugin.telling import compared

    return compared(config, left, right)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" and "rung.insight.guess" in sys.modules:
        from rung.pytest_plugin.telling import add_to

        add_to(report, item, item.stash.get(BENCH, None))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    told = [r for reports in terminalreporter.stats.values() for r in reports if getattr(r, "rung", None)]
    if told:
        from rung.pytest_plugin.telling import summarize

        summarize(terminalreporter, config, told)

"""The example notebook, executed from first to last cell."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("torch")

nbformat = pytest.importorskip("nbformat")

NOTEBOOK = Path(__file__).parents[1] / "examples/look_at_an_mlp.ipynb"

# jupyter_client warns of its own future; the kernel's sockets outlive the loop that made them.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    client = nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: Any) -> str:
    (output,) = [o for o in cell.outputs if o.output_type == "execute_result"]
    return str(output.data["text/html"])


def cell_with(executed: list[Any], text: str) -> Any:
    return next(cell for cell in executed if text in cell.source)


def test_a_recording_is_a_page_in_a_frame(executed: list[Any]) -> None:
    frame = shown(cell_with(executed, 'rung.record(mlp, x, variant="eager"'))
    source = re.search(r'srcdoc="([^"]*)"', frame)
    assert frame.startswith("<iframe sandbox=") and source is not None
    page = html.unescape(source[1])
    assert page.startswith("<!doctype html>") and "<title>mlp, eager - Rung</title>" in page
    assert "aten::mm" in page


def test_the_guess_is_judged(executed: list[Any]) -> None:
    assert "holds" in shown(cell_with(executed, "rung.guess("))


def test_findings_are_text_and_a_table(executed: list[Any]) -> None:
    assert "fusible-glu" in shown(cell_with(executed, "rung.why(eager.trace)"))
    assert "<table" in shown(cell_with(executed, "to_pandas"))


def test_the_difference_is_told(executed: list[Any]) -> None:
    assert "What changed" in shown(cell_with(executed, "rung.diff("))


def test_it_is_committed_without_outputs() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)

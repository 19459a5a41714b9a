"""docs/findings.md says what the rules say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from rung.insight.findings import rules

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/findings.md"


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        spec = importlib.util.spec_from_file_location(
            "write_findings_doc", ROOT / "tools/write_findings_doc.py"
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def test_it_is_up_to_date(writer: ModuleType) -> None:
    assert PAGE.read_text(encoding="utf-8") == writer.document(), "run python tools/write_findings_doc.py"


def test_every_finding_has_a_section_and_an_example_that_shows_it() -> None:
    sections = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    assert list(sections) == list(rules())
    for id_, text in sections.items():
        assert re.search(rf"```\n.*\b{id_}\b", text), f"{id_} has no example"
        assert len(text.splitlines()) <= 40


@pytest.mark.parametrize("rule", rules().values(), ids=list(rules()))
def test_each_rule_says_what_it_shows_means_and_asks_for(rule: object) -> None:
    for text in (getattr(rule, key) for key in ("shows", "means", "do")):
        assert text.endswith(".") and (text[0].isupper() or text[0] == "`")
        assert "\n" not in text

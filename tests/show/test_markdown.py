"""Names in Markdown."""

from __future__ import annotations

import pytest

from rung.show.markdown import escaped, table_row


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("aten::mm", "aten::mm"),
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),  # a backslash of the name's own does not undo ours
        ("[x](https://evil)", r"\[x\](https://evil)"),
        ("<img>&`*_", r"&lt;img>&amp;\`\*\_"),
        ("two\nlines", "two lines"),
        ("**no**", "**no**"),
    ],
)
def test_a_name_stays_a_name(name: str, written: str) -> None:
    assert escaped(name) == written


def test_a_row() -> None:
    assert table_row(["a", "b"]) == "| a | b |\n"

"""What is sent, what stays, what would go."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.sharing import planned
from rung.sharing.shared import shared
from rung.stores.place import Item, Known, Link, Store

HERE = Item(Path("a.json"), "a.json", 100, 1000.0)


@pytest.mark.parametrize(
    ("there", "sent"),
    [
        (None, True),
        (Known(100, 1000.0), False),
        (Known(100, 2000.0), False),  # uploaded after it was written
        (Known(100, 999.5), False),  # within what clocks differ
        (Known(100, 998.0), True),
        (Known(99, 2000.0), True),
        (Known(100, None), True),
    ],
)
def test_a_file_is_sent_if_it_differs(there: Known | None, sent: bool) -> None:
    known = {"a.json": there} if there else {}
    assert (planned([HERE], known).send == (HERE,)) is sent
    assert planned([HERE], known, anew=True).send == (HERE,)


names = st.sets(st.sampled_from(["a.json", "b.json.gz", "c.html", "d.bin", "e/f.json"]))


@given(names, names)
def test_each_file_has_one_fate(here: set[str], there: set[str]) -> None:
    items = [Item(Path(name), name, 1, 0.0) for name in sorted(here)]
    plan = planned(items, {name: Known(1, 0.0) for name in there})
    assert {one.name for one in plan.send} == here - there
    assert {one.name for one in plan.keep} == here & there
    assert set(plan.gone) == there - here - {"d.bin"}  # nothing of ours


class Shelf(Store):
    """A store whose links are what it was told."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def link(self, name: str) -> Link:
        return self._link


@pytest.mark.parametrize(
    ("link", "perfetto"),
    [
        (
            Link("https://x/a b?v=1&w=2", True),
            "https://ui.perfetto.dev/#!/?url=https%3A%2F%2Fx%2Fa%20b%3Fv%3D1%26w%3D2",
        ),
        (Link("https://x/a", False, "private"), None),
        (Link("http://lab/a", True), None),  # from a page that came by https
        (
            Link("http://127.0.0.1:9001/a", True),
            "https://ui.perfetto.dev/#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2Fa",
        ),
        (Link(None, False, "no link"), None),
    ],
)
def test_a_perfetto_link_is_given_where_it_works(link: Link, perfetto: str | None) -> None:
    found = shared(Shelf(link), HERE, None, sent=True)
    assert found.perfetto == perfetto
    assert perfetto or found.note

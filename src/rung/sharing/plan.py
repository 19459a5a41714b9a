"""Which files go up, which are there, which would go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rung.stores.place import Item, Known

OURS = (".json", ".json.gz", ".html")
"""What `rung share` puts somewhere, and so all that `--delete` ever deletes."""

CLOCKS_DIFFER_S = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to send, files that are there as they are here, and names there that are not here."""

    send: tuple[Item, ...]
    keep: tuple[Item, ...]
    gone: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """How much is sent."""
        return sum(one.nbytes for one in self.send)


def planned(items: Sequence[Item], there: Mapping[str, Known], *, anew: bool = False) -> Plan:
    """Compare by size and time of change, as rsync does; `anew` sends everything."""
    send = tuple(one for one in items if anew or _differs(one, there.get(one.name)))
    names = {one.name for one in items}
    return Plan(
        send,
        tuple(one for one in items if one not in send),
        tuple(sorted(name for name in there if name not in names and name.endswith(OURS))),
    )


def _differs(item: Item, known: Known | None) -> bool:
    if known is None or known.nbytes != item.nbytes or known.modified is None:
        return True
    return item.modified > known.modified + CLOCKS_DIFFER_S

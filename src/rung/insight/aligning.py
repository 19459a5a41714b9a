"""Two sequences of names laid side by side.

Myers: An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986), in stretches of so many
edits that neither time nor memory grows with their square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EDITS = 128
"""In one stretch; the next one begins where the way that got furthest ends. So it takes at most EDITS / 2
steps a name and EDITS ** 2 numbers in memory, whatever is compared."""

Pair = tuple[int, int]


def matched(a: Sequence[str], b: Sequence[str]) -> list[Pair]:
    """Places of both that hold one name, in order: what the shortest script of edits leaves alone, as far
    as a stretch sees. Names that only one of them has match nothing, and are no edits.

    What `a` has more of may often lie in several places (`mm gelu mm mul mm` against `new mm`): it lies
    where `b` has something else in its place, if it can.
    """
    common = set(a) & set(b)
    left, right = ([i for i, name in enumerate(names) if name in common] for names in (a, b))
    names_a, names_b = [a[i] for i in left], [b[i] for i in right]
    found: list[Pair] = []
    x = y = 0
    while x < len(left) and y < len(right):
        pairs, (x, y) = _stretch(names_a, names_b, x, y)
        found += ((left[i], right[j]) for i, j in pairs)
    return _moved_up(a, found)


def _stretch(a: Sequence[str], b: Sequence[str], x0: int, y0: int) -> tuple[list[Pair], Pair]:
    """What matches from two places on, and where that search ends.

    `reach[k]` is how far one gets in `a` on diagonal k, on which one has gone k further in `a` than in `b`.
    """
    reach, rounds = {1: x0}, [{1: x0}]
    for edits in range(EDITS + 1):
        for k in range(-edits, edits + 1, 2):
            x = _enter(reach, k, edits)
            y = y0 + (x - x0) - k
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            reach[k] = x
            if (x, y) == (len(a), len(b)):
                return _way_back(rounds, x0, y0, k, x), (x, y)
        rounds.append({k: reach[k] for k in range(-edits, edits + 1, 2)})
    inside = [k for k, x in rounds[-1].items() if x <= len(a) and y0 + x - x0 - k <= len(b)]
    side = 1 if len(a) - x0 > 2 * (len(b) - y0) else -1  # of ways as far, leave out of what is much longer
    k = max(inside, key=lambda k: (2 * reach[k] - k, side * k))
    return _way_back(rounds[:-1], x0, y0, k, reach[k]), (reach[k], y0 + reach[k] - x0 - k)


def _enter(reach: Mapping[int, int], k: int, edits: int) -> int:
    """Where diagonal k is entered: from the neighbour that got further, leaving out a name of `b` or of
    `a`."""
    if k == -edits or (k != edits and reach[k - 1] < reach[k + 1]):
        return reach[k + 1]
    return reach[k - 1] + 1


def _way_back(rounds: Sequence[Mapping[int, int]], x0: int, y0: int, k: int, x: int) -> list[Pair]:
    """What matched on the way that ends at x on diagonal k, one edit after the last of these rounds."""
    found: list[Pair] = []
    for edits in range(len(rounds) - 1, -1, -1):
        start = _enter(rounds[edits], k, edits)
        found += ((i, y0 + (i - x0) - k) for i in range(x - 1, start - 1, -1))
        down = start == rounds[edits].get(k + 1)
        k, x = (k + 1, start) if down else (k - 1, start - 1)
    return found[::-1]


def _moved_up(a: Sequence[str], pairs: list[Pair]) -> list[Pair]:
    """The same, with what is left out of `a` moved towards the start, to where something is left out of
    `b`."""
    found = pairs.copy()
    for at in range(len(found) - 1, 0, -1):
        (i, j), (after, beside) = found[at - 1], found[at]
        if after - i > 1 and beside - j == 1:
            moved = _moves(a, found, at)
            found[at - len(moved) : at] = moved
    return found


def _moves(a: Sequence[str], pairs: Sequence[Pair], at: int) -> list[Pair]:
    """New pairs for those before `at`, if their names also end what is left out behind them; none if moving
    up by as many names as are left out meets nothing of `b`'s own."""
    end, size = pairs[at][0], pairs[at][0] - pairs[at - 1][0] - 1
    moved: list[Pair] = []
    for first in range(at - 1, max(at - 1 - size, -1), -1):
        i, j = pairs[first]
        end -= 1
        if a[i] != a[end]:
            return []
        moved.append((end, j))
        if j - (pairs[first - 1][1] if first else -1) > 1:
            return moved[::-1]
    return []

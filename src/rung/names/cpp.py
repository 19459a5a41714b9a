"""C++ function names as profilers print them, taken apart without a compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_CLOSES = {")": "(", "]": "[", "}": "{", ">": "<"}
_WRITTEN = (
    ("(anonymous namespace)", "\ue000anonymous\ue001namespace\ue002"),
    ("operator()", "operator\ue000\ue002"),
)
_STAND_INS = re.compile("[\ue000-\ue002]")


@dataclass(frozen=True, slots=True)
class CppName:
    """`void a::b<int>::c<float, 4>(int)`: scope `("a", "b<int>")`, base `"c"`, args `("float", "4")`.

    Of a mangled name only the leading nested name is read; `tail` is the rest, as it is.
    """

    scope: tuple[str, ...]
    base: str
    args: tuple[str, ...]
    tail: str = ""

    @property
    def path(self) -> str:
        """The name without its template arguments: `"a::b<int>::c"`."""
        return "::".join((*self.scope, self.base))


@lru_cache(maxsize=8192)
def parse(text: str) -> CppName:
    """Take a function or type name apart; any text at all gives some answer.

    The return type and the parameter list are dropped: they repeat what the template arguments say.
    """
    if text.startswith("_ZN"):
        return _nested_name(text)
    if _STAND_INS.search(text):
        return CppName((), text, ())
    for written, stand_in in _WRITTEN:
        text = text.replace(written, stand_in)
    head = text[: _first_at_top(text, "(")]
    head = head[_last_at_top(head.rstrip(), " ") + 1 :].strip()
    parts = split(head, "::")
    bases = [_base_and_args(part) for part in parts]
    if len(parts) > 1 and bases[-1][0].startswith("operator\ue000"):
        parts, bases = parts[:-1], bases[:-1]
    base, args = bases[-1]
    if not base:
        return CppName((), _as_written(text), ())
    scope = tuple(_as_written(part) for part in parts[:-1])
    return CppName(scope, _as_written(base), tuple(map(_as_written, args)))


def split(text: str, separator: str) -> list[str]:
    """Split at the separators outside all brackets, and strip the parts."""
    parts, start = [], 0
    for at in _at_top(text):
        if at >= start and text.startswith(separator, at):
            parts.append(text[start:at].strip())
            start = at + len(separator)
    return [*parts, text[start:].strip()]


def identifiers(mangled: str) -> list[str]:
    """The length-prefixed identifiers of an Itanium-mangled name, in order; numbers in literals are none."""
    found, at = [], 0
    while at < len(mangled):
        literal = re.compile(r"L[a-z]n?\d+E").match(mangled, at)
        if literal:
            at = literal.end()
            continue
        number = re.compile(r"[1-9]\d{0,3}").match(mangled, at)
        if not number:
            at += 1
            continue
        word = mangled[number.end() : number.end() + int(number.group())]
        if re.fullmatch(r"[A-Za-z_]\w*", word, re.ASCII) and len(word) == int(number.group()):
            found.append(word)
            at = number.end() + len(word)
        else:
            at = number.end()
    return found


def _nested_name(text: str) -> CppName:
    """`_ZN5aiter24add_rmsnorm_quant_kernelI...`: the identifiers up to the first other code."""
    at, names = len("_ZN"), []
    while number := re.compile(r"[1-9]\d{0,3}").match(text, at):
        end = number.end() + int(number.group())
        names.append(text[number.end() : end])
        at = end
    if not names:
        return CppName((), text, ())
    return CppName(tuple(names[:-1]), names[-1], (), text[at:])


def _base_and_args(part: str) -> tuple[str, list[str]]:
    opening = _first_at_top(part, "<")
    if opening == len(part) or not part.endswith(">"):
        return part, []
    return part[:opening], [arg for arg in split(part[opening + 1 : -1], ",") if arg]


def _as_written(text: str) -> str:
    for written, stand_in in _WRITTEN:
        text = text.replace(stand_in, written)
    return text


def _at_top(text: str) -> list[int]:
    """Positions outside all brackets; an opening bracket itself counts as outside."""
    open_brackets: list[str] = []
    top = []
    for at, char in enumerate(text):
        if not open_brackets:
            top.append(at)
        if char in "([{<":
            open_brackets.append(char)
        elif char in _CLOSES and _CLOSES[char] in open_brackets:
            # `(8)>(0)` inside parentheses closes nothing; `)` closes whatever was left open since its `(`.
            if char == ">" and open_brackets[-1] != "<":
                continue
            while open_brackets.pop() != _CLOSES[char]:
                pass
    return top


def _first_at_top(text: str, char: str) -> int:
    return next((at for at in _at_top(text) if text[at] == char), len(text))


def _last_at_top(text: str, char: str) -> int:
    return next((at for at in reversed(_at_top(text)) if text[at] == char), -1)

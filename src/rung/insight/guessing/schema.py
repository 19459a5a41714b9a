"""The JSON schema of `*.guess.toml`, for editors that complete and check TOML by one."""

from __future__ import annotations

from typing import Any

from rung.insight.guessing.devices import GENERAL, MODELS
from rung.insight.guessing.files import BASELINE, DEVICES, EXTENDS
from rung.insight.guessing.language import UNITS
from rung.insight.guessing.wants import KINDS

_COMPARED = r"^\s*(==|!=|<=|>=|=|<|>|in\s)?\s*"
_PATTERNS = {
    "count": _COMPARED + r"[0-9]+(\.\.[0-9]+)?\s*$",
    "time": _COMPARED + r"(baseline|[0-9].*(ns|us|µs|μs|ms|s|%))",
    "share": _COMPARED + r"[0-9][0-9.]*\s*%?(\.\.[0-9.]+\s*%?)?\s*$",
}
_SAYS = {
    "count": "A whole number, or a comparison such as '>= 2' or 'in 2..4'.",
    "time": "A comparison with a time and its unit, such as '< 250 us'; on one device '<= 220 us ± 10 %'.",
    "share": "A comparison with a share from 0 to 1 or in %, such as '< 20 %'.",
}
_GLOBBED = r"^(op|kernel|family):.+"


def schema() -> dict[str, Any]:
    """The schema as plain data, JSON Schema draft 7."""
    region = {
        "type": "object",
        "properties": _keys(),
        "patternProperties": _globbed(),
        "additionalProperties": False,
    }
    section_keys = {**_keys(), BASELINE: _path("The trace that tolerances in this section are about.")}
    section = {**region, "properties": section_keys, "additionalProperties": {"$ref": "#/definitions/region"}}
    devices = {name: {"$ref": "#/definitions/section"} for name in (*GENERAL, *sorted(MODELS))}
    either = {"anyOf": [{"$ref": "#/definitions/region"}, {"$ref": "#/definitions/section"}]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Rung guess file (*.guess.toml)",
        "description": "What a trace is expected to show: a table for each region, sections for devices.",
        "type": "object",
        "properties": {**_about(), **_keys(), **devices},
        "patternProperties": _globbed(),
        "additionalProperties": either,
        "definitions": {"region": region, "section": section},
    }


def _about() -> dict[str, Any]:
    names = {"type": "array", "items": {"type": "string", "minLength": 1}}
    return {
        EXTENDS: {
            "description": "The guess files whose lines hold here too, unless this file replaces them.",
            "anyOf": [{"type": "string", "minLength": 1}, names],
        },
        DEVICES: {**names, "description": "More tables that are a device's section, such as ['rtx_4090']."},
        BASELINE: _path("The trace that tolerances of times are about, relative to this file."),
    }


def _keys() -> dict[str, Any]:
    kinds = {"anyOf": [{"enum": [*KINDS, "..."]}, {"type": "string", "minLength": 1}]}
    return {
        **{key: _value(unit) for key, unit in UNITS.items()},
        "dtype": {"type": "string", "description": "'bf16': every GEMM multiplies in it; '!= fp32': none."},
        "order": {
            "description": "A kind or a glob for each kernel in turn; '...' is any number of kernels.",
            "anyOf": [{"type": "array", "items": kinds, "minItems": 1}, {"type": "string", "minLength": 1}],
        },
    }  # fmt: skip


def _globbed() -> dict[str, Any]:
    return {_GLOBBED: _value("count")}


def _value(unit: str) -> dict[str, Any]:
    numbers: dict[str, list[dict[str, Any]]] = {
        "count": [{"type": "integer", "minimum": 0}],
        "time": [],
        "share": [{"type": "number", "minimum": 0, "maximum": 1}],
    }
    text = {"type": "string", "pattern": _PATTERNS[unit]}
    return {"description": _SAYS[unit], "anyOf": [*numbers[unit], text]}


def _path(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}

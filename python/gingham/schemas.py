"""JSON Schemas: of scenarios, of sweep files, and of the errors of commands with `--json`.

The schemas of scenarios are derived from the types that parse them. Those of sweep files and of
errors are written here; tests compare them with the files accepted and the errors printed.
"""

from __future__ import annotations

from typing import Any

from gingham import kinds
from gingham._native import scenario_schema, stripe_schema
from gingham.errors import EXIT_CODES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

ANYTHING: Schema = {}
TEXT: Schema = {"type": "string"}
VALUES: Schema = {
    "description": "The values, each once.",
    "type": "array",
    "items": ANYTHING,
    "minItems": 1,
    "maxItems": 1_000_000,
}
END: Schema = {"type": ["number", "string"]}
RANGE: Schema = {
    "description": 'The values as a range, of numbers or of quantities such as "64 B".',
    "type": "object",
    "properties": {
        "from": {"description": "The first value.", **END},
        "to": {"description": "The last value.", **END},
        "step": {"description": "From one value to the next.", **END},
        "count": {"description": "How many values.", "type": "integer", "minimum": 1},
        "scale": {
            "description": "With count: whether values are a step or a factor apart.",
            "enum": ["linear", "log"],
        },
    },
    "required": ["from", "to"],
    "oneOf": [{"required": ["step"]}, {"required": ["count"]}],
    "additionalProperties": False,
}
AXIS: Schema = {
    "description": "A dimension of the grid.",
    "type": "object",
    "properties": {
        "name": {
            "description": "Its column, or a list of its columns.",
            "anyOf": [TEXT, {"type": "array", "items": TEXT}],
        },
        "key": {"description": 'The key that it varies, such as "traffic.0.load".', **TEXT},
        "keys": {
            "description": "Several keys, each its value times a factor.",
            "type": "object",
            "additionalProperties": {"type": "number"},
            "minProperties": 1,
        },
        "zip": {
            "description": "Keys that advance together, each with a list or range of values.",
            "type": "object",
            "additionalProperties": {"anyOf": [VALUES, RANGE]},
            "minProperties": 1,
        },
        "choices": {
            "description": "Named alternatives, each with the keys that it sets.",
            "type": "object",
            "additionalProperties": {"type": "object"},
            "minProperties": 1,
        },
        "values": VALUES,
        "range": RANGE,
    },
    "oneOf": [{"required": [way]} for way in ("key", "keys", "zip", "choices")],
    "dependentRequired": {"keys": ["name"], "choices": ["name"]},
    "if": {"anyOf": [{"required": ["key"]}, {"required": ["keys"]}]},
    "then": {"oneOf": [{"required": ["values"]}, {"required": ["range"]}]},
    "else": {"properties": {"values": False, "range": False}},
    "additionalProperties": False,
}
SWEEP_KEYS: Schema = {
    "format": scenario_schema()["properties"]["format"],
    "title": {"description": "What the sweep shows.", **TEXT},
    "base": {"description": "The scenario that is varied: a file, or an example.", **TEXT},
    "seed": {
        "description": "Seed of all replications.",
        "type": "integer",
        "minimum": 0,
        "maximum": 2**63 - 1,
        "default": 1,
    },
    "replications": {
        "description": "Runs of each point, with random numbers of their own.",
        "type": "integer",
        "minimum": 1,
        "maximum": 1_000_000,
        "default": 1,
    },
    "keep": {
        "description": 'Tables that are kept of each run, such as "links".',
        "type": "array",
        "items": TEXT,
        "default": [],
    },
    "where": {"description": "A condition in SQL over the columns of the axes.", **TEXT},
    "set": {"description": "Keys of the base with their values in all runs.", "type": "object"},
    "axis": {"description": "The dimensions of the grid.", "type": "array", "items": AXIS},
}
SWITCHES: Schema = {
    "allow_deadlock": {
        "description": "Whether routes that can deadlock are run, too.",
        "type": "boolean",
        "default": False,
    }
}
ERROR_KEYS: Schema = {
    "message": {"description": "What is wrong and what helps, for people.", **TEXT},
    "exit_code": {"description": "How the command ends.", "enum": sorted(set(EXIT_CODES) - {0})},
    "code": {
        "description": "The kind of the error, the same in every version.",
        **TEXT,
    },
    "file": {"description": "The file that is to blame.", "type": ["string", "null"]},
    "line": {"description": "Its line, from 1.", "type": ["integer", "null"], "minimum": 1},
    "column": {"description": "And column, from 1.", "type": ["integer", "null"], "minimum": 1},
    "key": {"description": "The key or option that is to blame.", "type": ["string", "null"]},
    "nearest": {"description": "What was perhaps meant.", "type": ["string", "null"]},
    "expected": {"description": "What is known there.", "type": "array", "items": TEXT},
    "faults": {"description": "How many faults the file has.", "type": "integer", "minimum": 1},
    "others": {
        "description": "The faults beside the first, up to twenty.",
        "type": "array",
        "items": {"type": "object"},
    },
    "cycle": {
        "description": "Channels that wait for one another.",
        "type": "array",
        "items": TEXT,
    },
}


def scenario() -> Schema:
    """Return the schema of scenarios of fabrics."""
    return {"$schema": DIALECT, **scenario_schema()}


def stripe() -> Schema:
    """Return the schema of striping scenarios."""
    return {"$schema": DIALECT, **stripe_schema()}


def sweep() -> Schema:
    """Return the schema of sweep files, including that of an embedded scenario."""
    switches = {name: SWITCHES[name] for kind in kinds.KINDS for name in kind.switches}
    inline = {
        "description": "The scenario that is varied, in place of base.",
        "anyOf": [scenario_schema(), stripe_schema()],
    }
    return {
        "$schema": DIALECT,
        "title": "Sweep",
        "description": "A scenario varied along axes.",
        "type": "object",
        "properties": {**SWEEP_KEYS, **switches, "scenario": inline},
        "oneOf": [{"required": ["base"]}, {"required": ["scenario"]}],
        "additionalProperties": False,
    }


def error() -> Schema:
    """Return the schema of the error line of a command with `--json`."""
    places = ["file", "line", "column", "key"]
    always = ["message", "exit_code", "code", *places, "nearest", "expected"]
    return {
        "$schema": DIALECT,
        "title": "Error",
        "description": "The line of the standard error that has an exit_code.",
        "type": "object",
        "properties": ERROR_KEYS,
        "required": always,
        # An interruption adds its progress.
        "additionalProperties": True,
    }

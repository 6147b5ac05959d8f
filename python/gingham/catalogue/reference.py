"""Meanings of scenario keys, from the schema of the types that parse them.

A key is a dotted path as in `--set`; `0` stands for any position in a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from gingham._native import catalogue, scenario_schema, stripe_schema
from gingham.catalogue.glossary import plain
from gingham.catalogue.markdown import cell, one_line, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Schema = dict[str, Any]

# Keys of striping scenarios whose values are names that have entries themselves.
CHOICES = (
    "stripe.scheduler",
    "stripe.reception",
    "stripe.quanta",
    "stripe.control.by",
    "source.kind",
    "entry.queue",
)
# Maximum number of values in a sentence; more are written as a list.
LISTED_MIN = 8
NOTHING = object()


@dataclass(frozen=True)
class Key:
    """A key of a scenario."""

    path: str
    meaning: str
    # Permitted values, in words.
    values: str
    # Default as TOML; `None` if there is none.
    default: str | None
    required: bool
    # Source in the literature, if the catalogue has one.
    source: str | None


def every_key() -> list[Key]:
    """Return all keys, in the order of a scenario file."""
    return list(walk(scenario_schema(), "", sources()))


def every_stripe_key() -> list[Key]:
    """Return all keys of a striping scenario, in the order of its file."""
    return list(walk(stripe_schema(), "", {}))


@cache
def stripe_choices() -> list[Key]:
    """Return the named choices of striping scenarios, such as schedulers, with their meanings."""
    found = []
    for path in CHOICES:
        schema = stripe_schema()
        for part in path.split("."):
            inner = schema.get("items", schema)
            schema = inner["properties"][part]
        for branch in branches(schema):
            meaning = one_line(branch.get("description", ""))
            names = [branch.get("const"), *branch.get("enum", []), *branch.get("required", [])]
            for name in filter(None, names):
                values = f'{path.replace("source.", "source.0.")} = "{name}"'
                found.append(Key(name, meaning, values, None, required=False, source=None))
    return found


def named(name: str, known: Sequence[Key]) -> list[Key]:
    """Return the key of this path and those below it, or else those whose last part is the name."""
    wanted = as_key(name)
    return [key for key in known if key.path == wanted or key.path.startswith(f"{wanted}.")] or [
        key for key in known if plain(last(key.path)) == plain(name)
    ]


def as_key(name: str) -> str:
    """Return the path of a key with `0` in place of any list position or `*`."""
    parts = name.split(".")
    return ".".join("0" if part.isdigit() or part == "*" else part for part in parts)


def depth_below(path: str, below: str) -> int:
    """Return the number of levels from a path to a key below it, or 0; list positions do not count.

    >>> depth_below("traffic", "traffic.0.length.fixed"), depth_below("", "stop.time")
    (2, 2)
    >>> depth_below("load", "traffic.0.load")
    0
    """
    if path and not below.startswith(f"{path}."):
        return 0
    rest = below[len(path) :].strip(".").split(".")
    return sum(not part.isdigit() for part in rest)


def last(path: str) -> str:
    """Return the last part of a path."""
    return path.rsplit(".", 1)[-1]


def sources() -> dict[str, str]:
    """Return the source of each name in the catalogue, by the path of its key."""
    return {
        f"{as_key(path)}.{line['name']}": line["source"]
        for line in catalogue()
        for path in line["keys"]
    }


def walk(schema: Schema, path: str, source_of: Mapping[str, str]) -> Iterator[Key]:
    """Yield the keys below a schema."""
    required = schema.get("required", [])
    for name, child in schema.get("properties", {}).items():
        below = f"{path}.{name}" if path else name
        yield Key(
            path=below,
            meaning=one_line(child.get("description") or schema.get("description") or ""),
            values=values(child),
            default=default_of(child),
            required=name in required and not is_choice(schema),
            source=source_of.get(below),
        )
        yield from walk(child, below, source_of)
    for branch in branches(schema):
        yield from walk({**branch, "choice": True}, path, source_of)
    if schema.get("type") == "array" and "properties" in schema["items"]:
        yield from walk(schema["items"], f"{path}.0", source_of)


def branches(schema: Schema) -> list[Schema]:
    """Return the alternatives of a schema, except null."""
    found: list[Schema] = schema.get("oneOf", []) + schema.get("anyOf", [])
    return [branch for branch in found if branch.get("type") != "null"]


def is_choice(schema: Schema) -> bool:
    """Return whether the properties of a schema are one choice of several."""
    return bool(schema.get("choice"))


def values(schema: Schema) -> str:
    """Return the permitted values of a key, in words."""
    if alternatives := branches(schema):
        said = dict.fromkeys(values(branch) for branch in alternatives)
        return f"one of {', '.join(said)}" if len(said) > LISTED_MIN else ", or ".join(said)
    names = [schema["const"]] if "const" in schema else schema.get("enum", [])
    if names:
        return " or ".join(f'"{name}"' for name in names)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(name for name in kind if name != "null")
    if kind == "array":
        items = schema["items"]
        return "tables" if "properties" in items else f"a list, each {values(items)}"
    if kind == "object":
        named = list(schema.get("properties", {}))
        one = len(named) == 1 and schema.get("required") == named
        return f"{{ {named[0]} = ... }}" if one else "a table"
    if examples := schema.get("examples"):
        return f"such as {' or '.join(map(toml, examples))}"
    words = {"string": "a text", "number": "a number", "boolean": "true or false"}
    return words.get(str(kind), "a whole number")


def default_of(schema: Schema) -> str | None:
    """Return the default as TOML; `None` for null, tables, and keys without a default."""
    value = schema.get("default", NOTHING)
    if value is NOTHING or value is None or isinstance(value, dict):
        return None
    return toml(value)


def toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def page() -> str:
    """Return the reference page of scenarios, in Markdown."""
    return "\n".join([*HEAD, *table(COLUMNS, rows(every_key()))])


def stripe_page() -> str:
    """Return the reference page of striping scenarios, in Markdown."""
    return "\n".join([*STRIPE_HEAD, *table(COLUMNS, rows(every_stripe_key()))])


def rows(keys: Sequence[Key]) -> Iterator[Sequence[str]]:
    """Yield a row of a table for each key."""
    for key in keys:
        yield f"`{key.path}`", key.meaning, cell(key.values), standing(key)


def standing(key: Key) -> str:
    """Return "required", or the default of an optional key; empty without a default."""
    if key.required:
        return "required"
    return f"`{key.default}`" if key.default is not None else ""


HEAD = [
    "# The keys of a scenario",
    "",
    "<!-- nothing to run: a table; the pages that explain its keys run them -->",
    "",
    "Made from the types that are parsed (`gingham.catalogue.reference`); a test holds the two",
    "together. `gingham explain KEY` shows one key, `gingham schema` prints the JSON Schema, and",
    "`--set KEY=VALUE` changes a key of a run. `0` stands for any place in a list:",
    "`traffic.0.load` is the load of the first class. A bare name stands for a choice without",
    'parameters: `algorithm = "up-down"`.',
    "",
]

STRIPE_HEAD = [
    "# The keys of a striping scenario",
    "",
    "<!-- nothing to run: a table; the pages that explain its keys run them -->",
    "",
    "Made from the types that are parsed (`gingham.catalogue.reference`); a test holds the two",
    "together. `gingham explain --stripe KEY` shows one key, `gingham schema --stripe` prints the",
    "JSON Schema, and `--set KEY=VALUE` changes a key of a run. `0` stands for any place in a",
    "list: `channel.0.rate` is the rate of the first channel. A bare name stands for a choice",
    'without parameters: `kind = "backlogged"`.',
    "",
]

COLUMNS = ("key", "meaning", "values", "default")

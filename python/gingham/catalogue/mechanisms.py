"""Mechanisms with their parameters, and the switching kinds that support them.

A mechanism is a named choice of a scenario: a generator, a routing algorithm, a traffic pattern.
The entries come from the catalogue of the compiled core; this module formats them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham._native import catalogue, switching_kinds
from gingham.catalogue import reference
from gingham.catalogue.glossary import plain
from gingham.catalogue.markdown import cell, one_line, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class SwitchingKind:
    """A way of forwarding packets in switches, such as wormhole switching."""

    name: str
    summary: str
    source: str
    # Scenario keys that select it, as TOML.
    example: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of a mechanism, or of a choice below one."""

    name: str
    meaning: str
    values: str
    # Default as TOML, "required", or empty.
    default: str


@dataclass(frozen=True)
class Mechanism:
    """A named choice of a scenario."""

    # First of the scenario keys that accept it.
    key: str
    concept: str
    # Heading of its concept in the reference.
    title: str
    name: str
    meaning: str
    source: str
    # Value that it takes instead of a table of parameters, such as `"512 B"`.
    takes: str | None
    parameters: Sequence[Parameter]
    # By the name of a switching kind: "works", "refused: <reason>" or "meaningless".
    support: dict[str, str]
    # Scenario keys that use it, as TOML.
    example: str
    # Content of the files that the example reads, by name.
    files: dict[str, str]


def kinds() -> list[SwitchingKind]:
    """Return every switching kind."""
    return [SwitchingKind(**kind) for kind in switching_kinds()]


def every_mechanism() -> list[Mechanism]:
    """Return all mechanisms, grouped by concept."""
    return [mechanism_of(entry) for entry in catalogue()]


def named(name: str, known: Sequence[Mechanism]) -> list[Mechanism]:
    """Return the mechanisms of this name, or those of a concept of this name."""
    return [one for one in known if plain(one.name) == plain(name)] or [
        one for one in known if plain(one.concept) == plain(name)
    ]


def mechanism_of(entry: dict[str, Any]) -> Mechanism:
    """Return the mechanism described by an entry of the core's catalogue."""
    schema = entry["parameters"]
    is_table = schema is None or "properties" in schema
    return Mechanism(
        key=reference.as_key(entry["keys"][0]),
        concept=entry["concept"],
        title=entry["title"],
        name=entry["name"],
        meaning=one_line(entry["summary"]),
        source=entry["source"],
        takes=None if is_table else reference.values(schema),
        parameters=list(parameters_of(schema or {})),
        support={line["kind"]: support_of(line) for line in entry["kinds"]},
        example=entry["example"],
        files={file["name"]: file["text"] for file in entry["files"]},
    )


def parameters_of(schema: dict[str, Any]) -> Iterator[Parameter]:
    """Yield the parameters in a schema, and those below them."""
    for key in reference.walk(schema, "", {}):
        yield Parameter(key.path, key.meaning, key.values, reference.standing(key))


def support_of(line: dict[str, str]) -> str:
    """Return the support of a mechanism under a kind as text, with the reason for a refusal."""
    reason = line.get("reason")
    return line["support"] if reason is None else f"{line['support']}: {reason}"


def page() -> str:
    """Return the reference page of mechanisms, in Markdown."""
    known = every_mechanism()
    lines = [*HEAD, *kinds_section()]
    for concept in dict.fromkeys(one.concept for one in known):
        lines += concept_section([one for one in known if one.concept == concept])
    return "\n".join(lines)


def kinds_section() -> Iterator[str]:
    """Yield the section on switching kinds."""
    yield from ("## Switching kinds", "", "A fabric has one switching kind.", "")
    rows = [(f"`{kind.name}`", cell(kind.summary), cell(kind.source)) for kind in kinds()]
    yield from table(["kind", "meaning", "source"], rows)


def support_in(one: Mechanism, kinds: Sequence[str]) -> list[str]:
    """Return the support of a mechanism under each of these kinds."""
    return [one.support[kind] for kind in kinds]


def concept_section(members: Sequence[Mechanism]) -> Iterator[str]:
    """Yield the section on the mechanisms of one concept: the matrix, then each mechanism."""
    names = [kind.name for kind in kinds()]
    yield f"## {members[0].title}"
    yield from ("", f"Key: `{members[0].key}`.", "")
    rows = [
        (
            f"`{one.name}`",
            *map(cell, (one.meaning, one.source, *(one.support[name] for name in names))),
        )
        for one in members
    ]
    yield from table(["name", "meaning", "source", *names], rows)
    for one in members:
        yield from mechanism_section(one)


def mechanism_section(one: Mechanism) -> Iterator[str]:
    """Yield parameters and example of a mechanism."""
    yield from (f"### `{one.name}` ({one.concept})", "")
    if one.takes:
        yield from (f"Takes {one.takes}.", "")
    if one.parameters:
        rows = [
            (f"`{each.name}`", cell(each.meaning), cell(each.values), each.default)
            for each in one.parameters
        ]
        yield from table(["parameter", "meaning", "values", "default"], rows)
    for name, text in one.files.items():
        yield from (f"`{name}`:", "", f"<!-- file: {name} -->", "```csv", text.rstrip(), "```", "")
    yield from ("```toml", whole_example(one), "```", "")


def whole_example(one: Mechanism) -> str:
    """Return the example of a mechanism, with the keys of its kind if the first kind refuses it."""
    first, *others = kinds()
    if not one.support[first.name].startswith("refused"):
        return one.example
    kind = next(kind for kind in others if one.support[kind.name] == "works")
    return f"{kind.example}\n{one.example}"


HEAD = [
    "# Mechanisms",
    "",
    "Every name that a scenario may use, made from the catalogue (`gingham.catalogue.mechanisms`).",
    "The last columns of each table say whether a mechanism works under a switching kind, is",
    "refused, and why, or is meaningless there; a test runs every pair that works. The examples",
    "are parts of scenarios: put one in place of the same keys of yours. `gingham explain NAME`",
    "shows one.",
    "",
]

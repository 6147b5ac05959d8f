"""Fabric generators in the catalogue of the compiled core.

::

    catalogue ──► Generator, Parameter ──┬──► `gingham fabric make torus --dimensions 8,8`
                                         └──► `gingham.fabrics.torus(dimensions=[8, 8])`

`source` generates the module `gingham.fabrics`, which `make pages` writes into the package; a test
compares the two, so that a missing generator is detected.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from gingham._native import catalogue
from gingham.catalogue.markdown import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDTH = 100
SEED = "Seed of random choices; shapes without random choices do not depend on it."
SPEED = 'Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.'


@dataclass(frozen=True)
class Parameter:
    """A parameter of a generator."""

    name: str
    # Meaning with unit and range.
    meaning: str
    # Whether the value is a list of integers rather than a single one.
    is_list: bool
    required: bool
    # `None` if the generator chooses.
    default: int | None

    @property
    def annotation(self) -> str:
        """Type annotation in Python."""
        kind = "Sequence[int]" if self.is_list else "int"
        return kind if self.required or self.default is not None else f"{kind} | None"

    @property
    def signature(self) -> str:
        """Declaration in the signature of a function: name, type and default."""
        return f"{self.name}: {self.annotation}{'' if self.required else f' = {self.default}'}"


@dataclass(frozen=True)
class Generator:
    """A shape of fabrics."""

    name: str
    summary: str
    # Book or paper that describes it.
    source: str
    # Required parameters first.
    parameters: Sequence[Parameter]

    @property
    def function(self) -> str:
        """Name of its function in `gingham.fabrics`."""
        return self.name.replace("-", "_")


@cache
def every_generator() -> dict[str, Generator]:
    """Return the generators by name, in the order of the catalogue."""
    lines = [line for line in catalogue() if line["concept"] == "generator"]
    return {line["name"]: generator_of(line) for line in lines}


def generator_of(line: Mapping[str, Any]) -> Generator:
    """Return the generator described by an entry of the catalogue."""
    required = line["parameters"].get("required", [])
    properties = line["parameters"]["properties"]
    ordered = [*required, *(name for name in properties if name not in required)]
    parameters = [
        Parameter(
            name,
            one_line(properties[name]["description"]),
            properties[name]["type"] == "array",
            name in required,
            properties[name].get("default"),
        )
        for name in ordered
    ]
    return Generator(line["name"], line["summary"], line["source"], parameters)


def source() -> str:
    """Return the text of the module `gingham.fabrics`."""
    made = "\n\n\n".join("\n".join(function(one)) for one in every_generator().values())
    names = sorted(one.function for one in every_generator().values())
    exported = "\n".join(f'    "{name}",' for name in names)
    return f"{HEAD.format(exported=exported)}\n\n\n{made}\n"


def function(one: Generator) -> Iterator[str]:
    """Yield the lines of the function of a generator."""
    yield f"def {one.function}("
    yield "    *,"
    yield from (f"    {parameter.signature}," for parameter in one.parameters)
    yield from ("    seed: int = 1,", "    speed: str | None = None,", ") -> Fabric:")
    yield f'    """Make {one.summary[0].lower()}{one.summary[1:]}'
    yield ""
    told = {parameter.name: parameter.meaning for parameter in one.parameters}
    for name, meaning in {**told, "seed": SEED, "speed": SPEED}.items():
        yield from textwrap.wrap(
            f":param {name}: {meaning}", WIDTH, initial_indent="    ", subsequent_indent="        "
        )
    yield ""
    yield from textwrap.wrap(
        f"Source: {one.source}.", WIDTH, initial_indent="    ", subsequent_indent="    "
    )
    yield '    """'
    given = ", ".join(f'"{name}": {name}' for name in told)
    whole = f'    return _made("{one.name}", {{{given}}}, seed, speed)'
    if len(whole) <= WIDTH:
        yield whole
        return
    yield f'    return _made(\n        "{one.name}",\n        {{'
    yield from (f'            "{name}": {name},' for name in told)
    yield "        },\n        seed,\n        speed,\n    )"


HEAD = '''"""One function for each shape of fabrics, with its parameters and their units.

Generated from the catalogue of generators (`gingham.catalogue.generators`) by `make pages`.

>>> from gingham import fabrics
>>> fabrics.torus(dimensions=[4, 4], hosts_per_switch=2)
<Fabric: 16 switches, 32 other nodes>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
{exported}
]


def _made(kind: str, values: Mapping[str, Any], seed: int, speed: str | None) -> Fabric:
    """Return the fabric of a generator, with its defaults in place of `None`."""
    given = {{
        name: value if isinstance(value, int) else list(value)
        for name, value in values.items()
        if value is not None
    }}
    return Fabric.make(kind, seed=seed, speed=speed, **given)'''

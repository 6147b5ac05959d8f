"""Pairs of mechanisms that can be combined, as determined by the compiled core.

Every pair is compiled under every switching kind on a ring of five switches: a scenario that
compiles works, and an error is the reason for refusal. Only the values that enable a mechanism are
written by hand.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from gingham.catalogue import markdown, mechanisms
from gingham.catalogue.glossary import plain
from gingham.catalogue.markdown import table
from gingham.errors import InputError, meant, nearest, unlaid
from gingham.pairs.parts import PARTS, Part
from gingham.running import Simulation
from gingham.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORKS = "works"
# Common part of the scenarios; the ring permits in-transit hosts.
BASE = """\
seed = 1
stop = { time = "15 us", warm_up = "0 s" }
topology.generate.torus = { dimensions = [5] }
traffic = [{ load = 0.1, length = { fixed = "64 B" } }]
"""
CLASS = {"load": 0.3, "length": {"fixed": "100 B"}}


class Contradiction(Exception):  # noqa: N818  (not an error: a result)
    """A scenario cannot enable both parts: they set different values of the key in the message."""


@dataclass(frozen=True)
class Pair:
    """Two mechanisms, or one mechanism paired with itself."""

    first: str
    second: str
    # "works" or "refused: <reason>", by the name of the switching kind.
    support: dict[str, str]
    # Key of the scenario that the refusal names, by the name of the switching kind that refuses.
    keys: dict[str, str]

    def kinds(self) -> list[str]:
        """Return the switching kinds that support the pair."""
        return [kind for kind, how in self.support.items() if how == WORKS]

    def reasons(self) -> dict[str, list[str]]:
        """Return the kinds that refuse the pair, by reason."""
        found: dict[str, list[str]] = {}
        for kind, how in self.support.items():
            if how != WORKS:
                found.setdefault(how.removeprefix("refused: "), []).append(kind)
        return found


@cache
def base() -> Scenario:
    """Return the common part of the scenarios."""
    return Scenario.parse(BASE)


def scenario(kind: mechanisms.SwitchingKind, *parts: Part) -> Scenario:
    """Return the small scenario that enables all parts under a switching kind.

    Raises `Contradiction` if no scenario can enable them.
    """
    tables: dict[str, Any] = {"traffic": {}, **tomllib.loads(kind.example)}
    for part in parts:
        merge(tables, part.tables(), "")
    left_out = {key for part in parts for key in part.without}
    kept = {key: value for key, value in CLASS.items() if key not in left_out}
    one = kept | tables.pop("traffic")
    values = {f"{table}.{key}": below for table in tables for key, below in tables[table].items()}
    return base().with_({**values, "traffic": [one]})


def merge(into: dict[str, Any], more: Mapping[str, Any], path: str) -> None:
    """Merge values into others; raise `Contradiction` if they differ."""
    for key, value in more.items():
        at = f"{path}.{key}" if path else key
        if isinstance(value, dict) and isinstance(into.get(key, {}), dict):
            merge(into.setdefault(key, {}), value, at)
        elif into.setdefault(key, value) != value:
            raise Contradiction(at.replace("traffic.", "traffic.*."))


@cache
def every_pair() -> tuple[Pair, ...]:
    """Return all pairs, including each part paired with itself."""
    alone = ((part, part) for part in PARTS)
    return tuple(pair_of(*two) for two in (*alone, *combinations(PARTS, 2)))


def pair_of(first: Part, second: Part) -> Pair:
    """Compile a pair of mechanisms under every switching kind."""
    found = {kind.name: support_of(kind, first, second) for kind in mechanisms.kinds()}
    support = {kind: how for kind, (how, _) in found.items()}
    keys = {kind: key for kind, (_, key) in found.items() if key is not None}
    return Pair(first.name, second.name, support, keys)


def support_of(kind: mechanisms.SwitchingKind, *parts: Part) -> tuple[str, str | None]:
    """Return whether the scenario with these parts is accepted, or the reason and its key."""
    try:
        Simulation(scenario(kind, *parts), allow_deadlock=True)
    except Contradiction as one:
        return f"refused: both are values of {one}", str(one)
    except InputError as refused:
        return f"refused: {unlaid(str(refused)).removeprefix('in ')}", refused.key
    return WORKS, None


def named(name: str) -> list[Part]:
    """Return the parts of this name, or those of a mechanism or concept of the catalogue.

    Raises `InputError` with the nearest name if there is none.
    """
    if found := [part for part in PARTS if plain(part.name) == plain(name)]:
        return found
    known = mechanisms.every_mechanism()
    concepts = {one.concept for one in mechanisms.named(name, known)}
    if found := [part for part in PARTS if part.concept in concepts]:
        return found
    names = [part.name for part in PARTS]
    near = nearest(name, names)
    raise InputError(
        f'no pair is of "{name}"{meant(near, ";")} there are pairs of {", ".join(names)}',
        key=name,
        expected=names,
        nearest=near,
    )


# Letter of a pair, by the switching kinds that support it.
LETTERS = {
    ("wormhole", "virtual-lanes", "packets"): "*",
    ("wormhole", "virtual-lanes"): "f",
    ("virtual-lanes", "packets"): "l",
    ("wormhole", "packets"): "o",
    ("wormhole",): "w",
    ("virtual-lanes",): "v",
    ("packets",): "p",
    (): "-",
}


def letter(pair: Pair) -> str:
    """Return the letter of a pair."""
    return LETTERS[tuple(pair.kinds())]


def legend() -> dict[str, str]:
    """Return the meaning of each letter in use."""
    used = {letter(pair) for pair in every_pair()}
    words = {"*": "works under every switching kind", "-": "is refused, or one excludes the other"}
    return {
        sign: words.get(sign) or f"works under {listed(kinds)}"
        for kinds, sign in LETTERS.items()
        if sign in used
    }


def listed(names: Sequence[str]) -> str:
    """Return names as an enumeration with "and".

    >>> listed(["one"]), listed(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def matrix_lines() -> Iterator[str]:
    """Yield the lines of the lower triangle: each mechanism with those before it and itself."""
    found = {frozenset((pair.first, pair.second)): letter(pair) for pair in every_pair()}
    names = [part.name for part in PARTS]
    wide = max(map(len, names))
    for place, name in enumerate(names):
        cells = " ".join(found[frozenset((name, other))] for other in names[: place + 1])
        yield f"{ascii_lowercase[place]} {name:<{wide}}  {cells}"
    yield f"{'':<{wide + 4}}{' '.join(ascii_lowercase[: len(names)])}"


def refused_everywhere() -> dict[str, list[str]]:
    """Return the pairs that every kind refuses, by reason."""
    found: dict[str, list[str]] = {}
    for pair in every_pair():
        if not pair.kinds():
            found.setdefault(why(pair), []).append(f"{pair.first} with {pair.second}")
    return found


def why(pair: Pair) -> str:
    """Return why every kind refuses a pair: reasons of the pair alone, or missing common kinds."""
    alone_first, alone_second = alone(pair.first), alone(pair.second)
    known = {how for one in (alone_first, alone_second) for how in one.support.values()}
    if together := [how for how in pair.reasons() if f"refused: {how}" not in known]:
        return "; ".join(together)
    of_first, of_second = listed(alone_first.kinds()), listed(alone_second.kinds())
    return (
        f"no switching kind has both: {pair.first} goes with {of_first}, the other with {of_second}"
    )


def of(part: Part) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of a part with the name of the other part, itself first."""
    for pair in every_pair():
        if part.name in {pair.first, pair.second}:
            yield (pair.second if pair.first == part.name else pair.first), pair


def page() -> str:
    """Return the reference page of pairs, in Markdown."""
    lines = [*HEAD, "```text", *matrix_lines(), "```", ""]
    signs = [(f"`{sign}`", meaning) for sign, meaning in legend().items()]
    lines += table(["letter", "a pair"], signs)
    lines += ["The letter of a mechanism with itself is that of it alone.", ""]
    parts = [(f"`{part.name}`", part.meaning, example(part)) for part in PARTS]
    lines += ["## Mechanisms", "", *table(["name", "what", "example"], parts)]
    nowhere = [
        (", ".join(names), markdown.cell(reason)) for reason, names in refused_everywhere().items()
    ]
    lines += ["## Pairs that no switching kind takes", "", *table(["pairs", "why"], nowhere)]
    refused = [
        (f"`{part.name}`", f"refused under {listed(kinds)}: {markdown.cell(reason)}")
        for part in PARTS
        for reason, kinds in alone(part.name).reasons().items()
    ]
    lines += ["## Why a kind refuses what another takes", "", *table(["mechanism", "why"], refused)]
    return "\n".join(lines)


def alone(name: str) -> Pair:
    """Return the pair of a part with itself."""
    return next(pair for pair in every_pair() if pair.first == pair.second == name)


def example(part: Part) -> str:
    """Return the scenario keys that enable a part."""
    paths = [
        f"{'traffic.*' if table == 'traffic' else table}.{key}"
        for table, values in part.tables().items()
        for key in values
    ]
    return ", ".join(f"`{path}`" for path in paths)


HEAD = [
    "# What goes together",
    "",
    "Pairs of mechanisms: both were requested in one small scenario under each switching kind",
    "(`gingham.pairs.page`). A test runs each that works, by engine and oracle, and both measure",
    "the same. A reason is the message with which a scenario is refused. All pairs of one",
    "mechanism, with the kinds and the reasons:",
    "",
    "```sh",
    "gingham explain --pairs admission",
    "```",
    "",
    "Five that work in pairs work together in the example `all-together`, on networks of virtual",
    "lanes: in-transit hosts, segments, marks, admitted streams and windows. Its switches mark by",
    "a threshold, and rates follow the marks as in Santos et al. 2002. Triggers for full inputs,",
    "as there, need switches that keep whole packets, which no in-transit host forwards.",
    "",
]

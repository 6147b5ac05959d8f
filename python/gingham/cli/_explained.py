"""Output of `gingham explain`: a heading and a paragraph for each entry."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from gingham.catalogue import mechanisms, reference
from gingham.catalogue.elsewhere import PAGES
from gingham.catalogue.glossary import plain
from gingham.cli._layout import INDENT, entry, facts, paragraph, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType as Part

    from gingham.catalogue.elsewhere import Elsewhere
    from gingham.catalogue.glossary import Word
    from gingham.catalogue.lookup import Answer, Found
    from gingham.catalogue.meanings import Number


def answer(told_of: Answer, depth: int, width: int) -> Iterator[Part]:
    """Yield the entries for a name; of a key, also the keys down to `depth` levels below it."""
    name, now, found = told_of.name, told_of.now, told_of.found
    if there := found.get("elsewhere"):
        yield from (text(str(there[0])), *differences(there[0]), text(""))
    elif told_of.is_within:
        yield from (
            text(f'nothing is called "{name}" alone; these have it in their names'),
            text(""),
        )
    elif plain(now) != plain(name):
        yield from (text(f"{name} is called {now}"), text(""))
    choices: list[mechanisms.Mechanism] = found["mechanisms"]
    # A concept has many mechanisms, which are described in full only on request.
    full = depth > 1 or any(plain(one.name) == plain(now) for one in choices)
    told = mechanism if full else mechanism_in_short
    parts = [
        *(facts(facts_of_word(one), width) for one in found["words"]),
        keys(found["keys"], reference.as_key(now or name), depth, width),
        *(told(one, width) for one in choices),
        chain.from_iterable(number(one, width) for one in found["numbers"]),
    ]
    yield from apart(map(list, parts))


def differences(there: Elsewhere) -> Iterator[Part]:
    """Yield the page that lists the differences between a foreign name and the key here."""
    if there.key:
        yield text(f"what differs: {PAGES[there.simulator]}")


def everything(found: Found, depth: int, width: int) -> Iterator[Part]:
    """Yield the keys down to `depth` levels, and the mechanisms by name or in short."""
    choices: list[mechanisms.Mechanism] = found["mechanisms"]
    names: dict[str, list[str]] = {}
    for one in choices:
        names.setdefault(one.concept, []).append(one.name)
    known: Iterator[Part]
    if depth > 1:
        known = chain.from_iterable(mechanism_in_short(one, width) for one in choices)
    else:
        known = facts(((concept, ", ".join(some)) for concept, some in names.items()), width)
    more = "gingham explain WORD: a key and those below it, a mechanism, a word of the glossary, "
    closing = paragraph(f"{more}a verdict or a column of results", width, hanging=INDENT)
    yield from apart(map(list, (keys(found["keys"], "", depth, width), known, closing)))


def apart(parts: Iterable[list[Part]]) -> Iterator[Part]:
    """Yield parts with a line between them."""
    for place, part in enumerate(filter(None, parts)):
        if place:
            yield text("")
        yield from part


def keys(known: Sequence[reference.Key], path: str, depth: int, width: int) -> Iterator[Part]:
    """Yield keys down to `depth` below a path; the deepest mention keys below them."""
    for key in known:
        deep = reference.depth_below(path, key.path)
        if deep > depth:
            continue
        below = deep == depth and any(one.path.startswith(f"{key.path}.") for one in known)
        default = "" if key.default is None else key.default
        standing = "required" if key.required else default
        yield from entry(
            key.path, sentences(key.meaning, key.values, standing, key.source, below), width
        )


def sentences(
    meaning: str, values: str, standing: str = "", source: str | None = None, below: bool = False
) -> str:
    """Return the description of a key as one paragraph."""
    parts = [
        meaning,
        sentence(values),
        {"": "", "required": "Required"}.get(standing, f"Default: {standing}"),
        f"Source: {source}" if source else "",
        "Keys below it" if below else "",
    ]
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


def sentence(words: str) -> str:
    """Return words with a capital, unless they begin with the path of a key.

    >>> sentence("a number"), sentence('stripe.scheduler = "round-robin"')
    ('A number', 'stripe.scheduler = "round-robin"')
    """
    first = words.partition(" ")[0]
    return words if "." in first else words[:1].upper() + words[1:]


def facts_of_word(one: Word) -> Iterator[tuple[str, str]]:
    """Yield the facts of one word."""
    known = [
        ("word", one.word),
        ("meaning", one.meaning),
        ("here", one.here),
        ("not here", one.not_here),
        ("nearest", ", ".join(one.near)),
        ("unit", one.unit),
        ("type", one.type),
        ("also called", ", ".join(one.also)),
        *(("source", source) for source in one.sources()),
    ]
    yield from ((name, value) for name, value in known if value)


def number(one: Number, width: int) -> Iterator[Part]:
    """Yield a column of results, or a verdict."""
    unit = f", in {one.unit}" if one.unit else ""
    yield from entry(f"{one.name} ({one.place}{unit})", one.meaning, width)


def mechanism_in_short(one: mechanisms.Mechanism, width: int) -> Iterator[Part]:
    """Yield a mechanism with its support under each switching kind."""
    support = "; ".join(f"{how} under {kind}" for kind, how in one.support.items())
    told = sentences(one.meaning, support, source=one.source)
    yield from entry(f"{one.name} ({one.concept})", told, width)


def mechanism(one: mechanisms.Mechanism, width: int) -> Iterator[Part]:
    """Yield the full description of a mechanism: support, parameters, example, and its files."""
    known = [
        (one.concept, one.name),
        ("meaning", one.meaning),
        ("key", one.key),
        ("takes", one.takes),
        ("source", one.source),
        *((f"under {kind}", support) for kind, support in one.support.items()),
    ]
    yield from facts(((name, value) for name, value in known if value is not None), width)
    if one.parameters:
        yield from (text(""), text("parameters:"), text(""))
    for each in one.parameters:
        standing = each.default.strip("`")
        yield from entry(each.name, sentences(each.meaning, each.values, standing), width)
    yield from (text(""), text("example, for a scenario:"), text(""))
    yield from verbatim(mechanisms.whole_example(one))
    for name, content in one.files.items():
        yield from (text(""), text(f"{name}:"), text(""))
        yield from verbatim(content)


def verbatim(content: str) -> Iterator[Part]:
    """Yield the lines of a file unchanged."""
    return (text(" " * INDENT + line) for line in content.splitlines())

"""Glossary of code, messages and pages: words, meanings and synonyms elsewhere."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.catalogue.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Tables of the file that are not sections of words.
SOURCES, WAS = "Sources", "Was"
# The section of terms of other programs and papers that code and pages do not use.
OTHERS = "Words of others"

HEAD = """# Glossary

<!-- nothing to run: words -->

One word, one thing. Code, messages and pages use these words and no others for these things.
`gingham explain WORD` prints these entries. It also finds the synonyms under *also called*: the
words of BookSim, InfiniBand, Dally and Towles, ns-3 and TCP. [Words of
others](#words-of-others) lists terms with a related feature in Gingham, or none. Sources in
brackets are listed at the end; a word without a source is in common use, or ours. `make pages`
writes this page from `python/gingham/glossary.toml`.
"""


@dataclass(frozen=True)
class Word:
    """A word, or several words with one meaning."""

    word: str
    meaning: str
    unit: str = ""
    # Names of its types in the code.
    type: str = ""
    # Synonyms elsewhere.
    also: Sequence[str] = ()
    # For a word of others: its counterpart in Gingham, or the reason for its absence.
    here: str = ""
    not_here: str = ""
    # The nearest words, keys, mechanisms, columns and commands of Gingham.
    near: Sequence[str] = ()
    # Prefixes of further names, such as the variables of a library.
    begins: Sequence[str] = ()

    def names(self) -> list[str]:
        """Return the words and their synonyms."""
        return [*self.word.split(", "), *self.also]

    def is_called(self, name: str) -> bool:
        """Return whether a name is this word or a synonym, or begins with one of its prefixes."""
        begun = name.lower().startswith(tuple(one.lower() for one in self.begins))
        return begun or plain(name) in map(plain, self.names())

    def sources(self) -> list[str]:
        """Return the sources cited in brackets in the meaning."""
        tags = [
            tag for tags in re.findall(r"\[([^]]+)\]", self.meaning) for tag in tags.split(", ")
        ]
        return [contents()[SOURCES][tag] for tag in tags]


@cache
def contents() -> dict[str, dict[str, Any]]:
    """Return the content of the file: a table per section, the sources, and former words."""
    text = (Path(__file__).parents[1] / "glossary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sections() -> dict[str, list[Word]]:
    """Return the words of each section."""
    return {
        title: [Word(word, **facts) for word, facts in rows.items()]
        for title, rows in contents().items()
        if title not in {SOURCES, WAS}
    }


def every_word() -> list[Word]:
    """Return every word, in the order of the page."""
    return [one for words in sections().values() for one in words]


def name_now(name: str) -> str | None:
    """Return the present name for a former one, or for a path below a former key."""
    for old, new in contents()[WAS].items():
        if plain(name) == plain(old) or name.startswith(f"{old}."):
            return f"{new}{name[len(old) :]}"
    return None


def plain(name: str, between: str = "") -> str:
    """Return a name in the form used for comparison: lower case, `between` between its words.

    >>> plain("warm-up"), plain("Up*/Down*"), plain("credit_delay", " ")
    ('warmup', 'updown', 'credit delay')
    """
    return between.join(re.findall(r"[^-_ */]+", name.lower()))


def page() -> str:
    """Return the page of the glossary, in Markdown."""
    lines = [HEAD]
    for title, words in sections().items():
        shown = others_table(words) if title == OTHERS else words_table(words)
        lines += [f"## {title}", "", *shown]
    lines += ["## Words of earlier versions", ""]
    lines += table(["word", "now"], contents()[WAS].items())
    lines += ["## Sources", ""]
    lines += [f"- [{tag}] {source}" for tag, source in contents()[SOURCES].items()]
    return "\n".join([*lines, ""])


def words_table(words: Sequence[Word]) -> Iterator[str]:
    """Return the lines of a table of words in use here."""
    rows = []
    for one in words:
        code = ", ".join(f"`{each}`" for each in one.type.split(", ") if each)
        rows.append((one.word, one.meaning, one.unit, code, ", ".join(one.also)))
    return table(["word", "meaning", "unit", "type", "also called"], rows)


def others_table(words: Sequence[Word]) -> Iterator[str]:
    """Return the lines of a table of words of others."""
    rows = []
    for one in words:
        here = one.here or f"no: {one.not_here}"
        near = ", ".join(f"`{each}`" for each in one.near)
        rows.append((one.word, one.meaning, here, near, ", ".join(one.also)))
    return table(["word", "meaning", "here", "nearest", "also called"], rows)

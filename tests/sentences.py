"""Limits the length of sentences in pages: `python -m tests.sentences`, a step of `make lint`.

It counts the words of each sentence in prose: paragraphs, headings, items of lists, and each cell
of a table by itself. A span of code, a formula between dollars and a bare address are one word
each. The address of a link, blocks of code and comments do not count. A sentence ends at a full
stop, a question mark or an exclamation mark, unless a small letter follows.

Why not Vale: its wrapper on PyPI downloads a program when it first runs, and it does not separate
the cells of a table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

WORDS_MAX = 35
ROOT = Path(__file__).parent.parent
PARSER = MarkdownIt("commonmark").enable("table")
# After a stop with closing quotes and brackets, but not before a small letter.
END = re.compile(r"(?<=[.!?])[\"'”)\]]*\s+(?=[^\sa-z])")
ALIKE = re.compile(r"\bet al\.|\be\.g\.|\bi\.e\.|\b(?:No|Fig|Sec|Vol|ed)\.(?=\s+\d)")
FORMULA = re.compile(r"\$[^$]+\$|https?://\S+")
WORD = re.compile(r"[\w◇]")


class Long(NamedTuple):
    """A sentence with too many words."""

    line: int
    words: int
    text: str


def prose(inline: Token) -> str:
    """Return the text of a block, with line ends kept and code as one word."""
    parts = []
    for token in inline.children or []:
        if token.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
        elif token.type == "code_inline":
            parts.append("◇")
        elif token.type == "text":
            parts.append(token.content)
    text = FORMULA.sub("◇", "".join(parts))
    return ALIKE.sub(lambda found: found[0].replace(".", "·"), text)


def long_sentences(page: str) -> Iterator[Long]:
    """Yield the sentences of a page of Markdown that exceed the limit."""
    line = 0
    for token in PARSER.parse(page):
        # Cells have no lines of their own: theirs are those of the row.
        if token.map:
            line = token.map[0] + 1
        if token.type != "inline":
            continue
        text, at = prose(token), 0
        for end in [*(found.end() for found in END.finditer(text)), len(text)]:
            words = sum(bool(WORD.search(word)) for word in text[at:end].split())
            if words > WORDS_MAX:
                yield Long(line + text[:at].count("\n"), words, text[at:end])
            at = end


def pages() -> list[Path]:
    """Return the pages with this limit."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def main(names: list[str]) -> int:
    """Print each long sentence of the given pages, or of all; return the exit code."""
    found = 0
    for path in [Path(name).resolve() for name in names] or pages():
        for long in long_sentences(path.read_text()):
            found += 1
            begins = " ".join(long.text.split()[:8])
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            sys.stdout.write(
                f"{name}:{long.line}: {long.words} words, at most {WORDS_MAX}: {begins} ...\n"
            )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Text from files as a terminal may have it.

Names, notes and excerpts come from dumps that others wrote. A terminal obeys some characters
instead of showing them: ESC and the other controls, those that turn the direction of writing
(U+202E), and half a character of a file name that is no text. They are shown by their escapes.
"""

from __future__ import annotations

import unicodedata

# Line breaks and tabulators of our own; a reader of files has made sure of theirs.
LAYOUT = "\n\t"
# Controls, formats such as turns of direction, halves of characters, ends of lines and paragraphs.
OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return `text` with every character that a terminal obeys as an escape such as `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(escaped(char) if is_obeyed(char) else char for char in text)


def printable_json(text: str) -> str:
    r"""Return JSON with these characters as JSON has them: `\u202e`. It means the same."""
    if text.isprintable():
        return text
    return "".join(json_escaped(char) if is_obeyed(char) else char for char in text)


def is_obeyed(char: str) -> bool:
    """Return whether a terminal obeys a character instead of showing it."""
    return char not in LAYOUT and unicodedata.category(char) in OBEYED


def escaped(char: str) -> str:
    """Return a character by its number, as Python writes it."""
    return char.encode("unicode_escape", "surrogatepass").decode()


def json_escaped(char: str) -> str:
    """Return a character by its number, as JSON writes it."""
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

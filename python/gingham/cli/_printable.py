"""Text from files with terminal control characters escaped.

Names, notes and excerpts come from untrusted dumps. A terminal interprets some characters instead
of showing them: ESC and other controls, changes of writing direction (U+202E), and lone surrogates
in undecodable file names. They are replaced by escapes.
"""

from __future__ import annotations

import unicodedata

# Line breaks and tabs of our own; readers of files remove those in names.
LAYOUT = "\n\t"
# Controls, formats such as changes of direction, surrogates, line and paragraph separators.
OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return `text` with every character that a terminal interprets escaped, such as `\x1b`."""
    if text.isprintable():
        return text
    return "".join(escaped(char) if is_obeyed(char) else char for char in text)


def printable_json(text: str) -> str:
    r"""Return JSON with these characters as JSON escapes, such as `\u202e`: an equal value."""
    if text.isprintable():
        return text
    return "".join(json_escaped(char) if is_obeyed(char) else char for char in text)


def is_obeyed(char: str) -> bool:
    """Return whether a terminal interprets a character instead of showing it."""
    return char not in LAYOUT and unicodedata.category(char) in OBEYED


def escaped(char: str) -> str:
    """Return the escape of a character in Python's notation."""
    return char.encode("unicode_escape", "surrogatepass").decode()


def json_escaped(char: str) -> str:
    """Return the escape of a character in JSON's notation."""
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

"""Where in a sweep file what stands, for messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from gingham._native import toml_lines
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Lines:
    """The name of a sweep file, and the line of each of its keys."""

    name: str
    # By dotted path; what a program made has none.
    numbers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, text: str) -> Self:
        """Return the lines of a TOML text; `InputError` with its place if it is none."""
        return cls(name, {".".join(steps): line for steps, line in toml_lines(name, text)})

    def placed(self, error: InputError) -> InputError:
        """Return the error with file and line, where it has none of its own."""
        if error.file:
            return error
        path = error.key or ""
        while path and path not in self.numbers:
            path = path.rpartition(".")[0]
        line = self.numbers.get(path)
        place = self.name if line is None else f"{self.name}:{line}"
        return InputError(
            f"{place}: {error}",
            file=self.name,
            line=line,
            key=error.key,
            expected=error.expected,
            nearest=error.nearest,
        )

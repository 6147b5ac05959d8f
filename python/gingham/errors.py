"""Exceptions of the package, each with its exit code of the command line.

=====================  ====  ==========================================================
exception              exit  meaning
=====================  ====  ==========================================================
`InternalError`           1  a bug in Gingham
`InputError`              2  an invalid file, option or name
`DeadlockError`           3  routes that can deadlock, or a run that deadlocked
`EnvironmentProblem`      6  a full disk, a path that cannot be written, a missing program
=====================  ====  ==========================================================

A message has a few sentences: the position, the fault, the expected value and, for a misspelt name,
the nearest known one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


# Exit codes of all commands, with their meanings.
EXIT_CODES = {
    0: "a valid result; a saturated run is one",
    1: "a fault of gingham itself",
    2: "bad input",
    3: "a deadlock, possible or real",
    4: "too little was measured, with --strict",
    5: "a check found something",
    6: "the disk, or a missing program",
    130: "interrupted; the numbers hold until then",
}


# General codes of errors; specific codes are defined where they are raised.
CODES = {
    "bad-option": "an option, an argument or a command cannot be right",
    "bad-query": "a query or a filter cannot be answered",
    "busy": "another process writes there",
    "changed-file": "a file has changed since the run that is to be repeated",
    "damaged": "a file of a run or of a sweep is not the one that was written",
    "deadlock": "channels wait for one another in a cycle, or could",
    "exists": "something is there already, and is not replaced",
    "internal-fault": "a fault of gingham itself",
    "interrupted": "a signal ended the command",
    "is-file": "a file stands where a folder is expected",
    "missing-key": "a key that has no default is absent",
    "missing-program": "a program is not installed",
    "no-data": "what is asked for has no runs, rows or values",
    "no-folder": "there is no such folder",
    "no-privilege": "a privilege is missing, such as those of root",
    "no-run": "a folder has no run",
    "no-sweep": "a folder has no sweep",
    "other-build": "workers have another build of Gingham",
    "other-form": "a run, a sweep or a scenario has a form that this version cannot read",
    "other-kind": "a run or a scenario is of another kind than expected",
    "program-failed": "another program ended with an error",
    "refused": "a value, or a combination of values, cannot be used",
    "syntax": "a text cannot be parsed",
    "system": "the disk, the operating system or another program failed",
    "timeout": "a program or a service did not end or answer in time",
    "too-many": "more runs or values are asked for than allowed",
    "unknown-column": "a table has no such column",
    "unknown-key": "a table has no such key",
    "unknown-name": "none of the known names is meant",
    "unknown-node": "a fabric or a job has no such node",
    "unknown-table": "a result has no such table",
    "wrong-type": "a value is not of the expected form",
}


class GinghamError(Exception):
    """Base class of the exceptions that the package raises on purpose."""

    exit_code: ClassVar[int] = 1

    def _render_traceback_(self) -> list[str]:
        """Return the message without a traceback, for notebooks."""
        return [f"{type(self).__name__}: {self}"]


class InternalError(GinghamError):
    """A bug in Gingham; `code` names the kind."""

    def __init__(self, message: str, *, code: str = "internal-fault") -> None:
        """Store the code."""
        super().__init__(message)
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """Return the full traceback, for notebooks."""
        import traceback

        return traceback.format_exception(self)


class InputError(GinghamError):
    """Invalid input from the user: a file, an option or a name.

    The message is complete; the attributes repeat its parts for programs, and are `None` or empty
    if unknown.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        expected: Sequence[str] = (),
        nearest: str | None = None,
        others: Sequence[Mapping[str, Any]] = (),
        faults: int = 1,
    ) -> None:
        """Store the position, the key, the expected values and the nearest known name.

        A `code` names the kind of the error, such as `file-syntax`. The default is a general one
        (`CODES`): `unknown-name` if names are expected, else `refused`. A file may have several
        `faults`. Up to twenty are reported: the first by the attributes, the rest in `others`.
        """
        super().__init__(message)
        self.code = code or ("unknown-name" if nearest or len(expected) > 1 else "refused")
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.expected = list(expected)
        self.nearest = nearest
        self.others = list(others)
        self.faults = faults

    def about(self, message: str, key: str) -> InputError:
        """Return the error as one about `key`; the new `message` contains the original one."""
        return InputError(
            message, code=self.code, key=key, expected=self.expected, nearest=self.nearest
        )


def unlaid(message: str) -> str:
    """Return a message without the prefix that the core adds for a changed value.

    >>> unlaid("override of traffic: in `traffic[0].load`: at most 1")
    'in `traffic[0].load`: at most 1'
    """
    return re.sub(r"^override of [^:]*: ", "", message)


class DamageError(InputError):
    """Damage: a file of a run or sweep folder differs from the one that was written."""

    def __init__(self, message: str, *, code: str = "damaged", **details: Any) -> None:
        """Store the position, as `InputError` does."""
        super().__init__(message, code=code, **details)


class DeadlockError(GinghamError):
    """Deadlock: channels of the routes can wait for one another in a cycle, or did so in a run."""

    exit_code = 3

    def __init__(self, message: str, cycle: Sequence[str] = (), key: str | None = None) -> None:
        """Store the channels of the `cycle`, in order of waiting, and the `key` that closes it."""
        super().__init__(message)
        self.code = "deadlock"
        self.cycle = list(cycle)
        self.key = key


class EnvironmentProblem(GinghamError):  # noqa: N818  (OSError was EnvironmentError once)
    """A failure of the disk, the operating system or another program."""

    exit_code = 6

    def __init__(self, message: str, *, file: str | None = None, code: str = "system") -> None:
        """Store the file that cannot be read or written, and the `code` of the kind.

        Further codes are `extra-not-installed`, `study-broken` and `study-twice`.
        """
        super().__init__(message)
        self.file = file
        self.code = code


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, if one is near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1)), None)


def meant(near: str | None, otherwise: str = "") -> str:
    """Return the question whether the nearest name was meant, or `otherwise` if none is near."""
    return f'; did you mean "{near}"?' if near else otherwise


def counted(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun, for messages and pictures.

    >>> counted(1, "branch", "branches"), counted(1200, "flow")
    ('1 branch', '1,200 flows')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message about an unknown name, with the nearest and all known names."""
    return f'"{name}" is not {what}{meant(nearest(name, known))}\n  known are {", ".join(known)}'

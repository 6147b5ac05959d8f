"""What can go wrong, as exceptions that carry the exit code of the command line.

=====================  ====  ==========================================================
exception              exit  meaning
=====================  ====  ==========================================================
`InternalError`           1  our own fault
`InputError`              2  a file, an option or a name that cannot be right
`DeadlockError`           3  routes that can deadlock, or a run that did
`EnvironmentProblem`      6  a full disk, a place that cannot be written, a missing program
=====================  ====  ==========================================================

Each message is a sentence or a few that a person can act on: where, what is wrong, what was
expected, and the nearest name where one was misspelt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


# How every command ends.
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


# General codes of errors; particular ones stand where they are raised.
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
    """Whatever the package raises on purpose."""

    exit_code: ClassVar[int] = 1

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the message, which says where and what helps."""
        return [f"{type(self).__name__}: {self}"]


class InternalError(GinghamError):
    """A fault of ours; its `code` names the kind."""

    def __init__(self, message: str, *, code: str = "internal-fault") -> None:
        """Keep the code."""
        super().__init__(message)
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: also where it came from."""
        import traceback

        return traceback.format_exception(self)


class InputError(GinghamError):
    """Something that the user gave cannot be right.

    The message says it all; the attributes say it again for programs, and are `None` or empty
    where unknown.
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
        """Keep where it stands, under which key, what was expected and what was meant.

        A `code` names the kind of the error, such as `file-syntax`. The default is a general one
        (`CODES`): `unknown-name` if names are expected, else `refused`.
        A file may have several `faults`; up to twenty are named, of which `others` are all but
        the first.
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
        """Return the error as one about `key`, in words that hold its own."""
        return InputError(
            message, code=self.code, key=key, expected=self.expected, nearest=self.nearest
        )


def unlaid(message: str) -> str:
    """Return what an error says without the words with which the core names a changed value.

    >>> unlaid("override of traffic: in `traffic[0].load`: at most 1")
    'in `traffic[0].load`: at most 1'
    """
    return re.sub(r"^override of [^:]*: ", "", message)


class DamageError(InputError):
    """A file of a run folder or of a sweep is not the one that was written there."""

    def __init__(self, message: str, *, code: str = "damaged", **details: Any) -> None:
        """Keep the place, as `InputError` does."""
        super().__init__(message, code=code, **details)


class DeadlockError(GinghamError):
    """Routes whose channels wait for one another in a cycle, or a run that stood still."""

    exit_code = 3

    def __init__(self, message: str, cycle: Sequence[str] = (), key: str | None = None) -> None:
        """Keep the channels of the `cycle`, in order of waiting, and the `key` that closes it."""
        super().__init__(message)
        self.code = "deadlock"
        self.cycle = list(cycle)
        self.key = key


class EnvironmentProblem(GinghamError):  # noqa: N818  (OSError was EnvironmentError once)
    """The machine cannot do what is asked."""

    exit_code = 6

    def __init__(self, message: str, *, file: str | None = None, code: str = "system") -> None:
        """Keep the file that cannot be read or written, and the `code` of the kind.

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
    """Return a number of things, in words of messages and pictures.

    >>> counted(1, "branch", "branches"), counted(1200, "flow")
    ('1 branch', '1,200 flows')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return that a name is none of those known, with the nearest of them."""
    return f'"{name}" is not {what}{meant(nearest(name, known))}\n  known are {", ".join(known)}'

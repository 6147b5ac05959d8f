"""What can go wrong, as exceptions that carry the exit code of the command line.

=====================  ====  ==========================================================
exception              exit  meaning
=====================  ====  ==========================================================
`InternalError`           1  our own fault
`InputError`              2  a file, an option or a name that cannot be right
`DeadlockError`           3  routes that can deadlock, or a run that did
`CheckError`              5  a check found something
`EnvironmentProblem`      6  a full disk, a place that cannot be written, a missing program
=====================  ====  ==========================================================

Each message is one sentence or two that a person can act on: where, what is wrong, what was
expected, and the nearest name where one was misspelt.
"""

from __future__ import annotations

from typing import ClassVar


class GinghamError(Exception):
    """Whatever the package raises on purpose."""

    exit_code: ClassVar[int] = 1


class InternalError(GinghamError):
    """A fault of ours."""


class InputError(GinghamError):
    """Something that the user gave cannot be right."""

    exit_code = 2


class DeadlockError(GinghamError):
    """Routes whose channels wait for one another in a cycle."""

    exit_code = 3

    def __init__(self, message: str, cycle: list[str] | None = None) -> None:
        """Keep the `cycle`: the names of its channels in order of waiting."""
        super().__init__(message)
        self.cycle = cycle or []


class CheckError(GinghamError):
    """A check found something."""

    exit_code = 5


class EnvironmentProblem(GinghamError):  # noqa: N818  (OSError was EnvironmentError once)
    """The machine cannot do what is asked."""

    exit_code = 6

"""Signals that wait while something must not be left half done.

::

    with HeldSignals() as held:        from here on a signal waits ...
        make a folder
        with held.let_through():       ... here the first does what it always did ...
            hours of work
        remove the folder              ... and here they wait again;
                                       what has waited is delivered when the block has ended

What the handler of a signal raises is raised between any two instructions of Python: also when a
folder is there and the block that removes it is not yet entered, or while that removes it. So no
`try` alone keeps order, and neither does masking within it. Here the outer block begins before
there is anything to remove, and in it signals raise nothing but in the inner one; and of the inner
one they end it, once, so that whatever follows is undisturbed.
"""

from __future__ import annotations

import signal
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Self, TypeAlias

    Handler: TypeAlias = Callable[[int, FrameType | None], object]

# Those by which a person or a system asks a program to end.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class State(Enum):
    """What becomes of a signal."""

    # It waits.
    HELD = auto()
    # The first is let through, those after it wait.
    ONCE = auto()
    # All are let through.
    OPEN = auto()


class HeldSignals:
    """Lets signals that Python code answers wait, from the beginning of the block to its end.

    Those that the system answers, by ending us or not at all, are left to it; and in threads other
    than the main one no signal is ever answered.
    """

    def __init__(self) -> None:
        """Prepare to hold."""
        self._state = State.OPEN
        self._former: dict[int, Handler] = {}
        self._waiting: list[int] = []

    def __enter__(self) -> Self:
        """Let signals wait from now on."""
        self._state = State.HELD
        try:
            for number in SIGNALS:
                former = signal.getsignal(number)
                if callable(former):
                    self._former[number] = former
                    signal.signal(number, self._arrive)
        except ValueError:
            # Only the main thread may, and only it is interrupted.
            self._former.clear()
        except BaseException:
            self._open()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Deliver what has waited."""
        self._open()
        for number in self._waiting:
            signal.raise_signal(number)

    def let_through(self) -> Passage:
        """Return a block in which a signal does what it would do, and so may end the block."""
        return Passage(self)

    def answer_once(self) -> None:
        """Let one signal through, the first that has waited or comes."""
        self._state = State.ONCE
        if self._waiting:
            signal.raise_signal(self._waiting.pop(0))

    def hold(self) -> None:
        """Let signals wait again."""
        self._state = State.HELD

    def former(self, number: int) -> Handler | None:
        """Return what a signal does when it is let through."""
        return self._former.get(number)

    def _arrive(self, number: int, frame: FrameType | None) -> None:
        """Answer a signal, or let it wait."""
        state = self._state
        if state is State.HELD:
            self._waiting.append(number)
            return
        if state is State.ONCE:
            self._state = State.HELD
        self._former[number](number, frame)
        # It raised nothing but noted what it was told, and the block goes on.
        self._state = state

    def _open(self) -> None:
        """Take our handlers back, also if a signal comes between two of them."""
        try:
            self._restore()
        finally:
            self._state = State.OPEN
            self._restore()

    def _restore(self) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)


class Passage:
    """The block in which held signals are let through."""

    def __init__(self, held: HeldSignals) -> None:
        """Prepare to let through what `held` holds."""
        self._held = held

    def __enter__(self) -> None:
        """Answer what has waited, or what comes."""
        self._held.answer_once()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let signals wait again."""
        self._held.hold()


def is_default(handler: object) -> bool:
    """Whether a handler of SIGINT is Python's own, held or not, and no other program's."""
    owner = getattr(handler, "__self__", None)
    if isinstance(owner, HeldSignals):
        return is_default(owner.former(signal.SIGINT))
    return handler is signal.default_int_handler


def leave_behind() -> None:
    """Note that a thread works on which nobody waits for, and that cannot be ended."""
    _left.append(True)


def left_behind() -> bool:
    """Whether there is such a thread: then a process ends without asking its threads."""
    return bool(_left)


_left: list[bool] = []

"""Signals that are held while an operation must not be interrupted.

::

    with HeldSignals() as held:        from here on signals are held
        make a folder
        with held.let_through():       the first signal is handled as usual
            hours of work
        remove the folder              signals are held again;
                                       held signals are delivered at the end of the block

An exception raised by a signal handler can occur between any two instructions of Python: also after
a folder was created and before the block that removes it is entered, or during the removal. Neither
`try` nor masking inside it prevents this. Here the outer block begins before anything needs to be
removed, and signals raise exceptions only in the inner block. They end the inner block once, so
that the clean-up is not interrupted.
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

# Signals that request the end of a program, sent by a user or by the system.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class State(Enum):
    """Handling of an arriving signal."""

    # Signals are held.
    HELD = auto()
    # The first signal is handled, later ones are held.
    ONCE = auto()
    # All signals are handled.
    OPEN = auto()


class HeldSignals:
    """Holds signals with Python handlers from the beginning of the block to its end.

    Signals with system handlers (default or ignored) are unaffected. In threads other than the main
    one Python handles no signals, so nothing is held.
    """

    def __init__(self) -> None:
        """Prepare the block; no signal is held yet."""
        self._state = State.OPEN
        self._former: dict[int, Handler] = {}
        self._waiting: list[int] = []

    def __enter__(self) -> Self:
        """Hold signals from now on."""
        self._state = State.HELD
        try:
            for number in SIGNALS:
                former = signal.getsignal(number)
                if callable(former):
                    self._former[number] = former
                    signal.signal(number, self._arrive)
        except ValueError:
            # Only the main thread may set handlers, and only it is interrupted.
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
        """Deliver the held signals."""
        self._open()
        for number in self._waiting:
            signal.raise_signal(number)

    def let_through(self) -> Passage:
        """Return a block that handles signals as usual; a signal may end it."""
        return Passage(self)

    def answer_once(self) -> None:
        """Handle one signal: the first one held, or the next to arrive."""
        self._state = State.ONCE
        if self._waiting:
            signal.raise_signal(self._waiting.pop(0))

    def hold(self) -> None:
        """Hold signals again."""
        self._state = State.HELD

    def former(self, number: int) -> Handler | None:
        """Return the original handler of a signal."""
        return self._former.get(number)

    def _arrive(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal, or hold it."""
        state = self._state
        if state is State.HELD:
            self._waiting.append(number)
            return
        if state is State.ONCE:
            self._state = State.HELD
        self._former[number](number, frame)
        # The handler only recorded the signal and raised nothing: the block continues.
        self._state = state

    def _open(self) -> None:
        """Restore the original handlers, even if a signal arrives in the meantime."""
        try:
            self._restore()
        finally:
            self._state = State.OPEN
            self._restore()

    def _restore(self) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)


class Passage:
    """A block that passes held signals to their handlers."""

    def __init__(self, held: HeldSignals) -> None:
        """Prepare a block that handles the signals of `held`."""
        self._held = held

    def __enter__(self) -> None:
        """Handle a held signal, or the next to arrive."""
        self._held.answer_once()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Hold signals again."""
        self._held.hold()


def is_default(handler: object) -> bool:
    """Whether a handler of SIGINT is Python's own, held or not, rather than another program's."""
    owner = getattr(handler, "__self__", None)
    if isinstance(owner, HeldSignals):
        return is_default(owner.former(signal.SIGINT))
    return handler is signal.default_int_handler


def leave_behind() -> None:
    """Record that a thread is left running that cannot be ended and is not waited for."""
    _left.append(True)


def left_behind() -> bool:
    """Whether a thread was left running: the process then exits without joining its threads."""
    return bool(_left)


_left: list[bool] = []

"""Execution of a query in a separate thread, so that Ctrl-C takes effect at once.

::

    main thread   ask ──► wait ... Ctrl-C ──► interrupt ──► wait a moment ──► KeyboardInterrupt
    its thread           └─ DuckDB works, and checks from time to time for an interrupt ────┘

Some queries only check when they are done. Their thread is left running, and the process must exit
without joining it (`gingham._signals.left_behind`).
"""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from gingham import _signals

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Time that an interrupted query has to end, in seconds.
GRACE_SECONDS = 0.5


def answered(ask: Callable[[], T], interrupt: Callable[[], object]) -> T:
    """Return the result of `ask`, or raise its exception; on Ctrl-C call `interrupt` to end it."""
    found: list[T] = []
    errors: list[BaseException] = []
    done = Event()

    def work() -> None:
        try:
            found.append(ask())
        except BaseException as error:  # noqa: BLE001  (raised again by the waiting thread)
            errors.append(error)
        finally:
            done.set()

    thread = Thread(target=work, name="gingham-question", daemon=True)
    try:
        thread.start()
        done.wait()
    except KeyboardInterrupt:
        interrupt()
        if not done.wait(GRACE_SECONDS):
            _signals.leave_behind()
        raise
    if errors:
        raise errors[0]
    return found[0]

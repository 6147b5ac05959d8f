"""A question in a thread of its own, so that Ctrl-C is answered at once.

::

    main thread   ask ──► wait ... Ctrl-C ──► interrupt ──► wait a moment ──► KeyboardInterrupt
    its thread           └─ DuckDB works, and looks now and then whether it is interrupted ─┘

Some questions look only when they are done. Their thread is left behind, and whoever ends the
process must not wait for it (`gingham._signals.left_behind`).
"""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from gingham import _signals

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# So long an interrupted question may take to end.
GRACE_SECONDS = 0.5


def answered(ask: Callable[[], T], interrupt: Callable[[], object]) -> T:
    """Return what `ask` returns, or raise what it raises; `interrupt` asks it to end."""
    found: list[T] = []
    errors: list[BaseException] = []
    done = Event()

    def work() -> None:
        try:
            found.append(ask())
        except BaseException as error:  # noqa: BLE001  (raised again by who waits)
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

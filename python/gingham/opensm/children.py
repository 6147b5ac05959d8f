"""Child processes that end with a block, however the block ends.

::

    with Children(folder, environment) as children:
        children.start("ibsim", "-s", "net.ibsim", out="ibsim.log")
        seen = children.run("ibsim-run", "ibnetdiscover", timeout_s=60)
    # here both have ended and were waited for

The block can end in three ways. It returns or raises: every child is killed by process id, with its
own children, and waited for. A signal arrives: it is held while a child starts or ends, so that no
child is missed. This process is killed: the kernel kills the children (`setpriv --pdeathsig`, if it
is installed).

Invariant: no child runs after the block. The output of children stays in their folder. A killed
child that the kernel has not removed within `END_TIMEOUT_S` executes no more instructions. It is
left to the kernel, and the block ends normally.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

# Limit on the wait for killed processes. They exit within milliseconds, unless the kernel cannot
# complete a system call or the machine has no free processor.
END_TIMEOUT_S = 10.0
SIGNALS_HELD = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(frozen=True, slots=True)
class Finished:
    """Exit code and output of a program."""

    code: int
    out: str
    err: str


class Children:
    """Programs started in one folder and with one environment; used as a context."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Prepare the block; no program is started yet."""
        self.folder = folder
        self.environment = dict(environment)
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End every child."""
        with signals_held():
            end(*reversed(self._running))
            self._running.clear()

    def start(self, *command: str, out: str, err: str | None = None) -> subprocess.Popen[bytes]:
        """Start a program that runs until it exits or the block ends.

        Its output goes to the files `out` and `err` of the folder, or all of it to `out`: an unread
        pipe would block it.
        """
        with contextlib.ExitStack() as stack:
            output = stack.enter_context((self.folder / out).open("wb"))
            errors = stack.enter_context((self.folder / err).open("wb")) if err else output
            stack.enter_context(signals_held())
            child = subprocess.Popen(
                [*mortal(), *command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
            self._running.append(child)
        return child

    def stop(self, child: subprocess.Popen[bytes]) -> None:
        """End a child before the block does."""
        with signals_held():
            end(child)
            self._running.remove(child)

    def run(self, *command: str, timeout_s: float) -> Finished:
        """Run a program to its end and return its output.

        If it has not ended after `timeout_s`, it is killed, and `EnvironmentProblem` is raised.
        """
        name = next(part for part in command if part != "ibsim-run").rpartition("/")[2]
        out, err = f"{name}.out", f"{name}.err"
        child = self.start(*command, out=out, err=err)
        try:
            code = child.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            message = f"{name}: had not ended after {timeout_s:.0f} s, and was stopped"
            raise EnvironmentProblem(message, code="timeout") from error
        finally:
            self.stop(child)
        return Finished(code, self.read(out), self.read(err))

    def read(self, name: str) -> str:
        """Return the present content of the file `name` of the folder; empty if it is missing."""
        try:
            return (self.folder / name).read_text(errors="replace")
        except FileNotFoundError:
            return ""


def mortal() -> list[str]:
    """Return the words before a command that make it end when this process is killed.

    If this process ends before `setpriv` takes effect, the shell notices that its parent has
    changed.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return []
    check = '[ "$PPID" = "$0" ] || exit 1; exec "$@"'
    return [setpriv, "--pdeathsig", "KILL", "--", "sh", "-c", check, str(os.getpid())]


def end(*children: subprocess.Popen[bytes]) -> None:
    """Kill children and their own children, and wait for all of them up to `END_TIMEOUT_S`.

    A timeout raises no exception: it would replace the interrupt that ends the block, and the
    caller has nothing left to do.
    """
    for child in children:
        if child.poll() is None:
            # Poll first: the kernel may have reused the process id of a child already waited for.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.kill()
    deadline = time.monotonic() + END_TIMEOUT_S
    for child in children:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(deadline - time.monotonic(), 0))


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold back signals inside the block; they are delivered when it ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS_HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

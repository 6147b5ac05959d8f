"""Programs of `gingham opensm` that the kernel is slow to remove after SIGKILL.

A real one would be in an uninterruptible system call, or on a machine without free processors.
`SlowlyRemoved` simulates it with a real program whose exit is reported to its parent
`REMOVED_AFTER_S` late.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gingham import EnvironmentProblem, Fabric
from gingham.cli import main
from gingham.opensm import children
from gingham.opensm.children import Children
from gingham.opensm.programs import PACKAGES
from gingham.studies import _namespaces
from gingham_studies.adiseshu1996.real.ends import End
from tests.conftest import TIMEOUT_S, wait_until
from tests.refusals import raises

ROOT = Path(__file__).parent.parent
# Limit on the wait, and a time well beyond it.
LIMIT_S, REMOVED_AFTER_S = 0.2, 1.0


class SlowlyRemoved(subprocess.Popen[bytes]):
    """A program whose exit is reported late to its parent if it was killed."""

    killed_at: float | None = None
    # Programs not yet waited for.
    started: ClassVar[list[SlowlyRemoved]] = []

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Start a program."""
        super().__init__(*arguments, **options)
        self.started.append(self)

    def kill(self) -> None:
        """Kill the program and record the time."""
        self.killed_at = self.killed_at or time.monotonic()
        super().kill()

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the exit is reported."""
        if self.killed_at is not None:
            left_s = self.killed_at + REMOVED_AFTER_S - time.monotonic()
            if timeout is not None and timeout < left_s:
                time.sleep(timeout)
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(max(left_s, 0))
        return super().wait(timeout)


def command_line() -> None:
    """Run `gingham` with programs that are removed slowly."""
    # `setattr`, because a type checker accepts no class with fixed type parameters in place of
    # `Popen`.
    setattr(subprocess, "Popen", SlowlyRemoved)  # noqa: B010
    children.END_TIMEOUT_S = LIMIT_S
    main()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", SlowlyRemoved)
    monkeypatch.setattr(children, "END_TIMEOUT_S", LIMIT_S)


def are_killed(count: int) -> None:
    """Wait for all programs started, and fail unless SIGKILL ended each of them."""
    codes = [child.wait(TIMEOUT_S) for child in SlowlyRemoved.started]
    SlowlyRemoved.started.clear()
    assert codes == [-signal.SIGKILL] * count


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, EnvironmentProblem, None])
def test_slow_removal_hides_no_exception_and_spares_no_other_program(
    tmp_path: Path, kind: type[BaseException] | None
) -> None:
    expected = pytest.raises(kind) if kind else contextlib.nullcontext()
    with expected, Children(tmp_path, os.environ) as running:
        for number in range(3):
            running.start("sleep", "600", out=f"{number}.out")
        begun = time.monotonic()
        if kind:
            raise kind("of all things")
    # One limit for all of them together; three limits would be 0.6 s.
    assert time.monotonic() - begun < 3 * LIMIT_S
    are_killed(3)


@pytest.mark.usefixtures("slow")
def test_slow_removal_after_a_timeout_is_the_timeout(tmp_path: Path) -> None:
    with (
        raises(EnvironmentProblem, "timeout"),
        Children(tmp_path, os.environ) as running,
    ):
        running.run("sleep", "600", timeout_s=0.1)
    are_killed(1)


def fakes(folder: Path, started: Path) -> None:
    """Make stand-ins for the programs of OpenSM; the simulator never becomes ready."""
    folder.mkdir()
    for name in PACKAGES:
        path = folder / name
        path.write_text(f"#!/bin/sh\necho $$ >{started}.new; mv {started}.new {started}\n"
                        "exec sleep 600\n")  # fmt: skip
        path.chmod(0o755)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_exits_with_130_however_long_programs_take_to_end(
    tmp_path: Path, number: signal.Signals
) -> None:
    started, scratch = tmp_path / "started", tmp_path / "scratch"
    fakes(tmp_path / "bin", started)
    scratch.mkdir()
    Fabric.make("ring", switches=4).save(tmp_path / "ring.toml")
    environment: dict[str, Any] = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(scratch),
    }
    script = f"from {__name__} import command_line; command_line()"
    command = [sys.executable, "-c", script, "opensm", "compare", "ring.toml"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests may run under `nohup`.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        wait_until(lambda: started.exists() or running.poll() is not None)
        running.send_signal(number)
        out, err = running.communicate(timeout=TIMEOUT_S)
    finally:
        running.kill()
        running.wait()
    assert (running.returncode, out) == (130, ""), err
    assert "report it" not in err
    program = Path("/proc", started.read_text().strip())
    wait_until(lambda: not program.exists(), "the simulator still runs")
    assert list(scratch.iterdir()) == []


def test_a_program_of_namespaces_that_hangs_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ip").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "ip").chmod(0o755)
    monkeypatch.setattr(_namespaces, "SEARCH", str(tmp_path))
    monkeypatch.setattr(_namespaces, "TIMEOUT_S", 0.1)
    with raises(EnvironmentProblem, "timeout"):
        _namespaces.ip("link")


def test_a_daemon_that_ignores_sigterm_is_no_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gingham_studies.adiseshu1996.real.ends.TIMEOUT_S", 0.1)
    command = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    end = End(command, process)
    with raises(EnvironmentProblem, "timeout"):
        end.ended()
    end.killed()
    assert process.returncode == -signal.SIGKILL

"""Both ends of a pipe: their configuration files and daemons."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.errors import EnvironmentProblem
from gingham.studies._namespaces import ENDS, TIMEOUT_S, address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Real-time priority, above all processes except the kernel's: measured rates depend on the machine.
PRIORITY = 10
DEVICE = "stripe0"
ADDRESSES = {end: f"10.90.0.{number}" for number, end in enumerate(ENDS, 1)}


def found_daemon(daemon: Path | None) -> Path:
    """Return the path of the daemon: the given one, or the one on PATH."""
    if daemon is not None:
        if not os.access(daemon, os.X_OK):
            raise EnvironmentProblem(
                f"{daemon} is no program: cargo build -p gingham-striped",
                code="missing-program",
                file=str(daemon),
            )
        return daemon.resolve()
    found = shutil.which("striped")
    if found is None:
        raise EnvironmentProblem(
            "striped is not on PATH: cargo install --path crates/stripe/striped, or --daemon PATH",
            code="missing-program",
        )
    return Path(found)


def config(
    end: str, peers: Sequence[str], quanta: Sequence[int] | None = None, **changes: Any
) -> str:
    """Return the configuration of an end, with changed values of keys."""
    values: dict[str, Any] = {
        "name": DEVICE,
        "addresses": [f"{ADDRESSES[end]}/24"],
        "mtu": 1500,
        "allow-plaintext": True,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in (values | changes).items()]
    for channel, peer in enumerate(peers):
        lines += ["[[channel]]", f'ethernet = "wan{channel}"', f'peer = "{peer}"']
        lines += [f"quantum-bytes = {quanta[channel]}"] if quanta else []
    return "\n".join(lines) + "\n"


def written(
    folder: Path,
    names: dict[str, str],
    channels: int,
    quanta: Sequence[int] | None = None,
    **changes: Any,
) -> dict[str, Path]:
    """Write the configuration of each end, with the addresses of the interfaces."""
    paths = {end: folder / f"{end}.toml" for end in ENDS}
    for end, other in (ENDS, ENDS[::-1]):
        peers = [address(names[other], f"wan{channel}") for channel in range(channels)]
        paths[end].write_text(config(end, peers, quanta, **changes), encoding="utf-8")
    return paths


@dataclass
class End:
    """A running daemon, which can be restarted in its namespace."""

    command: list[str]
    process: subprocess.Popen[str]

    @classmethod
    def started(cls, command: list[str]) -> End:
        """Start a daemon, and wait until it is ready."""
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_first,  # noqa: PLW1509  (no thread here)
        )
        assert process.stdout is not None
        if not process.stdout.readline():
            raise EnvironmentProblem(f"striped: {process.communicate()[1].strip()}")
        return cls(command, process)

    def killed_and_started(self) -> None:
        """Kill the daemon with SIGKILL, and start it again."""
        self.killed()
        self.process = self.started(self.command).process

    def killed(self) -> None:
        """Kill the daemon with SIGKILL."""
        self.process.kill()
        self.process.communicate()

    def ended(self) -> dict[str, Any]:
        """End the daemon with SIGTERM, and return its report."""
        self.process.send_signal(signal.SIGTERM)
        try:
            out, _ = self.process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            message = f"striped: had not ended {TIMEOUT_S:g} s after SIGTERM"
            raise EnvironmentProblem(message, code="timeout") from error
        return dict(json.loads(out.splitlines()[-1]))


def _first() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


@contextmanager
def both_ends(
    daemon: Path, names: dict[str, str], channels: int, quanta: Sequence[int], **changes: Any
) -> Iterator[dict[str, End]]:
    """Run a daemon for each end inside the block."""
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), names, channels, quanta, **changes)
        running: dict[str, End] = {}
        try:
            for end in ENDS:
                runtime = str(paths[end].with_suffix(".run"))
                up = [str(daemon), "up", "--runtime-directory", runtime, str(paths[end])]
                command = ["ip", "netns", "exec", names[end], *up]
                running[end] = End.started(command)
            yield running
        finally:
            for one in running.values():
                one.killed()

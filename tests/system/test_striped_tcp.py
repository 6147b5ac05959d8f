"""The daemon over TCP: two of them between real network namespaces, where connections end.

Rates have the machine in them: both daemons go before all others.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import require_programs, wait_until
from tests.system.bundles import (
    Transfer,
    built,
    command,
    config,
    daemons,
    key_files,
    refusal,
    sum_of,
    transfer,
)
from tests.system.pipes import ENDS, Line, Programs, ip, network
from tests.system.test_linkemu import require_root

LINES = [Line(10), Line(20)]
PORT = 443


@pytest.fixture(scope="module")
def program() -> Path:
    require_programs("iproute2", "ip", "tc", "ss")
    require_root()
    return built()


@pytest.fixture
def names(program: Path) -> Iterator[dict[str, str]]:
    """Both namespaces, joined by two lines, which take no emulator."""
    with network(Programs(program, program), LINES) as (names, _):
        yield names


def written(folder: Path, udp: int = 0, **changes: Any) -> dict[str, Path]:
    """Write a configuration an end: the right one listens, once for all lines that are not UDP."""
    key_files(folder)
    paths = {end: folder / f"{end}.toml" for end in ENDS}
    for end, path in paths.items():
        lines = [config(end, udp, **changes)]
        for line in range(udp, len(LINES)):
            lines += ["[[channel]]", 'transport = "tcp"']
            if end == "right":
                lines += [f'listen = "0.0.0.0:{PORT}"']
            else:
                lines += [f'local = "10.80.{line}.1:0"', f'remote = "10.80.{line}.2:{PORT}"']
        path.write_text("\n".join(lines) + "\n")
    return paths


def told_by(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """Return what is counted of each channel just now."""
    process.send_signal(signal.SIGUSR1)
    assert process.stdout is not None
    return list(json.loads(process.stdout.readline())["channels"])


def carried(names: dict[str, str], seconds: float, then: threading.Event) -> list[Transfer]:
    """Carry for so long in a thread, which fills the list and sets the event."""
    done: list[Transfer] = []

    def carry() -> None:
        done.append(transfer(names, seconds, 3))
        then.set()

    threading.Thread(target=carry).start()
    return done


@pytest.mark.parametrize("udp", [0, 1])
def test_one_connection_has_the_sum_of_both_lines(
    program: Path, names: dict[str, str], tmp_path: Path, udp: int
) -> None:
    with daemons(program, names, written(tmp_path, udp)) as running:
        told = transfer(names, 8, 3)
        counted = {end: running[end].ended() for end in ENDS}
    assert told.is_whole
    share = told.bits_per_s / sum_of(LINES)
    # More than the faster line alone.
    assert share >= 0.8, (share, counted)
    for end in ENDS:
        assert all(channel["sent"] > 500 for channel in counted[end]["channels"]), counted
        assert all(channel["strange"] == 0 for channel in counted[end]["channels"]), counted
        assert counted[end]["given_up"] == 0, counted


def test_connections_that_are_killed_come_again_and_nothing_is_lost(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    with daemons(program, names, written(tmp_path)) as running:
        over = threading.Event()
        done = carried(names, 12, over)
        left = running["left"].process
        for line in range(len(LINES)):

            def is_in() -> bool:
                return all(channel["is_in"] for channel in told_by(left))

            wait_until(is_in, "both lines are in")
            before = told_by(left)[line]["reopened"]
            # As `ss -K` does: a reset at both ends, of the connection of this line.
            kill = ["ss", "-K", "src", f"10.80.{line}.1", "dport", "=", f":{PORT}"]
            ip("netns", "exec", names["left"], *kill)

            def is_back(line: int = line, before: int = before) -> bool:
                return bool(told_by(left)[line]["reopened"] > before)

            wait_until(is_back, "the connection came again")
        assert not over.is_set(), "it was not in the middle"
        assert over.wait(60)
        counted = {end: running[end].ended() for end in ENDS}
    assert done[0].is_whole
    assert all(counted[end]["given_up"] == 0 for end in ENDS), counted
    assert all(channel["gone"] > 0 for channel in counted["right"]["channels"]), counted


def test_an_end_that_listens_and_is_started_again_is_found(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path)
    with daemons(program, names, paths) as running:
        assert transfer(names, 2, 0).is_whole
        running["right"].killed()
        again = subprocess.Popen(
            command(program, names["right"], paths["right"]), stdout=subprocess.PIPE, text=True
        )
        try:
            assert again.stdout is not None
            assert again.stdout.readline()
            assert transfer(names, 2, 0).is_whole
        finally:
            again.kill()
            again.communicate()
        told = running["left"].ended()
    assert all(channel["reopened"] > 0 for channel in told["channels"]), told


REMOTE = 'remote = "10.80.0.2:443"'
WRONG: dict[str, tuple[str, str, str, str, list[str]]] = {
    # Which end, what is written in place of what, where it is told, and what is said.
    "both": ("left", REMOTE, REMOTE + '\nlisten = "10.80.0.1:443"', "12:10", ["not both here"]),
    "neither": ("left", REMOTE + "\n", "", "8:1", ["`remote` is missing", "listen ="]),
    "a port": ("left", "10.80.0.1:0", "10.80.0.1:9", "10:9", ["write port 0, any"]),
    "no port": ("right", "0.0.0.0:443", "0.0.0.0:0", "10:10", ["has no port"]),
    "not here": ("right", "0.0.0.0:443", "10.80.0.9:443", "10:10", ["no interface", "10.80.0.9"]),
    "over UDP": ("right", 'transport = "tcp"\n', "", "9:10", ["UDP", 'transport = "tcp"']),
    "itself": ("left", "10.80.0.2", "10.90.0.7", "11:10", ["own 10.90.0.1/24"]),
    "no such": ("left", '"tcp"', '"tpc"', "9:13", ["`tpc`", "`tcp`"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_right_is_told_where_it_stands(
    program: Path, names: dict[str, str], tmp_path: Path, case: str
) -> None:
    end, old, new, place, words = WRONG[case]
    path = written(tmp_path)[end]
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    said = refusal(program, names[end], path)
    assert said.startswith(f"striped: {path}:{place}: "), said
    assert all(word in said for word in words), said

"""The daemon over TCP: two of them in real network namespaces, with connections that fail.

Rates depend on the machine, so both daemons have real-time priority.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import ENDS, ip
from tests.conftest import require_programs, wait_until
from tests.system.bundles import (
    Transfer,
    config,
    daemons,
    key_files,
    refusal,
    sum_of,
    transfer,
    up,
)
from tests.system.conftest import LINES
from tests.system.pipes import joined

PORT = 443


def written(folder: Path, udp: int = 0, **changes: Any) -> dict[str, Path]:
    """Write configurations: `udp` lines over UDP, others over TCP; the right end listens."""
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


def connections(namespace: str, option: str, source: str = "0.0.0.0/0") -> list[str]:
    """Return a line of `ss` for each established connection of the channels."""
    require_programs("ss")
    port = ["(", "dport", "=", f":{PORT}", "or", "sport", "=", f":{PORT}", ")"]
    command = ["ss", "-tnHO", option, "state", "established", "src", source, *port]
    return ip("netns", "exec", namespace, *command).splitlines()


def carried(names: dict[str, str], seconds: float, then: threading.Event) -> list[Transfer]:
    """Start a transfer in a thread, which appends its result to the list and sets the event."""
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
    # More than the share of the faster line alone.
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
        left = running["left"]
        for line in range(len(LINES)):
            wait_until(left.is_carrying, "one line never came in")
            # Resets the connection of this line at both ends.
            killed = connections(names["left"], "-K", f"10.80.{line}.1")
            assert len(killed) == 1

            def is_back(line: int = line) -> bool:
                return bool(left.counters()["channels"][line]["reopened"] == 1)

            wait_until(is_back, "the connection never came again")
        assert not over.is_set(), "it was not in the middle"
        assert over.wait(60)
        counted = {end: running[end].ended() for end in ENDS}
    assert done[0].is_whole
    assert all(counted[end]["given_up"] == 0 for end in ENDS), counted
    assert all(channel["gone"] > 0 for channel in counted["right"]["channels"]), counted


def test_connections_are_those_of_cubic_also_where_they_come_again(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    allowed = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if "cubic" not in allowed:
        pytest.skip("this kernel has no CUBIC")
    with daemons(program, names, written(tmp_path)) as running:
        left = running["left"]
        for again in range(2):
            wait_until(left.is_carrying, "one line never came in")
            for end in ENDS:
                told = connections(names[end], "-i")
                assert len(told) == len(LINES), told
                assert all(" cubic " in one for one in told), (end, again, told)
            killed = connections(names["left"], "-K")
            assert len(killed) == len(LINES)
            wait_until(lambda: all(one["gone"] for one in left.counters()["channels"]))


def test_an_end_listens_again_through_an_interface_that_vanished_and_came_back(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, 1)
    text = paths["right"].read_text()
    paths["right"].write_text(text + 'interface = "wan1"\n')
    with daemons(program, names, paths) as running:
        wait_until(running["left"].is_carrying, "one line never came in")
        ip("-n", names["right"], "link", "del", "wan1")

        def is_in() -> bool:
            return bool(running["left"].counters()["channels"][1]["is_in"])

        wait_until(lambda: not is_in(), "it never went")
        assert transfer(names, 1, 0).is_whole
        joined(names, 1, LINES[1])
        wait_until(is_in, "it never came back")
        assert transfer(names, 1, 0).is_whole
        counted = {end: running[end].ended() for end in ENDS}
    assert all(told["channels"][1]["reopened"] > 0 for told in counted.values()), counted
    assert all(told["channels"][0]["gone"] == 0 for told in counted.values()), counted


def test_an_end_that_listens_and_is_started_again_is_found(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path)
    with daemons(program, names, paths) as running:
        assert transfer(names, 2, 0).is_whole
        running["right"].killed()
        with up(program, names["right"], paths["right"]):
            assert transfer(names, 2, 0).is_whole
        told = running["left"].ended()
    assert all(channel["reopened"] > 0 for channel in told["channels"]), told


REMOTE = 'remote = "10.80.0.2:443"'
WRONG: dict[str, tuple[str, str, str, str, list[str]]] = {
    # End, text of its configuration, replacement, place of the error, parts of the message.
    "both": ("left", REMOTE, REMOTE + '\nlisten = "10.80.0.1:443"', "12:10", []),
    "neither": ("left", REMOTE + "\n", "", "8:1", ["`remote`", "listen ="]),
    "a port": ("left", "10.80.0.1:0", "10.80.0.1:9", "10:9", ["0"]),
    "no port": ("right", "0.0.0.0:443", "0.0.0.0:0", "10:10", ["0"]),
    "not here": ("right", "0.0.0.0:443", "10.80.0.9:443", "10:10", ["10.80.0.9"]),
    "over UDP": ("right", 'transport = "tcp"\n', "", "9:10", ['transport = "tcp"']),
    "itself": ("left", "10.80.0.2", "10.90.0.7", "11:10", ["10.90.0.1/24"]),
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

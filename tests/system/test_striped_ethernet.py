"""The daemon over raw Ethernet: two of them in network namespaces, and refused configurations."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import ENDS, SEARCH, ip
from gingham_studies.adiseshu1996.real.ends import ADDRESSES, written
from gingham_studies.adiseshu1996.real.measures import Bench, disorder_after_loss
from gingham_studies.adiseshu1996.real.relay import PACKETS
from tests.conftest import wait_until
from tests.system.bundles import Daemon, command, daemons, refusal, started, transfer
from tests.system.flows import connection
from tests.system.pipes import Line, Programs, interfaces, network

QUANTA = [1_500, 3_000]
# TCP payload of a packet, and its frame on the line: only Ethernet's header is added.
SEGMENT_BYTES, FRAME_BYTES = 1_500 - 20 - 32, 14 + 1_500


def test_one_connection_has_the_sum_of_both_lines_without_a_loss(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    with daemons(program, names, written(tmp_path, names, 2, QUANTA)) as running:
        carried = transfer(names, 8, 3)
        told = _all_came(running)
    assert carried.is_whole
    share = carried.bits_per_s / (30e6 * SEGMENT_BYTES / FRAME_BYTES)
    assert share >= 0.9, (share, told)
    assert all(channel["strange"] == 0 for channel in told["right"]["channels"]), told
    slow, fast = (channel["sent"] for channel in told["left"]["channels"])
    assert 1.7 < fast / slow < 2.1, told


def _all_came(running: dict[str, Daemon]) -> dict[str, dict[str, Any]]:
    """End the left end, and wait until the right one has received all its packets.

    The pipe waits when lines are full, so no packet is lost, and none is out of order.
    """
    left, right = running["left"].ended(), running["right"]

    def have_come() -> bool:
        return bool(right.counters()["received_packets"] == left["sent_packets"])

    wait_until(have_come, "packets were lost")
    return {"left": left, "right": running["right"].ended()}


def test_frames_go_whole_where_the_interface_passes_them(program: Path, tmp_path: Path) -> None:
    lines = [Line(1), Line(1)]
    with network(Programs(program, program), lines) as (names, _):
        for name in names.values():
            for channel in range(len(lines)):
                # A token bucket would segment frames longer than itself.
                ip("netns", "exec", name, "tc", "qdisc", "del", "dev", f"wan{channel}", "root")
        paths = written(tmp_path, names, 2, [65_535, 65_535], offload=True)
        with daemons(program, names, paths) as running:
            carried = transfer(names, 3, 1)
            told = _all_came(running)
    assert carried.is_whole
    # Far longer than a frame on a wire.
    left = told["left"]
    assert left["sent_bytes"] / left["sent_packets"] > 3 * FRAME_BYTES, told


def test_order_is_back_a_marker_a_channel_after_the_last_loss(program: Path) -> None:
    """Theorem 5.1, tested a hundred times: eight of ten frames are lost, also markers."""
    measured = disorder_after_loss(Bench(program, quick=False))
    assert measured.value == 0, measured
    assert "; 0 inversions" not in measured.note, "nothing was out of order before"
    assert " of 0;" not in measured.note, "nothing was looked at"


@pytest.mark.parametrize("end", ENDS)
def test_a_connection_outlives_an_end_that_is_killed(
    program: Path, names: dict[str, str], tmp_path: Path, end: str
) -> None:
    paths = written(tmp_path, names, 2, QUANTA)
    again: list[Daemon] = []
    with daemons(program, names, paths) as running:

        def crash() -> None:
            running[end].killed()
            again.append(started(program, names[end], paths[end]))

        try:
            _transferred(names, 2_000_000, {500_000: crash})
        finally:
            for one in again:
                one.discarded()
    assert again


def test_a_connection_outlives_a_line_that_goes_down_and_comes_back(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    def line(state: str) -> None:
        ip("-n", names["left"], "link", "set", "wan1", state)

    with daemons(program, names, written(tmp_path, names, 2, QUANTA)) as running:
        events = {1_000_000: lambda: line("down"), 2_000_000: lambda: line("up")}
        _transferred(names, 4_000_000, events)

        def is_back() -> bool:
            channel = running["left"].counters()["channels"][1]
            return bool(channel["is_in"] and channel["reopened"])

        wait_until(is_back, "the line did not come back")


def _transferred(names: dict[str, str], total: int, events: dict[int, Callable[[], None]]) -> None:
    """Send `total` bytes, and run each event once its number of bytes has arrived."""
    data, came = bytes(range(250)) * (total // 250), 0
    sender, receiver = connection(names, ADDRESSES["right"])
    thread = threading.Thread(target=sender.sendall, args=(data,))
    thread.start()
    with sender, receiver:
        while came < total and (chunk := receiver.recv(1 << 16)):
            assert chunk == data[came : came + len(chunk)]
            came += len(chunk)
            for at in [at for at in events if at <= came]:
                events.pop(at)()
        thread.join()
    assert came == total
    assert not events


WRONG: dict[str, tuple[str, str, str, list[str]]] = {
    # Text of the configuration, its replacement, place of the error, parts of the message.
    "plaintext that nobody allowed": (
        "allow-plaintext = true\n",
        "",
        "5:12",
        ["`channel[0].ethernet`", "allow-plaintext = true"],
    ),
    "an unknown interface": ('"wan1"', '"wan8"', "10:12", ["`wan8`"]),
    "one that is not Ethernet": ('"wan1"', '"lo"', "10:12", ["`lo`"]),
    "one twice": ('"wan1"', '"wan0"', "10:12", ["channel[0]", "`wan0`"]),
    "no address of the peer": ("peer = ", 'remote = "10.80.0.2:7000" #', "7:10", ["`remote`"]),
    "a group of peers": ('peer = "', 'peer = "ff:ff:ff:ff:ff:ff" #"', "7:8", []),
    "a short quantum": ("= 3000", "= 1499", "12:17", ["1499"]),
    "too long": ("mtu = 1500", "mtu = 1501", "3:7", ["1501", "`wan0`", "1500"]),
    "a key": ("mtu = 1500", 'private-key = "bundle0.key"', "3:15", []),
    "a DSCP": ("mtu = 1500", "dscp = 46", "3:8", ["`dscp`"]),
    "IPv4's EtherType": (
        "mtu = 1500",
        "ether-types = { packets = 0x0800 }",
        "3:27",
        ["`ether-types.packets`", "0x0800", "`wan0`"],
    ),
    "one EtherType": (
        "mtu = 1500",
        "ether-types = { messages = 0x88b5 }",
        "3:28",
        ["0x88b5"],
    ),
    "a length": ("mtu = 1500", "ether-types = { packets = 1500 }", "3:27", ["0x0600"]),
    "channels of two kinds": (
        'ethernet = "wan1"\n',
        'remote = "10.80.1.2:7000"\n',
        "10:10",
        [],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_right_is_told_where_it_stands(
    program: Path, names: dict[str, str], tmp_path: Path, case: str
) -> None:
    old, new, place, words = WRONG[case]
    path = written(tmp_path, names, 2, QUANTA)["left"]
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    said = refusal(program, names["left"], path)
    assert said.startswith(f"striped: {path}:{place}: "), said
    assert all(word in said for word in words), said
    assert "stripe0" not in interfaces(names["left"])


def test_an_ether_type_that_another_program_takes_is_told(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, names, 2, QUANTA)
    with daemons(program, names, paths):
        path = tmp_path / "other.toml"
        path.write_text(
            paths["left"].read_text().replace('"stripe0"', '"stripe1"').replace(".0.1", ".1.1")
        )
        said = refusal(program, names["left"], path)
    assert f"{PACKETS:#06x}" in said, said
    assert "`wan0`" in said, said
    assert "in `ether-types.packets`" in said, said


def test_without_permission_nothing_is_touched(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    path = written(tmp_path, names, 2, QUANTA)["left"]
    drop = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]
    inner = command(program, names["left"], path)
    done = subprocess.run(
        [*inner[:4], *drop, *inner[4:]],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": SEARCH},
    )
    assert done.returncode == 2, done
    assert "in `channel[0].ethernet`: " in done.stderr, done
    assert "CAP_NET_RAW" in done.stderr, done

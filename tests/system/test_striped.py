"""The daemon: two of them in real network namespaces, and errors of configurations.

Rates depend on the machine, so both daemons have real-time priority.
"""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import ENDS, made_in
from tests.conftest import require_programs, wait_until
from tests.system.bundles import (
    ADDRESSES,
    KEYS,
    command,
    config,
    daemons,
    key_file,
    refusal,
    sum_of,
    transfer,
    up,
    written,
)
from tests.system.conftest import LINES
from tests.system.flows import connection
from tests.system.pipes import Line, Programs, interfaces, network


def test_one_connection_has_the_sum_of_both_lines(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    _carries(program, names, written(tmp_path, len(LINES)), LINES, 0.85)


def test_in_strict_order_too_where_lines_have_a_delay(program: Path, tmp_path: Path) -> None:
    # Quanta follow BBR's estimates. With a round trip as short as between two namespaces, BBR would
    # take the burst of the token bucket for the rate.
    lines = [Line(10, 10), Line(20, 10)]
    with network(Programs.built(), lines) as (names, _):
        # At least the share of the faster line alone, because late emulators lower the rate.
        _carries(program, names, written(tmp_path, len(LINES), order="strict"), lines, 20 / 30)


def _carries(
    program: Path,
    names: dict[str, str],
    paths: dict[str, Path],
    lines: list[Line],
    least: float,
) -> None:
    with daemons(program, names, paths) as running:
        carried = transfer(names, 8, 3)
        told = {end: running[end].ended() for end in ENDS}
    assert carried.is_whole
    share = carried.bits_per_s / sum_of(lines)
    assert share >= least, (share, told)
    for end in ENDS:
        # Both lines carried packets, no datagram was unexpected, and no packet was lost for good.
        assert all(channel["sent"] > 500 for channel in told[end]["channels"]), told
        assert all(channel["strange"] == 0 for channel in told[end]["channels"]), told
        assert told[end]["given_up"] == 0, told


def test_nothing_is_left_after_sigterm(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    before = {end: interfaces(names[end]) for end in ENDS}
    with daemons(program, names, written(tmp_path, len(LINES))) as running:
        assert interfaces(names["left"]) == before["left"] | {"bundle0"}
        for end in ENDS:
            told = running[end].ended()
            assert told["event"] == "end"
    assert {end: interfaces(names[end]) for end in ENDS} == before


@pytest.mark.parametrize("again", ENDS)
def test_an_end_that_is_killed_under_load_and_started_again_carries_on(
    program: Path, names: dict[str, str], tmp_path: Path, again: str
) -> None:
    require_programs("ping")
    paths = written(tmp_path, len(LINES))
    other = next(end for end in ENDS if end != again)
    load = ["ip", "netns", "exec", names["left"], "ping", "-f", "-i", "0.002", "10.90.0.2"]
    with daemons(program, names, paths) as running:
        for one in connection(names, ADDRESSES["right"]):
            one.close()
        with subprocess.Popen(load, stdout=subprocess.DEVNULL) as pinging:
            try:
                running[again].killed()
                assert "bundle0" not in interfaces(names[again])
                with up(program, names[again], paths[again]):
                    for one in connection(names, ADDRESSES["right"]):
                        one.close()
                    assert running[other].counters()["handshakes"]["sessions"] == 2
            finally:
                pinging.kill()


def test_an_end_that_knows_no_address_learns_it(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    lines = paths["right"].read_text().splitlines()
    known = [line for line in lines if not line.startswith("remote")]
    paths["right"].write_text("\n".join(known) + "\n")
    with daemons(program, names, paths) as running:
        for one in connection(names, ADDRESSES["right"]):
            one.close()
        told = running["right"].ended()
    assert [channel["moved"] for channel in told["channels"]] == [1, 1], told


@pytest.mark.parametrize(
    ("changes", "discards"),
    [
        # The left end does not know the key of the right one.
        ({"private-key": "other.key"}, {"left": "other_peer", "right": "bad_mac"}),
        ({"peer": {"preshared-key": "other.key"}}, {"left": "other_secret"}),
    ],
)
def test_nothing_comes_through_with_another_key(
    program: Path,
    names: dict[str, str],
    tmp_path: Path,
    changes: dict[str, Any],
    discards: dict[str, str],
) -> None:
    require_programs("ping")
    paths = written(tmp_path, len(LINES))
    paths["right"].write_text(config("right", len(LINES), **changes))
    with daemons(program, names, paths) as running:
        sent = ["ip", "netns", "exec", names["left"], "ping", "-c", "3", "-W", "1", "10.90.0.2"]
        assert subprocess.run(sent, capture_output=True, check=False).returncode == 1

        def heard() -> bool:
            told = {end: running[end].counters()["handshakes"]["discards"] for end in ENDS}
            return all(told[end].get(discard, 0) > 0 for end, discard in discards.items())

        wait_until(heard, "nothing was counted")
        told = {end: running[end].ended() for end in ENDS}
    for end in ENDS:
        assert told[end]["received_packets"] == 0, told
        assert told[end]["handshakes"]["sessions"] == 0, told


def test_what_comes_in_clear_or_of_another_version_is_counted_and_not_taken(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    with daemons(program, names, written(tmp_path, len(LINES))) as running:
        for one in connection(names, ADDRESSES["right"]):
            one.close()
        made = made_in(names["left"], lambda: socket.socket(type=socket.SOCK_DGRAM))
        with made as stranger:
            # An unencrypted packet, and a datagram of another version.
            for first in (0x40, 0x50):
                stranger.sendto(bytes([first, *range(1, 60)]), ("10.80.0.2", 7000))
        wait_until(
            lambda: "other_version" in running["right"].counters()["handshakes"]["discards"],
            "it was not counted",
        )
        told = running["right"].ended()
    discards = told["handshakes"]["discards"]
    assert discards.pop("other_version") == 1
    assert sum(discards.values()) == 1, told
    assert set(discards) <= {"no_key", "not_authentic"}
    assert sum(channel["moved"] for channel in told["channels"]) == 0


def test_addresses_that_are_not_allowed_pass_neither_way(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    require_programs("ping")
    paths = written(tmp_path, len(LINES))
    paths["left"].write_text(config("left", 2, {"allowed-ips": ["10.90.0.9/32"]}))
    paths["right"].write_text(config("right", 2, {"allowed-ips": ["10.90.0.9/32", "10.90.0.1/32"]}))
    with daemons(program, names, paths) as running:
        for end, to in (("left", "10.90.0.2"), ("right", "10.90.0.1")):
            sent = ["ip", "netns", "exec", names[end], "ping", "-c", "2", "-W", "1", to]
            assert subprocess.run(sent, capture_output=True, check=False).returncode == 1
        told = {end: running[end].ended() for end in ENDS}
    # Packets that the left end may not send, and those that it may not accept from the right.
    assert told["left"]["refused_destinations"] >= 2, told
    assert told["left"]["refused_sources"] >= 2, told
    assert told["right"]["refused_sources"] == told["right"]["received_packets"] == 0, told


def test_a_key_is_made_for_its_owner_alone(program: Path, tmp_path: Path) -> None:
    key = tmp_path / "new.key"
    made = subprocess.run(
        [program, "keygen", key], capture_output=True, text=True, check=True
    ).stdout
    assert key.stat().st_mode & 0o777 == 0o600
    told = subprocess.run([program, "pubkey", key], capture_output=True, text=True, check=True)
    assert told.stdout == made
    assert len(made.strip()) == 64
    before = key.read_text()
    again = subprocess.run([program, "keygen", key], capture_output=True, text=True, check=False)
    assert again.returncode == 2, again
    assert key.read_text() == before
    for name, (secret, public) in KEYS.items():
        key_file(tmp_path, f"{name}.key", secret)
        told = subprocess.run(
            [program, "pubkey", tmp_path / f"{name}.key"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == public


REMOTE = 'remote = "10.80.0.2:7000"\n'
WRONG: dict[str, tuple[str, str, str, list[str]]] = {
    # Text of the configuration, its replacement, place of the error, parts of the message.
    "a key of no use": ("mtu", "mtv", "3:1", ["`mtv`", "`mtu`"]),
    "no public key": (KEYS["right"][1], "8f40", "6:14", ["`8f40`", "striped pubkey"]),
    "its own public key": (KEYS["right"][1], KEYS["left"][1], "6:14", []),
    "nobody allowed": (
        "[[channel]]",
        "allowed-ips = []\n[[channel]]",
        "7:15",
        ["`peer.allowed-ips`"],
    ),
    "no preshared key": (
        "[[channel]]",
        'preshared-key = "none.psk"\n[[channel]]',
        "7:17",
        ["none.psk"],
    ),
    "an unknown interface": (
        REMOTE,
        REMOTE + 'interface = "wan8"\n',
        "10:13",
        ["`channel[0].interface`", "`wan8`"],
    ),
    "an address twice": (
        "10.80.1.1",
        "10.80.0.1",
        "11:9",
        ["channel[0]", "10.80.0.1:7000"],
    ),
    "an address that is not here": (
        "10.80.1.1",
        "10.80.1.9",
        "11:9",
        ["10.80.1.9"],
    ),
    "a port that is none": ("10.80.1.1:7000", "10.80.1.1", "11:9", []),
    "no way there": ("10.80.1.2", "192.0.2.1", "12:10", ["192.0.2.1"]),
    "a way through itself": ("10.80.1.2", "10.90.0.7", "12:10", ["10.90.0.1/24"]),
    "too short": ("mtu = 1436", "mtu = 60", "3:7", ["60", "68", "IPv4"]),
    "too long": ("mtu = 1436", "mtu = 1437", "3:7", ["channel[0]", "1500", "1436"]),
    "an interface that is there": ('"bundle0"', '"wan1"', "1:8", ["`wan1`"]),
    "no key file": ("left.key", "none.key", "4:15", ["none.key", "striped keygen"]),
    "a network for an address": ("10.90.0.1/24", "10.90.0.0/24", "2:14", []),
    "more than a configuration": ("mtu = 1436", "#" * 1_100_000, "", []),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_right_is_told_where_it_stands(
    program: Path, names: dict[str, str], tmp_path: Path, case: str
) -> None:
    old, new, place, words = WRONG[case]
    path = written(tmp_path, len(LINES))["left"]
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    said = refusal(program, names["left"], path)
    assert said.startswith(f"striped: {path}:{place and f'{place}:'} "), said
    assert all(word in said for word in words), said
    assert "bundle0" not in interfaces(names["left"])


@pytest.mark.parametrize(
    ("mode", "content", "words"),
    [
        (0o644, "00" * 32, ["mode 644", "chmod 600"]),
        (0o600, "00" * 31, ["64", "striped keygen"]),
    ],
)
def test_a_key_file_that_others_may_read_or_that_holds_none(
    program: Path, names: dict[str, str], tmp_path: Path, mode: int, content: str, words: list[str]
) -> None:
    path = written(tmp_path, len(LINES))["left"]
    key = tmp_path / "left.key"
    key.write_text(content)
    key.chmod(mode)
    said = refusal(program, names["left"], path)
    assert said.startswith(f"striped: {path}:4:15: in `private-key`: "), said
    assert all(word in said for word in words), said


def test_without_a_tun_device_nothing_is_touched(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    path = written(tmp_path, len(LINES))["left"]
    script = 'mount -t tmpfs none /dev/net && exec "$@"'
    inner = command(program, names["left"], path)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *inner],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 2, done
    assert done.stderr.startswith(f"striped: {path}:1:8: in `name`: "), done
    assert "/dev/net/tun" in done.stderr

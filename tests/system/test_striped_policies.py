"""Policies of the daemon: redundant packets, quotas, and policies without effect."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest

from gingham.studies._namespaces import ip
from tests.conftest import require_programs, wait_until
from tests.system.bundles import ADDRESSES, Daemon, config, daemons, refusal, up, written
from tests.system.conftest import LINES
from tests.system.flows import datagrams

REDUNDANT = '[[policy]]\nprotocol = "udp"\nsend = "redundant"\n'
QUOTA_BYTES = 300_000
# The longest datagram, such as a size probe, and a few messages: they may be in flight between two
# readings of counters.
PACKET_BYTES, MESSAGES_BYTES = 1_500, 1_000
ETHERNET_BYTES = 14


def used_of(daemon: Daemon) -> int:
    """Return the bytes counted against the quota."""
    used = daemon.counters()["channels"][1]["quota_used_bytes"]
    assert isinstance(used, int)
    return used


def carried_by(name: str) -> int:
    """Return the bytes of IP on the interface of the line with a quota, both ways."""
    [told] = json.loads(ip("-n", name, "-j", "-s", "link", "show", "dev", "wan1"))
    ways = [told["stats64"][way] for way in ("rx", "tx")]
    return sum(int(way["bytes"]) - ETHERNET_BYTES * int(way["packets"]) for way in ways)


def test_a_line_that_dies_costs_a_redundant_flow_nothing(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    for path in paths.values():
        path.write_text(path.read_text() + REDUNDANT)
    dies = threading.Timer(2, ip, ["-n", names["right"], "link", "set", "wan1", "down"])
    with daemons(program, names, paths) as running:
        wait_until(running["left"].is_carrying, "the ends do not hear each other")
        dies.start()
        came = datagrams(names, ADDRESSES["right"], 2e6, 4, 0.1)
        dies.join()
        told = {end: running[end].ended() for end in running}
    assert came.sent > 600
    # A duplicate would count as out of order, since it arrives after itself.
    assert (came.came, came.out_of_order) == (came.sent, 0), (came, told)
    assert told["left"]["redundant"] > came.sent / 4, told
    assert told["right"]["given_up"] == 0, told


def test_a_quota_ends_and_survives_a_kill(
    program: Path, names: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_programs("sysctl")
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    paths = written(tmp_path, len(LINES))
    text = paths["left"].read_text().replace("[[channel]]", "[[channel]]\npriority = 2", 1)
    paths["left"].write_text(f'{text}priority = 1\nquota = "{QUOTA_BYTES // 1_000} kB"\n')
    left = names["left"]
    for name in names.values():
        quiet = ["sysctl", "-qw", "net.ipv6.conf.wan1.disable_ipv6=1"]
        subprocess.run(["ip", "netns", "exec", name, *quiet], check=True)
    before = carried_by(left)
    with daemons(program, names, paths) as running:
        wait_until(running["left"].is_carrying, "the ends do not hear each other")
        first = datagrams(names, ADDRESSES["right"], 1e6, 1, 0.1)
        used, carried = used_of(running["left"]), carried_by(left) - before
        assert abs(used - carried) <= PACKET_BYTES + MESSAGES_BYTES, (used, carried)
        assert used > first.sent * 1_400, "the line of the first priority had nearly all"
        used, carried = used_of(running["left"]), carried_by(left)
        running["left"].killed()
        with up(program, left, paths["left"]) as again:
            # Datagrams that arrive without a daemon, or of an old session, count on the line alone.
            more = used_of(again) - used
            assert 0 <= more <= carried_by(left) - carried + PACKET_BYTES + MESSAGES_BYTES
            wait_until(again.is_carrying, "it does not carry")
            before = carried_by(left) - used_of(again)
            second = datagrams(names, ADDRESSES["right"], 1e6, 3, 0.1)
            at_end, carried = used_of(again), carried_by(left) - before
            assert abs(at_end - carried) <= PACKET_BYTES + MESSAGES_BYTES, (at_end, carried)
            # It ends with the last packet that fits, and the messages that were in flight to it.
            assert -PACKET_BYTES <= at_end - QUOTA_BYTES <= PACKET_BYTES + MESSAGES_BYTES, at_end
            assert again.counters()["channels"][1]["is_in"] is False
            # The other end has no quota, and probes the channel once a second.
            time.sleep(1.5)
            assert used_of(again) <= at_end + MESSAGES_BYTES
    # The other line has carried all later packets.
    assert (second.came, second.out_of_order) == (second.sent, 0)


@pytest.mark.parametrize(
    ("channels", "added", "key", "message"),
    [
        (2, "quota = 50", "channel[1].quota", "with its unit"),
        (2, 'quota-day = 3\nquota-period = "week"', "channel[1].quota-period", "no `quota`"),
        (2, 'quota = "50 GB"\nquota-day = 31', "channel[1].quota-day", "1 to 28"),
        (2, 'rate = "20 Mb"', "channel[1].rate", "with its unit"),
        (1, REDUNDANT, "policy[0].send", "add a [[channel]]"),
        (2, f"{REDUNDANT}ports = []", "policy[0].ports", "matches nothing"),
        (2, f'{REDUNDANT}to = ["10.91.0.0/24"]', "policy[0].to", "outside of all"),
        (2, REDUNDANT + REDUNDANT, "policy[1].send", "put it first"),
    ],
)
def test_what_can_do_nothing_is_refused(
    program: Path,
    names: dict[str, str],
    tmp_path: Path,
    channels: int,
    added: str,
    key: str,
    message: str,
) -> None:
    path = written(tmp_path, channels)["left"]
    path.write_text(config("left", channels) + added + "\n")
    said = refusal(program, names["left"], path)
    assert f"{path}:" in said, said
    assert key in said, said
    assert message in said, said

"""Routes of a daemon: configured ones through the bundle, channels past it, all removed at the end.

```
  left:  bundle0 10.90.0.1 == wan0 10.80.0.1 ---- 10.80.0.2 wan0 == bundle0 10.90.0.2  :right
                           == wan1 10.80.1.1 ---- 10.80.1.2 wan1 ==         lo 203.0.113.1
         default by 10.80.0.2                                               lo 198.51.100.2
```
"""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import ENDS, TIMEOUT_S, ip, made_in
from tests.conftest import require_programs, wait_until
from tests.system.bundles import (
    MTU,
    command,
    config,
    daemons,
    key_files,
    process_status,
    refusal,
    up,
)
from tests.system.flows import connection
from tests.system.pipes import Line, Programs, interfaces, network

LINES = [Line(50), Line(50)]
# Addresses behind the right end: two destinations of routes, and the end of a channel.
FAR, FAR_V6, REMOTE = "203.0.113.1", "2001:db8:7::1", "198.51.100.2"
TABLE, PRIORITY = 21332, 32000
ROUTES = ["0.0.0.0/0", "10.80.0.0/23"]
PORT = 5002
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21


@pytest.fixture
def names(program: Path) -> Iterator[dict[str, str]]:
    require_programs("sysctl")
    with network(Programs(program, program), LINES) as (names, _):
        for name in names.values():
            # Both, because `default` does not apply to loopback, which exists already.
            for interface in ("default", "lo"):
                set_sysctl(name, f"net.ipv6.conf.{interface}.disable_ipv6=0")
        ip("-n", names["right"], "link", "set", "lo", "up")
        for address in (f"{FAR}/32", f"{REMOTE}/32", f"{FAR_V6}/128"):
            ip("-n", names["right"], "addr", "add", address, "dev", "lo")
        ip("-n", names["left"], "route", "add", "default", "via", "10.80.0.2")
        # Reverse path filtering (RFC 3704).
        set_sysctl(names["left"], "net.ipv4.conf.all.rp_filter=1")
        yield names


def set_sysctl(name: str, setting: str) -> None:
    """Set a parameter of a namespace."""
    require_programs("sysctl")
    subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", setting], check=True)


def written(folder: Path, left: dict[str, Any]) -> dict[str, Path]:
    """Write the configurations; the first channel ends behind the default route."""
    key_files(folder)
    paths = {end: folder / f"{end}.toml" for end in ENDS}
    for end, path in paths.items():
        number = ENDS.index(end) + 1
        addresses = [f"10.90.0.{number}/24", f"fd00:90::{number}/64"]
        changes = {"addresses": addresses} | (left if end == "left" else {})
        path.write_text(config(end, len(LINES), **changes).replace("10.80.0.2:", f"{REMOTE}:"))
    return paths


def routing(name: str) -> dict[str, Any]:
    """Return all rules and routes of a namespace, of both families."""
    told = {}
    for family in ("-4", "-6"):
        told[f"rules {family}"] = json.loads(ip("-n", name, "-j", family, "rule", "show"))
        words = ["-j", family, "route", "show", "table", "all"]
        told[f"routes {family}"] = json.loads(ip("-n", name, *words))
    return told


def settled(name: str) -> dict[str, Any]:
    """Return rules and routes once they are stable: the kernel adds IPv6 addresses with a delay."""
    last: dict[str, Any] = {}
    while (told := routing(name)) != last:
        last = told
        time.sleep(1)
    return told


def has_interface(name: str) -> bool:
    """Return whether the interface of the daemon exists."""
    return "bundle0" in ip("-n", name, "-br", "link", "show")


def way(name: str, *words: str) -> str:
    """Return the interface that `ip route get` selects."""
    return str(json.loads(ip("-n", name, "-j", "route", "get", *words))[0]["dev"])


def answers(names: dict[str, str], address: str) -> bytes:
    """Return the bytes that the right end receives over a connection from the left one."""

    def made() -> socket.socket:
        return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)

    with (
        made_in(names["right"], made) as listener,
        made_in(names["left"], made) as sender,
    ):
        for one in (listener, sender):
            one.settimeout(TIMEOUT_S)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, PORT))
        listener.listen()
        sender.connect((address, PORT))
        accepted, peer = listener.accept()
        with accepted:
            sender.sendall(b"through the bundle")
            heard = accepted.recv(64)
    assert str(peer[0]) in {"10.90.0.1", "fd00:90::1"}
    return heard


def test_all_goes_through_the_bundle_but_for_its_channels(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    before = {end: routing(names[end]) for end in ENDS}
    paths = written(tmp_path, {"routes": [*ROUTES, "::/0"]})
    with daemons(program, names, paths) as running:
        left = names["left"]
        assert way(left, FAR) == "bundle0"
        assert way(left, FAR_V6) == "bundle0"
        # A channel by its mark and by its port; other traffic to the same machine is routed.
        assert way(left, REMOTE, "mark", str(TABLE)) == "wan0"
        assert way(left, REMOTE, "ipproto", "udp", "dport", "7000") == "wan0"
        assert way(left, REMOTE) == "bundle0"
        # The local network has a longer prefix than the route.
        assert way(left, "10.80.1.9") == "wan1"
        assert answers(names, FAR) == b"through the bundle"
        assert answers(names, FAR_V6) == b"through the bundle"
        for end in ENDS:
            told = running[end].ended()
            assert all(channel["came"] > 0 for channel in told["channels"]), told
    assert {end: routing(names[end]) for end in ENDS} == before


def test_what_a_killed_daemon_left_is_taken_back_and_nothing_else(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    left = names["left"]
    # Rules and routes of other programs, similar to ours.
    ip("-n", left, "rule", "add", "pref", "31000", "to", "192.0.2.0/24", "lookup", "77")
    ip("-n", left, "route", "add", "192.0.2.0/24", "via", "10.80.1.2", "table", "77", "proto", "83")
    before = routing(left)
    paths = written(tmp_path, {"routes": ["0.0.0.0/0"]})
    with daemons(program, names, paths) as running:
        during = routing(left)
        running["left"].killed()
    assert during["rules -4"] != before["rules -4"]
    # Another configuration without routes, so the remaining rules are stale.
    paths = written(tmp_path, {})
    with daemons(program, names, paths) as running:
        assert routing(left)["rules -4"] == before["rules -4"]
        running["left"].ended()
    assert routing(left) == before


def test_a_second_daemon_does_not_take_what_is_in_use(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, {"routes": ["0.0.0.0/0"]})
    other = tmp_path / "other.toml"
    text = config("left", 1, name="bundle1", addresses=["10.91.0.1/24"], routes=["10.92.0.0/16"])
    other.write_text(text.replace("10.80.0.1:7000", "10.80.0.1:7001"))
    with daemons(program, names, paths):
        during = settled(names["left"])
        said = refusal(program, names["left"], other)
        assert "in `table`: " in said, said
        assert str(TABLE) in said, said
        assert routing(names["left"]) == during
        other.write_text(f"table = 5\npriority = 31000\n{other.read_text()}")
        with up(program, names["left"], other) as second:
            assert way(names["left"], "10.92.0.1") == "bundle1"
            assert way(names["left"], FAR) == "bundle0"
            second.ended()
        assert routing(names["left"]) == during


WRONG: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    # Values, the key at fault, and parts of the message.
    "an address": ({"routes": ["10.1.0.1/16"]}, "routes[0]", ["10.1.0.0/16"]),
    "no route": ({"routes": ["default"]}, "routes[0]", ["`default`", "10.90.0.1/24"]),
    "twice": ({"routes": ["10.1.0.0/16"] * 2}, "routes[1]", ["routes[0]", "10.1.0.0/16"]),
    "no address of its family": (
        {"routes": ["::/0"], "addresses": ["10.90.0.1/24"]},
        "routes[0]",
        ["IPv6"],
    ),
    "the main table": ({"routes": ["0.0.0.0/0"], "table": 254}, "table", ["254"]),
    "a table of others": (
        {"routes": ["0.0.0.0/0"], "table": 77},
        "table",
        ["77"],
    ),
    "a table that others lead to": (
        {"routes": ["0.0.0.0/0"], "table": 78},
        "table",
        ["78"],
    ),
    "a priority of others": (
        {"routes": ["0.0.0.0/0"], "priority": 30800},
        "priority",
        ["31000"],
    ),
    "behind the main table": (
        {"routes": ["0.0.0.0/0"], "priority": 32766},
        "priority",
        [],
    ),
    "no mark": (
        {"routes": ["0.0.0.0/0"], "mark": 0},
        "mark",
        ["channel[0]"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_routed_is_told_before_anything_is_touched(
    program: Path, names: dict[str, str], tmp_path: Path, case: str
) -> None:
    changes, key, words = WRONG[case]
    left = names["left"]
    ip("-n", left, "rule", "add", "pref", "31000", "to", "192.0.2.0/24", "lookup", "78")
    ip("-n", left, "route", "add", "192.0.2.0/24", "via", "10.80.1.2", "table", "77")
    before = routing(left)
    path = written(tmp_path, changes)["left"]
    said = refusal(program, left, path)
    assert said.startswith(f"striped: {path}:"), said
    assert f"in `{key}`" in said, said
    assert all(word in said for word in words), said
    assert routing(left) == before


def test_nothing_is_left_where_routes_cannot_be_made(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    # The interface can be made, but accepts no IPv6 route.
    keys = ("net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
    ip("netns", "exec", names["left"], "sysctl", "-qw", *keys)
    before = routing(names["left"])
    path = written(tmp_path, {"routes": ["::/0"]})["left"]
    inner = command(program, names["left"], path)
    done = subprocess.run(inner, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 6, done
    assert routing(names["left"]) == before
    assert "bundle0" not in interfaces(names["left"])


def test_who_may_make_no_interface_is_told_before_anything_is_made(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    before = routing(names["left"])
    path = written(tmp_path, {"routes": ["0.0.0.0/0"]})["left"]
    inner = command(program, names["left"], path)
    without = ["capsh", "--drop=cap_net_admin", "--", "-c", 'exec "$@"', "sh"]
    require_programs("capsh")
    done = subprocess.run(
        [*inner[:4], *without, *inner[4:]],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 2, done
    assert "CAP_NET_ADMIN" in done.stderr
    assert routing(names["left"]) == before


@pytest.mark.parametrize("user", [None, "nobody"])
def test_who_reads_packets_may_change_nothing(
    program: Path, names: dict[str, str], tmp_path: Path, user: str | None
) -> None:
    changes = {"routes": ["0.0.0.0/0"]} | ({"user": user} if user else {})
    with daemons(program, names, written(tmp_path, changes)) as running:
        assert answers(names, FAR) == b"through the bundle"
        told = process_status(running["left"].carrier())
        for held in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"):
            assert int(told[held], 16) == 0, (held, told)
        assert (told["NoNewPrivs"], told["Seccomp"]) == ("1", "2")
        numbers = {pwd.getpwnam(user).pw_uid if user else os.getuid()}
        assert {int(number) for number in told["Uid"].split()} == numbers
        monitor = int(process_status(running["left"].process.pid)["CapEff"], 16)
        assert monitor & 1 << CAP_NET_ADMIN
        assert not monitor & 1 << CAP_SYS_ADMIN


def test_nothing_is_left_of_a_daemon_whose_half_that_carries_is_killed(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    left = names["left"]
    before = routing(left)
    with daemons(program, names, written(tmp_path, {"routes": [*ROUTES, "::/0"]})) as running:
        assert routing(left) != before
        os.kill(running["left"].carrier(), signal.SIGKILL)
        assert running["left"].process.wait(TIMEOUT_S) == 6
        said = running["left"].log.read_text().splitlines()[-1]
        assert said == "striped: the half that carries packets was ended by signal 9"
        assert not has_interface(left)
        assert routing(left) == before


def test_an_uplink_that_was_away_is_used_again(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    # A channel by interface needs a socket that the unprivileged process cannot open.
    paths = written(tmp_path, {"routes": ["0.0.0.0/0"], "user": "nobody"})
    for path in paths.values():
        text = path.read_text().replace("10.80.1.1:7000", "10.80.1.1:7001")
        text = text.replace("10.80.1.2:7000", "10.80.1.2:7001")
        path.write_text(text.replace('local = "10.80.1.1:7001"', 'interface = "wan1"'))
    left = names["left"]
    with daemons(program, names, paths) as running:
        assert answers(names, FAR) == b"through the bundle"
        ip("-n", left, "link", "set", "wan1", "name", "away1", "down")

        def channel() -> dict[str, Any]:
            return dict(running["left"].counters()["channels"][1])

        wait_until(lambda: channel()["gone"] > 0 and not channel()["is_in"])
        assert answers(names, FAR) == b"through the bundle"
        ip("-n", left, "link", "set", "away1", "name", "wan1", "up")
        wait_until(lambda: channel()["reopened"] > 0 and channel()["is_in"])


def test_what_is_longer_than_the_bundle_takes_is_answered(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    require_programs("ping")
    left = names["left"]
    with daemons(program, names, written(tmp_path, {"routes": ["0.0.0.0/0", "::/0"]})) as running:
        # An administrator has raised the MTU of the interface above that of the bundle.
        ip("-n", left, "link", "set", "bundle0", "mtu", "1500")
        for address, header_bytes in ((FAR, 28), (FAR_V6, 48)):
            size = str(1500 - header_bytes)
            ping = ["ping", "-c", "1", "-W", "5", "-M", "do", "-s", size, address]
            done = subprocess.run(
                ["ip", "netns", "exec", left, *ping], capture_output=True, text=True, check=False
            )
            assert done.returncode == 1, done
            assert f"mtu={MTU}" in done.stdout.replace(" = ", "="), done
            # The kernel has cached the path MTU.
            assert f"mtu {MTU}" in ip("-n", left, "route", "get", address)
        told = running["left"].ended()
        assert (told["too_long"], told["too_long_icmp_errors"]) == (2, 2), told


def test_the_interface_takes_what_the_bundle_does(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    left = names["left"]

    def mtu() -> int:
        return int(json.loads(ip("-n", left, "-j", "link", "show", "bundle0"))[0]["mtu"])

    with daemons(program, names, written(tmp_path, {"routes": ["0.0.0.0/0"]})):
        assert mtu() == MTU
        for channel in range(len(LINES)):
            ip("-n", left, "link", "set", f"wan{channel}", "mtu", "1400")
        sender, receiver = connection(names, "10.90.0.2")
        with sender, receiver:
            sender.sendall(bytes(100_000))
            # All bytes arrive once the new MTU is known.
            heard = 0
            while heard < 100_000:
                heard += len(receiver.recv(1 << 16))
        wait_until(lambda: 1280 <= mtu() <= MTU - 100)


def test_connections_have_segments_that_fit_the_bundle(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    with daemons(program, names, written(tmp_path, {"routes": ["0.0.0.0/0"]})) as running:
        for name in names.values():
            ip("-n", name, "link", "set", "bundle0", "mtu", "1500")
        sender, receiver = connection(names, "10.90.0.2")
        with sender, receiver:
            # TCP_MAXSEG excludes the timestamp option of 12 bytes.
            for one in (sender, receiver):
                size = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
                assert size == MTU - 40 - 12
            thread = threading.Thread(target=sender.sendall, args=(bytes(1_000_000),))
            thread.start()
            heard = 0
            while heard < 1_000_000:
                heard += len(receiver.recv(1 << 16))
            thread.join()
        for end in ENDS:
            assert running[end].ended()["too_long"] == 0

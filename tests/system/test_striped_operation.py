"""Operation of the daemon: status, reload, metrics, logs, systemd, changes of the network."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import TIMEOUT_S, ip, made_in
from tests.conftest import require_programs, wait_until
from tests.system.bundles import (
    ADDRESSES,
    KEYS,
    ask,
    config,
    daemons,
    refusal,
    runtime_of,
    up,
    written,
)
from tests.system.conftest import LINES
from tests.system.flows import connection
from tests.system.pipes import interfaces
from tests.system.programs import ROOT

UNIT = ROOT / "crates/stripe/striped/dist/striped@.service"
CHANNEL = '[[channel]]\nlocal = "10.80.{}.{}:7000"\nremote = "10.80.{}.{}:7000"\n'


def channels(program: Path, namespace: str, path: Path) -> list[dict[str, Any]]:
    """Return the status of a daemon's channels."""
    done = ask(program, namespace, "status", "--json", of=path)
    assert done.returncode == 0, done
    return list(json.loads(done.stdout)[0]["peers"][0]["channels"])


def are_in(program: Path, names: dict[str, str], paths: dict[str, Path], count: int) -> None:
    """Wait until both ends have exactly `count` channels, all of them in."""

    def is_so() -> bool:
        told = [channels(program, names[end], path) for end, path in paths.items()]
        return all([one["state"] for one in end] == ["in"] * count for end in told)

    wait_until(is_so, "the channels are not in")


def carries(pair: tuple[socket.socket, socket.socket]) -> None:
    """Fail unless an open connection still carries data in both directions."""
    for one, other in (pair, pair[::-1]):
        one.sendall(b"still there")
        assert other.recv(64) == b"still there"


def test_the_status_says_what_each_channel_does_and_why_it_waits(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    left = names["left"]
    with daemons(program, names, paths):
        are_in(program, names, paths, 2)
        table = ask(program, left, "status", of=paths["left"])
        assert table.returncode == 0, table
        lines = table.stdout.splitlines()
        assert lines[0].startswith("bundle0  up "), table
        assert lines[1].startswith("peer 358072d6  open, "), table
        assert lines[2].split()[:2] == ["ch", "state"], table
        assert all(len(line) <= 100 for line in lines), table
        ip("-n", left, "link", "set", "wan1", "down")

        def is_out() -> bool:
            one = channels(program, left, paths["left"])[1]
            return one["state"] == "out" and one["waits"] in {"no-link", "silent"}

        wait_until(is_out, "the channel is not out")
        # Bundles selected by name, by file, and all.
        for bundle in (["bundle0"], [str(paths["left"])], []):
            table = ask(program, left, "status", *bundle, of=paths["left"])
            assert " out " in table.stdout, table
        ip("-n", left, "link", "set", "wan1", "up")
        are_in(program, names, paths, 2)


def test_who_may_ask_is_root_and_the_user_of_the_daemon(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES), user="nobody")
    with daemons(program, names, paths):
        made = (runtime_of(paths["left"]) / "bundle0.sock").stat()
        assert made.st_mode & 0o777 == 0o600
        assert made.st_uid == int(
            subprocess.run(
                ["id", "-u", "nobody"], capture_output=True, text=True, check=True
            ).stdout
        )


@pytest.mark.parametrize("command", ["status", "reload", "down"])
def test_without_a_daemon_a_command_says_so(
    program: Path, names: dict[str, str], tmp_path: Path, command: str
) -> None:
    path = written(tmp_path, 1)["left"]
    # The stale socket of a killed daemon.
    runtime_of(path).mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(runtime_of(path) / "bundle0.sock"))
    for bundle in ([], ["bundle0"]):
        done = ask(program, names["left"], command, *bundle, of=path)
        assert (done.returncode, done.stdout) == (6, ""), done
        assert done.stderr.count("\n") == 1
        assert "striped up" in done.stderr
        assert ("bundle0.sock" in done.stderr) == bool(bundle), done


def test_check_says_what_up_would_do_and_touches_nothing(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    path = written(tmp_path, len(LINES), routes=["10.91.0.0/16"])["left"]
    done = ask(program, names["left"], "check", str(path), of=path)
    assert done.returncode == 0, done
    facts = ["bundle0", "10.90.0.1/24", "10.91.0.0/16", "21332", "10.80.1.1:7000", "10.80.1.2:7000"]
    assert [fact for fact in facts if fact not in done.stdout] == []
    assert "bundle0" not in interfaces(names["left"])
    path.write_text(path.read_text().replace("mtu", "mtv"))
    done = ask(program, names["left"], "check", str(path), of=path)
    assert done.returncode == 2, done
    assert f"{path}:3:1: " in done.stderr
    assert "`mtv`" in done.stderr


def second(folder: Path, **changes: Any) -> Path:
    """Write another bundle for the left end."""
    path = folder / "second.toml"
    text = config("left", 0, name="bundle1", addresses=["10.92.0.1/24"], **changes)
    path.write_text(text + '[[channel]]\nlocal = "10.80.0.1:7100"\nremote = "10.80.0.2:7100"\n')
    return path


COLLISIONS = {
    "a name": ('"bundle1"', '"bundle0"', "name"),
    "an address": ("10.92.0.1", "10.90.0.1", "addresses[0]"),
    "a port": ("10.80.0.1:7100", "10.80.0.1:7000", "channel[0].local"),
    "a table": ("mtu =", 'routes = ["10.93.0.0/16"]\nmtu =', "table"),
    "priorities": (
        "mtu =",
        'routes = ["10.93.0.0/16"]\ntable = 7\npriority = 32100\nmtu =',
        "priority",
    ),
    "metrics": ("mtu =", 'metrics = "127.0.0.1:9199"\nmtu =', "metrics"),
}


@pytest.mark.parametrize("case", COLLISIONS)
def test_two_bundles_do_not_claim_one_thing(
    program: Path, names: dict[str, str], tmp_path: Path, case: str
) -> None:
    old, new, key = COLLISIONS[case]
    changes = {"routes": ["10.91.0.0/16"], "metrics": "127.0.0.1:9199"}
    ip("-n", names["left"], "link", "set", "lo", "up")
    first, other = written(tmp_path, 2, **changes)["left"], second(tmp_path)
    other.write_text(other.read_text().replace(old, new))
    done = ask(program, names["left"], "up", str(first), str(other), of=first)
    assert done.returncode == 2, done
    assert done.stderr.startswith(f"striped: {other}"), done
    assert f"in `{key}`: " in done.stderr
    assert f"{first}" in done.stderr
    assert not {"bundle0", "bundle1"} & interfaces(names["left"])


def test_one_daemon_has_several_bundles_and_down_ends_it(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    first, left = written(tmp_path, 2)["left"], names["left"]
    with up(program, left, first, second(tmp_path)) as daemon:
        told = json.loads(ask(program, left, "status", "--json", of=first).stdout)
        assert [one["name"] for one in told] == ["bundle0", "bundle1"]
        assert {"bundle0", "bundle1"} <= interfaces(left)
        waits = [one["waits"] for one in told[1]["peers"][0]["channels"]]
        assert waits == ["no-handshake"], told
        done = ask(program, left, "up", str(first), of=first)
        assert done.returncode == 2, "it is up already"
        done = ask(program, left, "down", "bundle1", of=first)
        # The command returns once the bundle is down.
        assert done.returncode == 0, done
        assert not {"bundle0", "bundle1"} & interfaces(left)
        assert daemon.process.wait(TIMEOUT_S) == 0
        assert list(runtime_of(first).iterdir()) == []


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """Stop a process by SIGSTOP, so that it cannot even end."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


def test_a_reload_ends_though_a_half_does_not_follow(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    path, left = written(tmp_path, 2)["left"], names["left"]
    with up(program, left, path) as daemon:
        with stopped(daemon.carrier()):
            done = ask(program, left, "reload", of=path)
            assert done.returncode == 6, done
            assert "bundle0: " in done.stderr, done
            assert " 5 s" in done.stderr, done
        done = ask(program, left, "reload", of=path)
        assert (done.returncode, done.stderr) == (0, ""), done


def test_a_half_that_does_not_end_is_killed_and_holds_up_nobody(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    first, left = written(tmp_path, 2)["left"], names["left"]
    with up(program, left, first, second(tmp_path)) as daemon:
        with stopped(daemon.carriers()[0]):
            assert ask(program, left, "down", "bundle1", of=first).returncode == 0
            assert daemon.process.wait(TIMEOUT_S) == 6
        assert "SIGTERM" in daemon.log.read_text()
        assert not {"bundle0", "bundle1"} & interfaces(left)
        assert list(runtime_of(first).iterdir()) == []


def test_a_reload_adds_moves_and_takes_away_channels_under_a_connection(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, 1)
    before = {end: path.read_text() for end, path in paths.items()}

    def reload(added: dict[str, str]) -> None:
        for end, path in paths.items():
            path.write_text(before[end] + added[end])
            done = ask(program, names[end], "reload", of=path)
            assert (done.returncode, done.stderr) == (0, ""), done

    with daemons(program, names, paths):
        are_in(program, names, paths, 1)
        pair = connection(names, ADDRESSES["right"])
        with pair[0], pair[1]:
            carries(pair)
            both = {"left": CHANNEL.format(1, 1, 1, 2), "right": CHANNEL.format(1, 2, 1, 1)}
            reload(both)
            are_in(program, names, paths, 2)
            carries(pair)
            reload({end: text.replace("7000", "7007") for end, text in both.items()})
            are_in(program, names, paths, 2)
            told = channels(program, names["left"], paths["left"])
            assert told[1]["local"] == "10.80.1.1:7007", told
            carries(pair)
            reload(dict.fromkeys(paths, ""))
            are_in(program, names, paths, 1)
            carries(pair)


def test_a_reload_changes_who_is_allowed_and_what_is_routed(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    require_programs("ping")
    paths = written(tmp_path, 2, routes=["10.91.0.0/16"])
    left, path = names["left"], paths["left"]

    def table() -> str:
        show = ["ip", "-n", left, "route", "show", "table", "21332"]
        return subprocess.run(show, capture_output=True, text=True, check=True).stdout

    with daemons(program, names, paths) as running:
        assert "10.91.0.0/16 dev bundle0" in table()
        allowed = {"allowed-ips": ["10.90.0.9/32"]}
        path.write_text(config("left", 2, allowed, routes=["10.94.0.0/16"], mtu=1300))
        done = ask(program, left, "reload", of=path)
        assert done.returncode == 0, done
        assert "10.91.0.0/16" not in table()
        assert "10.94.0.0/16 dev bundle0" in table()
        sent = ["ip", "netns", "exec", left, "ping", "-c", "1", "-W", "1", "10.90.0.2"]
        assert subprocess.run(sent, capture_output=True, check=False).returncode == 1
        told = json.loads(ask(program, left, "status", "--json", of=path).stdout)[0]
        assert told["refused_destinations"] > 0, told
        wait_until(lambda: "mtu 1300" in _link(left), "the interface has the old MTU")
        assert running["left"].ended()["event"] == "end"
    rules = subprocess.run(["ip", "-n", left, "rule"], capture_output=True, text=True, check=True)
    assert "proto 83" not in rules.stdout


def _link(namespace: str) -> str:
    show = ["ip", "-n", namespace, "link", "show", "bundle0"]
    return subprocess.run(show, capture_output=True, text=True, check=True).stdout


REFUSED = {
    "an unknown key": ("mtu", "mtv", "3:1", "`mtv`"),
    "a name": ('"bundle0"', '"bundle7"', "1:8", "bundle0"),
    "an address": ("10.90.0.1", "10.90.0.7", "2:13", "`bundle0`"),
    "the key of this end": ("left.key", "other.key", "4:15", ""),
    "a longer packet": ("1436", "1437", "3:7", "1436"),
    "an order of channels": ("10.80.0.", "10.80.9.", "8:9", ""),
    "an interface that is not there": (
        '"10.80.1.2:7000"',
        '"10.80.1.2:7000"\ninterface = "wan8"',
        "13:13",
        "`wan8`",
    ),
}


def test_a_reload_with_an_error_changes_nothing(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, 2)
    path, left = paths["left"], names["left"]
    text = path.read_text()
    with daemons(program, names, paths):
        are_in(program, names, paths, 2)
        for case, (old, new, place, words) in REFUSED.items():
            assert old in text
            path.write_text(text.replace(old, new, 1))
            done = ask(program, left, "reload", "bundle0", of=path)
            assert done.returncode == 2, (case, done)
            assert done.stderr.startswith(f"striped: {path}:{place}: "), (case, done)
            assert words in done.stderr, (case, done)
        # Without the first channel, the second would become the first.
        head, _, rest = text.partition("[[channel]]")
        path.write_text(head + "[[channel]]" + rest.partition("[[channel]]")[2])
        done = ask(program, left, "reload", "bundle0", of=path)
        assert done.returncode == 2, done
        assert "channel 1" in done.stderr, done
        path.write_text(text)
        assert ask(program, left, "reload", of=path).returncode == 0
        are_in(program, names, paths, 2)


def test_systemd_hears_of_readiness_reloads_life_and_the_end(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    path = written(tmp_path, 2)["left"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        at = str(tmp_path / "notify")
        heard.bind(at)
        heard.settimeout(TIMEOUT_S)

        def until(wanted: str) -> list[str]:
            lines: list[str] = []
            while wanted not in lines:
                lines += heard.recv(4096).decode().splitlines()
            return lines

        watchdog = {"NOTIFY_SOCKET": at, "WATCHDOG_USEC": "200000"}
        with up(program, names["left"], path, environment=watchdog) as daemon:
            process, carrier = daemon.process, daemon.carrier()
            assert "STATUS=carries bundle0" in until("READY=1") + until("WATCHDOG=1")
            process.send_signal(signal.SIGHUP)
            lines = until("RELOADING=1")
            assert any(line.startswith("MONOTONIC_USEC=") for line in lines), lines
            until("READY=1")
            # While the tunnel process is stopped, the watchdog is not notified.
            os.kill(carrier, signal.SIGSTOP)
            heard.settimeout(1)

            def is_silent() -> bool:
                try:
                    heard.recv(4096)
                except TimeoutError:
                    return True
                return False

            wait_until(is_silent, "it is said to be alive")
            os.kill(carrier, signal.SIGCONT)
            heard.settimeout(TIMEOUT_S)
            until("WATCHDOG=1")
            process.terminate()
            until("STOPPING=1")
            assert process.wait(TIMEOUT_S) == 0


def test_systemd_takes_the_unit(program: Path, tmp_path: Path) -> None:
    require_programs("systemd-analyze")
    unit = tmp_path / "striped@bundle0.service"
    unit.write_text(UNIT.read_text().replace("/usr/bin/striped", str(program)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, said) == (0, []), done


def scraped(namespace: str, port: int) -> str:
    """Return the response to a scrape by Prometheus."""
    made = made_in(namespace, lambda: socket.create_connection(("127.0.0.1", port), TIMEOUT_S))
    with made as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while data := client.recv(1 << 16):
            answer += data
    return answer.decode()


def test_metrics_are_told_on_loopback(program: Path, names: dict[str, str], tmp_path: Path) -> None:
    paths = written(tmp_path, 2, metrics="127.0.0.1:9199")
    for end in paths:
        ip("-n", names[end], "link", "set", "lo", "up")
    with daemons(program, names, paths) as running:
        are_in(program, names, paths, 2)
        head, _, body = scraped(names["left"], 9199).partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 200 OK"), head
        assert "application/openmetrics-text" in head
        labels = f'bundle="bundle0",peer="{KEYS["right"][1]}",channel="1"'
        assert f"striped_channel_in{{{labels}}} 1.0" in body
        assert f"striped_channel_sent_bytes_total{{{labels}}}" in body
        assert body.endswith("# EOF\n")
        # Silent connections do not block other scrapes.
        silent = [
            made_in(names["left"], lambda: socket.create_connection(("127.0.0.1", 9199)))
            for _ in range(6)
        ]
        assert "striped_up_seconds" in scraped(names["left"], 9199)
        for one in silent:
            one.close()
        assert running["left"].is_carrying()
        # Another daemon with the same port is refused, before anything is changed.
        other = second(tmp_path, metrics="127.0.0.1:9199")
        said = refusal(program, names["left"], other)
        assert said.startswith(f"striped: {other}:5:11: in `metrics`: 127.0.0.1:9199: "), said
    path = written(tmp_path, 2, metrics="10.80.0.1:9199")["left"]
    assert "metrics-beyond-loopback = true" in refusal(program, names["left"], path)


def test_an_address_that_changes_is_followed_under_a_connection(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, 1)
    left, path = names["left"], paths["left"]
    path.write_text(path.read_text().replace('local = "10.80.0.1:7000"', 'interface = "wan0"'))
    with daemons(program, names, paths):
        are_in(program, names, paths, 1)
        pair = connection(names, ADDRESSES["right"])
        with pair[0], pair[1]:
            carries(pair)
            ip("-n", left, "address", "del", "10.80.0.1/24", "dev", "wan0")
            ip("-n", left, "address", "add", "10.80.0.5/24", "dev", "wan0")
            carries(pair)
        told = channels(program, names["right"], paths["right"])
        assert told[0]["remote"] == "10.80.0.5:7000", told


def test_a_flood_of_garbage_is_counted_and_told_in_few_lines(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, 2, **{"log-format": "json"})
    with daemons(program, names, paths) as running:
        are_in(program, names, paths, 2)
        made = made_in(names["left"], lambda: socket.socket(type=socket.SOCK_DGRAM))
        with made as stranger:
            for _ in range(30):
                for number in range(200):
                    stranger.sendto(bytes([0x40, number, *range(58)]), ("10.80.0.2", 7000))
                wait_until(running["right"].is_carrying, "it does not carry")
        log = running["right"].log
        wait_until(lambda: "the channel is in" in log.read_text(), "it was not told")
        running["right"].ended()
        error = log.read_text()
    events = [json.loads(line) for line in error.splitlines()]
    flood = [
        event for event in events if event["message"] == "unauthenticated datagrams were discarded"
    ]
    # A burst, then one event every ten seconds.
    assert 1 <= len(flood) <= 12, flood
    assert len(error) < 20_000
    assert {"ready", "the channel is in"} <= {event["message"] for event in events}


def test_the_help_names_all_commands(program: Path) -> None:
    told = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(
        f"  {name} " in told for name in ("up", "check", "status", "reload", "down", "keygen")
    )
    assert shutil.which("ip")

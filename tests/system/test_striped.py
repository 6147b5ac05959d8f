"""The daemon: two of them between real network namespaces, and what one says that cannot run.

Rates have the machine in them: both daemons go before all others.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import require_programs, wait_until
from tests.system.bundles import (
    ADDRESSES,
    built,
    command,
    config,
    daemons,
    key_file,
    refusal,
    sum_of,
    transfer,
    written,
)
from tests.system.flows import connection
from tests.system.pipes import ENDS, Line, Programs, ip, network
from tests.system.test_linkemu import require_root

LINES = [Line(10), Line(20)]


@pytest.fixture(scope="module")
def program() -> Path:
    require_programs("iproute2", "ip", "tc")
    require_root()
    return built()


@pytest.fixture
def names(program: Path) -> Iterator[dict[str, str]]:
    """Both namespaces, joined by two lines, which take no emulator."""
    with network(Programs(program, program), LINES) as (names, _):
        yield names


def interfaces(name: str) -> set[str]:
    return {link["ifname"] for link in json.loads(ip("-n", name, "-j", "link", "show"))}


def test_one_connection_has_the_sum_of_both_lines(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    _carries(program, names, written(tmp_path, len(LINES)), LINES, 0.85)


def test_in_strict_order_too_where_lines_have_a_delay(program: Path, tmp_path: Path) -> None:
    # Quanta follow what BBR finds, which takes a bucket of tokens for the rate where a round trip
    # is as short as between two namespaces.
    lines = [Line(10, 10), Line(20, 10)]
    with network(Programs.built(), lines) as (names, _):
        # More than the faster line alone: an emulator that is late takes its part.
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
        # Both lines had their part, nothing was strange, and nothing was lost for good.
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


def test_an_end_that_is_killed_and_started_again_is_heard(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    with daemons(program, names, paths) as running:
        for one in connection(names, ADDRESSES["right"]):
            one.close()
        running["left"].killed()
        assert "bundle0" not in interfaces(names["left"])
        again = subprocess.Popen(
            command(program, names["left"], paths["left"]), stdout=subprocess.PIPE, text=True
        )
        try:
            assert again.stdout is not None
            assert again.stdout.readline()
            for one in connection(names, ADDRESSES["right"]):
                one.close()
        finally:
            again.kill()
            again.communicate()


def test_nothing_comes_through_with_another_key(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    key_file(tmp_path, "other.key", bytes(32))
    paths["right"].write_text(config("right", len(LINES), key="other.key"))
    with daemons(program, names, paths) as running:
        sent = ["ip", "netns", "exec", names["left"], "ping", "-c", "3", "-W", "1", "10.90.0.2"]
        if shutil.which("ping"):
            assert subprocess.run(sent, capture_output=True, check=False).returncode == 1

        def heard() -> bool:
            return all(_counters(running[end].process)["strange"] > 0 for end in ENDS)

        wait_until(heard, "nothing was sent")
        told = {end: running[end].ended() for end in ENDS}
    for end in ENDS:
        assert not told[end]["is_open"], told
        assert told[end]["received_packets"] == 0, told


def _counters(process: subprocess.Popen[str]) -> dict[str, Any]:
    process.send_signal(signal.SIGUSR1)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    return dict(told["channels"][0])


REMOTE = 'remote = "10.80.0.2:7000"\n'
WRONG: dict[str, tuple[str, str, str, list[str]]] = {
    # What is written in place of what, where it is told, and what is said.
    "a key of no use": ("role", "rolle", "4:1", ["unknown key `rolle`", "did you mean `role`?"]),
    "no such role": ("initiator", "initiatr", "4:8", ["`initiatr`", "`initiator`"]),
    "an unknown interface": (
        REMOTE,
        REMOTE + 'interface = "wan8"\n',
        "9:13",
        ["`channel[0].interface`", "there is no `wan8`", "did you mean `wan"],
    ),
    "an address twice": ("10.80.1.1", "10.80.0.1", "10:9", ["channel[0] begins at 10.80.0.1:7000"]),
    "an address that is not here": (
        "10.80.1.1",
        "10.80.1.9",
        "10:9",
        ["no interface", "10.80.1.9"],
    ),
    "a port that is none": ("10.80.1.1:7000", "10.80.1.1", "10:9", ["no address with a port"]),
    "no way there": ("10.80.1.2", "192.0.2.1", "11:10", ["no way to 192.0.2.1", "unreachable"]),
    "a way through itself": ("10.80.1.2", "10.90.0.7", "11:10", ["own 10.90.0.1/24"]),
    "too short": ("mtu = 1436", "mtu = 60", "3:7", ["60 is less than the 68 of IPv4"]),
    "too long": ("mtu = 1436", "mtu = 1437", "3:7", ["channel[0] carries 1500", "at most 1436"]),
    "an interface that is there": ('"bundle0"', '"wan1"', "1:8", ["an interface `wan1` already"]),
    "no key file": ("bundle0.key", "bundle1.key", "5:7", ["bundle1.key", "No such file"]),
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
    assert said.startswith(f"striped: {path}:{place}: "), said
    assert all(word in said for word in words), said
    assert "bundle0" not in interfaces(names["left"])


@pytest.mark.parametrize(
    ("mode", "content", "words"),
    [
        (0o644, "00" * 32, ["others may use", "mode 644", "chmod 600"]),
        (0o600, "00" * 31, ["64 hexadecimal digits", "openssl rand -hex 32"]),
    ],
)
def test_a_key_file_that_others_may_read_or_that_holds_none(
    program: Path, names: dict[str, str], tmp_path: Path, mode: int, content: str, words: list[str]
) -> None:
    path = written(tmp_path, len(LINES))["left"]
    key = tmp_path / "bundle0.key"
    key.write_text(content)
    key.chmod(mode)
    said = refusal(program, names["left"], path)
    assert said.startswith(f"striped: {path}:5:7: in `key`: "), said
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
    assert done.stderr.startswith(f"striped: {path}:1:8: in `name`: no interface can be made"), done
    assert "/dev/net/tun" in done.stderr
    assert "modprobe tun" in done.stderr

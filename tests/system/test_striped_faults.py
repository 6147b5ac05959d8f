"""Two daemons under faults: no byte is lost or forged, and nothing is left behind.

`test_striped.py` and `test_striped_routes.py` test further faults: killed ends, uplinks that are
down, and wrong keys.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from gingham.studies._namespaces import ENDS, TIMEOUT_S, ip
from tests.conftest import wait_until
from tests.system.bundles import ADDRESSES, Daemon, daemons, up
from tests.system.checked import Checked, checked
from tests.system.conftest import LINES
from tests.system.faults import (
    DAEMON_PORT,
    Tricks,
    by_interfaces,
    descriptors,
    nothing_left,
    pour,
    relays,
    resident_kb,
    written,
)
from tests.system.flows import connection
from tests.system.pipes import address, interfaces

# Rate of the checked stream: a third of the capacity of both lines, and little for a relay.
BYTES_PER_S = 1e6
GARBAGE_PER_S, GARBAGE_S = 100_000, 2.0
# Permitted growth of resident memory under garbage: buffers, once touched, stay resident.
GROWTH_KB_MAX = 16_384


@contextmanager
def carrying(
    program: Path, names: dict[str, str], paths: dict[str, Path]
) -> Iterator[tuple[dict[str, Daemon], Checked]]:
    """Run both ends and a checked stream between them; fail if anything is left behind."""
    with (
        nothing_left(names),
        daemons(program, names, paths) as running,
        checked(names, BYTES_PER_S) as flow,
    ):
        yield running, flow


def is_answered(names: dict[str, str]) -> None:
    """Fail unless a connection through the pipe can be opened."""
    for one in connection(names, ADDRESSES["right"]):
        one.close()


def discards(daemon: Daemon) -> dict[str, int]:
    """Return the counts of rejected datagrams, by reason."""
    return dict(daemon.counters()["handshakes"]["discards"])


@pytest.mark.parametrize("first", ENDS)
def test_ends_are_started_in_any_order(
    program: Path, names: dict[str, str], tmp_path: Path, first: str
) -> None:
    paths = written(tmp_path, len(LINES))
    other = next(end for end in ENDS if end != first)
    with nothing_left(names), up(program, names[first], paths[first]) as alone:
        # Until a handshake has been started in vain more than once.
        wait_until(lambda: alone.counters()["handshakes"]["begun"] > 1)
        assert not alone.counters()["is_open"]
        with up(program, names[other], paths[other]) as second:
            is_answered(names)
            for one in (alone, second):
                told = one.ended()
                assert told["handshakes"]["sessions"] == 1, told


@pytest.mark.parametrize("again", ENDS)
def test_a_connection_outlives_ends_that_are_killed(
    program: Path, names: dict[str, str], tmp_path: Path, again: str
) -> None:
    paths = written(tmp_path, len(LINES))
    with carrying(program, names, paths) as (running, flow):
        flow.goes_on()
        running[again].killed()
        assert "bundle0" not in interfaces(names[again])
        with up(program, names[again], paths[again]):
            flow.goes_on()
            # All bytes must arrive before this end stops.
            flow.ends()


def test_a_channel_is_unplugged_and_plugged_under_load(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    with carrying(program, names, paths) as (running, flow):
        for end, channel in (("left", 0), ("right", 1)):
            flow.goes_on()
            ip("-n", names[end], "link", "set", f"wan{channel}", "down")
            wait_until(lambda: not running["left"].is_carrying())
            flow.goes_on()
            ip("-n", names[end], "link", "set", f"wan{channel}", "up")
            wait_until(running["left"].is_carrying)


def test_an_end_whose_address_changes_is_followed(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    by_interfaces(paths["left"], len(LINES))
    with daemons(program, names, paths) as running, checked(names, BYTES_PER_S) as flow:
        flow.goes_on()
        for times, before, after in ((1, 1, 11), (2, 11, 12)):
            old, new = (f"10.80.0.{number}/24" for number in (before, after))
            ip("-n", names["left"], "addr", "del", old, "dev", "wan0")
            ip("-n", names["left"], "addr", "add", new, "dev", "wan0")
            flow.goes_on()
            wait_until(partial(has_moved, running["right"], times))
            wait_until(running["right"].is_carrying)
        assert running["right"].counters()["handshakes"]["sessions"] == 1


def test_a_nat_that_forgets_is_followed(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES), relayed=1)
    with (
        relays(names, 1) as (relay,),
        carrying(program, names, paths) as (running, flow),
    ):
        wait_until(running["left"].is_carrying)
        for count in (2, 3, 4):
            flow.goes_on()
            relay.forget()
            wait_until(partial(has_moved, running["right"], count))
        flow.goes_on()
        wait_until(running["right"].is_carrying)
        assert running["right"].counters()["handshakes"]["sessions"] == 1


def has_moved(daemon: Daemon, times: int) -> bool:
    """Return whether the peer's address of the first channel has changed `times` times."""
    return int(daemon.counters()["channels"][0]["moved"]) >= times


def test_what_is_forged_replayed_truncated_or_overtaken_changes_nothing(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES), relayed=2)
    tricks = Tricks(lost=0.01, replayed=0.2, truncated=0.2, forged=0.2, overtaken=0.05)
    with (
        relays(names, 2) as both,
        carrying(program, names, paths) as (running, flow),
    ):
        flow.goes_on()
        for relay in both:
            relay.tricks = tricks
        flow.goes_on(2_000_000)
        # Replayed datagrams of the old session must be rejected in the next one.
        running["left"].killed()
        with up(program, names["left"], paths["left"]) as again:
            flow.goes_on(500_000)
            for relay in both:
                relay.tricks = Tricks()
            flow.goes_on()
            for one in (again, running["right"]):
                told = discards(one)
                assert all(told[kind] > 0 for kind in ("replayed", "not_authentic")), told
                assert told.get("malformed", 0) > 0, told
            assert running["right"].counters()["handshakes"]["sessions"] == 2
            flow.ends()


def test_garbage_at_a_hundred_thousand_datagrams_a_second_is_borne(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    with carrying(program, names, paths) as (running, flow):
        flow.goes_on()
        carrier = running["right"].carrier()
        before = resident_kb(carrier), descriptors(carrier)
        to = (address(0, "right"), DAEMON_PORT)
        poured = pour(names["right"], to, GARBAGE_PER_S, GARBAGE_S)
        flow.goes_on()
        told = running["right"].counters()
        after = resident_kb(carrier), descriptors(carrier)
    assert poured.datagrams >= 100_000, poured
    refused = told["handshakes"]["discards"]
    assert all(refused.get(kind, 0) > 0 for kind in ("no_key", "not_authentic")), refused
    assert told["handshakes"]["sessions"] == 1, told
    # An initiation does not prove its sender, so it gets a cookie.
    assert told["unauthenticated"]["cookies"] > 0, told
    assert told["channels"][0]["moved"] == 0, told
    assert after[0] - before[0] < GROWTH_KB_MAX, (before, after)
    assert after[1] == before[1]


def test_another_version_is_counted_and_not_talked_to_until_it_is_gone(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, 2, relayed=2)
    with (
        nothing_left(names),
        relays(names, 2) as both,
    ):
        for relay in both:
            relay.tricks = Tricks(other_version=True)
        with daemons(program, names, paths) as running:
            # The left end sends first, because the right one knows no address.
            wait_until(lambda: discards(running["right"]).get("other_version", 0) > 0)
            told = {end: running[end].counters() for end in ENDS}
            assert all(told[end]["handshakes"]["sessions"] == 0 for end in ENDS), told
            for relay in both:
                relay.tricks = Tricks()
            is_answered(names)


def test_a_full_disk_under_what_it_tells_stops_nothing(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    paths = written(tmp_path, len(LINES))
    with (
        nothing_left(names),
        Path("/dev/full").open("w") as full,
        up(program, names["left"], paths["left"], stdout=full) as left,
        up(program, names["right"], paths["right"], stdout=full),
    ):
        wait_until(lambda: all("bundle0" in interfaces(names[end]) for end in ENDS))
        with checked(names, BYTES_PER_S) as flow:
            for _ in range(3):
                flow.goes_on()
                left.process.send_signal(signal.SIGUSR1)
        left.process.send_signal(signal.SIGTERM)
        assert left.process.wait(TIMEOUT_S) == 0

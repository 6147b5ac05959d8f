"""Two ends of a pipe over UDP between real network namespaces, joined by shaped and emulated links.

Rates depend on the machine. Both ends and the emulators therefore have real-time priority, and a
run is repeated if emulators report that they were late. `benches/striping_sockets.py --normal`
measures ends of normal priority. Shares are of the capacity of the lines for packets, without
headers.
"""

from __future__ import annotations

import json
import os
import time

import pytest

from gingham.studies._namespaces import ip
from tests.conftest import require_programs
from tests.system.pipes import ROUTER, LateError, Line, Programs, network, run, started, told_by
from tests.system.test_linkemu import require_root

# Share of the same row in virtual time when it was first run over sockets
# (docs/concepts/striping-rates.md), and the tolerance below it.
SHORT_QUEUES = {
    "100 + 300, 10 ms, 64 kB": ([Line(100, 10), Line(300, 10)], 0.975, 5),
    "20 + 20, 150 ms, 64 kB": ([Line(20, 150), Line(20, 150)], 0.946, 9),
}
LESS_MAX = 0.04


@pytest.fixture(scope="module")
def programs() -> Programs:
    require_programs("ip", "tc")
    require_root()
    return Programs.built()


def test_unequal_lines_add_up_in_order(programs: Programs) -> None:
    told = run(programs, [Line(10), Line(20)], 6)
    assert told["right"]["out_of_order"] == 0
    assert told["share"] >= 0.96, told


@pytest.mark.parametrize("row", SHORT_QUEUES)
def test_queues_shorter_than_a_round_trip_carry_what_they_do_in_virtual_time(
    programs: Programs, row: str
) -> None:
    lines, virtual, seconds = SHORT_QUEUES[row]
    # With a round trip of 300 ms, slow start takes 2 s.
    try:
        told = run(programs, lines, seconds, "--from", f"{seconds - 3} s")
        least = virtual - LESS_MAX
    except LateError as error:
        # If emulators are late, the rate of the link is meaningless; packets must still arrive, and
        # in order.
        told, least = error.told, 0.0
    assert told["right"]["out_of_order"] == 0
    assert told["share"] > least, told


def test_an_interface_goes_and_comes_back_and_the_pipe_goes_on(programs: Programs) -> None:
    lines = [Line(10), Line(10)]
    with network(programs, lines) as (names, _):
        pipes = started(programs, names, lines, 6, ())
        time.sleep(2)
        ip("-n", names["left"], "link", "set", "wan1", "down")
        time.sleep(1.5)
        ip("-n", names["left"], "link", "set", "wan1", "up")
        told = told_by(pipes, 6)
    gone, stayed = told["left"]["channels"][1], told["left"]["channels"][0]
    assert gone["gone"] >= 1, told["left"]
    assert gone["reopened"] >= 1, told["left"]
    assert stayed["gone"] == 0
    # The channel carries packets again, and none was out of order.
    assert gone["is_in"], told["left"]
    assert told["right"]["out_of_order"] == 0
    # Packets arrived in every second, also in that with a single channel.
    assert all(bits > 0 for bits in told["right"]["seconds_bits"][:5])


# Headers of IP and UDP.
V4_BYTES, V6_BYTES = 20 + 8, 40 + 8
# Longest packet in 1,500 bytes that can be retransmitted: less these headers, and a tag of 20.
LONGEST_BYTES = 1500 - V4_BYTES - 20
# A channel shrinks after the loss of sixteen packets and of a probe, some 30 ms here: in the second
# of the MTU change, or in the next, as the pipe counts seconds.
FALLS_S, KNOWN_S = 2, 4


@pytest.mark.parametrize("place", ["router", "interface"])
@pytest.mark.parametrize(
    ("options", "is_v6"),
    [((), False), (("--repair",), False), (("--repair",), True)],
    ids=["plain", "repair", "IPv6"],
)
def test_a_channel_whose_mtu_falls_shrinks(
    programs: Programs, options: tuple[str, ...], place: str, *, is_v6: bool
) -> None:
    lines = [Line(10, is_routed=True, is_v6=is_v6), Line(10, is_routed=True, is_v6=is_v6)]
    header_bytes = V6_BYTES if is_v6 else V4_BYTES
    longest_bytes = 1500 - header_bytes - 20
    with network(programs, lines) as (names, _):
        # Less than the capacity of both channels, so that no queue fills; more than that of one.
        options = (*options, "--packet-bytes", str(longest_bytes))
        pipes = started(programs, names, lines, 6, options, offer="15 Mbit/s")
        time.sleep(FALLS_S)
        name, device = {
            # The ends get no notification: their sockets ignore ICMP messages.
            "router": (names[ROUTER], "right1"),
            "interface": (names["left"], "wan1"),
        }[place]
        ip("-n", name, "link", "set", device, "mtu", "1280")
        told = told_by(pipes, 6)
    tag_bytes = 20 if "--repair" in options else 12
    # UDP payload of IP packets of 1,280 bytes.
    channels, frame_bytes = told["left"]["channels"], 1280 - header_bytes
    assert channels[1]["frame_bytes"] in range(frame_bytes - 4, frame_bytes + 1), told["left"]
    assert channels[0]["frame_bytes"] >= longest_bytes + tag_bytes
    assert channels[1]["is_in"]
    assert told["left"]["longest_bytes"] == channels[1]["frame_bytes"] - tag_bytes
    assert (channels[1]["too_long"] > 0) == (place == "interface")
    assert told["right"]["out_of_order"] == 0
    # Both channels carry packets again, now shorter ones.
    assert told["right"]["seconds_bits"][KNOWN_S] > 13e6, told["right"]
    lost = told["right"]["seconds_lost"]
    # On a busy machine the kernel may forward two frames of a channel on two processors and swap
    # them. Without repair, the receiver has given up the earlier one by the time it arrives, and
    # discards it; nothing else is lost.
    overtaken = told["right"]["receiver"]["discards"]
    assert lost[0] + sum(lost[KNOWN_S:]) <= overtaken, told["right"]
    assert (sum(lost) == 0) == ("--repair" in options), json.dumps(told)


def test_a_channel_that_reorders_loses_nothing(programs: Programs) -> None:
    # One frame in a hundred is delayed by 4 ms, the time of some ten frames.
    lines = [Line(20, 5, emulated=("--reordering", "0.01,4 ms"))]
    options = ("--repair", "--packet-bytes", str(LONGEST_BYTES))
    with network(programs, lines) as (names, _):
        told = told_by(started(programs, names, lines, 5, options, offer="15 Mbit/s"), 5)
    assert told["right"]["out_of_order"] == 0
    assert told["right"]["lost"] == 0, told["right"]
    assert 0 < told["right"]["channels"][0]["reordering_window_ms"] <= 20
    # Hundreds are overtaken; few are requested again before the window has adapted.
    assert told["right"]["receiver"]["repaired"] < 20, told["right"]


def test_nothing_is_left(programs: Programs) -> None:
    with network(programs, [Line(10), Line(10, 5)]) as (names, emulators):
        assert all(name in ip("netns") for name in names.values())
    assert emulators[0].poll() is not None
    assert f"gingham-{os.getpid()}-" not in ip("netns")

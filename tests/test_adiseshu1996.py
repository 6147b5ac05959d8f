"""The study of Adiseshu et al. 1996: its measures, checked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gingham import stripe, studies
from gingham_studies.adiseshu1996 import closed_forms, frames, recoveries, traces
from gingham_studies.adiseshu1996.comparisons import differences
from gingham_studies.adiseshu1996.films import Damage, damage


def test_the_traces_written_by_hand_agree_with_each_other() -> None:
    packets = range(1, 15)
    assert [one.packet for one in traces.FIGURE_8] == list(packets)
    # Equal packets, each as long as the quantum: two per round.
    assert all(one.round == (one.packet + 1) // 2 for one in traces.FIGURE_8)
    assert all(one.channel == 2 - one.packet % 2 for one in traces.FIGURE_8)
    for trace in (traces.FIGURE_11, traces.FIGURE_13):
        assert sorted(one.packet for one in trace) == [n for n in packets if n != 7]
        assert all(one.channel == 2 - one.packet % 2 for one in trace)
        # C1 and C2 of section 5: rounds go up, and channels within a round.
        numbers = [(one.round, one.channel) for one in trace]
        assert numbers == sorted(numbers)
    # The text of figure 13: from round 7 on sender and receiver have the same numbers.
    sent = {one.packet: one.round for one in traces.FIGURE_8}
    assert [one.round == sent[one.packet] for one in traces.FIGURE_13][-2:] == [True, True]
    assert [one.round == sent[one.packet] for one in traces.FIGURE_11][6:12:2] == [False] * 3


def test_deficits_written_by_hand_follow_from_lengths_and_quanta() -> None:
    left = {(1, 1): 500, (2, 1): 500}
    for name in traces.ORDER:
        channel, round_, before = traces.TURNS[name]
        # The remainder of this round, or that of the round before plus a quantum.
        expected = left.get((channel, round_)) or left[channel, round_ - 1] + 500
        assert before == expected
        left[channel, round_] = before - traces.LENGTHS[name]
        assert left[channel, round_] == traces.DEFICITS[name]


def test_sequences_differ_by_what_must_be_taken_out_and_put_in() -> None:
    assert differences([1, 2, 3], [1, 2, 3]) == 0
    # 9 is removed and inserted again.
    assert differences([9, 8, 11], [8, 9, 11]) == 2
    assert differences([], [1, 2]) == 2


def test_round_robin_by_hand() -> None:
    # 1000 bytes take 4/3 ms at 6 Mbit/s. In this time 1200 bytes have gone: 7.2 Mbit/s.
    assert closed_forms.round_robin_in_turn([6, 6], [1000, 200]) == pytest.approx(7.2)
    assert closed_forms.round_robin([6, 3, 9]) == 9
    assert closed_forms.theorem_bound(550, [500, 500]) == 1550


def packet(number: int, position: int, sent_ms: float, delivered_ms: float) -> dict[str, Any]:
    return {
        "packet": number,
        "position": position,
        "sent_ns": round(sent_ms * 1e6),
        "delivered_ns": round(delivered_ms * 1e6),
    }


class Run:
    """Evidence of one run, by hand: losses stop at 1000 ms."""

    def __init__(self, events: list[dict[str, Any]], packets: list[dict[str, Any]]) -> None:
        self.tables = {"events": events, "packets": packets}

    def kept(self, _sweep: str, table: str, _key: str) -> pa.Table:
        return pa.Table.from_pylist(self.tables[table])


def event(what: str, at_ms: float, *, channel: str = "1", **more: int) -> dict[str, Any]:
    row = {
        "event": what,
        "time_ns": round(at_ms * 1e6),
        "channel": channel,
        "packet": 0,
        "round": 0,
    }
    return row | more


def test_a_recovery_ends_with_the_last_packet_out_of_order() -> None:
    events = [
        event("marker", 990, round=5),
        event("send", 1001, packet=1),
        event("send", 1002, packet=2),
        # Arrives after the losses have stopped, but was sent before.
        event("arrive-marker", 1003, round=5),
        event("send", 1010, packet=3),
        event("marker", 1010, round=9),
        event("marker", 1010, round=9, channel="2"),
        # At the same instant, behind the markers.
        event("send", 1010, packet=4),
        event("send", 1012, packet=5),
        event("arrive-marker", 1025, round=9),
        event("arrive-marker", 1030, round=9, channel="2"),
        event("marker", 1050, round=13),
    ]
    packets = [
        packet(1, 3, 1001, 1020),
        packet(2, 1, 1002, 1008),
        packet(3, 2, 1010, 1016),
        packet(4, 4, 1010, 1031),
        packet(5, 5, 1012, 1032),
    ]
    found = recoveries.of_run(Run(events, packets), {"key": "k", "loss": 0.1})  # type: ignore[arg-type]
    # 1 arrived after 2 and 3, at 1020; 4 and 5 were sent after the markers, which arrived by 1030.
    assert found == recoveries.Recovery(0.1, 2, 0, 20_000_000, 30_000_000)
    assert found.over_bound == pytest.approx(2 / 3)


def test_frames_are_damaged_by_loss_or_else_by_reordering() -> None:
    rows = [
        # 1 arrived whole; 2 lost a packet, and another was late; 3 arrived whole, after one of 4.
        *[{"frame": 1, "position": place} for place in (1, 2)],
        *[{"frame": 2, "position": place} for place in (0, 4)],
        *[{"frame": 3, "position": place} for place in (3, 6)],
        *[{"frame": 4, "position": place} for place in (5, 7)],
    ]
    assert damage(rows) == Damage(frames=4, by_loss=1, by_reordering=1)


def test_the_films_are_those_that_their_recipe_makes() -> None:

    folder = studies.load("adiseshu1996").folder
    for name, (title, make) in frames.FILES.items():
        assert (folder / name).read_text() == frames.text(title, make())


FILM = Path(__file__).parent.parent.parent / "shared" / "data" / "video" / "movie-30fps.dat"
# A minute of the film, from the first moving pictures on.
FRAMES = slice(3000, 4800)


def test_reordering_does_not_matter_to_a_real_film_at_40_per_cent_of_loss(tmp_path: Path) -> None:
    if not FILM.exists():
        pytest.skip(f"{FILM.name} is not at hand; it is looked for in ../shared/data/video")
    lengths = [line.split()[3] for line in FILM.read_text().splitlines()[FRAMES]]
    (tmp_path / "film.txt").write_text("\n".join(lengths) + "\n")
    sweep = studies.load("adiseshu1996").sweep("video")
    wanted = {"loss": 0.4, "trace": "film", "reception": "logical"}
    point = next(one for one in sweep.points() if one.values == wanted)
    film = str(tmp_path / "film.txt")
    scenario = point.scenario().with_({"source.0.kind.frames.file": film, "stop.time": "59.99 s"})
    assert isinstance(scenario, stripe.StripeScenario)
    packets = stripe.run(scenario).table("packets")
    found = damage(packets.to_pylist())
    assert found.frames == 1800
    assert found.by_loss > 1000
    assert found.by_reordering < 0.05 * found.by_loss

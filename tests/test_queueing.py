"""Surplus round robin from Python: the same turns whether queues are served or channels shared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham import InputError
from gingham.queueing import Turn, serve, share

Quanta = st.lists(st.integers(1, 2000), min_size=1, max_size=6)
Lengths = st.lists(st.integers(1, 3000), max_size=60)


def test_a_quantum_of_100_by_hand() -> None:
    # 60 leaves 40; 60 overdraws by 20, paid back in round 2, which begins with 80.
    assert share([60, 60, 100, 80, 10], [100, 100]) == [
        Turn(1, 1, 100),
        Turn(1, 1, 40),
        Turn(2, 1, 100),
        Turn(1, 2, 80),
        Turn(2, 2, 100),
    ]


def test_service_ends_at_the_first_empty_queue_whose_turn_it_is() -> None:
    # The second queue is empty in round 1, so the packet of 7 bytes is not reached.
    assert serve([[100, 7], []], [100, 100]) == [Turn(1, 1, 100)]


@given(Quanta, Lengths)
def test_fair_queueing_and_load_sharing_are_reversals(
    quanta: list[int], lengths: list[int]
) -> None:
    """Theorem 3.1: fair queueing restores the order of packets that load sharing distributed."""
    turns = share(lengths, quanta)
    queues = [
        [length for length, turn in zip(lengths, turns, strict=True) if turn.channel == channel]
        for channel in range(1, len(quanta) + 1)
    ]
    assert serve(queues, quanta) == turns


def test_nonsense_is_refused() -> None:
    with pytest.raises(InputError):
        share([100], [])
    with pytest.raises(InputError):
        share([100], [500, 0])

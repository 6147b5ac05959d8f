"""Number of differing events between traces of runs and traces written by hand.

The number is the length of the shortest edit script from one sequence to the other: 0 if they are
equal event by event.
"""

from __future__ import annotations

import random
from collections import defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from gingham.queueing import serve, share
from gingham.studies._bands import Measurement
from gingham_studies.adiseshu1996 import traces
from gingham_studies.adiseshu1996.traces import Event

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from gingham.queueing import Turn
    from gingham.studies._evidence import Evidence

# Checks of the theorems: numbers of executions and rounds, and quanta.
EXECUTIONS, ROUNDS = 20, 1000
LONGEST, THEOREM_QUANTA = 1500, (1500, 2000, 3000)


def differences(found: Sequence[Hashable], wanted: Sequence[Hashable]) -> int:
    """Return the number of elements to delete or insert.

    >>> differences([1, 2, 3], [1, 2, 3]), differences([1, 2], [1]), differences([1, 2], [2, 1])
    (0, 1, 2)
    """
    same = sum(
        block.size for block in SequenceMatcher(None, found, wanted, False).get_matching_blocks()
    )
    return len(found) + len(wanted) - 2 * same


# Figures 2, 3, 5 and 6.


def served() -> dict[str, Turn]:
    """Return the turns of the packets of figure 2 by name, in the order of service."""
    turns = serve(
        [[traces.LENGTHS[name] for name in queue] for queue in traces.QUEUES], traces.QUANTA
    )
    waiting = [iter(queue) for queue in traces.QUEUES]
    return {next(waiting[turn.channel - 1]): turn for turn in turns}


def shared() -> dict[str, Turn]:
    """Return the turns of the packets of figure 3 by name."""
    turns = share([traces.LENGTHS[name] for name in traces.ORDER], traces.QUANTA)
    return dict(zip(traces.ORDER, turns, strict=True))


def queueing_differences(_evidence: Evidence) -> Measurement:
    """Return the number of packets whose place in the service order differs from figure 2."""
    return Measurement(differences("".join(served()), traces.ORDER))


def sharing_differences(_evidence: Evidence) -> Measurement:
    """Return the number of packets whose channel differs from figure 3."""
    found = shared()
    queues = ["".join(name for name in found if found[name].channel == place) for place in (1, 2)]
    return Measurement(sum(map(differences, queues, traces.QUEUES)))


def deficit_differences(_evidence: Evidence, *, queueing: bool) -> Measurement:
    """Return the number of packets whose round or deficit differs from figure 5 or 6."""
    found = served() if queueing else shared()
    return Measurement(
        sum(
            turn != traces.TURNS[name]
            or turn.deficit_bytes - traces.LENGTHS[name] != traces.DEFICITS[name]
            for name, turn in found.items()
        )
        + differences(list(found), traces.ORDER)
    )


# Theorem 3.2 and lemma 3.3.


def beyond_quanta(_evidence: Evidence, *, queueing: bool) -> Measurement:
    """Return the largest distance, in bytes, between K quanta and the bytes sent in K rounds."""
    draw = random.Random(1996)  # noqa: S311  (no secret)
    worst = max(distance(draw, queueing=queueing) for _ in range(EXECUTIONS))
    return Measurement(worst, note=f"Max + 2 Quantum is {LONGEST + 2 * max(THEOREM_QUANTA)}")


def distance(draw: random.Random, *, queueing: bool) -> int:
    """Return the distance of a random execution, over all rounds and channels."""
    # Enough packets: with a mean of half the longest length, 1.5 times the bytes of the rounds.
    count = 3 * ROUNDS * max(THEOREM_QUANTA) // LONGEST
    if queueing:
        queues = [[draw.randint(1, LONGEST) for _ in range(count)] for _ in THEOREM_QUANTA]
        turns = serve(queues, THEOREM_QUANTA)
        waiting = [iter(queue) for queue in queues]
        lengths = [next(waiting[turn.channel - 1]) for turn in turns]
    else:
        lengths = [draw.randint(1, LONGEST) for _ in range(count * len(THEOREM_QUANTA))]
        turns = share(lengths, THEOREM_QUANTA)
    sent: dict[tuple[int, int], int] = defaultdict(int)
    for turn, length in zip(turns, lengths, strict=True):
        sent[turn.channel, turn.round] += length
    # The last round may be incomplete.
    rounds = min(ROUNDS, max(turn.round for turn in turns) - 1)
    worst = 0
    for channel, quantum in enumerate(THEOREM_QUANTA, start=1):
        total = 0
        for number in range(1, rounds + 1):
            total += sent[channel, number]
            worst = max(worst, abs(total - number * quantum))
    return worst


# Sections 4 and 5.


def events(evidence: Evidence, sweep: str, **fixed: str) -> list[Event]:
    """Return the events in the run of a trace, in order."""
    [row] = evidence.runs(sweep, **fixed)
    rows = evidence.kept(sweep, "events", row["key"]).to_pylist()
    return [
        Event(one["event"], one["packet"], int(one["channel"]), one["round"], one["deficit_bytes"])
        for one in rows
    ]


def trace_differences(
    evidence: Evidence, case: str, trace: str, events: Sequence[str]
) -> Measurement:
    """Return the number of events, of some kinds, that differ from a trace written by hand.

    Losses come last, because their times differ from those of the transmissions around them.
    """
    found = events_of(evidence, case)
    chosen = [one for one in found if one.what in events]
    chosen.sort(key=lambda one: one.what == "lose")
    return Measurement(differences(chosen, getattr(traces, trace)), note=f"of {len(chosen)} events")


def events_of(evidence: Evidence, case: str) -> list[Event]:
    """Return the events of a case of the fourteen packets."""
    return events(evidence, "fourteen", case=case)


def one_loss_differences(evidence: Evidence) -> Measurement:
    """Return the number of differences among the first packets delivered in section 4's example."""
    found = [one.packet for one in events(evidence, "turns") if one.what == "deliver"]
    count = len(traces.SECTION_4)
    return Measurement(differences(found[:count], traces.SECTION_4), note=f"of {count}")

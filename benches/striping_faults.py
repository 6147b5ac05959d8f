"""Faults injected into both daemons by `make soak`: drawn from a seed, one after the other.

Each fault is undone after a while. In the last part of a run no process is killed, so that growth
of memory and descriptors can be measured over a long-lived process.
"""

from __future__ import annotations

import random
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

from tests.system import faults
from tests.system.bundles import Daemon, started
from tests.system.pipes import Line, address

from gingham.errors import EnvironmentProblem
from gingham.studies._namespaces import ENDS, TIMEOUT_S, ip, said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Rates of the lines in Mbit/s; the pipe carries less, so that the relays keep up.
LINES = [Line(20), Line(10), Line(10)]
# Ranges of the duration of a fault, and of the pause before the next one, in seconds.
LASTS_S, GAP_S = (0.3, 3.0), (0.5, 2.5)
# Processes are killed only in this first share of the run.
KILLS_SHARE = 1 / 3
# Share of kills among the faults of that part.
KILLED_SHARE = 0.25
GARBAGE_PER_S = 100_000


@dataclass
class Befell:
    """A fault: its kind, its target, and its begin and end in seconds of the run."""

    kind: str
    place: str
    start: float
    end: float


class World:
    """Both daemons, the relays between them, and the faults in force."""

    def __init__(
        self,
        program: Path,
        names: dict[str, str],
        paths: dict[str, Path],
        relays: list[faults.Relay],
    ) -> None:
        """Prepare the relays; no daemon runs yet."""
        self.program, self.names, self.paths, self.relays = program, names, paths, relays
        self.running: dict[str, Daemon] = {}
        self.starts = dict.fromkeys(ENDS, 0)
        self._addresses = [1] * len(LINES)

    def start(self, end: str) -> None:
        """Start the daemon of an end."""
        self.running[end] = started(self.program, self.names[end], self.paths[end], priority=False)
        self.starts[end] += 1

    def kill(self, end: str) -> None:
        """Kill the daemon of an end as `kill -9` does."""
        self.running.pop(end).killed()

    def stop(self) -> list[str]:
        """Stop both daemons in order, after restoring their addresses; return the errors."""
        wrong = []
        for channel in range(len(LINES)):
            self.readdress(channel, 1)
        for end, daemon in self.running.items():
            try:
                daemon.ended()
            except (AssertionError, TimeoutExpired) as error:
                wrong.append(f"{end}: {error}")
        self.running.clear()
        return wrong

    def abandon(self) -> None:
        """Kill the remaining daemons."""
        for daemon in self.running.values():
            daemon.discarded()

    def link(self, end: str, channel: int, state: str) -> None:
        """Set a line up or down at one end."""
        ip("-n", self.names[end], "link", "set", f"wan{channel}", state)

    def readdress(self, channel: int, new: int | None = None) -> None:
        """Change the left end's address on a channel, to a new one or to that of this number."""
        device = ["dev", f"wan{channel}"]
        old = self._addresses[channel]
        new = self._addresses[channel] = new or 10 + (old - 9) % 200
        for action, host in (("del", old), ("add", new)):
            ip("-n", self.names["left"], "addr", action, f"10.80.{channel}.{host}/24", *device)

    def rate(self, channel: int, share: float) -> None:
        """Limit a line to a share of its initial rate, in both directions."""
        rate = (LINES[channel].rate or 0) * share
        for end in ENDS:
            shape = ["rate", f"{rate}mbit", "burst", "10000b", "limit", "64000"]
            device = ["dev", f"wan{channel}", "root"]
            said("tc", "-n", self.names[end], "qdisc", "replace", *device, "tbf", *shape)

    def trick(self, channel: int, tricks: faults.Tricks) -> None:
        """Set the faults that a relay injects from now on."""
        self.relays[channel].tricks = tricks


@contextmanager
def _killed(world: World, chance: random.Random) -> Iterator[str]:
    end = chance.choice(ENDS)
    world.kill(end)
    yield end
    world.start(end)


@contextmanager
def _both_killed(world: World, chance: random.Random) -> Iterator[str]:
    for end in ENDS:
        world.kill(end)
    yield "both"
    for end in chance.sample(ENDS, 2):
        world.start(end)


@contextmanager
def _unplugged(world: World, chance: random.Random) -> Iterator[str]:
    end, channel = chance.choice(ENDS), chance.randrange(len(LINES))
    world.link(end, channel, "down")
    yield f"{end} {channel}"
    world.link(end, channel, "up")


@contextmanager
def _readdressed(world: World, chance: random.Random) -> Iterator[str]:
    channel = chance.randrange(len(LINES))
    world.readdress(channel)
    yield f"left {channel}"


@contextmanager
def _forgotten(world: World, chance: random.Random) -> Iterator[str]:
    channel = chance.randrange(len(LINES))
    world.relays[channel].forget()
    yield f"{channel}"


@contextmanager
def _slower(world: World, chance: random.Random) -> Iterator[str]:
    channel = chance.randrange(len(LINES))
    world.rate(channel, chance.uniform(0.1, 0.6))
    yield f"{channel}"
    world.rate(channel, 1)


def _tricked(**shares: float) -> Callable[[World, random.Random], object]:
    @contextmanager
    def made(world: World, chance: random.Random) -> Iterator[str]:
        channel = chance.randrange(len(LINES))
        world.trick(channel, faults.Tricks(**shares))
        yield f"{channel}"
        world.trick(channel, faults.Tricks())

    return made


@contextmanager
def _garbage(world: World, chance: random.Random) -> Iterator[str]:
    channel, seconds = chance.randrange(len(LINES)), chance.uniform(*LASTS_S)
    to = (address(channel, "right"), faults.DAEMON_PORT)
    faults.pour(world.names["right"], to, GARBAGE_PER_S, seconds)
    yield f"right {channel}"


KILLS = {"kill -9": _killed, "kill -9 of both": _both_killed}
KINDS = {
    "unplugged": _unplugged,
    "address": _readdressed,
    "NAT forgets": _forgotten,
    "slower": _slower,
    "loss": _tricked(lost=0.3),
    "forged, replayed": _tricked(forged=0.3, replayed=0.3, truncated=0.2, overtaken=0.05),
    "garbage": _garbage,
}


def befall(world: World, seed: int, began: float, seconds: float, befell: list[Befell]) -> None:
    """Inject and undo faults until the time is over."""
    chance = random.Random(seed)  # noqa: S311 - faults, no keys
    while (now := time.monotonic() - began) < seconds:
        time.sleep(chance.uniform(*GAP_S))
        may_kill = now < KILLS_SHARE * seconds
        kinds = KILLS if chance.random() < KILLED_SHARE and may_kill else KINDS
        kind = chance.choice(list(kinds))
        start = time.monotonic() - began
        with kinds[kind](world, chance) as place:
            time.sleep(chance.uniform(*LASTS_S))
        befell.append(Befell(kind, place, start, time.monotonic() - began))


def remains(before: dict[str, object], names: dict[str, str]) -> list[str]:
    """Return differences in system state since before the run, such as leftover routes."""
    left = [
        f"{what}: {now} instead of {before[what]}"
        for what, now in faults.left_behind(names).items()
        if now != before[what]
    ]
    with suppress(EnvironmentProblem):
        ours = set(names.values())
        known = {line.split()[0] for line in ip("netns", "list").splitlines()}
        left += [f"namespace {name} is gone" for name in ours - known]
    return left


__all__ = ["LINES", "TIMEOUT_S", "Befell", "World", "befall", "remains"]

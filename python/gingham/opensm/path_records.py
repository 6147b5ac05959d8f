"""Service levels, obtained by path queries to OpenSM's subnet administrator.

Engines that need several lanes assign each path a service level (SL), which the switches map to a
lane. OpenSM writes them to no file, so they are queried pair by pair. The number of queries follows
from the parameters that determine the level:

======================================  =====================================  ===============
engine                                  the level depends on                   queries
======================================  =====================================  ===============
minhop, updn, dnup, ftree, dor, sssp    nothing, it is 0                       none
lash, torus-2QoS                        both switches                          switches²
nue                                     source's switch, LID of destination    switches x LIDs
dfsssp                                  like nue, and chance                   switches x LIDs
======================================  =====================================  ===============

DFSSSP puts each path into a layer and owns several levels for each layer if it has spare lanes;
every query draws one of them at random. The lowest level of the layer is written for all its paths:
if the paths of a layer are free of deadlock on one lane, they are so on several. The levels of a
layer are found by querying one pair repeatedly.

Several processes query in parallel, each from its own host: the simulator delivers a response to
the process that sent the latest query from that host. Queries and responses use the forwarding
tables of the switches. A host without a route to the administrator receives no responses, so other
hosts repeat its queries. A pair without a response has no service level: it is lost.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from gingham.errors import EnvironmentProblem
from gingham.opensm import sa_queries
from gingham.opensm.sa_queries import NO_ANSWER, NO_PATH
from gingham.opensm.simulator import quoted

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gingham.opensm.simulator import Simulator

Dependence: TypeAlias = Literal["switches", "switch-and-destination", "pair"]
Levels: TypeAlias = dict["Pair", "int | None"]
Pair: TypeAlias = tuple[int, int]

DEPENDENCE: dict[str, Dependence] = {
    "lash": "switches",
    "torus-2QoS": "switches",
    "nue": "switch-and-destination",
    "dfsssp": "switch-and-destination",
}
# Engines that draw among several levels, and the number of queries of one pair to see all of them:
# the probability of missing one of eight is 2 in 10^11.
DRAWING = ("dfsssp",)
DRAWS = 200

ASKERS_MAX = 4
# Maximum number of repetitions of unanswered queries, from other hosts.
ROUNDS_MAX = 4
POLL_S = 0.05
# Approximate query rate of a simulated fabric.
QUESTIONS_PER_S = 10_000
START_TIMEOUT_S = 60.0
QUESTION_TIMEOUT_S = 0.005

HEADER = "source_lid,destination_lid,sl\n"
ADAPTER = re.compile(r'^Ca\t.*"(?P<place>H-[0-9a-f]{16})"')
PORT = re.compile(
    r'^\[\d+\]\([0-9a-f]+\)\s+"S-[0-9a-f]+"\[\d+\].*# lid (?P<lid>\d+) lmc (?P<lmc>\d+) '
    r'".*" lid (?P<switch>\d+)'
)


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an adapter."""

    # Name of its node in the simulator.
    place: str
    lid: int
    # LID mask control: the port has 2^lmc LIDs.
    lmc: int
    # LID of the switch at the other end of its cable.
    switch: int

    @property
    def lids(self) -> range:
        """All LIDs of the port."""
        return range(self.lid, self.lid + (1 << self.lmc))


def ports(dump: str) -> list[Port]:
    """Return the adapter ports with a cable to a switch in the output of ibnetdiscover."""
    found, place = [], ""
    for line in dump.splitlines():
        if match := ADAPTER.match(line):
            place = match["place"]
        elif match := PORT.match(line):
            lid, lmc, switch = (int(match[name]) for name in ("lid", "lmc", "switch"))
            found.append(Port(place, lid, lmc, switch))
    return found


def write_service_levels(
    simulator: Simulator,
    engine: str,
    dump: str,
    path: Path,
    *,
    on_progress: Callable[[float], None] | None = None,
    timeout_s: float | None = None,
) -> list[Pair]:
    """Write the SL of every path between adapters to `path`: `source_lid,destination_lid,sl`.

    `engine` is the one that ran, `dump` the output of ibnetdiscover, `on_progress` receives the
    answered share of the queries. Pairs without a path are omitted. Returns the pairs of LIDs
    without a response. Engines of one lane give every path SL 0, so they are not queried. Raises
    `EnvironmentProblem` after `timeout_s`.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    found = ports(dump)
    dependence = DEPENDENCE.get(engine)
    if dependence is None:
        write(path, dict.fromkeys(questions(found, "switches"), 0))
        return []
    rows = questions(found, dependence)
    asked = sorted(set(rows.values()))
    words = ask(simulator, asked, found, on_progress, deadline=deadline)
    levels = dict(zip(asked, map(level_of, words), strict=True))
    if engine in DRAWING:
        levels = lowest_of_layers(levels, layers(simulator, levels, found))
    write(path, {row: levels[question] for row, question in rows.items()})
    silent = {pair for pair, word in zip(asked, words, strict=True) if word == NO_ANSWER}
    if not silent:
        return []
    pairs = ((one, other) for one in found for other in found if one.lid != other.lid)
    return [
        (one.lid, other.lid)
        for one, other in pairs
        if rows[row_of(dependence, one, other, other.lid)] in silent
    ]


def write(path: Path, levels: Levels) -> None:
    """Write a table of service levels, without pairs that have none."""
    with path.open("w") as file:
        file.write(HEADER)
        for (source, destination), level in levels.items():
            if level is not None:
                file.write(f"{source},{destination},{level}\n")


def level_of(word: str) -> int | None:
    """Return the SL in a response, or `None` if it has none."""
    return None if word in {NO_PATH, NO_ANSWER} else int(word)


def questions(found: Sequence[Port], dependence: Dependence) -> dict[Pair, Pair]:
    """Return the rows of the table, each with the pair of LIDs to query.

    In a row, the LID of a switch represents all adapters attached to it.
    """
    rows: dict[Pair, Pair] = {}
    for source in found:
        for destination in found:
            if source.lid == destination.lid:
                continue
            for lid in destination.lids:
                rows.setdefault(row_of(dependence, source, destination, lid), (source.lid, lid))
    return rows


def expected_questions(switches: int, ports: int, engine: str) -> int:
    """Return the number of queries for an engine, by leaf switches and LIDs."""
    match DEPENDENCE.get(engine):
        case None:
            return 0
        case "switches":
            return switches * switches
        case "switch-and-destination":
            return switches * ports
        case "pair":
            return ports * ports


def row_of(dependence: Dependence, source: Port, destination: Port, lid: int) -> Pair:
    """Return the row with the level from a port to a LID of another port."""
    match dependence:
        case "switches":
            return source.switch, destination.switch
        case "switch-and-destination":
            return source.switch, lid
        case "pair":
            return source.lid, lid


def layers(simulator: Simulator, levels: Levels, found: Sequence[Port]) -> list[set[int]]:
    """Return the sets of levels among which an engine draws, by repeated queries of pairs."""
    sets: list[set[int]] = []
    for pair, level in levels.items():
        if level is not None and not any(level in known for known in sets):
            answers = map(level_of, ask(simulator, [pair] * DRAWS, found))
            sets.append({level, *(answer for answer in answers if answer is not None)})
    return sets


def lowest_of_layers(levels: Levels, sets: Sequence[set[int]]) -> Levels:
    """Return the levels, each replaced by the lowest of its set."""
    lowest = {level: min(known) for known in sets for level in known}
    return {pair: None if level is None else lowest[level] for pair, level in levels.items()}


def ask(
    simulator: Simulator,
    pairs: Sequence[Pair],
    found: Sequence[Port],
    on_progress: Callable[[float], None] | None = None,
    *,
    deadline: float | None = None,
) -> list[str]:
    """Return the response for each pair: the SL from the administrator, or the kind of failure.

    Raises `EnvironmentProblem` if no query is answered.
    """
    places = list(dict.fromkeys(port.place for port in found))
    words = [NO_ANSWER] * len(pairs)
    left = list(range(len(pairs)))
    for _ in range(ROUNDS_MAX):
        if not left or not places:
            break
        seats, places = places[:ASKERS_MAX], places[ASKERS_MAX:]
        answers, heard = ask_from(
            simulator, seats, [pairs[one] for one in left], on_progress, deadline
        )
        for index, word in zip(left, answers, strict=True):
            words[index] = word
        left = [index for index in left if words[index] == NO_ANSWER]
        # Hosts that received responses retry the queries that failed at other hosts.
        places = [*heard, *places] if len(heard) < len(seats) else []
    if pairs and len(left) == len(pairs):
        raise EnvironmentProblem("opensm: its subnet administrator answers no host")
    return words


def ask_from(
    simulator: Simulator,
    seats: Sequence[str],
    pairs: Sequence[Pair],
    on_progress: Callable[[float], None] | None,
    deadline: float | None,
) -> tuple[list[str], list[str]]:
    """Distribute the pairs over hosts for querying; return the responses, and hosts with any."""
    shares = [Share(simulator.folder, index) for index in range(len(seats))]
    askers = []
    for share, place in zip(shares, seats, strict=True):
        share.write(pairs[share.index :: len(seats)])
        askers.append(share.start(simulator, place))
    if deadline is None:
        deadline = time.monotonic() + START_TIMEOUT_S + len(pairs) * QUESTION_TIMEOUT_S
    wait_for(simulator, shares, askers, deadline, on_progress)
    for asker in askers:
        simulator.children.stop(asker)
    words = [NO_ANSWER] * len(pairs)
    heard = []
    for share, place in zip(shares, seats, strict=True):
        answers = share.words()
        words[share.index :: len(seats)] = answers
        if any(word != NO_ANSWER for word in answers):
            heard.append(place)
    return words, heard


@dataclass(frozen=True, slots=True)
class Share:
    """The queries of one process, in files of the scratch folder."""

    folder: Path
    index: int

    @property
    def questions(self) -> Path:
        """File with one pair per line."""
        return self.folder / f"questions-{self.index}.csv"

    @property
    def said(self) -> Path:
        """File with the responses so far."""
        return self.folder / f"answers-{self.index}.csv"

    @property
    def log(self) -> str:
        """Name of the file with the error output of the process."""
        return f"sa-queries-{self.index}.log"

    def write(self, pairs: Sequence[Pair]) -> None:
        """Write the queries."""
        self.questions.write_text("".join(f"{one},{other}\n" for one, other in pairs))

    def start(self, simulator: Simulator, place: str) -> subprocess.Popen[bytes]:
        """Start the process at a node of the fabric."""
        program = [sys.executable, "-I", sa_queries.__file__, str(self.questions), str(self.said)]
        command = ["env", f"SIM_HOST={place}", "ibsim-run", *program]
        return simulator.children.start(*command, out=self.log)

    def words(self) -> list[str]:
        """Return the responses, in the order of the queries."""
        return [row.rpartition(",")[2] for row in self.said.read_text().splitlines()]

    def bytes_said(self) -> int:
        """Return the size of the responses so far, in bytes."""
        return self.said.stat().st_size if self.said.exists() else 0


def wait_for(
    simulator: Simulator,
    shares: Sequence[Share],
    askers: Sequence[subprocess.Popen[bytes]],
    deadline: float,
    on_progress: Callable[[float], None] | None,
) -> None:
    """Wait for all responses; raise `EnvironmentProblem` if a process fails or on timeout."""
    # A response repeats its query, with a comma and a level of one or two digits.
    size = sum(share.questions.stat().st_size for share in shares)
    while any(asker.poll() is None for asker in askers):
        simulator.require_running()
        if time.monotonic() > deadline:
            raise EnvironmentProblem("opensm: the service levels were not all known in time")
        if on_progress and size:
            on_progress(min(sum(share.bytes_said() for share in shares) / size, 1.0))
        time.sleep(POLL_S)
    for share, asker in zip(shares, askers, strict=True):
        if asker.returncode != 0:
            said = quoted(simulator.children.read(share.log), lines_max=1)
            raise EnvironmentProblem(f"opensm: the subnet administrator was asked in vain{said}")

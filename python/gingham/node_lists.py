"""Node lists in the formats of schedulers and MPI launchers: reading and writing.

| form | example |
|---|---|
| ranges of Slurm | `luna-[0173-0192,0301],luna-0400` |
| hostfile of Open MPI | `node1 slots=8` |
| machine file of MPICH | `node1:8` |
| host file of Slurm (`SLURM_HOSTFILE`) | one name per line, repeated for each task |
| rankfile of Open MPI | `rank 0=node1 slot=0` |
| `all` | all compute nodes |
| `random:64:7` | 64 compute nodes in the order of seed 7 |

Sources: Slurm, `hostlist_create(3)` and `srun(1)`, section `SLURM_HOSTFILE`; Open MPI, `mpirun(1)`;
MPICH, Hydra process manager.
"""

from __future__ import annotations

import ipaddress
import random
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gingham.cluster import Cluster

# Maximum number of names in one list of ranges.
NAMES_MAX = 1_000_000
RANDOM = re.compile(r"^random:(?P<count>\d+)(:(?P<seed>\d+))?$")
RANK = re.compile(r"^rank\s+(?P<rank>\d+)\s*=\s*(?P<host>\S+)(\s+slots?\s*=.*)?$")
SLOTS = re.compile(r"^(?P<host>\S+?)(?::(?P<colon>\d+))?(?P<rest>(\s+[A-Za-z_-]+\s*=\s*\S+)*)$")
SLOT_COUNT = re.compile(r"\bslots\s*=\s*(?P<count>\d+)")
RANGE = re.compile(r"^(?P<low>\d+)(?:-(?P<high>\d+))?$")
FORMS = ("hostfile", "rankfile", "slurm")
# Endings of files with node lists.
ENDINGS = (".txt", ".hosts", ".list", ".hostfile", ".rankfile", ".slurm", ".nodes", ".conf")


@dataclass(frozen=True, slots=True)
class NodeList:
    """Node names in rank order."""

    names: tuple[str, ...]
    # Ranks of each node, if the list has one number for all.
    ranks_per_node: int | None = None
    # Source file of the list, if any.
    file: str | None = None
    # Line in the file, by node name.
    lines: dict[str, int] | None = None
    # Compute nodes without an adapter on a rail, which `all` and `random` omit.
    left_out: tuple[str, ...] = ()
    # The first node whose number of ranks differs from that of the first node.
    uneven: str | None = None


def read(text: str, cluster: Cluster, *, rails: Sequence[int] = (), even: bool = False) -> NodeList:
    """Read a node list: a file, ranges, `all` or `random:COUNT:SEED`.

    `all` and `random` use compute nodes with an adapter on each of the `rails`. Raises `InputError`
    with a code if the list is empty, contains a node twice, or cannot be read; with `even` also if
    its nodes have different numbers of slots.
    """
    if text == "all":
        names, left_out = complete(cluster, rails)
        return NodeList(tuple(names), left_out=left_out)
    if match := RANDOM.match(text):
        return drawn(int(match["count"]), int(match["seed"] or 1), cluster, rails)
    if (path := Path(text)).is_file():
        listed = read_file(path)
        if even:
            refuse_uneven(listed)
        return listed
    refuse_missing(text, cluster)
    names = list(expanded(text))
    refuse_repeated(names)
    return NodeList(tuple(names))


def complete(cluster: Cluster, rails: Sequence[int]) -> tuple[list[str], tuple[str, ...]]:
    """Return the compute nodes with a cabled adapter on each of some rails, and the others.

    If no node is complete, all are returned: the error about them names the complete rails.
    """
    names, others = list[str](), list[str]()
    for node in cluster.compute:
        is_complete = all(node.on_rail(rail) for rail in rails)
        (names if is_complete else others).append(node.name)
    return (names, tuple(others)) if names else (others, ())


def drawn(count: int, seed: int, cluster: Cluster, rails: Sequence[int] = ()) -> NodeList:
    """Draw compute nodes with an adapter on each of some rails, in random order."""
    names, left_out = complete(cluster, rails)
    if not 0 < count <= len(names):
        with_all = " with an adapter on each rail" if left_out else ""
        raise InputError(
            f"random:{count} asks for {count:,} of {len(names):,} compute nodes{with_all}",
            code="too-many-nodes" if count else "empty-list",
        )
    chosen = random.Random(seed).sample(names, count)  # noqa: S311  (not for secrets)
    return NodeList(tuple(chosen), left_out=left_out)


def refuse_missing(text: str, cluster: Cluster) -> None:
    """Raise `InputError` for a directory, or the name of a file that does not exist."""
    path = Path(text)
    is_name = re.fullmatch(r"[^\s,\[\]]+", text) is not None
    if "/" not in text and not (is_name and (path.suffix or path.is_dir())):
        return
    if "/" not in text and is_known(text, cluster):
        return
    if path.is_dir():
        raise InputError(
            f"{text}: is a directory; name a file in it", code="is-directory", file=text
        )
    if "/" in text or path.suffix in ENDINGS:
        raise InputError(f"{text}: no such file", code="no-file", file=text)
    if text.count(".") == 1 and path.suffix[1:].isalpha():
        raise InputError(f"{text}: no such file, and no node", code="no-file", file=text)


def is_known(name: str, cluster: Cluster) -> bool:
    """Return whether a cluster has a node with a name."""
    try:
        cluster.numbers([name])
    except InputError:
        return False
    return True


def refuse_uneven(listed: NodeList) -> None:
    """Raise `InputError` if nodes of the list have different numbers of ranks."""
    if listed.uneven is not None and listed.file is not None and listed.lines is not None:
        words = (
            f'"{listed.uneven}" has another number of slots than "{listed.names[0]}" (line '
            f"{listed.lines[listed.names[0]]}); --ranks-per-node N takes N ranks of each node"
        )
        line = listed.lines[listed.uneven]
        raise refused(Path(listed.file), line, words, "uneven-slots")


def expanded(text: str) -> Iterator[str]:
    """Yield the names of a Slurm list, such as `n[01-03,07],login1`."""
    count = 0
    for item in split_outside_brackets(text):
        pieces = re.split(r"\[([^\[\]]*)\]", item)
        if any("[" in piece or "]" in piece for piece in pieces[::2]) or not item:
            raise InputError(
                f'"{text}" is no list of nodes: expected names and ranges such as '
                "node[01-16,20],login1",
                code="bad-range",
            )
        choices = [
            list(numbers(piece, text)) if position % 2 else [piece]
            for position, piece in enumerate(pieces)
        ]
        for parts in product(*choices):
            count += 1
            if count > NAMES_MAX:
                raise InputError(
                    f'"{text}" stands for more than {NAMES_MAX:,} names', code="bad-range"
                )
            yield "".join(parts)


def split_outside_brackets(text: str) -> list[str]:
    """Split at commas and white space outside of brackets."""
    return [item for item in re.split(r"[,\s]+(?![^\[]*\])", text.strip()) if item]


def numbers(text: str, whole: str) -> Iterator[str]:
    """Yield the numbers of a range such as `01-03,07`, zero-padded like its lower end."""
    for piece in text.split(","):
        match = RANGE.match(piece.strip())
        low, high = (match["low"], match["high"] or match["low"]) if match else ("1", "0")
        if not match or int(low) > int(high):
            raise InputError(
                f'in "{whole}": "{piece}" is no range of numbers such as 01-16', code="bad-range"
            )
        if int(high) - int(low) >= NAMES_MAX:
            raise InputError(
                f'"{whole}" stands for more than {NAMES_MAX:,} names', code="bad-range"
            )
        for number in range(int(low), int(high) + 1):
            yield str(number).zfill(len(low))


def read_file(path: Path) -> NodeList:
    """Read a hostfile, machine file, `SLURM_HOSTFILE` or rankfile.

    Comments begin with `#`. Names repeated on consecutive lines are ranks of one node.
    """
    found = Found(path)
    for number, raw in enumerate(text_of(path).splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if match := RANK.match(line):
            found.add_rank(int(match["rank"]), named(match["host"], path, number), number)
        elif line:
            for name, slots in entries(line, path, number):
                found.add(name, slots, number)
    names, ranks, lines = ranked(found.by_rank, path) if found.by_rank else found.listed
    if not names:
        raise InputError(f"{path}: names no node", code="empty-list", file=str(path))
    pairs = zip(names, ranks, strict=True)
    uneven = next((name for name, count in pairs if count != ranks[0]), None)
    common = ranks[0] if uneven is None else None
    return NodeList(tuple(names), common, str(path), lines, uneven=uneven)


def text_of(path: Path) -> str:
    """Return the text of a file without a byte order mark; raise `InputError` if it is binary."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text", code="no-text", file=str(path)) from error
    if "\0" in text:
        raise InputError(f"{path}: no text", code="no-text", file=str(path))
    return text


class Found:
    """Nodes of a file with their ranks and lines."""

    def __init__(self, path: Path) -> None:
        """Begin without nodes."""
        self.path = path
        self.listed: tuple[list[str], list[int | None], dict[str, int]] = ([], [], {})
        # Host and line by rank, of a rankfile.
        self.by_rank: dict[int, tuple[str, int]] = {}

    def add_rank(self, rank: int, host: str, line: int) -> None:
        """Add a line of a rankfile."""
        if rank in self.by_rank:
            raise refused(self.path, line, f"rank {rank} stands twice", "repeated-rank")
        self.by_rank[rank] = host, line

    def add(self, name: str, slots: int | None, line: int) -> None:
        """Add a node; slots of consecutive lines of one node are summed."""
        names, ranks, lines = self.listed
        if names and names[-1] == name:
            ranks[-1] = (ranks[-1] or 1) + (slots or 1)
            return
        if name in lines:
            words = f'"{name}" stands twice, first in line {lines[name]}'
            raise refused(self.path, line, words, "repeated-node")
        names.append(name)
        ranks.append(slots)
        lines[name] = line


def entries(line: str, path: Path, number: int) -> Iterator[tuple[str, int | None]]:
    """Yield the nodes of a line of a hostfile, each with its slots if they are given."""
    if "[" in line and not line.startswith("["):
        for name in expanded(line):
            yield named(name, path, number), None
        return
    first = line.split(maxsplit=1)[0]
    if is_address(first):
        named(first, path, number)
    match = SLOTS.match(line)
    if not match:
        for name in split_outside_brackets(line):
            yield named(name, path, number), None
        return
    slots = SLOT_COUNT.search(match["rest"])
    count = match["colon"] or (slots and slots["count"])
    yield named(match["host"], path, number), int(count) if count else None


def named(host: str, path: Path, number: int) -> str:
    """Return a host name; reject addresses and invalid names."""
    name = host.rpartition("@")[2]
    if is_address(name):
        words = f'"{name}" is an address; write the name of the host'
        raise refused(path, number, words, "address")
    if not re.fullmatch(r"[^\s,=\[\]]+", name):
        raise refused(path, number, f'"{host}" is no name of a host', "bad-line")
    return name


def is_address(host: str) -> bool:
    """Return whether a host is given by address: IPv4, IPv6, or IPv6 with a port."""
    for text in (host, host.strip("[]"), host.rpartition(":")[0].strip("[]")):
        try:
            ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            continue
        return True
    return False


def ranked(
    by_rank: dict[int, tuple[str, int]], path: Path
) -> tuple[list[str], list[int | None], dict[str, int]]:
    """Return the nodes of a rankfile by their first ranks."""
    names, ranks, lines = list[str](), list[int | None](), dict[str, int]()
    for rank in sorted(by_rank):
        name, number = by_rank[rank]
        if name in lines and names[-1] != name:
            again = f'rank {rank} returns to "{name}" (line {lines[name]})'
            words = f"{again}: the ranks of a node must be consecutive"
            raise refused(path, number, words, "repeated-node")
        if name in lines:
            ranks[-1] = (ranks[-1] or 0) + 1
        else:
            names.append(name)
            ranks.append(1)
            lines[name] = number
    return names, ranks, lines


def refused(path: Path, line: int, words: str, code: str) -> InputError:
    """Return the error about a line of a file."""
    return InputError(f"{path}:{line}: {words}", code=code, file=str(path), line=line)


def refuse_repeated(names: Sequence[str]) -> None:
    """Raise `InputError` if the list is empty or contains a node twice."""
    seen = set[str]()
    for name in names:
        if name in seen:
            raise InputError(f'"{name}" stands twice in the list', code="repeated-node")
        seen.add(name)
    if not names:
        raise InputError("the list names no node", code="empty-list")


def written(names: Iterable[str], form: str, ranks_per_node: int) -> str:
    """Return node names in rank order as a file of a launcher.

    `hostfile` and `rankfile` are those of Open MPI, and `slurm` is a file for `SLURM_HOSTFILE`
    (`srun --distribution=arbitrary`). Slurm's `--nodelist` is not supported: Slurm sorts it.
    """
    names = list(names)
    if form == "rankfile":
        places = ((name, slot) for name in names for slot in range(ranks_per_node))
        lines = [f"rank {rank}={name} slot={slot}" for rank, (name, slot) in enumerate(places)]
    elif form == "slurm":
        lines = [name for name in names for _ in range(ranks_per_node)]
    else:
        lines = [f"{name} slots={ranks_per_node}" for name in names]
    return "\n".join([*lines, ""])

"""Dumps for ibsim and for ibnetdiscover's readers, read back by a reader after their documentation.

The reader checks a file against the README and the network files of ibsim: an id and a GUID per
node, a line per port, both ends of each cable, options `s=` and `w=` within their masks.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings

from gingham import Fabric
from tests.drawn_fabrics import count_in, drawn, read_back

RECORD = re.compile(
    r'(Switch|Ca|Rt)\t(\d+) "([^"]*)"\t\t# "(.*)"((?: lid \d+| lmc \d+)*)', re.DOTALL
)
PORT = re.compile(
    r'\[(\d+)\](?:\([0-9a-f]+\) )?\t"([^"]*)"\[(\d+)\] ?(?:\([0-9a-f]+\) )?'
    r'((?: [sw]=\d+)*)\t\t#(?: lid \d+)?(?: lmc \d+)? "(.*)"(?: lid \d+)? (\S+)',
    re.DOTALL,
)
# Longest line that ibsim reads, in characters, and longest description that it keeps, in bytes.
LINE_MAX, DESCRIPTION_MAX = 254, 63

Port = tuple[str, int]


@dataclass
class Record:
    """A node of a dump."""

    kind: str
    guid: int
    ports: int
    description: str
    # By port: the far end, options and speed.
    links: dict[int, tuple[Port, dict[str, int], str]] = field(default_factory=dict)


def read(text: str, *, for_ibsim: bool) -> dict[str, Record]:
    """Return the nodes of a dump by id; fail where a reader would stop or be misled."""
    nodes: dict[str, Record] = {}
    guid, last = 0, None
    assert "\0" not in text
    for line in text.split("\n"):
        if match := re.fullmatch(r"(?:switch|ca|rt)guid=0x([0-9a-f]+)(?:\([0-9a-f]+\))?", line):
            guid = int(match[1], 16)
        elif match := RECORD.fullmatch(line):
            assert match[3] not in nodes
            last = nodes[match[3]] = Record(match[1], guid, int(match[2]), match[4])
        elif match := PORT.fullmatch(line):
            assert last
            port = int(match[1])
            assert 1 <= port <= last.ports
            assert port not in last.links
            options = {word[0]: int(word[2:]) for word in match[4].split()}
            last.links[port] = ((match[2], int(match[3])), options, match[6])
            assert not for_ibsim or match[5] == ""
        else:
            assert re.fullmatch(r"|#.*|(vendid|devid|sysimgguid)=0x[0-9a-f]+", line), line
    require_both_ends(nodes)
    if for_ibsim:
        require_limits(text, nodes)
    return nodes


def require_both_ends(nodes: dict[str, Record]) -> None:
    """Fail unless the far end of each link is a port of the file and leads back."""
    for name, node in nodes.items():
        for port, ((far, far_port), options, speed) in node.links.items():
            back, back_options, back_speed = nodes[far].links[far_port]
            assert back == (name, port)
            assert (back_options, back_speed) == (options, speed)


def require_limits(text: str, nodes: dict[str, Record]) -> None:
    """Fail if the file exceeds a limit of ibsim, or gives two ports one GUID."""
    assert all(len(line.encode()) <= LINE_MAX for line in text.split("\n"))
    # Ports of a host have the GUIDs that follow its own.
    taken = Counter[int]()
    for name, node in nodes.items():
        assert not set("#@") & set(name)
        assert node.ports >= 1
        assert len(node.description.encode()) <= DESCRIPTION_MAX
        assert '"' not in node.description
        own = [0] if node.kind == "Switch" else range(1, node.ports + 1)
        taken.update(node.guid + port for port in own)
        for _, options, _ in node.links.values():
            assert 1 <= options.get("s", 1) <= 7
            assert 1 <= options.get("w", 1) <= 15
    assert set(taken.values()) <= {1}
    assert len({node.guid for node in nodes.values()}) == len(nodes)


def described(fabric: Fabric, *, for_ibsim: bool) -> dict[str, str]:
    """Return the name of each node in a dump."""

    def fitting(text: str) -> str:
        text = re.sub("[\n\0]", " ", text)
        if not for_ibsim:
            return text
        return text.replace('"', "'").encode()[:DESCRIPTION_MAX].decode(errors="ignore")

    return {node.name: fitting(node.description) for node in fabric.devices}


# A node by kind, description and number of ports.
Shown = tuple[bool, str, int]


def cables_of(nodes: dict[str, Record]) -> Counter[tuple[tuple[Shown, int], ...]]:
    """Return the cables of a dump."""

    def end(place: Port) -> tuple[Shown, int]:
        node = nodes[place[0]]
        return (node.kind == "Switch", node.description, node.ports), place[1]

    pairs = Counter(
        tuple(sorted((end((name, port)), end(far))))
        for name, node in nodes.items()
        for port, (far, _, _) in node.links.items()
    )
    assert all(count % 2 == 0 for count in pairs.values())
    return Counter({pair: count // 2 for pair, count in pairs.items()})


def expected(fabric: Fabric, *, for_ibsim: bool) -> tuple[dict[str, Shown], Counter[object]]:
    """Return the expected nodes by name, and the expected cables."""
    names = described(fabric, for_ibsim=for_ibsim)
    nodes = {
        node.name: (
            node.kind == "switch",
            names[node.name],
            max(node.ports, 1) if for_ibsim else node.ports,
        )
        for node in fabric.devices
    }
    cables = Counter[object](
        tuple(sorted((nodes[name], port) for name, port in cable.ends)) for cable in fabric.cables
    )
    return nodes, cables


def require_same(fabric: Fabric, name: str) -> None:
    """Write the fabric, read it with both readers and compare."""
    for_ibsim = name == "ibsim"
    text, notes = fabric.text(name)
    found = read(text, for_ibsim=for_ibsim)
    nodes, cables = expected(fabric, for_ibsim=for_ibsim)
    seen = Counter((one.kind == "Switch", one.description, one.ports) for one in found.values())
    assert seen == Counter(nodes.values())
    assert cables_of(found) == cables
    given_guids = Counter(node.guid for node in fabric.devices)
    new = given_guids.pop(None, 0)
    kept = {f"{node.guid:016x}" for node in found.values()} & given_guids.keys()
    assert count_in(notes, "without a GUID") == new
    assert count_in(notes, "another node has") == len(given_guids) - len(kept)
    lengths = sum(cable.length_mm is not None for cable in fabric.cables)
    assert count_in(notes, "lengths") == lengths
    blanked = sum(bool({"\n", "\0"} & set(node.description)) for node in fabric.devices)
    assert count_in(notes, "NUL") == blanked
    back = read_back(text, name)
    assert {(one.guid, one.kind, one.ports, one.description) for one in back.devices} == {
        (
            f"{one.guid:016x}",
            "switch" if one.kind == "Switch" else "host",
            one.ports,
            one.description,
        )
        for one in found.values()
    }
    assert len(back.cables) == len(fabric.cables)


@settings(max_examples=60)
@given(drawn())
def test_ibsim_is_given_each_node_and_cable_once(fabric: Fabric) -> None:
    require_same(fabric, "ibsim")


@settings(max_examples=60)
@given(drawn())
def test_a_dump_has_each_node_and_cable_once(fabric: Fabric) -> None:
    require_same(fabric, "ibnetdiscover")

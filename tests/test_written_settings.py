"""Settings for OpenSM, SONiC and mlx5, and files of GUIDs, read back as those programs read them.

OpenSM takes a line of `opensm.conf` as a key and its value; "(null)" is its default
(`osm_subnet.c`, `osm_qos.c`). Files of GUIDs have one per line. Commands are parsed as by a shell.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gingham import Fabric, InputError, Scenario, qos
from gingham.opensm import comparison
from gingham.opensm.roots import read_roots
from gingham.opensm.simulator import with_guids
from gingham.opensm.torus import torus_configuration
from tests.drawn_fabrics import bare, cabled, made

# OpenSM's arbitration tables (`osm_base.h`).
DEFAULT_HIGH = [(0, 4), *((lane, 0) for lane in range(1, 15))]
DEFAULT_LOW = [(0, 0), *((lane, 4) for lane in range(1, 15))]

SLOTS = st.none() | st.lists(st.tuples(st.integers(0, 14), st.integers(0, 255)), max_size=64)

HEAD = 'topology.generate.star.hosts = 3\nstop = { time = "1 ms" }\n'
CLASS = '[[traffic]]\nname = "{}"\narrivals = "backlogged"\nlength = {{ fixed = "4096 B" }}\n'


def conf(text: str) -> dict[str, list[str]]:
    """Return the values of each key of an `opensm.conf`."""
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9_]+) (\S.*\S|\S)", line)
            assert match, line
            found.setdefault(match[1], []).append(match[2])
    return found


def slots(text: str, default: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the slots of an arbitration table that serve anything."""
    if text == "(null)":
        every = default
    else:
        pairs = (part.split(":") for part in text.split(","))
        every = [(int(lane), int(weight)) for lane, weight in pairs]
    assert len(every) <= 64
    return [(lane, weight) for lane, weight in every if weight]


def serving(given_slots: list[tuple[int, int]] | None, default: list[Any]) -> list[tuple[int, int]]:
    """Return those of the requested slots that have a weight."""
    return [slot for slot in (default if given_slots is None else given_slots) if slot[1]]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 15), min_size=16, max_size=16), SLOTS, SLOTS, st.integers(0, 255))
def test_opensm_gives_every_port_the_tables_that_were_asked_for(
    lanes: list[int],
    high: list[tuple[int, int]] | None,
    low: list[tuple[int, int]] | None,
    limit: int,
) -> None:
    text = qos.conf_lines(lanes, high=high, low=low, high_limit=limit)
    found = conf(text)
    assert all(len(values) == 1 for values in found.values())
    [row], [most] = found["qos_sl2vl"], found["qos_max_vls"]
    assert list(map(int, row.split(","))) == lanes
    assert int(most) in {1, 2, 4, 8, 15}
    assert all(lane < int(most) for lane in lanes if lane < 15)
    assert found["qos"] == ["TRUE"]
    assert found["qos_high_limit"] == [str(limit)]
    assert slots(found["qos_vlarb_high"][0], DEFAULT_HIGH) == serving(high, DEFAULT_HIGH)
    assert slots(found["qos_vlarb_low"][0], DEFAULT_LOW) == serving(low, DEFAULT_LOW)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opensm.conf"
        path.write_text(text)
        for back in qos.load_arbitration(path):
            assert back.high_limit == limit
            assert serving(back.high, []) == serving(high, DEFAULT_HIGH)
            assert serving(back.low, []) == serving(low, DEFAULT_LOW)


@st.composite
def annexes(draw: st.DrawFn) -> tuple[dict[str, Any] | None, dict[int, dict[str, int]], list[str]]:
    """Draw marking, responses by service level, and the table that adapters share."""
    marking = draw(
        st.none()
        | st.fixed_dictionaries(
            {
                "threshold": st.integers(1, 15),
                "packet_size": st.integers(0, 64),
                "marking_rate": st.integers(0, 100),
                "victim_mask": st.booleans(),
            }
        )
    )
    response = st.fixed_dictionaries(
        {"increase": st.integers(1, 9), "timer": st.integers(1, 500), "min": st.integers(0, 2)}
    )
    levels = draw(st.dictionaries(st.integers(0, 14), response, max_size=3))
    delay = st.tuples(st.integers(0, 3), st.integers(0, 200))
    table = draw(st.lists(delay, max_size=6))
    return marking, levels, [f"{shift}:{multiplier}" for shift, multiplier in sorted_delays(table)]


def sorted_delays(table: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return delays that grow with the index, from none."""
    grown = sorted(table, key=lambda one: one[1] / 2 ** one[0])
    return [(0, 0), *grown] if grown else []


@settings(max_examples=40)
@given(annexes())
def test_annex_a10_has_each_setting_once_and_each_level_once(
    annex: tuple[dict[str, Any] | None, dict[int, dict[str, int]], list[str]],
) -> None:
    marking, levels, table = annex
    parts = [HEAD, '[network]\npreset = "infiniband-ndr"\n']
    if marking:
        values = ", ".join(f"{key} = {str(value).lower()}" for key, value in marking.items())
        parts.append(f"marking = {{ fecn = {{ {values} }} }}\n")
    limit = len(table) + 2
    for level, response in levels.items():
        values = ", ".join(f"{key} = {value}" for key, value in response.items())
        quoted = ", ".join(f'"{entry}"' for entry in table)
        parts.append(f"{CLASS.format(f'class-{level}')}service_level = {level}\n")
        parts.append(
            f"window.response.becn = {{ {values}, limit = {limit}, table = [{quoted}] }}\n"
        )
    if not levels:
        parts.append(CLASS.format("one"))
    scenario = Scenario.parse("".join(parts))
    if not marking and not levels:
        with pytest.raises(InputError):
            qos.congestion_conf(scenario)
        return
    found = conf(qos.congestion_conf(scenario))
    of_levels = {key: found.pop(f"cc_ca_cong_setting_{key}", []) for key in BY_LEVEL}
    assert all(len(values) == 1 for values in found.values())
    assert found["congestion_control"] == ["TRUE"]
    assert ("cc_sw_cong_setting_threshold" in found) == bool(marking)
    if marking:
        assert int(found["cc_sw_cong_setting_threshold"][0], 16) == marking["threshold"]
        assert int(found["cc_sw_cong_setting_packet_size"][0]) == marking["packet_size"]
        assert int(found["cc_sw_cong_setting_marking_rate"][0]) == marking["marking_rate"]
        mask = int(found["cc_sw_cong_setting_victim_mask"][0], 16)
        assert mask == (sum(1 << port for port in range(1, 255)) if marking["victim_mask"] else 0)
    for key, lines in of_levels.items():
        pairs = [line.split() for line in lines]
        by_level = {int(level): int(number) for level, number in pairs}
        assert len(by_level) == len(pairs)
        wanted = BY_LEVEL[key]
        assert by_level == {
            level: response[wanted] if wanted else 0 for level, response in levels.items()
        }
    if levels:
        assert int(found["cc_ca_cong_setting_control_map"][0], 16) == sum(
            1 << one for one in levels
        )
        entries = found["cc_cct"][0].split(",")
        assert entries[: len(table)] == table
        assert len(entries) == limit + 1
        assert all(re.fullmatch(r"[0-3]:\d+", entry) for entry in entries)


# Keys of OpenSM with a value for each service level, and of a scenario.
BY_LEVEL = {
    "ccti_timer": "timer",
    "ccti_increase": "increase",
    "ccti_min": "min",
    "trigger_threshold": "",
}

ROCE = f'{HEAD}[network]\npreset = "roce-400"\nmarking = "red"\n{CLASS.format("one")}'
DCQCN = 'window = { acknowledged = { marked = "50 us" }, response = "dcqcn" }\n'
WORDS = st.sampled_from(
    ["eth0", "ens1f0np0", "a b", "", "-x", "a\nreboot", "$(reboot)", "a;b", "a|b", "../x", "é", "'"]
) | st.text(max_size=8)


@pytest.fixture(scope="module")
def marked() -> Scenario:
    return Scenario.parse(ROCE + DCQCN)


@settings(max_examples=60)
@given(name=WORDS, priority=st.integers(-1, 9))
def test_a_name_is_a_word_of_a_command_or_refused(
    marked: Scenario, name: str, priority: int
) -> None:
    try:
        commands = qos.sonic_commands(marked, profile=name)
    except InputError:
        assert not re.fullmatch(r"\w[\w-]*", name, re.ASCII)
    else:
        [line] = [one for one in commands.splitlines() if not one.startswith("#")]
        words = shlex.split(line)
        assert words[:4] == ["sonic-db-cli", "CONFIG_DB", "HSET", f"WRED_PROFILE|{name}"]
        assert name.isprintable()
        assert "|" not in name
    try:
        script = qos.mlx5_commands(marked, interface=name, priority=priority)
    except InputError:
        assert not re.fullmatch(r"\w[\w-]*", name, re.ASCII) or priority not in range(8)
    else:
        require_plain(script, name, priority)


def require_plain(script: str, interface: str, priority: int) -> None:
    """Fail unless the script writes numbers into files of one interface, and nothing else."""
    assert interface.isprintable()
    assert "/" not in interface
    written = Counter[str]()
    for line in script.splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("ecn="):
            assert shlex.split(line) == [f"ecn=/sys/class/net/{interface}/ecn"]
        elif match := re.fullmatch(r'echo (\d+) > "\$(rp|np)/([a-z0-9_/]+)"', line):
            written[f"{match[2]}/{match[3]}"] += 1
        else:
            assert line.startswith(('rp="', '[ -d "'))
    assert set(written.values()) == {1}
    assert {one for one in written if "/enable/" in one} == {
        f"rp/enable/{priority}",
        f"np/enable/{priority}",
    }


@settings(max_examples=40)
@given(made() | cabled(), st.data())
def test_files_of_guids_name_each_root_and_each_cabled_port_once(
    drawn: Fabric, data: st.DataObject
) -> None:
    fabric = with_guids(bare(drawn) if data.draw(st.booleans()) else drawn)
    switches = {node.name: node.guid for node in fabric.devices if node.kind == "switch"}
    roots = data.draw(st.lists(st.sampled_from(sorted(switches)), unique=True, max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        path = comparison.root_file(fabric, roots, Path(folder))
        assert (path is None) == (not roots)
        if path:
            lines = path.read_text().splitlines()
            assert [int(line, 16) for line in lines] == [
                int(switches[one] or "", 16) for one in roots
            ]
            assert read_roots(path, fabric) == roots
        lines = comparison.compute_node_file(fabric, Path(folder)).read_text().splitlines()
    assert all(re.fullmatch("0x[0-9a-f]{16}", line) for line in lines)
    hosts = {node.name: int(node.guid or "", 16) for node in fabric.devices if node.kind == "host"}
    ports = Counter(
        hosts[name] + port for cable in fabric.cables for name, port in cable.ends if name in hosts
    )
    assert Counter(int(line, 16) for line in lines) == ports
    assert set(ports.values()) <= {1}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.booleans())
def test_links_of_a_torus_are_cables_of_the_fabric(sizes: list[int], is_mesh: bool) -> None:
    fabric = Fabric.make("mesh" if is_mesh else "torus", dimensions=sizes)
    text = torus_configuration(fabric)
    assert (text is None) == (len(sizes) not in {2, 3})
    if text is None:
        return
    shape, *links = text.removesuffix("\n").split("\n")
    words = shape.split()
    assert [int(word[:-1]) for word in words[1 : len(sizes) + 1]] == sizes
    closed = [word[-1] == "t" for word in words[1 : len(sizes) + 1]]
    assert closed == [size > 2 and not is_mesh for size in sizes]
    guids = {node.name: node.guid for node in fabric.devices}
    cables = {frozenset(guids[name] for name, _ in cable.ends) for cable in fabric.cables}
    named = Counter[str]()
    for link in links:
        match = re.fullmatch(r"([xyz][pm]_link) 0x([0-9a-f]{16}) 0x([0-9a-f]{16})", link)
        assert match
        named[match[1]] += 1
        assert frozenset(match.groups()[1:]) in cables
    assert set(named) == {
        f"{axis}{way}_link"
        for axis, ring in zip("xyz", closed, strict=False)
        for way in ("pm" if ring else "p")
    }

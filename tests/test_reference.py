"""The reference of scenarios: complete, true, and the same on its page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import gingham as package
from gingham import examples
from gingham.catalogue import elsewhere, glossary, lookup, reference
from tests.conftest import Finished
from tests.refusals import raises, require_error

Command = Callable[..., Finished]
ROOT = Path(__file__).parent.parent


def test_every_key_says_what_it_means() -> None:
    unexplained = [key.path for key in reference.every_key() if not key.meaning]
    assert unexplained == []


def flat(value: object, path: str = "") -> list[str]:
    """Return the dotted paths of a resolved scenario, with 0 for any place in a list of tables."""
    if isinstance(value, list):
        return [
            below for item in value if isinstance(item, dict) for below in flat(item, f"{path}.0")
        ]
    if not isinstance(value, dict):
        return []
    paths = [f"{path}.{name}" if path else name for name in value]
    below = [more for name, at in zip(value, paths, strict=True) for more in flat(value[name], at)]
    return paths + below


def test_every_key_of_the_examples_is_known() -> None:
    known = {key.path for key in reference.every_key()}
    for name in examples.names():
        path = examples.path(name)
        assert path is not None
        assert set(flat(package.Scenario.load(path).resolved())) <= known


def test_defaults_are_those_of_a_scenario_that_says_nothing() -> None:
    text = """
        topology.generate.star = { hosts = 3 }
        traffic = [{ load = 0.1, length = { fixed = "64 B" } }]
        stop.time = "1 ms"
    """
    resolved = package.Scenario.parse(text).resolved()
    keys = {key.path: key for key in reference.every_key()}
    assert keys["seed"].default == str(resolved["seed"])
    assert keys["traffic.0.hosts"].default == '["*"]'
    assert resolved["traffic"][0]["hosts"] == ["*"]


def test_explain_shows_one_key_or_those_below(gingham: Command) -> None:
    one = gingham("explain", "traffic.2.load", "--json")
    assert [key["path"] for key in json.loads(one.out)["keys"]] == ["traffic.0.load"]
    below = gingham("explain", "stop")
    for key in ("stop.time", "stop.warm_up", "stop.messages"):
        assert key in below.out


def test_a_key_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with raises(package.InputError, "unknown-name", key="laod", nearest="load"):
        lookup.find("laod")
    with raises(package.InputError, "unknown-name", key="trafic.0.load", nearest="traffic.0.load"):
        lookup.find("trafic.0.load")


def test_the_schema_accepts_no_unknown_key(gingham: Command) -> None:
    schema = json.loads(gingham("schema").out)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["traffic"]["items"]["additionalProperties"] is False


def every_name() -> list[str]:
    return [name for one in glossary.every_word() for name in one.names()]


def test_explain_answers_for_every_word_and_for_what_others_call_it() -> None:
    for name in every_name():
        assert lookup.find(name)["words"], name
        assert lookup.find(name.upper())["words"], name


def test_a_word_of_an_earlier_version_is_answered_with_the_one_of_today(gingham: Command) -> None:
    assert gingham("explain", "drawn_load").out.startswith("drawn_load is called generated load\n")
    for old, new in glossary.contents()[glossary.WAS].items():
        found, today = lookup.find(old), lookup.find(new)
        assert any(today.values())
        assert all(one in found[what] for what, some in today.items() for one in some), old


def test_explain_shows_a_word_with_the_keys_mechanisms_and_columns_of_its_name(
    gingham: Command,
) -> None:
    flit = " ".join(gingham("explain", "flit").out.split())
    assert "flow control digit" in flit
    assert "Best-Effort Bandwidth Reservation" in flit
    words = json.loads(gingham("explain", "VC", "--json").out)["words"]
    assert [one["word"] for one in words] == ["lane"]
    assert lookup.find("virtual channel")["words"][0].word == "lane"
    assert [key.path for key in lookup.find("warm-up")["keys"]] == ["stop.warm_up"]
    called = {"leaf-spine": "fat tree", "xy routing": "dimension order"}
    called |= {
        "minimal routing": "shortest paths",
        "saturation": "saturation load",
        "MSER-5": "MSER",
    }
    called |= {"edge switch": "leaf", "head of line": "head-of-line blocking"}
    for name, word in called.items():
        assert [one.word for one in lookup.find(name)["words"]] == [word], name
    assert {one.name for one in lookup.find("round robin")["mechanisms"]} == {"round-robin"}
    places = {one.place for one in lookup.find("accepted_load")["numbers"]}
    assert {"summary, classes", "table classes", "table series"} <= places
    assert "summary, verdict" in {one.place for one in lookup.find("saturated")["numbers"]}


def test_explain_answers_for_every_column_and_verdict(gingham: Command) -> None:
    for one in json.loads(gingham("explain", "--json").out)["numbers"]:
        assert lookup.find(one["name"])["numbers"], one["name"]


def test_sources_of_words_are_listed_and_used() -> None:
    used = {source for one in glossary.every_word() for source in one.sources()}
    assert used == set(glossary.contents()[glossary.SOURCES].values())


# Search terms of users of BookSim, CAMINOS and InfiniBand, each with one of its results.
SEARCHED = {
    "escape": "escape lane",
    "escape lane": "escape lane",
    "Duato": "Duato's protocol",
    "datelines": "datelines",
    "iSLIP": "islip",
    "credit delay": "network.lanes.credit_delay",
    "turnaround": "credit round trip",
    "speedup": "speedup",
    "atomic": "atomic VC allocation",
    "nca": "routing.adaptive",
    "nearest common ancestor": "nearest common ancestor",
    "Bernoulli": "bernoulli",
    "self traffic": "self-traffic",
    "separable": "separable-input-first",
    "bitcomp": "bit-complement",
    "random permutation": "random-permutation",
    "randompermutation": "random-permutation",
    "livelock": "livelock",
    "up/down": "up*/down*",
    "warmup": "stop.warm_up",
    "zero load latency": "zero-load latency",
    "k-ary n-cube": "k-ary n-cube",
    "k-ary n-mesh": "k-ary n-mesh",
    "cube": "k-ary n-cube",
    "anynet": "topology.file",
    "switch allocator": "switch allocation",
    "age-based": "oldest-first",
    "sl2vl": "SL-to-VL table",
    "dfsssp": "dfsssp",
    "packet size": "traffic.0.length",
    "islands": "island",
    "degraded link": "slow-cable",
    "fq_codel": "fq-codel",
    "BBR": "bbr",
}
KINDS = re.compile(r'^ +Self::\w+ => "([a-z-]+)",$', re.MULTILINE)


def test_every_kind_of_finding_is_explained() -> None:
    kinds = KINDS.findall((ROOT / "crates/fabric/topology/src/finding.rs").read_text())
    assert "slow-cable" in kinds
    words = {one.word for one in glossary.every_word()}
    assert not set(kinds) - words


@pytest.mark.parametrize("name", SEARCHED)
def test_what_users_of_others_search_for_is_found(name: str) -> None:
    found = lookup.find(name)
    names = {one.word for one in found["words"]} | {one.path for one in found["keys"]}
    assert SEARCHED[name] in names | {one.name for one in found["mechanisms"]}


def test_what_has_a_word_in_its_name_alone_is_shown_as_such(gingham: Command) -> None:
    told = gingham("explain", "escape").out
    assert told.startswith('nothing is called "escape" alone; these have it in their names\n\n')
    assert "routing.adaptive.escape_lanes" in told
    assert gingham("explain", "bitcomp").out.startswith("bitcomp is called bit-complement\n\n")
    with raises(package.InputError, "unknown-name", key="escape hatch", nearest="escape lane"):
        lookup.find("escape hatch")


def test_programs_can_tell_a_name_from_a_part_of_names(gingham: Command) -> None:
    part = json.loads(gingham("explain", "escape", "--json").out)
    assert (part["within"], part["nearest"]) == (True, "escape VC")
    assert [one["word"] for one in part["words"]] == ["escape lane"]
    whole = json.loads(gingham("explain", "escape lanes", "--json").out)
    assert (whole["within"], whole["nearest"]) == (False, None)


@pytest.mark.parametrize("name", ["wavefronts", "bubbles", "Wavefront"])
def test_why_nothing_here_is_called_so_is_told_of_a_plural_too(gingham: Command, name: str) -> None:
    told = gingham("explain", name).out
    there = elsewhere.named(name.lower().removesuffix("s"))
    assert told == f"{there}\n\n"
    assert " has no key here: " in told


def test_what_only_scenarios_of_fabrics_have_is_not_found_among_those_of_striping(
    gingham: Command,
) -> None:
    for asked in (["bitcomp"], ["bitcomp", "--json"]):
        refused = gingham("explain", "--stripe", *asked)
        assert (refused.code, refused.out) == (2, "")
    require_error(refused, "unknown-name", key="bitcomp")


@pytest.mark.parametrize("name", ["*", "-", "_", "/", " ", "s", "-s", "x y"])
def test_signs_and_single_letters_are_in_no_name(name: str) -> None:
    with raises(package.InputError, "unknown-name", key=name):
        lookup.find(name)


def test_no_word_of_the_glossary_is_a_name_of_two_things_by_its_parts() -> None:
    # A part of a name finds the names that contain it.
    for part in ("Duato", "atomic", "cube"):
        assert lookup.asked(part, stripe=False).is_within, part
    engines = {"lash", "dfsssp", "nue", "ftree", "torus-2QoS"}
    assert engines <= {one.word for one in glossary.every_word()}
    assert [one.word for one in lookup.find("k-ary n-mesh")["words"]] == ["k-ary n-mesh"]


@pytest.mark.parametrize("stripe", [False, True])
def test_every_entry_of_the_catalogue_has_a_meaning_and_is_found_by_its_names(stripe: bool) -> None:
    for one in lookup.entries(stripe):
        assert one.meaning, one
        assert one.place or one.kind in {"keys", "words"}, one
        assert bool(one.source) or one.kind != "mechanisms", one
    some = lookup.entries(stripe)[::97]
    for one in some:
        found = lookup.find(one.path or one.names[0], stripe)
        assert any(one.item in items for items in found.values()), one

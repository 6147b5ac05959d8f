"""Sweeps are independent of the kind of scenario: one defined here is swept like the others."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from gingham import InputError, Results, Scenario, kinds, run
from gingham.errors import unknown
from gingham.kinds import FABRIC, STRIPE, Kind, LaboratoryKind, Measured
from gingham.sweeps import Sweep, estimate, run_sweep
from tests.folders import as_before_digests
from tests.refusals import raises

# A scenario of dice: a number of throws, and dice with at least two faces.
DICE = """
throws = 4
[[die]]
name = "red"
faces = 6
[[die]]
name = "blue"
faces = 8
"""


@dataclass(frozen=True)
class Dice:
    values: Mapping[str, Any]
    seed: int = 0
    name: str = "dice"
    title: str = "dice"

    def with_(self, values: Mapping[str, Any] | None = None, *, seed: int | None = None) -> Dice:
        changed = json.loads(json.dumps(self.values))
        for path, value in (values or {}).items():
            place, steps = changed, path.split(".")
            for step in steps[:-1]:
                place = place[int(step) if step.isdigit() else step]
            place[steps[-1]] = value
        if changed["throws"] < 1:
            raise InputError("dice are thrown once at least", key="throws")
        return replace(self, values=changed, seed=self.seed if seed is None else seed)

    def placed(self, path: str) -> str:
        first, *rest = path.split(".")
        if first == "die" and not rest[0].isdigit():
            names = [one["name"] for one in self.values["die"]]
            if rest[0] not in names:
                raise InputError(unknown("a die", rest[0], names))
            rest[0] = str(names.index(rest[0]))
        return ".".join([first, *rest])

    def resolved(self) -> dict[str, Any]:
        return {**self.values, "seed": self.seed}

    def origin(self) -> dict[str, Any]:
        return {"path": self.name, "folder": ".", "sha256": "", "changes": []}


@dataclass
class Throw:
    """The n-th throw of a die shows (seed + n) modulo its faces."""

    dice: Dice
    loaded: bool
    wall_seconds: float = 0.0
    thrown: int = field(default=0)

    @property
    def fraction(self) -> float:
        return self.thrown / float(self.dice.values["throws"])

    @property
    def done(self) -> bool:
        return self.fraction >= 1

    def advance(self) -> Throw:
        self.thrown += 1
        return self

    def measured(self, keep: Sequence[str]) -> Measured:
        shown = {
            one["name"]: [(self.dice.seed + n) % one["faces"] for n in range(self.thrown)]
            for one in self.dice.values["die"]
        }
        sums = {name: 99 if self.loaded else sum(values) for name, values in shown.items()}
        parts = {"dice": [{"die": name, "total": total} for name, total in sums.items()]}
        tables = {name: pa.table(shown) for name in keep}
        return Measured({"verdict": "ok", "total": sum(sums.values())}, parts, tables)


class DiceKind(Kind):
    name = "dice"
    marks = frozenset({"die"})
    switches = ("loaded",)
    mean = "total"
    parts: ClassVar[Mapping[str, str]] = {"dice": "die"}
    aliases: ClassVar[Mapping[str, str]] = {"sum": "total"}

    def has(self, scenario: object) -> bool:
        return isinstance(scenario, Dice)

    def load(self, path: Path) -> Dice:
        return Dice(tomllib.loads(path.read_text()))

    def restore(
        self,
        values: dict[str, Any],
        origin: Mapping[str, Any],
        files: Iterable[Mapping[str, str]],
    ) -> Dice:
        assert not list(files)
        assert origin["changes"] == []
        return Dice({key: value for key, value in values.items() if key != "seed"}, values["seed"])

    def files(self, resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        assert resolved
        yield from ()

    def tables(self) -> list[str]:
        return ["throws"]

    def columns(self, table: str) -> dict[str, str]:
        return {"runs": {"total": "int64"}, "dice": {"die": "string", "total": "int64"}}[table]

    def check(self, resolved: Mapping[str, Any]) -> None:
        if resolved["throws"] > 1000:
            raise InputError("so many throws fill a folder", key="throws")

    def begin(self, scenario: Any, switches: Sequence[str]) -> Throw:
        return Throw(scenario, loaded="loaded" in switches)


@pytest.fixture
def dice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of dice, in a version of gingham that knows dice."""
    monkeypatch.setattr(kinds, "KINDS", (DiceKind(), *kinds.KINDS))
    file = tmp_path / "dice.toml"
    file.write_text(DICE)
    return file


def sweep(dice: Path, **more: Any) -> Sweep:
    axis = {"key": "die.blue.faces", "values": [2, 3]}
    return Sweep.make({"base": dice.name, "axis": [axis], **more}, folder=dice.parent)


def test_another_kind_is_swept_with_its_parts_and_tables(dice: Path, tmp_path: Path) -> None:
    made = sweep(dice, replications=2, keep=["throws"])
    assert made.columns == ["faces"]
    results = run_sweep(made, tmp_path / "out")
    seeds = [point.seed for point in made.points()]
    expected = [
        sum((seed + n) % faces for n in range(4))
        for seed, faces in zip(seeds, [2, 2, 3, 3], strict=True)
    ]
    blue = results.query("select total from dice where die = 'blue' order by point")
    assert blue["total"].to_pylist() == expected
    assert results.query("select sum = total as same from runs")["same"].to_pylist() == [True] * 4
    assert results.query("from throws").num_rows == 4 * 4
    by_die = results.means("total", table="dice")
    assert by_die.column_names[:2] == ["faces", "die"]
    assert list(results.columns) == ["runs", "dice", "points", "provenance", "throws"]


def test_a_folder_of_another_kind_has_its_columns_before_the_first_run(
    dice: Path, tmp_path: Path
) -> None:
    run_sweep(sweep(dice, set={"throws": 2}), tmp_path / "out")
    as_before_digests(tmp_path / "out" / "sweep.json")
    for path in (tmp_path / "out" / "runs").iterdir():
        path.unlink()
    assert "total" in Results.load(tmp_path / "out").columns["runs"]
    assert "messages_followed" not in Results.load(tmp_path / "out").columns["runs"]


def test_a_sweep_of_another_kind_is_resumed_and_estimated(dice: Path, tmp_path: Path) -> None:
    first = sweep(dice, replications=3)
    run_sweep(first, tmp_path / "out")
    seen: list[int] = []
    more = sweep(dice, replications=6)
    run_sweep(more, tmp_path / "out", resume=True, on_progress=lambda now: seen.append(now.resumed))
    assert seen[-1] == 6
    assert estimate(more, 12).points_begun == 2


def test_switches_are_those_of_the_kind(dice: Path, tmp_path: Path) -> None:
    results = run_sweep(sweep(dice, loaded=True), tmp_path / "out")
    assert results.query("select distinct total from runs")["total"].to_pylist() == [198]
    assert results.manifest["sweep"]["loaded"] is True
    with raises(InputError, "unknown-key", key="allow_deadlock"):
        sweep(dice, allow_deadlock=True)


def test_what_is_wrong_is_told_in_the_words_of_the_kind(dice: Path) -> None:
    with raises(InputError, "refused", key="axis.0.key"):
        Sweep.make(
            {"base": dice.name, "axis": [{"key": "die.bleu.faces", "values": [2]}]},
            folder=dice.parent,
        )
    with raises(InputError, "refused", key="throws"):
        sweep(dice, set={"throws": 2000})
    with raises(InputError, "unknown-table", key="keep"):
        sweep(dice, keep=["dice"])
    with raises(InputError, "refused", key="axis.0.name"):
        Sweep.make(
            {"base": dice.name, "axis": [{"key": "throws", "name": "total", "values": [2]}]},
            folder=dice.parent,
        )


def test_an_inline_scenario_says_by_its_keys_what_it_is(dice: Path) -> None:
    made = Sweep.make({"scenario": tomllib.loads(DICE) | {"seed": 3}}, folder=dice.parent)
    assert isinstance(made.base, Dice)
    assert kinds.kind_of_values({"topologie": {}}) is FABRIC  # typos: on purpose


def test_a_folder_of_a_kind_that_this_version_lacks_is_refused(
    dice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_sweep(sweep(dice), tmp_path / "out")
    monkeypatch.undo()
    with raises(InputError, "unknown-kind"):
        Results.load(tmp_path / "out")


def test_a_folder_from_before_there_were_kinds_is_one_of_fabrics(
    dice: Path, tmp_path: Path
) -> None:
    run_sweep(sweep(dice), tmp_path / "out")
    as_before_digests(tmp_path / "out" / "sweep.json", lambda whole: whole["sweep"].pop("kind"))
    assert "classes" in Results.load(tmp_path / "out").columns


SUBNET = """
[topology]
file = "ring.ibnetdiscover"
[routing]
tables = "opensm-lfts.dump"
lane_tables = "opensm-sl2vl.dump"
service_levels = "levels.csv"
[network]
preset = "yum-1600"
[network.lanes]
count = 8
crossbar = "full"
forwarding = "virtual-cut-through"
link_output = { infiniband = { file = "opensm.conf" } }
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
[stop]
time = "2 us"
"""


def test_the_files_of_a_subnet_manager_are_of_the_key_of_a_run(tmp_path: Path) -> None:
    given = Path(__file__).parents[1] / "crates/fabric/topology/tests/fixtures/opensm-ring"
    for name in ("ring.ibnetdiscover", "opensm-lfts.dump", "opensm-sl2vl.dump", "levels.csv"):
        (tmp_path / name).write_bytes((given / name).read_bytes())
    (tmp_path / "opensm.conf").write_text("qos TRUE\n")
    scenario = Scenario.parse(SUBNET, folder=tmp_path)
    named = [key for key, _ in FABRIC.files(scenario.resolved())]
    read = [file["key"] for file in run(scenario).about["files"]]
    assert sorted(named) == sorted(read)
    assert len(named) == 5


def test_the_trace_of_streams_is_of_the_key_of_a_run_and_stands_where_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "frames.txt").write_text("2000\n3000\n")
    video = Scenario.example("video").with_({"stop.time": "1 ms", "stop.warm_up": "0 ps"})
    own = video.with_(settings=["traffic.0.streams.data.trace.file=frames.txt"])
    (named,) = FABRIC.files(own.resolved())
    assert named == ("traffic.0.streams.data.trace.file", str(tmp_path / "frames.txt"))
    read = [(file["key"], file["path"]) for file in run(own).about["files"]]
    assert read == [named]


@pytest.mark.parametrize("kind", [FABRIC, STRIPE], ids=lambda kind: kind.name)
def test_a_column_of_parts_holds_the_same_in_a_run_and_in_a_sweep(
    kind: LaboratoryKind[Any, Any],
) -> None:
    types = {"integer": "int64", "real": "double", "text": "string"}
    tables = {table["name"]: table["columns"] for table in kind.schema["tables"]}
    for part in kind.parts:
        of_a_run = {column["name"]: types[column["type"]] for column in tables[part]}
        of_a_sweep = kind.part_columns(part)
        shared = of_a_run.keys() & of_a_sweep.keys()
        assert len(shared) > 5
        assert {name: of_a_run[name] for name in shared} == {
            name: of_a_sweep[name] for name in shared
        }

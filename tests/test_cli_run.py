"""`gingham run`: table, run folder, refusals, interruption."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gingham import _texts, load_result
from gingham.cli import _run
from tests.conftest import TIMEOUT_S, Finished, wait_until
from tests.refusals import require_error

Command = Callable[..., Finished]

LONE = """\
title = "One worm at a time"

[topology]
file = "two.toml"

[network]
preset = "myrinet-1280"

[[traffic]]
name = "lone"
hosts = ["h0"]
load = 0.001
length = { fixed = "512 B" }

[stop]
time = "5 ms"
warm_up = "0 ps"
"""


@pytest.fixture
def lone(gingham: Command, tmp_path: Path) -> Path:
    assert gingham("fabric", "make", "two-hosts", "-o", "two.toml").code == 0
    (tmp_path / "lone.toml").write_text(LONE)
    return tmp_path / "lone.toml"


def test_a_run_folder_holds_what_was_run_and_what_came_out(gingham: Command, lone: Path) -> None:
    finished = gingham("run", "lone.toml", "--seed", 3, "-o", "runs/lone")
    assert finished.code == 0, finished.err
    last = ["written: runs/lone", "to draw it: gingham plot runs/lone"]
    assert finished.out.splitlines()[-2:] == last
    folder = lone.parent / "runs" / "lone"
    assert sorted(path.name for path in folder.iterdir()) == [
        "classes.parquet",
        "contention.parquet",
        "flow_series.parquet",
        "flows.parquet",
        "histogram.parquet",
        "in_transit.parquet",
        "ledgers.parquet",
        "link_series.parquet",
        "links.parquet",
        "manifest.json",
        "messages.parquet",
        "nodes.parquet",
        "percentiles.parquet",
        "requests.parquet",
        "series.parquet",
        "streams.parquet",
        "tree_flows.parquet",
        "tree_links.parquet",
        "tree_series.parquet",
        "trees.parquet",
    ]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["scenario"]["seed"] == 3
    assert manifest["scenario"]["traffic"][0]["load"] == 0.001
    digest = hashlib.sha256(lone.read_bytes()).hexdigest()
    network = "myrinet-1280 (wormhole, round-robin)"
    assert manifest["title"] == f"One worm at a time; {network}; up-down routes"
    assert manifest["scenario_file"]["path"] == "lone.toml"
    assert manifest["scenario_file"]["sha256"] == digest
    digest = hashlib.sha256((lone.parent / "two.toml").read_bytes()).hexdigest()
    (file,) = manifest["about"]["files"]
    assert (file["key"], file["sha256"]) == ("topology.file", digest)
    assert manifest["wall_seconds"] >= 0


def test_a_picture_is_drawn_where_one_is_asked_for(gingham: Command, lone: Path) -> None:
    drawn = gingham("run", "lone.toml", "-o", "out of the way", "--plot", "lone.svg")
    assert drawn.code == 0, drawn.err
    assert drawn.out.splitlines()[-2:] == ["written: lone.svg", "written: out of the way"]
    assert (lone.parent / "lone.svg").read_bytes().startswith(b"<?xml")
    assert gingham("plot", "out of the way", "latency", "-o", "later.svg").code == 0
    assert (lone.parent / "later.svg").read_bytes() == (lone.parent / "lone.svg").read_bytes()
    again = gingham("run", "lone.toml", "--plot", "lone.svg")
    assert (again.code, again.out) == (2, "")
    assert again.err == "gingham: lone.svg: exists already; --force replaces it\n"
    told = gingham("run", "lone.toml", "--plot", "lone.svg", "--force", "--json")
    assert (json.loads(told.out)["output"], json.loads(told.out)["plot"]) == (None, "lone.svg")


def test_the_folder_of_a_run_is_replaced_only_with_force(gingham: Command, lone: Path) -> None:
    for seed, options in [(1, []), (2, ["--force"])]:
        assert gingham("run", "lone.toml", "-o", "lone", "--seed", seed, *options).code == 0
        assert load_result(lone.parent / "lone").scenario.resolved()["seed"] == seed
    refused = gingham("run", "lone.toml", "-o", "lone")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "gingham: lone: exists already; --force replaces it\n"


def test_a_folder_whose_name_a_shell_would_part_is_quoted(gingham: Command, lone: Path) -> None:
    assert lone.exists()
    written = gingham("run", "lone.toml", "-o", "two words").out
    assert written.endswith("written: two words\nto draw it: gingham plot 'two words'\n")


def test_a_run_into_a_folder_imports_nothing_that_draws(lone: Path) -> None:
    script = """
import json, sys
from gingham.cli._main import run
assert run(["run", "lone.toml", "-o", "lone"]) == 0
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    command = [sys.executable, "-c", script]
    finished = subprocess.run(
        command, cwd=lone.parent, capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    imported = {name.partition(".")[0] for name in json.loads(finished.stderr.splitlines()[-1])}
    assert "pyarrow" in imported, "the tables are written with it"
    # Nor pandas, which pyarrow would import, if installed, to convert a list.
    assert not imported & {"matplotlib", "pandas", "duckdb"}


def test_a_lone_worm_takes_the_sum_of_its_parts(gingham: Command, lone: Path) -> None:
    gingham("run", "lone.toml", "-o", "lone", "--set", "topology.file=two.toml")
    messages = pq.read_table(lone.parent / "lone" / "messages.parquet").to_pydict()
    switches = set(messages["switches"])
    assert len(switches) == 1
    n = switches.pop()
    # A route byte per switch, 2 bytes of type, 512 of payload, 1 of trailer, 6.25 ns each; 10 m of
    # cable at 4.92 ns/m; 150 ns per switch.
    flits = n + 2 + 512 + 1
    expected_ps = flits * 6_250 + (n + 1) * 49_200 + n * 150_000
    assert min(messages["network_latency_ps"]) == expected_ps


def test_the_same_seed_gives_the_same_rows_and_another_does_not(
    gingham: Command, lone: Path
) -> None:
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        assert gingham("run", "lone.toml", "--seed", seed, "-o", name).code == 0
    a, b, c = (pq.read_table(lone.parent / name / "messages.parquet") for name in "abc")
    assert a.equals(b)
    assert not a.equals(c)


def test_json_is_one_object_and_set_changes_the_scenario(gingham: Command, lone: Path) -> None:
    assert lone.exists()
    finished = gingham("run", "lone.toml", "--set", "traffic.0.load=0.002", "--json")
    answer = json.loads(finished.out)
    assert answer["verdict"] in {"ok", "not-converged"}
    assert answer["classes"][0]["offered_load"] == 0.002


def test_another_fabric_may_stand_in(gingham: Command, lone: Path) -> None:
    assert lone.exists()
    made = gingham("fabric", "make", "star", "--hosts", 7, "-o", "star.ibnetdiscover")
    assert made.code == 0
    finished = gingham("run", "lone.toml", "--topology", "star.ibnetdiscover", "--json")
    assert finished.code == 0, finished.err
    assert json.loads(finished.out)["about"]["endpoints"] == 7


RING = """
topology.generate.ring = { switches = 40, hosts_per_switch = 1 }
routing.algorithm = "shortest-path"
network.preset = "yum-1600"
stop.time = "1 us"
traffic = [{ load = 0.1, length = { fixed = "64 B" } }]
"""


def test_people_are_shown_beginning_and_end_of_a_long_cycle_and_programs_all_of_it(
    gingham: Command, tmp_path: Path
) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    refused = gingham("run", "ring.toml")
    assert refused.code == 3
    # Summary, ten channels, number of omitted ones, the channel that closes the cycle, remedy.
    lines = refused.err.splitlines()
    assert len(lines) == 1 + 10 + 1 + 1 + 1
    assert lines[11] == "  ... and 30 more; all of them with --json"
    assert lines[12].endswith("closes the cycle")
    assert lines[13].endswith("or allow it (--allow-deadlock)")
    told = json.loads(gingham("run", "ring.toml", "--json").err)
    assert len(told["cycle"]) == 40
    assert len(told["message"].splitlines()) == 1 + 40 + 1 + 1
    assert "more; " not in told["message"]


def test_a_failed_run_of_a_sweep_keeps_all_of_a_long_cycle(
    gingham: Command, tmp_path: Path
) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    curve = ["ring.toml", "--load", "0.1", "--replications", "1", "-o", "curve"]
    assert gingham("curve", *curve).code == 5
    kept = json.loads(gingham("query", "curve", "select error from runs", "--json").out)
    (row,) = kept["rows"] if isinstance(kept, dict) else kept
    assert row["error"].count("then the next, from") == 40
    assert "--json" not in row["error"]


def test_routes_that_can_deadlock_are_refused_with_the_cycle(
    gingham: Command, tmp_path: Path
) -> None:
    refused = gingham("run", "ring-deadlock", "-o", "x")
    assert refused.code == 3
    assert refused.err.count(" -> ") == 6, "five channels, and the first again"
    assert list(tmp_path.iterdir()) == []
    allowed = gingham("run", "ring-deadlock", "--allow-deadlock", "-o", "x")
    assert allowed.code == 3
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text())
    assert manifest["summary"]["verdict"] == "deadlocked"
    assert not manifest["about"]["deadlock_free"]


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (
            ["laod.toml"],
            {"code": "unknown-key", "key": "traffic[0].laod", "line": 12, "nearest": "load"},
        ),
        (["unit.toml"], {"code": "wrong-type", "key": "network.link_rate", "line": 7}),
        (
            ["lone.toml", "--set", "traffic.0.load=1.5"],
            {"code": "refused", "key": "traffic[0].load"},
        ),
        (
            ["lone.toml", "--set", 'traffic.0.hosts=["h7"]'],
            {"code": "unknown-name", "key": "traffic[0].hosts[0]"},
        ),
        (
            ["lone.toml", "--set", "traffic.0.destinations={host='h7'}"],
            {"code": "unknown-name", "key": "traffic[0].destinations.host"},
        ),
        (
            ["irregular", "--set", "routing.algorithm=dimension-order"],
            {"code": "refused", "key": "routing.algorithm"},
        ),
        (["lone.toml", "--set", "load"], {"code": "bad-option", "key": "load"}),
        (["lone.toml", "--topology", "tow.toml"], {"code": "file-unreadable", "file": "tow.toml"}),
        (["lnoe.toml"], {"code": "file-unreadable", "file": "lnoe.toml"}),
        (["tours"], {"code": "unknown-name", "nearest": "torus"}),
        (["lone.toml", "--topology", "empty.ibnetdiscover"], {"code": "file-empty"}),
        (["binary.toml"], {"code": "refused", "file": "binary.toml", "line": 2}),
        (
            ["lone.toml", "-o", "taken"],
            {"code": "exists"},
        ),
        (["lone.toml", "-o", "/", "--force"], {"code": "no-run"}),
        (["lone.toml", "--plot", "lone.jpg"], {"code": "unknown-ending", "nearest": "png"}),
        (["lone.toml", "--plot", "no/lone.png"], {"code": "no-folder"}),
        (["lone.toml", "-o", "taken", "--force"], {"code": "no-run"}),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    gingham: Command, lone: Path, arguments: list[str], facts: dict[str, Any]
) -> None:
    folder = lone.parent
    (folder / "laod.toml").write_text(LONE.replace("load =", "laod ="))
    (folder / "unit.toml").write_text(
        LONE.replace('preset = "myrinet-1280"', 'link_rate = "80 MB"')
    )
    (folder / "empty.ibnetdiscover").touch()
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    (folder / "taken").mkdir()
    before = sorted(folder.rglob("*"))
    error = require_error(gingham("run", *arguments, "--json"), **facts)
    assert error["message"].count("\n") < 4
    assert sorted(folder.rglob("*")) == before


def test_a_place_that_cannot_be_written_is_known_before_the_run(
    gingham: Command, lone: Path
) -> None:
    (lone.parent / "file").touch()
    refused = gingham("run", "lone.toml", "--set", "stop.time=1000 s", "-o", "file/run")
    assert refused.code == 6
    assert refused.err == "gingham: file/run: cannot write: file is a file, and no folder\n"


@pytest.fixture
def full_disk(tmp_path: Path) -> Path:
    """A file system of 16 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "gingham-test", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a small file system")
    return disk


def test_a_full_disk_is_said_and_leaves_nothing(
    gingham: Command, lone: Path, full_disk: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(subprocess.run, ["umount", str(full_disk)], check=True))
    refused = gingham("run", lone, "-o", full_disk / "run", "--json")
    error = require_error(refused, "system", exit_code=6)
    assert error["file"].startswith(str(full_disk))
    assert list(full_disk.iterdir()) == []


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_folder_that_looks_complete(
    lone: Path, signal_number: signal.Signals
) -> None:
    program = str(Path(sys.executable).parent / "gingham")
    long = ["--set", "stop.time=100 s", "--set", "stop.warm_up=0 ps"]
    command = [program, "run", "torus", *long, "-o", "stopped"]
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, cwd=lone.parent, stdout=pipe, stderr=pipe, text=True)
    try:
        # The first line of progress.
        assert running.stderr is not None
        assert "messages delivered" in running.stderr.readline()
        running.send_signal(signal_number)
        out, err = running.communicate(timeout=TIMEOUT_S)
    finally:
        running.kill()
        running.wait()
    assert "Traceback" not in err
    manifest = lone.parent / "stopped" / "manifest.json"
    if signal_number is signal.SIGKILL:
        assert not manifest.exists()
        return
    assert running.returncode == 130
    assert not list(lone.parent.glob(".stopped.*"))
    if signal_number is signal.SIGINT:
        # The results so far are kept, with the verdict `interrupted`.
        assert "verdict: interrupted" in out
        assert "written: stopped" in out
        result = load_result(lone.parent / "stopped")
        assert result.verdict == "interrupted"
        assert 0 < result.summary["end_ps"] < 100e12
        assert result.classes[0]["messages_followed"] > 0
    else:
        assert not manifest.exists()


def test_ctrl_c_while_a_big_fabric_is_routed_ends_at_once(tmp_path: Path) -> None:
    program = str(Path(sys.executable).parent / "gingham")
    # A fabric whose routing takes far longer than this test.
    bigger = ["--set", "topology.generate.torus.dimensions=[60, 60]"]
    running = subprocess.Popen(
        [program, "run", "torus", *bigger, "-o", "big"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: list(tmp_path.glob(".big.partial-*")))
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=TIMEOUT_S)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert err == "gingham: interrupted; nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def test_the_printed_table_fits_into_100_columns_and_chooses_its_units(
    gingham: Command, lone: Path
) -> None:
    assert lone.exists()
    changes = ["--set", "traffic.0.name=background", "--set", "traffic.0.load=0.05"]
    finished = gingham("run", "lone.toml", *changes)
    lines = finished.out.splitlines()
    assert max(map(len, lines)) <= 100, finished
    empty = lines.index("")
    title, (head, _, row) = " ".join(lines[:empty]), lines[empty + 1 : empty + 4]
    assert title.startswith("One worm at a time; traffic.0.name=background; ")
    # Messages of the first 5 ms are followed to the end of a section.
    assert "; myrinet-1280 (wormhole, round-robin); up-down routes: 5.08 ms simulated in " in title
    assert head.split()[:5] == ["class", "hosts", "offered", "accepted", "messages"]
    # 516 flits of 6.25 ns, two cables and a switch take 3.47 us; few have to wait.
    assert re.search(r" 3\.[56]\d* ± 0\.\d+ us ", row), row


def test_how_many_streams_are_admitted_is_said(gingham: Command) -> None:
    shown = gingham("run", "all-together", "--set", "stop.time=2 ms", "--set", "stop.warm_up=1 ms")
    line = re.search(
        r"streams: (\d+) of 256 streams admitted; refused: (\d+) by adapters, (\d+) by switches",
        " ".join(shown.out.split()),
    )
    assert line, shown.out
    admitted, *refused = (int(count) for count in line.groups())
    # Some requests may still be in progress.
    assert 0 < admitted < 256
    assert admitted + sum(refused) <= 256


def test_units_are_those_that_suit_a_time() -> None:
    told = [_texts.time_text(ns) for ns in (0, 0.5, 999, 1234, 12_345_678, 2e9)]
    assert told == ["0 ns", "0.500 ns", "999 ns", "1.23 us", "12.3 ms", "2.00 s"]
    assert _texts.time_with_interval(4334.4, 41.2) == "4.334 ± 0.041 us"
    assert _texts.time_with_interval(4334.4, None) == "4.33 us ± ?"
    assert _texts.time_with_interval(None, None) == "-"


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        (
            ["torus", "--set", "traffic.0.load=0.6"],
            0,
            (
                r"verdict: saturated\n  class `uniform`: the network took a load of 0\.\d+ "
                r"of 0\.\d+; source\s+queues\s+grew\s+by\s+[\d.]+ ± "
                r".* offer\s+less, such as\s+traffic\.0\.load = 0\.\d"
            ),
        ),
        (
            ["torus", "--set", "stop.time=50 us"],
            0,
            r"not-converged\n  .*let\s+the\s+run\s+last\s+about [\d.]+\s+[mu]s\s+\(stop\.time\)",
        ),
        (
            ["torus", "--set", "stop.relative_width=0.02", "--strict"],
            4,
            r"half-width of latency is \d.* % of the mean, and 2\.0 %\s+was\s+wanted",
        ),
        (
            ["ring-deadlock", "--allow-deadlock"],
            3,
            r"verdict: deadlocked\n  \d+ worms wait .*such\s+as\s+routing\.algorithm = ",
        ),
    ],
)
def test_a_verdict_says_why_and_what_to_do_next(
    gingham: Command, changes: list[str], code: int, reason: str
) -> None:
    finished = gingham("run", *changes)
    assert finished.code == code, finished.err
    assert re.search(reason, finished.out, re.DOTALL), finished.out


def test_the_load_that_a_saturated_run_suggests_is_taken(gingham: Command) -> None:
    out = " ".join(gingham("run", "torus", "--set", "traffic.0.load=0.6").out.split())
    found = re.search(r"traffic\.0\.load = (0\.\d+)", out)
    assert found
    changes = ["--set", f"traffic.0.load={found[1]}", "--set", "stop.time=40 ms"]
    again = gingham("run", "torus", *changes, "--json")
    assert json.loads(again.out)["verdict"] == "ok"


def test_a_saturated_class_does_not_hide_from_the_strict_that_another_did_not_converge() -> None:
    assert _run.exit_code(["saturated", "saturated", "not-converged"], strict=True) == 4
    assert _run.exit_code(["saturated", "saturated", "not-converged"], strict=False) == 0
    assert _run.exit_code(["saturated", "ok"], strict=True) == 0
    assert _run.exit_code(["deadlocked", "not-converged"], strict=True) == 3


def test_at_its_saturation_no_run_of_the_torus_is_ok(gingham: Command) -> None:
    # Bursts last longer than the run, and the interval is two thirds of the mean.
    at = ["run", "torus", "--set", "traffic.0.load=0.2"]
    finished = gingham(*at)
    assert re.search(
        r"not-converged\n .*half-width of\s+latency\s+is\s+\d\d % of.*the\s+load\s+is\s+too\s+high",
        finished.out,
        re.DOTALL,
    ), finished.out
    assert json.loads(gingham(*at, "--set", "stop.time=40 ms", "--json").out)["verdict"] != "ok"


def test_too_little_is_4_for_those_who_are_strict(gingham: Command, lone: Path) -> None:
    assert lone.exists()
    short = ["--set", "stop.time=100 us", "--json"]
    assert json.loads(gingham("run", "lone.toml", *short).out)["verdict"] == "not-converged"
    assert gingham("run", "lone.toml", *short).code == 0
    assert gingham("run", "lone.toml", *short, "--strict").code == 4


def test_a_reader_that_leaves_costs_no_result(lone: Path) -> None:
    program = str(Path(sys.executable).parent / "gingham")
    command = f"{program} run lone.toml -o kept | true"
    subprocess.run(command, shell=True, cwd=lone.parent, check=True, timeout=TIMEOUT_S)
    assert load_result(lone.parent / "kept").messages.num_rows > 0


@pytest.mark.parametrize("command", ["explain network --depth 3", "run lone.toml --json", "--help"])
def test_a_reader_that_leaves_early_is_no_fault(lone: Path, command: str) -> None:
    program = str(Path(sys.executable).parent / "gingham")
    # The reader ends before the first byte.
    script = f"{{ sleep 0.2; {program} {command}; echo $? >code; }} | true"
    ended = subprocess.run(
        script, shell=True, cwd=lone.parent, check=True, timeout=TIMEOUT_S, capture_output=True
    )
    assert (lone.parent / "code").read_text() == "141\n"
    assert ended.stderr == b""

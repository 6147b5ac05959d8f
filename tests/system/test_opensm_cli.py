"""`gingham opensm` as a command, with the real programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric
from tests.conftest import TIMEOUT_S, Finished, wait_until
from tests.fragments import SECOND_PORT, with_aggregation
from tests.refusals import require_error
from tests.system.support import made, nothing_is_left, processes, require_opensm

Command = Callable[..., Finished]
PNG = b"\x89PNG\r\n\x1a\n"

# Two roots at equal ranks and a switch below both leaves, whose paths lead down and up again:
# up*/down* with these roots has no route between the hosts, nor to the subnet manager.
LOST_PAIR = """\
Switch 4 "r1"
[1] "l1"[3]

Switch 4 "l1"
[1] "h1"[1]
[3] "r1"[1]
[4] "m"[1]

Switch 4 "m"
[1] "l1"[4]
[2] "l2"[4]

Switch 4 "l2"
[1] "h2"[1]
[3] "r2"[1]
[4] "m"[2]

Switch 4 "r2"
[1] "l2"[3]

Hca 1 "h1"
[1] "l1"[1]

Hca 1 "h2"
[1] "l2"[1]
"""
# Two parts without a cable between them.
ISLANDS = """\
Switch 4 "sw1"
[1] "h1"[1]
[2] "h2"[1]

Switch 4 "sw2"
[1] "h3"[1]
[2] "h4"[1]

Hca 1 "h1"
[1] "sw1"[1]

Hca 1 "h2"
[1] "sw1"[2]

Hca 1 "h3"
[1] "sw2"[1]

Hca 1 "h4"
[1] "sw2"[2]
"""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder for the runs of a test; afterwards it must be empty, and no program may run."""
    require_opensm()
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    nothing_is_left(folder)


@pytest.fixture(autouse=True)
def hang_ups_are_heard() -> Iterator[None]:
    """Restore the default of SIGHUP, which `nohup` ignores, also for child processes."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def torus(tmp_path: Path) -> Path:
    made("torus").save(tmp_path / "torus.toml")
    return tmp_path / "torus.toml"


def rows(answer: Any) -> dict[str, Any]:
    return {f"{row['by']} {row['engine']}": row for row in answer}


def test_engines_stand_side_by_side(gingham: Command, torus: Path) -> None:
    told = gingham("opensm", "compare", torus, "--engines", "minhop,updn,torus-2QoS", "--json")
    assert told.code == 0, told
    answer = json.loads(told.out)
    found = rows(answer["rows"])
    assert list(found) == [
        "opensm minhop",
        "opensm updn",
        "opensm torus-2QoS",
        "gingham up-down",
        "gingham shortest-path",
        "gingham dimension-order",
    ]
    assert [row["ran"] for row in found.values()][:3] == ["minhop", "minhop", "torus-2QoS"]
    assert "no root nodes were found" in found["opensm updn"]["words"][0]
    free = {name for name, row in found.items() if row["facts"]["deadlock_free"]}
    assert free == {"opensm torus-2QoS", "gingham up-down"}
    for row in found.values():
        facts = row["facts"]
        assert facts["host_pairs"] == 16 * 15
        assert facts["lost_pairs"] == 0
        # Distances of a 4 x 4 torus: 2 x (4/4) links on average over all pairs, including a switch
        # with itself. That is 32 links to 15 other switches, and one switch more than links.
        assert facts["mean_switches"] == pytest.approx(32 / 15 + 1)
        assert 0 < facts["bisection"]["bandwidth"] <= 1
    # Dimension order loads all links of a row alike: 16 x 32 links over 64.
    assert found["gingham dimension-order"]["facts"]["mean_channel_paths"] == pytest.approx(8)


def test_the_table_tells_what_ran_and_why(gingham: Command, torus: Path) -> None:
    told = gingham("opensm", "compare", torus, "--engines", "updn,lash")
    assert told.code == 0, told
    lines = told.out.splitlines()
    lash = next(line.split() for line in lines if line.split()[:1] == ["lash"])
    assert lash[:4] == ["lash", "lash", "3.133", "2"]
    assert lash[-1] == "free"
    assert any(line.startswith("updn was replaced by minhop: ") for line in lines)


def test_roots_are_for_updn_and_for_ours(gingham: Command, torus: Path) -> None:
    (torus.parent / "roots").write_text("s1-1\n")
    arguments = ["--engines", "updn", "--roots", "roots", "--json"]
    told = gingham("opensm", "compare", torus, *arguments)
    found = rows(json.loads(told.out)["rows"])
    theirs, ours = found["opensm updn"], found["gingham up-down"]
    assert theirs["ran"] == "updn"
    assert theirs["facts"]["deadlock_free"]
    assert theirs["facts"]["mean_switches"] == ours["facts"]["mean_switches"]


def test_pairs_that_an_engine_loses_are_a_number_and_no_error(
    gingham: Command, tmp_path: Path
) -> None:
    (tmp_path / "lost.ibsim").write_text(LOST_PAIR)
    (tmp_path / "roots").write_text("r1\nr2\n")
    command = ("opensm", "compare", "lost.ibsim", "--engines", "updn,lash", "--roots", "roots")
    told = gingham(*command, "--json")
    assert told.code == 0, told
    found = rows(json.loads(told.out)["rows"])
    updn, lash = found["opensm updn"], found["opensm lash"]
    assert (updn["ran"], updn["facts"]["host_pairs"], updn["facts"]["lost_pairs"]) == ("updn", 2, 2)
    assert sorted(updn["facts"]["lost_examples"]) == [["h1", "h2"], ["h2", "h1"]]
    assert (lash["facts"]["lost_pairs"], lash["facts"]["lost_examples"]) == (0, [])
    shown = " ".join(gingham(*command).out.split())
    assert "updn: ran and loses 2 pairs of hosts, such as h1 to h2" in shown


def test_a_folder_holds_picture_numbers_and_files_for_the_check(
    gingham: Command, torus: Path
) -> None:
    told = gingham("opensm", "compare", torus, "--engines", "lash,minhop", "-o", "kept")
    assert told.code == 0, told
    folder = torus.parent / "kept"
    assert (folder / "comparison.png").read_bytes().startswith(PNG)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert rows(manifest["rows"])["opensm lash"]["facts"]["lanes"] == [0, 1]
    files = ["--lfts", "kept/lash.lfts", "--sl2vl", "kept/lash.sl2vl", "--sl", "kept/lash.sl.csv"]
    assert gingham("route", "check", "kept/lash.ibnetdiscover", *files).code == 0
    # One engine has the same tables on one lane; then the other engines.
    assert gingham("route", "check", "kept/lash.ibnetdiscover", *files[:2]).code == 3
    files = ["--lfts", "kept/minhop.lfts", "--sl2vl", "kept/minhop.sl2vl"]
    assert gingham("route", "check", "kept/minhop.ibnetdiscover", *files).code == 3


def test_what_is_broken_is_routed_again(gingham: Command, torus: Path) -> None:
    arguments = ["--engines", "lash,torus-2QoS", "--break", 2, "--seed", 5, "-o", "kept", "--json"]
    told = gingham("opensm", "compare", torus, *arguments)
    assert told.code == 0, told
    answer = json.loads(told.out)
    assert len(answer["gone"]) == 2
    before, after = rows(answer["rows"]), rows(answer["rows_without"])
    # Dimension order needs a whole grid; lash and torus-2QoS route around faults.
    assert set(before) - set(after) == {"gingham dimension-order"}
    lash = after["opensm lash"]["facts"]
    assert (lash["deadlock_free"], lash["lost_pairs"]) == (True, 0)
    assert lash["mean_switches"] > before["opensm lash"]["facts"]["mean_switches"]
    assert (torus.parent / "kept" / "lash-broken.lfts").exists()


def test_a_switch_that_breaks_takes_its_hosts_along(gingham: Command, torus: Path) -> None:
    arguments = ["--engines", "nue", "--break", 1, "--what", "switches", "--json"]
    after = rows(json.loads(gingham("opensm", "compare", torus, *arguments).out)["rows_without"])
    for row in after.values():
        # One of 16 hosts is isolated: it reaches none of the other 15, and none reaches it.
        assert row["facts"]["lost_pairs"] == 2 * 15
        assert row["facts"]["unreachable_pairs"] == 0


def test_a_misspelled_setting_is_refused_before_anything_runs(
    gingham: Command, torus: Path, tmp_path: Path
) -> None:
    arguments = ("--engines", "nue", "--set", "nue_max_num_vl=8", "-o", "compared", "--json")
    refused = gingham("opensm", "compare", torus, *arguments)
    told = json.loads(refused.err)
    assert (refused.code, told["key"], told["nearest"]) == (2, "--set", "nue_max_num_vls")
    assert not (tmp_path / "compared").exists()


def test_every_single_failure_is_ranked_and_engines_asked_for_the_worst(
    gingham: Command, tmp_path: Path
) -> None:
    made("clos").save(tmp_path / "clos.ibnetdiscover")
    tables = ("--form", "table", "-o", "now.lfts")
    routed = gingham("route", "clos.ibnetdiscover", "--algorithm", "up-down", *tables)
    assert routed.code == 0, routed
    (tmp_path / "roots").write_text("spine0\nspine1\n")
    told = gingham(
        *("opensm", "compare", "clos.ibnetdiscover", "--engines", "updn,minhop"),
        *("--roots", "roots", "--each", "spine", "--lfts", "now.lfts", "--json"),
    )
    assert told.code == 0, told
    answer = json.loads(told.out)
    # Two engines, whole and without each of two spines.
    announced = json.loads(told.err.splitlines()[0])
    assert (announced["runs"], announced["failures"]) == (2 * 3, 2)
    now = rows(answer["rows"])["tables tables"]["facts"]
    assert (
        now["max_channel_paths"]
        == rows(answer["rows"])["gingham up-down"]["facts"]["max_channel_paths"]
    )
    # Four hosts share the one uplink that is left, and a spine carries half of a leaf's traffic.
    assert [failure["bound"] for failure in answer["failures"]] == [pytest.approx(15 / 48)] * 2
    assert sum(failure["cut_pairs"] for failure in answer["failures"]) == 16 * 12
    for worst in answer["worst"]:
        after = rows(worst["rows"])["opensm updn"]
        assert (after["ran"], after["facts"]["lost_pairs"]) == ("updn", 0)
        assert after["facts"]["all_to_all"]["load"] == pytest.approx(15 / 48)
    assert (answer["choice"]["engine"], answer["choice"]["stays_safe"]) == ("updn", True)
    assert set(answer["programs"]) == {"opensm", "ibsim", "ibnetdiscover"}
    assert all(answer["programs"].values())


def test_of_several_parts_one_is_compared(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "islands.ibsim").write_text(ISLANDS)
    told = gingham("opensm", "compare", "islands.ibsim", "--engines", "minhop,updn", "--json")
    assert told.code == 0, told
    answer = json.loads(told.out)
    for row in answer["rows"]:
        facts = row["facts"]
        assert (facts["host_pairs"], facts["lost_pairs"]) == (2, 0)
        assert facts["all_to_all"]["load"] == 1
    assert answer["choice"]["engine"] == "updn"
    assert any("2 of 4 hosts" in sentence for sentence in answer["advice"])


def test_a_root_that_is_gone_is_left_out_after_the_failure(
    gingham: Command, tmp_path: Path
) -> None:
    made("clos").save(tmp_path / "clos.toml")
    (tmp_path / "roots").write_text("spine0\nspine1\n")
    command = ("opensm", "compare", "clos.toml", "--engines", "updn", "--roots", "roots")
    told = gingham(*command, "--without", "spine0", "--json")
    assert told.code == 0, told
    after = rows(json.loads(told.out)["rows_without"])
    assert after["opensm updn"]["ran"] == "updn"
    assert after["gingham up-down"]["facts"]["lost_pairs"] == 0


def test_what_is_named_is_gone_the_second_time(gingham: Command, torus: Path) -> None:
    command = ("opensm", "compare", torus, "--engines", "lash", "--without", "s1-1", "--json")
    told = gingham(*command)
    assert told.code == 0, told
    answer = json.loads(told.out)
    assert answer["gone"] == ["s1-1"]
    assert rows(answer["rows_without"])["opensm lash"]["facts"]["lost_pairs"] == 2 * 15
    # One engine, with and without the node; printed before the first run.
    assert json.loads(told.err.splitlines()[0]) == {"runs": 2, "seconds_max": 120.0}
    require_error(gingham(*command, "--break", 1), "bad-option", key="--break")
    require_error(gingham(*command[:-2], "s9-9", "--json"), "unknown-node", key="s9-9")


def test_hosts_that_are_all_called_the_same_are_told_apart(
    gingham: Command, tmp_path: Path
) -> None:
    # Descriptions that cannot serve as names: all equal, and longer than the simulator's limit.
    alike = f'[[host]]\ndescription = "{"node " * 12}"'
    (tmp_path / "clos.toml").write_text(made("clos").text("toml")[0].replace("[[host]]", alike))
    assert Fabric.load(tmp_path / "clos.toml").info()["nodes"]["host"] == 16
    told = gingham("opensm", "compare", "clos.toml", "--engines", "ftree", "--json")
    assert told.code == 0, told
    row = json.loads(told.out)["rows"][0]
    assert (row["ran"], row["facts"]["host_pairs"]) == ("ftree", 240)


def test_a_job_is_asked_of_engines(gingham: Command, tmp_path: Path) -> None:
    Fabric.make("rail-optimised", units=2, nodes_per_unit=4, rails=2, radix=8, speed="4xNDR").save(
        tmp_path / "pod.ibnetdiscover"
    )
    job = ("job", "pod.ibnetdiscover", "--nodes", "random:8:3", "--pattern", "ring", "--json")
    told = gingham(*job, "--engine", "minhop")
    assert told.code == 0, told
    answer = json.loads(told.out)
    assert (answer["routing"], len(answer["nodes"]), answer["rails"]) == (
        "opensm minhop",
        8,
        [0, 1],
    )
    # The engine's own tables, kept by a comparison, give the result of the engine.
    kept = gingham("opensm", "compare", "pod.ibnetdiscover", "--engines", "minhop", "-o", "kept")
    assert kept.code == 0, kept
    tables = gingham(
        *("job", "kept/minhop.ibnetdiscover", "--lfts", "kept/minhop.lfts", *job[2:]),
    )
    assert tables.code == 0, tables
    assert json.loads(tables.out)["bounds"] == answer["bounds"]
    both = gingham(*job, "--compare", "--engine", "minhop", "--engine", "ftree")
    assert both.code == 0, both
    orders = json.loads(both.out)["orders"]
    assert {order["routing"] for order in orders} == {"opensm minhop", "opensm ftree"}
    refused = gingham(*job, "--engine", "minhop", "--engine", "ftree")
    unknown = gingham(*job, "--engine", "minhopp")
    assert (refused.code, unknown.code) == (2, 2)
    assert json.loads(unknown.err)["key"] == "--engine"


def test_ftree_needs_to_know_which_nodes_compute(gingham: Command, tmp_path: Path) -> None:
    with_aggregation(tmp_path / "tree.toml")
    (tmp_path / "roots").write_text("spine0\nspine1\n")
    command = ("opensm", "compare", "tree.toml", "--engines", "ftree", "--roots", "roots")
    told = gingham(*command)
    assert told.code == 0, told
    assert "ftree was replaced by minhop" in told.out
    assert "--compute-nodes hosts leaves them out" in " ".join(told.out.split())
    mended = json.loads(gingham(*command, "--compute-nodes", "hosts", "--json").out)
    assert (mended["rows"][0]["ran"], mended["compute_nodes"]) == ("ftree", "hosts")
    # Two hosts of a leaf have two cables up, and routes for them that never meet.
    assert mended["choice"]["engine"] == "ftree"
    assert mended["rows"][0]["facts"]["bisection"]["bandwidth"] == 1


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["--engines", "minhop,lahs"], {"code": "bad-option", "key": "--engines"}),
        (["--roots", "rotos"], {"code": "file-unreadable", "file": "rotos"}),
        (["--set", "nue_max_num_vls"], {"code": "bad-option", "key": "--set"}),
        (["--break", "99"], {"code": "too-many", "key": "cables"}),
        (["--each", "spine"], {"code": "no-data", "key": "each"}),
        (["--each", "cable", "--break", "1"], {"code": "bad-option", "key": "--break"}),
        (["--lfts", "missing.lfts"], {"code": "file-unreadable", "file": "missing.lfts"}),
        (["--torus", "missing.conf"], {"code": "file-unreadable", "file": "missing.conf"}),
        (["-o", "torus.toml"], {"code": "exists", "file": "torus.toml"}),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_started(
    gingham: Command, torus: Path, arguments: list[str], facts: dict[str, Any]
) -> None:
    refused = gingham("opensm", "compare", torus.name, *arguments, "--json")
    require_error(refused, **facts)
    assert refused.out == ""


def test_an_opensm_that_fails_is_one_message_in_its_words(
    gingham: Command, torus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(torus.parent, "opensm", "echo 'cannot bind' >&2; exit 3", monkeypatch)
    failed = gingham("opensm", "compare", torus.name, "--engines", "minhop,lash")
    assert (failed.code, failed.out) == (6, "")
    said, message = failed.err.split("\n", 1)
    assert said.startswith("gingham: 2 runs of OpenSM, each of at most 120 s")
    assert message == "gingham: opensm: ended with code 3\n  cannot bind\n"


def test_hosts_may_be_cabled_at_their_second_port(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "second.toml").write_text(SECOND_PORT)
    told = gingham("opensm", "compare", "second.toml", "--engines", "minhop,lash", "--json")
    assert told.code == 0, told.err
    for row in json.loads(told.out)["rows"]:
        facts = row["facts"]
        assert (facts["host_pairs"], facts["lost_pairs"], facts["faults"]) == (6, 0, [])


def test_an_engine_that_hangs_costs_no_other(
    gingham: Command, torus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'case "$*" in *lash*) exec sleep 600;; *) exec /usr/sbin/opensm "$@";; esac'
    put(torus.parent, "opensm", script, monkeypatch)
    told = gingham("opensm", "compare", torus.name, "--engines", "lash,minhop", "--timeout", 5)
    assert told.code == 6
    assert "lash failed: opensm: the subnet was not up in time" in told.out
    minhop = next(line for line in told.out.splitlines() if line.strip().startswith("minhop"))
    assert minhop.split()[:3] == ["minhop", "minhop", "3.133"]


def put(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace a real program by a script, found first in the search path."""
    (folder / "bin").mkdir()
    (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")


@pytest.mark.parametrize(
    "signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
)
@pytest.mark.parametrize("moment", ["ibsim", "opensm", "python"])
def test_an_interrupt_at_any_moment_leaves_nothing_behind(
    signal_number: signal.Signals, moment: str, torus: Path, scratch: Path
) -> None:
    program = str(Path(sys.executable).parent / "gingham")
    command = [program, "opensm", "compare", torus.name, "--engines", "dfsssp,nue", "-o", "kept"]
    running = subprocess.Popen(
        command,
        cwd=torus.parent,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: is_running(moment, scratch) or running.poll() is not None)
        running.send_signal(signal_number)
        out, err = running.communicate(timeout=TIMEOUT_S)
    finally:
        running.kill()
        running.wait()
    if signal_number is signal.SIGKILL:
        # After SIGKILL the files are left, but all started programs end.
        wait_until(lambda: not processes(scratch))
        for folder in scratch.iterdir():
            for file in sorted(folder.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            folder.rmdir()
        return
    assert running.returncode == 130, (out, err)
    assert "Traceback" not in err
    nothing_is_left(scratch)
    names = {path.name for path in torus.parent.iterdir()}
    assert names == {"torus.toml", "scratch"}


def is_running(name: str, scratch: Path) -> bool:
    """Return whether a program is running; `python` is the client of the administrator."""
    return any(process.startswith(name) for process in processes(scratch).values())

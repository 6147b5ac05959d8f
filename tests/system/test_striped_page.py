"""The tutorial page of the striping daemon: its laboratory works as printed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import SEARCH, TIMEOUT_S
from tests import pages
from tests.conftest import require_programs
from tests.system.bundles import built, told
from tests.system.programs import ROOT
from tests.system.test_linkemu import require_root

NAME = "docs/how-to/striping-daemon.md"
# Waits for the daemons, as a reader of their output would.
READY = "until ip -n left link show bundle0 && ip -n right link show bundle1; do sleep 0.1; done\n"
# Clean-up by a reader after a failed command.
CLEAR = "trap 'kill $(jobs -p); wait; ip netns delete left; ip netns delete right' ERR\n"


def laboratory() -> list[pages.Block]:
    page = pages.read(NAME, (ROOT / NAME).read_text())
    return [block for block in page.blocks if Path(__file__).name in block.marks.get("skip", "")]


def script(folder: Path) -> str:
    """Return the commands of the page as a script, and write its files."""
    lines = "set -eE\n" + CLEAR
    for block in laboratory():
        if block.file:
            (folder / block.file).write_text(block.text)
        else:
            # Each daemon prints to its own file, because lines of two in one pipe may be mixed.
            text = re.sub(r"(striped up (\w+)\.toml) &", r"\1 >\2.out &", block.text)
            lines += text + (READY if "striped up" in text else "")
    # Names of namespaces are made unique, because other tests may use the same.
    return re.sub(r"\b(left|right)\b(?!\.(?:toml|out))", rf"gingham-{os.getpid()}-\1", lines)


def events(printed: str) -> list[dict[str, Any]]:
    return [told(line) for line in printed.splitlines() if line.startswith('{"event"')]


def test_the_laboratory_of_the_page_carries_over_both_links(tmp_path: Path) -> None:
    require_programs("ip", "iperf3", "ping", "tc")
    require_root()
    environment = {
        **os.environ,
        "PATH": f"{built().parent}:{SEARCH}",
        # Other daemons may run on this machine.
        "RUNTIME_DIRECTORY": str(tmp_path / "run"),
    }
    done = subprocess.run(
        ["bash", "-c", script(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = "".join((tmp_path / f"{end}.out").read_text() for end in ("left", "right"))
    ready, ended = (
        [event for event in events(printed) if event["event"] == kind] for kind in ("ready", "end")
    )
    assert len(ready) == 2, printed
    # The rate depends on the machine; both links carried packets, and none was given up.
    for end in ended:
        assert all(channel["came"] > 500 for channel in end["channels"]), end
        assert end["given_up"] == 0, end
    assert len(ended) == 2, printed
    assert re.search(r"[1-9].* Mbits/sec +receiver", done.stdout), done.stdout
    names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    assert f"gingham-{os.getpid()}-" not in names


def test_the_page_bonds_two_links_in_five_commands() -> None:
    text = (ROOT / NAME).read_text()
    five = text.partition("## Five commands")[2].partition("Take one link down")[0]
    commands = [
        line
        for block in re.findall(r"```sh\n(.*?)```", five, re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(commands) == 5


@pytest.mark.parametrize("end", ["left", "right"])
def test_the_page_has_a_file_an_end(end: str) -> None:
    assert [block.file for block in laboratory()].count(f"{end}.toml") == 1

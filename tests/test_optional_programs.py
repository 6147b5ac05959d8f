"""Programs that tests start: declared, skipped with the install line, or refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TIMEOUT_S, require_programs
from tests.optional_programs import BASE, PACKAGES, ROOT, SEARCH_VARIABLE
from tests.started_programs import started

KNOWN = {*BASE, *PACKAGES, "tcpdump"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ping", "-c", "1", "ip"], ["ping"]),
        (["ip", "-n", "left", "link", "show", "tc"], ["ip"]),
        (["ip", "netns", "exec", "left", "ping", "10.0.0.1"], ["ip", "ping"]),
        (["/sbin/ip", "netns", "exec", "ping", "tcpdump"], ["/sbin/ip", "tcpdump"]),
        (["nice", "-n", "5", "env", "A=ip", "nft", "tc"], ["nice", "env", "nft"]),
        (["setpriv", "--inh-caps", "-net_raw", "--", "sysctl"], ["setpriv", "sysctl"]),
        (["capsh", "--drop=a", "--", "-c", 'exec "$@"', "sh", "ss"], ["capsh", "ss"]),
        (["sh", "-c", "cd /; exec tc -s qdisc"], ["sh", "tc"]),
        (["bash", "-o", "pipefail", "-c", "cat a | nft -f - >ip"], ["bash", "cat", "nft"]),
        (["sh", "-c", "mount /x && exec", "sh", "ip", "link"], ["sh", "mount", "ip"]),
        (["sh", "-c", "# ping\nA=1 tcpdump 2>&1 # ss\n(ip rule)"], ["sh", "tcpdump", "ip"]),
        (["sh", "-c", "for a in 0 1; do tc $((10 * a)) ip $a; done"], ["sh", "tc"]),
        (["sh", "-c", 'if ss; then echo "$(ip)"; fi; x=$(tc)'], ["sh", "ss", "tc"]),
    ],
)
def test_programs_of_a_command_are_found(words: list[str], expected: list[str]) -> None:
    found = list(started(words, lambda word: word.rpartition("/")[2] in KNOWN))
    assert found == expected


@pytest.mark.parametrize(
    ("command", "program"),
    [
        (["iperf3", "--version"], "iperf3"),
        (["/usr/bin/iperf3", "--version"], "iperf3"),
        (["env", "A=1", "iperf3", "--version"], "iperf3"),
        (["sh", "-c", "true && iperf3 --version"], "iperf3"),
        (["tcpdump", "--version"], "tcpdump"),
    ],
)
def test_an_undeclared_program_is_refused(command: list[str], program: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=rf'require_programs\("{program}"\)'):
        subprocess.run(command, capture_output=True, check=False)
    with pytest.raises(pytest.fail.Exception, match=program):
        os.posix_spawnp(command[0], command, os.environ)


def test_programs_of_every_machine_and_of_the_test_itself_need_no_declaration(
    tmp_path: Path,
) -> None:
    own = tmp_path / "ping"
    own.write_text("#!/bin/sh\necho its own\n")
    own.chmod(0o755)
    place = str(own)
    for command in ([place], ["env", f"PATH={tmp_path}", place], ["sh", "-c", "echo its own"]):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == "its own\n"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["ping"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "its own\n"
    subprocess.run([sys.executable, "-c", ""], check=True)


def test_a_declaration_names_a_program_of_the_table() -> None:
    with pytest.raises(AssertionError, match="tcpdump"):
        require_programs("tcpdump")


INNER = """
import subprocess
import pytest
from tests.conftest import require_programs

@pytest.fixture(scope="module")
def of_module():
    require_programs("made-a")

@pytest.fixture(scope="session")
def of_session():
    with pytest.raises(AssertionError, match="scope of a module"):
        require_programs("made-b")

@pytest.fixture
def of_test():
    require_programs("made-b")

def test_1_declares_and_starts(of_test):
    assert subprocess.run(["made-b"]).returncode == 0

def test_2_does_not_inherit_it(of_session):
    subprocess.run(["made-b"])

def test_3_declares_for_the_module(of_module):
    assert subprocess.run(["made-a"]).returncode == 0

def test_4_uses_what_the_module_declared(of_module):
    assert subprocess.run(["made-a"]).returncode == 0

def test_5_asks_for_what_is_missing():
    require_programs("made-c", "made-a")
"""
# The inner run has its own table, so that no program has to be installed.
PLUGIN = """
from tests import optional_programs
optional_programs.PACKAGES.clear()
optional_programs.PACKAGES.update({"made-a": "x-made", "made-b": "y-made", "made-c": "z-made"})
from tests.conftest import pytest_configure
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_the_summary_counts_skips_and_has_one_command_that_installs_everything(
    tmp_path: Path, workers: int
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("made-a", "made-b"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    inner = tmp_path / "tests-inside"
    inner.mkdir()
    (inner / "conftest.py").write_text(PLUGIN)
    (inner / "test_inner.py").write_text(INNER)
    (inner / "pytest.ini").write_text("[pytest]\n")
    # `made-a` must count as undeclared, so pytest gets another temporary folder than that of the
    # scripts.
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{programs}:{os.environ['PATH']}",
        SEARCH_VARIABLE: str(programs),
        "TMPDIR": str(inner),
    }
    environment.pop("GINGHAM_REQUIRE_SYSTEM_TESTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", str(workers)]
    done = subprocess.run(
        command,
        cwd=inner,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.stdout.count("1 failed, 3 passed, 1 skipped") == 1, done.stdout
    assert "FAILED test_inner.py::test_2_does_not_inherit_it" in done.stdout
    assert "made-b (y-made) is started but not declared" in done.stdout
    line = "1 test skipped for missing programs; to run all: apt-get install z-made"
    assert line in done.stdout.splitlines()

"""Fixtures and helpers shared by the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

from tests.optional_programs import GUARD, SEARCH, require_programs

__all__ = ["SEARCH", "TIMEOUT_S", "Finished", "require_programs", "wait_until"]

# Far longer than any command takes, even on a busy machine; a test that reaches it has hung.
TIMEOUT_S = 600

# No deadline per example, because the machine may be busy.
settings.register_profile("house", deadline=None)
settings.load_profile("house")

# pytest loads readline, which sets the width of a terminal in the environment of child processes,
# unseen by `os.environ`.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
    os.unsetenv(name)


# Tests that run programs over shaped lines, and are idle most of the time.
OVER_LINES = ("tests/system/test_linkemu", "tests/system/test_stripe")
# Number of them at once, limited so that two cores sustain their rates.
OVER_LINES_AT_ONCE = 2


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that refuses programs without a declaration."""
    config.pluginmanager.register(GUARD, "optional-programs")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Reserve workers for tests over lines, if there are enough workers.

    (pytest-xdist 3.8 has groups for this, which pytest 9.2 ignores.)
    """
    from xdist.scheduler import LoadScopeScheduling

    def worker_of(test: str) -> str:
        if not test.startswith(OVER_LINES):
            return test
        return f"over lines {crc32(test.encode()) % OVER_LINES_AT_ONCE}"

    if (config.getoption("numprocesses") or 0) <= OVER_LINES_AT_ONCE:
        return None
    scheduler = LoadScopeScheduling(config, log)
    # Tests of one scope are given to one worker.
    scheduler._split_scope = worker_of
    return scheduler


@dataclass(frozen=True)
class Finished:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def gingham(tmp_path: Path) -> Callable[..., Finished]:
    """A function that runs the installed command line in an empty folder."""

    def run(*arguments: object, stdin: str = "") -> Finished:
        command = [str(Path(sys.executable).parent / "gingham"), *map(str, arguments)]
        finished = subprocess.run(
            command,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert "Traceback" not in finished.stderr, finished.stderr
        return Finished(finished.returncode, finished.stdout, finished.stderr)

    return run


def wait_until(holds: Callable[[], object], what: str = "it never came to pass") -> None:
    """Wait for a condition, up to `TIMEOUT_S`; `what` is the message of the failure."""
    end = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)

"""Optional programs of tests: declaration, skips, and refusal of undeclared ones.

`optional_programs.toml` lists each optional program with its Debian package. A test declares the
programs that it starts:

    require_programs("ip", "ping")      skips here, with the install line, if one is missing

A helper or fixture may declare them for its callers. A declaration in a fixture lasts as long as
the fixture: a module-scoped one covers the module. Starting any other program fails the test, even
if it is installed. Exceptions are the programs of `base` in the table, those
the project's folder, and scripts that a test wrote into a temporary folder.

The check is an audit hook (PEP 578) on `subprocess`, `os.exec*`, `os.posix_spawn` and `os.system`
of the test process. Programs started by a wrapper are found in its arguments
(`tests/started_programs.py`). The hook does not see programs that child processes start;
`tests/without_programs.py` therefore runs the tests without any optional program.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.started_programs import started

ROOT = Path(__file__).parent.parent
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BASE = frozenset(TABLE["base"])
PACKAGES: dict[str, str] = TABLE["tests"]

# Directories of system administration are not on every user's path. `SEARCH_VARIABLE` replaces the
# whole search path.
SEARCH_VARIABLE = "GINGHAM_TEST_SEARCH"
SEARCH = os.environ.get(SEARCH_VARIABLE, f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
REQUIRE_VARIABLE = "GINGHAM_REQUIRE_SYSTEM_TESTS"
# Text in the reason of each skip for a missing program; the summary counts skips by it.
INSTALL = "missing; to run this test: apt-get install"

# The project, and the virtual environment of the tests, wherever it is.
OURS = (ROOT, *([Path(sys.prefix)] if sys.prefix != sys.base_prefix else []))

DECLARED = pytest.StashKey[set[str]]()


def missing_programs(programs: Iterable[str]) -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in programs if shutil.which(name, path=SEARCH) is None]


def packages_of(programs: Iterable[str]) -> str:
    """Return the Debian packages of optional programs, sorted, as arguments of `apt-get`."""
    return " ".join(sorted({PACKAGES[name] for name in programs}))


def require_programs(*programs: str) -> None:
    """Declare optional programs of the running test or fixture; skip if one is missing.

    With GINGHAM_REQUIRE_SYSTEM_TESTS=1 a missing program fails the test. Outside pytest it ends
    the process with the install line.
    """
    unknown = [name for name in programs if name not in PACKAGES]
    assert not unknown, f"{unknown}: not in [tests] of tests/optional_programs.toml"
    GUARD.declare(programs)
    missing = missing_programs(programs)
    if not missing:
        return
    message = f"{', '.join(missing)} {INSTALL} {packages_of(missing)}"
    if not GUARD.is_active:
        raise SystemExit(message)
    if os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail(message)
    pytest.skip(message)


class Guard:
    """The pytest plugin that refuses undeclared programs and summarises skips."""

    def __init__(self) -> None:
        """Start without a running test: everything is allowed until one begins."""
        # The running test, then the scope of each fixture that is being set up.
        self._nodes: list[pytest.Item | pytest.Collector] = []
        self._temporary = [Path(tempfile.gettempdir())]

    @property
    def is_active(self) -> bool:
        """Whether a test is running."""
        return bool(self._nodes)

    def declare(self, programs: Iterable[str]) -> None:
        """Allow programs for the running test, or for the scope of the fixture being set up."""
        if self._nodes:
            node = self._nodes[-1]
            # A wider scope would allow them in tests that have nothing to do with the fixture.
            assert not isinstance(node, pytest.Session | pytest.Dir), (
                "a fixture that declares programs has at most the scope of a module"
            )
            node.stash.setdefault(DECLARED, set()).update(programs)

    def declared(self) -> set[str]:
        """Return the programs that the running test and the scopes around it have declared."""
        nodes = self._nodes[0].listchain() if self._nodes else []
        return set().union(*(node.stash.get(DECLARED, set()) for node in nodes))

    def check(
        self,
        words: Sequence[str],
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Fail the running test if a command starts a program that it has not declared."""
        if not self._nodes:
            return
        path = (os.environ if environment is None else environment).get("PATH", os.defpath)

        def is_program(word: str) -> bool:
            return word.rpartition("/")[2] in PACKAGES or bool(shutil.which(word, path=path))

        allowed = BASE | self.declared()
        for program in started(words, is_program):
            name = program.rpartition("/")[2]
            if name not in allowed and not self._is_ours(program, folder, path):
                pytest.fail(refusal(name, words))

    def _is_ours(self, program: str, folder: str | None, path: str) -> bool:
        """Whether a program is part of the project or its environment, or was made by a test."""
        found = program if "/" in program else shutil.which(program, path=path)
        if found is None:
            return False
        # Links are not followed: `.venv/bin/python` leads out of the project.
        place = Path(os.path.normpath(Path(folder or Path.cwd(), found)))
        return any(place.is_relative_to(one) for one in [*OURS, *self._temporary])

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Record the location of the temporary folders of tests."""
        chosen = session.config.getoption("basetemp", None)
        if chosen is not None:
            self._temporary.append(Path(chosen).resolve())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Keep the check active from the set-up of a test to the end of its teardown."""
        self._nodes.append(item)
        try:
            return (yield)
        finally:
            self._nodes.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """Give declarations in a fixture the scope of the fixture."""
        self._nodes.append(request.node)
        try:
            return (yield)
        finally:
            self._nodes.pop()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Report the tests skipped for missing programs, and the command that installs them all."""
        skipped = terminalreporter.stats.get("skipped", [])
        count = sum(INSTALL in str(report.longrepr) for report in skipped)
        if count:
            # All programs of the tests: a test skips at the first one that is missing.
            packages = packages_of(missing_programs(PACKAGES))
            tests = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.write_sep("=", "missing programs")
            terminalreporter.write_line(
                f"{tests} skipped for missing programs; to run all: apt-get install {packages}"
            )


def refusal(name: str, words: Sequence[str]) -> str:
    """Return the reason for refusing a program, and the way to declare it."""
    command = " ".join(words)
    if name in PACKAGES:
        return (
            f"{name} ({PACKAGES[name]}) is started but not declared: {command}\n"
            f'  call require_programs("{name}") of tests.conftest before'
        )
    return (
        f"{name} is started but not known to the tests: {command}\n"
        "  add it to tests/optional_programs.toml with its Debian package, and call "
        f'require_programs("{name}") of tests.conftest before'
    )


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Check each program that this process is about to start (PEP 578)."""
    if event == "subprocess.Popen":
        program, words, folder, environment = arguments
        GUARD.check(*command_of(program, words), text(folder), texts(environment))
    elif event in {"os.exec", "os.posix_spawn"}:
        program, words, environment = arguments
        GUARD.check(*command_of(program, words), None, texts(environment))
    elif event == "os.system":
        GUARD.check(["sh", "-c", os.fsdecode(arguments[0])])


def command_of(program: Any, words: Any) -> tuple[list[str]]:
    """Return a command as words, beginning with the program."""
    first, *rest = [words] if isinstance(words, str | bytes) else list(words)
    return ([os.fsdecode(program or first), *map(os.fsdecode, rest)],)


def text(value: Any) -> str | None:
    """Return a path as text, if there is one."""
    return None if value is None else os.fsdecode(value)


def texts(environment: Any) -> dict[str, str] | None:
    """Return an environment as text, if one is given."""
    if environment is None:
        return None
    return {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}


GUARD = Guard()
sys.addaudithook(audit)

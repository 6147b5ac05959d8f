"""Fixtures shared by tests of the daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import require_programs
from tests.system.bundles import built
from tests.system.pipes import Line, Programs, network
from tests.system.test_linkemu import require_root

LINES = [Line(10), Line(20)]


@pytest.fixture(scope="module")
def program() -> Path:
    """Build the daemon, or skip the test if it cannot run here."""
    require_programs("ip", "tc")
    require_root()
    return built()


@pytest.fixture
def names(program: Path) -> Iterator[dict[str, str]]:
    """Join both namespaces by two lines without emulators."""
    with network(Programs(program, program), LINES) as (names, _):
        yield names

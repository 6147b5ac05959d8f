"""Configurations in pages and the package: the daemon accepts each on a machine as described."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gingham.studies._namespaces import TIMEOUT_S, ip
from tests.conftest import require_programs
from tests.system.bundles import KEYS, built, key_file
from tests.system.programs import ROOT
from tests.system.test_linkemu import require_root

PAGES = [f"docs/how-to/striping-{page}.md" for page in ("home", "site")]
EXAMPLES = ["office", "server"]
# Interfaces and addresses of the machines in the pages; each has a route to the server.
LINKS = {
    "eth0": ["198.51.100.1/24", "192.0.2.7/24"],
    "eth1": ["203.0.113.9/24"],
    "ppp0": ["192.0.2.8/24"],
    "wwan0": ["203.0.113.10/24"],
}


def files() -> list[str]:
    """Return every configuration in the pages and the examples."""
    shown = [
        block
        for page in PAGES
        for block in re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    ]
    examples = ROOT / "crates/stripe/striped/dist/examples"
    return shown + [(examples / f"{name}.toml").read_text() for name in EXAMPLES]


@pytest.fixture(scope="module")
def machine() -> Iterator[str]:
    """A namespace with these interfaces and addresses."""
    require_programs("ip")
    require_root()
    name = f"gingham-{os.getpid()}-files"
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        for metric, (link, addresses) in enumerate(LINKS.items(), 1):
            ip("-n", name, "link", "add", link, "type", "veth", "peer", "name", f"{link}-far")
            ip("-n", name, "link", "set", f"{link}-far", "up")
            for address in addresses:
                ip("-n", name, "address", "add", address, "dev", link)
            ip("-n", name, "link", "set", link, "up")
            ip("-n", name, "route", "add", "default", "dev", link, "metric", str(metric))
        yield name
    finally:
        ip("netns", "delete", name)


@pytest.mark.parametrize("number", range(len(files())))
def test_a_file_that_is_shown_can_be_right(machine: str, tmp_path: Path, number: int) -> None:
    text = files()[number]
    if (told := re.search(r'public-key = "(THE KEY [^"]*)"', text)) is not None:
        text = text.replace(told.group(1), KEYS["right"][1])
    # The user `striped` may not exist on this machine.
    path = tmp_path / "bundle0.toml"
    path.write_text(text.replace('user = "striped"', 'user = "nobody"'))
    key = re.search(r'private-key = "([^"]*)"', text)
    assert key is not None
    key_file(tmp_path, key.group(1), KEYS["other"][0])
    command = ["ip", "netns", "exec", machine, str(built()), "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr


def test_there_are_files() -> None:
    assert len(files()) == 2 * len(PAGES) + len(EXAMPLES)

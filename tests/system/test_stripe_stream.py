"""A file over two TCP connections between network namespaces, by the example of the crate."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from gingham.studies._namespaces import SEARCH, TIMEOUT_S, ip
from tests.conftest import require_programs, wait_until
from tests.system import programs
from tests.system.pipes import Line, Programs, network
from tests.system.test_linkemu import require_root

LINES = [Line(10), Line(20)]
FILE_BYTES = 12_000_000


@pytest.fixture(scope="module")
def program() -> Path:
    require_programs("ip", "ss", "tc")
    require_root()
    return programs.checked()["striped_copy"]


def sent_bytes(name: str, device: str) -> int:
    counts = json.loads(ip("-n", name, "-s", "-j", "link", "show", device))[0]["stats64"]
    return int(counts["tx"]["bytes"])


def is_listening(name: str) -> bool:
    return "0.0.0.0:7000" in subprocess.check_output(
        ["ip", "netns", "exec", name, "ss", "-ltn"], text=True, env={"PATH": SEARCH}
    )


def test_each_line_carries_what_it_can(program: Path, tmp_path: Path) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(bytes(range(251)) * (FILE_BYTES // 251))
    with network(Programs(program, program), LINES) as (names, _):
        command = {end: ["ip", "netns", "exec", name, str(program)] for end, name in names.items()}
        with copy.open("wb") as out:
            receiving = subprocess.Popen([*command["right"], "receive", "0.0.0.0:7000"], stdout=out)
        try:
            wait_until(lambda: is_listening(names["right"]))
            with file.open("rb") as source:
                to = ["10.80.0.2:7000", "10.80.1.2:7000"]
                sending = [*command["left"], "send", *to]
                subprocess.run(sending, stdin=source, check=True, timeout=TIMEOUT_S)
            assert receiving.wait(timeout=TIMEOUT_S) == 0
        finally:
            receiving.kill()
            receiving.wait()
        slow, fast = (sent_bytes(names["left"], f"wan{channel}") for channel in range(2))
    assert copy.read_bytes() == file.read_bytes()
    # The line with a third of the total rate carries a third of the bytes. Half of them would mean
    # that free buffer space was ignored.
    assert slow / (slow + fast) == pytest.approx(1 / 3, abs=0.06)

"""Runs the system tests without any optional program: `python -m tests.without_programs`.

A step of `.ci/run`. On a machine with all optional programs it simulates one without them:

- `PATH` is a folder of links to the programs of `base` in `optional_programs.toml`.
- The search path of the tests is the same folder, without `/usr/sbin` and `/sbin`.
- As root, /dev/null also covers each optional program in a mount namespace, because Gingham itself
  looks into `/usr/sbin` and `/sbin`, in processes that the guard of the tests does not see.

It fails unless pytest ends with 0, each skip gives the install line of the missing program, and
each kind of test has skips (`FIRST`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.optional_programs import (
    BASE,
    INSTALL,
    PACKAGES,
    REQUIRE_VARIABLE,
    ROOT,
    SEARCH,
    SEARCH_VARIABLE,
)

# All tests that require programs.
TESTS = ["tests/system", "tests/test_docs.py::test_a_page_does_what_it_says[docs/how-to/opensm.md]"]
# The programs that the fixtures of these tests require first; each must cause a skip.
FIRST = frozenset({"ibsim", "ip", "opensm"})
COVER = """
while [ "$1" != -- ]; do mount --bind /dev/null "$1" || exit; shift; done
shift
exec "$@"
"""


def link(folder: Path) -> None:
    """Fill a folder with links to the programs of every machine."""
    for name in sorted(BASE):
        found = shutil.which(name, path=SEARCH)
        if found is not None:
            (folder / name).symlink_to(found)


def covered(command: list[str]) -> list[str]:
    """Return the command with all optional programs covered by /dev/null; as root only."""
    if os.geteuid() != 0:
        return command
    found = (shutil.which(name, path=SEARCH) for name in PACKAGES)
    files = {Path(name).resolve() for name in found if name}
    # A program with several names, such as busybox, may also be one of the base programs.
    own = sorted(str(file) for file in files if file.name in PACKAGES)
    return ["unshare", "--mount", "sh", "-c", COVER, "sh", *own, "--", *command]


def reasons(report: Path) -> Counter[str]:
    """Return the reasons of all skips of a JUnit report."""
    skips = ET.parse(report).iter("skipped")  # noqa: S314 - our own pytest wrote it
    return Counter(skip.get("message", "") for skip in skips)


def main() -> int:
    """Run the tests, judge the skips, and return the exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, report = Path(scratch, "bin"), Path(scratch, "report.xml")
        folder.mkdir()
        link(folder)
        environment = {**os.environ, "PATH": str(folder), SEARCH_VARIABLE: str(folder)}
        environment.pop(REQUIRE_VARIABLE, None)
        options = ["-p", "no:cacheprovider", "--quiet", "-r", "fE", f"--junit-xml={report}"]
        command = covered([sys.executable, "-m", "pytest", *options, *TESTS])
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code != 0:
            return code
        found = reasons(report)
    others = [reason for reason in found if INSTALL not in reason]
    missing = {name for reason in found for name in reason.partition(f" {INSTALL}")[0].split(", ")}
    for reason in others:
        sys.stderr.write(f"skipped without an install line: {reason}\n")
    for name in sorted(FIRST - missing):
        sys.stderr.write(f"no test was skipped because {name} is missing\n")
    return int(bool(others or FIRST - missing))


if __name__ == "__main__":
    sys.exit(main())

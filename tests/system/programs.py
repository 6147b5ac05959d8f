"""The programs of the system tests, from one build for all of them."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built(*options: str) -> dict[str, Path]:
    """Run `cargo build` with these options; return the programs by name."""
    told = subprocess.run(
        ["cargo", "build", "--locked", "--message-format", "json", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    made = [json.loads(line).get("executable") for line in told.stdout.splitlines()]
    return {Path(path).name: Path(path) for path in made if path}


@cache
def checked() -> dict[str, Path]:
    """Build all programs with the profile of the crates' tests, with every check on.

    The whole workspace is built, so that outside crates have the features of `cargo test
    --workspace`, and none is compiled a second time.
    """
    return built("--workspace", "--examples", "--bin", "striped", "--bin", "gingham-linkemu")

"""The programs that system tests run: one build for all of them."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built(*options: str) -> dict[str, Path]:
    """Build what the options of `cargo build` name: each program by its name."""
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
    """Build all as the tests of the crates do, with every check on.

    Of the whole workspace, so that outside crates have the features that they have in `cargo test
    --workspace`, and none is compiled a second time.
    """
    return built("--workspace", "--examples", "--bin", "striped", "--bin", "gingham-linkemu")

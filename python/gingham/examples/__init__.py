"""Examples that ship with the package: scenarios, and the fabrics they load."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names that `gingham run` knows."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def path(name: str) -> Path | None:
    """Return the scenario file of an example, or `None` if there is no such example."""
    return FOLDER / f"{name}.toml" if name in names() else None

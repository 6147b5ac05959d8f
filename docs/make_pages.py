"""Write the pages, and a module, that are made from the code: `make pages`."""

from __future__ import annotations

from pathlib import Path

from gingham import generators, glossary, meanings, mechanisms, pairs, reference
from gingham.cli import _page as command_line

FOLDER = Path(__file__).parent / "reference"
PAGES = {
    "../glossary.md": glossary.page,
    "../../python/gingham/fabrics.py": generators.source,
    "command-line.md": command_line.page,
    "mechanisms.md": mechanisms.page,
    "pairs.md": pairs.page,
    "results.md": meanings.page,
    "scenario.md": reference.page,
    "stripe-results.md": meanings.stripe_page,
    "stripe-scenario.md": reference.stripe_page,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

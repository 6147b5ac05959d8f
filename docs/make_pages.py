"""Generate pages, and a Python module, from the code.

    make pages                            the ones in git, which other pages and code link to
    python docs/make_pages.py --site      the ones of the site alone; `make docs` calls it

`gingham --help` and `gingham explain --pairs` print the generated module's content.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gingham import pairs
from gingham.catalogue import generators, glossary, meanings, mechanisms, reference
from gingham.cli import _page as command_line

FOLDER = Path(__file__).parent / "reference"
PAGES = {
    "../glossary.md": glossary.page,
    "../../python/gingham/fabrics.py": generators.source,
    "mechanisms.md": mechanisms.page,
    "results.md": meanings.page,
    "scenario.md": reference.page,
    "stripe-results.md": meanings.stripe_page,
    "stripe-scenario.md": reference.stripe_page,
}
SITE = {
    "command-line.md": command_line.page,
    "pairs.md": pairs.page,
}


def main() -> None:
    """Write the selected pages."""
    pages = SITE if sys.argv[1:] == ["--site"] else PAGES
    for name, page in pages.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

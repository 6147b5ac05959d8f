"""Configuration of the site: the pages of docs and of the root, and the package's docstrings.

`make docs` builds the site with Sphinx into target/site, with warnings as errors and without
network access. Pages stay plain Markdown that is readable by itself: the navigation is generated
from the lists of links on index pages, docs/index.md above all.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

import gingham

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent

project = "Gingham"
author = "the Gingham authors"
version = release = gingham.__version__
# Notebooks are executed when the site is built; Markdown uses the same parser.
extensions = ["myst_nb", "sphinx.ext.autodoc"]
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600

# Sources are read in the clone's layout, so that links between pages are valid in both.
include_patterns = [
    "docs/**.md",
    "docs/notebooks/*.ipynb",
    *(path.name for path in sorted(ROOT.glob("*.md"))),
]
exclude_patterns = [".*", "crates", "target", "runs", "tests", "python", "studies", "benches"]
root_doc = "docs/index"
myst_heading_anchors = 3

# Docstrings are plain text, with code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Gingham {gingham.__version__}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# Index pages, whose links become the navigation, by section.
INDEX = "docs/index"
LISTS = {INDEX, "docs/adr/README"}
SECTION = re.compile(r"^##? (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+\.(?:md|ipynb))\)")


def with_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add to an index page the table of contents of the pages that each section links to."""
    if page not in LISTS:
        return
    for title, text in SECTION.findall(source[0]):
        if pages := LINK.findall(text):
            tree = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{tree}\n```\n"


def write_front_page(app: Sphinx, error: Exception | None) -> None:
    """Redirect the root of the site to the index."""
    if error is None:
        lead = f'<meta http-equiv="refresh" content="0; url={INDEX}.html">'
        (Path(app.outdir) / "index.html").write_text(lead, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the lexer and the event handlers with Sphinx."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", with_navigation)
    app.connect("build-finished", write_front_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

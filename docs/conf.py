"""The site: every page of docs, those of the clone's root, and the doc strings of the package.

`make docs` builds it with Sphinx into target/site, with warnings as errors and without the net.
Pages stay plain Markdown that reads well on its own: the navigation is made of the lists of
links on the pages that list others, docs/index.md above all.
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
# Notebooks are executed as the site is built; Markdown is read by the same parser.
extensions = ["myst_nb", "sphinx.ext.autodoc"]
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600

# The sources are the clone, so that links between pages hold here as they do there.
include_patterns = [
    "docs/**.md",
    "docs/notebooks/*.ipynb",
    *(path.name for path in sorted(ROOT.glob("*.md"))),
]
exclude_patterns = [".*", "crates", "target", "runs", "tests", "python", "studies", "benches"]
root_doc = "docs/index"
myst_heading_anchors = 3

# Doc strings are plain text, with words of code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Gingham {gingham.__version__}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# Pages that list others; what they link becomes the navigation, by sections.
INDEX = "docs/index"
LISTS = {INDEX, "docs/adr/README"}
SECTION = re.compile(r"^##? (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+\.(?:md|ipynb))\)")


def with_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add to a page that lists others the tree of the pages that each of its sections links."""
    if page not in LISTS:
        return
    for title, text in SECTION.findall(source[0]):
        if pages := LINK.findall(text):
            tree = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{tree}\n```\n"


def write_front_page(app: Sphinx, error: Exception | None) -> None:
    """Lead from the root of the site to the index."""
    if error is None:
        lead = f'<meta http-equiv="refresh" content="0; url={INDEX}.html">'
        (Path(app.outdir) / "index.html").write_text(lead, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx what is above."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", with_navigation)
    app.connect("build-finished", write_front_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

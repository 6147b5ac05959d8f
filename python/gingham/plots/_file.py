"""Encoding of figures as files, reproducible regardless of time and user."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg

from gingham.plots._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Metadata fields that would otherwise hold a date.
METADATA: dict[str, dict[str, str | None]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
}
# Characters that XML cannot hold, in UTF-8: control characters, surrogates, U+FFFE and U+FFFF.
NOT_XML = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1f]|\xed[\xa0-\xbf][\x80-\xbf]|\xef\xbf[\xbe\xbf]")
REPLACEMENT = "\ufffd".encode()
# Seed of the hashes that name parts of an SVG.
SALT = "gingham"


@styled
def encoded(figure: Figure, ending: str, dpi: float | None = None) -> bytes:
    """Return a figure as a file with this ending, one of `png`, `svg` and `pdf`.

    The resolution of a `png` is `dpi`, or else that of the figure, in dots per inch.
    """
    FigureCanvasAgg(figure)
    handle = io.BytesIO()
    mpl.rcParams["svg.hashsalt"] = SALT
    with warnings.catch_warnings():
        # Characters of a script that the font lacks become boxes, which are visible without a
        # warning.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(handle, format=ending, metadata=METADATA[ending], dpi=dpi or "figure")
    written = handle.getvalue()
    return NOT_XML.sub(REPLACEMENT, written) if ending == "svg" else written

"""Files of pictures: fonts and texts that journals and editors accept."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from gingham import fabrics, plots
from gingham.plots import comparison
from tests import pictures
from tests.test_curve_beside import POINTS


def curve() -> Figure:
    return plots.curve(pa.table(POINTS), title="Latency, in µs")


def fabric() -> Figure:
    return plots.fabric(fabrics.folded_clos(leaves=40, spines=9, hosts_per_leaf=16))


def links() -> Figure:
    cables = pictures.clos(2, 2, 2)
    made = {"links": pictures.links(cables), "nodes": pictures.kinds_of(cables)}
    return plots.links(pictures.Tables(made))


def side_by_side() -> Figure:
    line = comparison.Line("a", "minhop", {"lanes": 1.0}, deadlock_free=True)
    return comparison.draw("Engines", [line])


ALL = [curve, fabric, links, side_by_side]


def contents(pdf: bytes) -> Iterator[bytes]:
    """The file, and each of its streams uncompressed."""
    yield pdf
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, flags=re.DOTALL):
        try:
            yield zlib.decompressobj().decompress(stream)
        except zlib.error:
            continue


@pytest.mark.parametrize("made", ALL)
def test_a_pdf_embeds_its_fonts_as_true_type(made: object) -> None:
    assert callable(made)
    found = b"\n".join(contents(plots.picture(made(), "pdf")))
    assert b"/Type3" not in found
    assert b"/FontFile2" in found


@pytest.mark.parametrize("made", ALL)
def test_the_texts_of_an_svg_are_texts(made: object) -> None:
    assert callable(made)
    figure = made()
    found = plots.picture(figure, "svg").decode()
    assert "<text" in found
    title = figure.texts[0].get_text() if figure.texts else figure.get_suptitle()
    assert title in found

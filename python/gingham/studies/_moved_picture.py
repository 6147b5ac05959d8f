"""Picture of a study's sensitivity to assumptions: a row per claim, a column per alternative."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from gingham.studies._claims import ClaimOutcome
    from gingham.studies._moving import Moved
    from gingham.studies._study import Study

# Background of met and unmet claims; a mark distinguishes them without colour.
MET, NOT_MET = "#dcebdd", "#f6dcd8"
# In inches.
WIDTH, ROW, HEAD = 10.0, 0.36, 0.62
# Characters per line of a claim.
LINE = 62
# Left edge of the columns, as a share of the width.
COLUMNS_FROM = 0.42


def draw_moved(study: Study, rows: Sequence[Moved]) -> Picture:
    """Return the picture: the measured value of each claim, ours first, and whether it is met."""
    from gingham.plots._style import new_figure

    parts = by_assumption(rows)
    heights = [HEAD + ROW * len(part) for part in parts]
    figure = new_figure(
        WIDTH,
        1.0 + sum(heights),
        f"{study.key}: what each assumption moves",
        "measured, beside our assumption and others; ✓ as the paper says, ✗ not",
    )
    panels = figure.subplots(len(parts), 1, height_ratios=heights, squeeze=False)
    for axes, part in zip(panels[:, 0], parts, strict=True):
        draw_part(axes, part)
    return figure


def by_assumption(rows: Sequence[Moved]) -> list[list[Moved]]:
    """Return the rows of each assumption, in their order."""
    parts: dict[str, list[Moved]] = {}
    for row in rows:
        parts.setdefault(row.assumption.key, []).append(row)
    return list(parts.values())


def draw_part(axes: Axes, rows: Sequence[Moved]) -> None:
    """Draw the claims of one assumption."""
    assumption = rows[0].assumption
    values = [f"{assumption.ours} (ours)", *(one.value for one in assumption.alternatives)]
    width = (1 - COLUMNS_FROM) / len(values)
    axes.set(xlim=(0, 1), ylim=(len(rows), -HEAD / ROW))
    axes.axis("off")
    axes.text(0, -0.2, assumption.title, weight="bold", fontsize=8.5, va="bottom")
    for place, value in enumerate(values):
        middle = COLUMNS_FROM + (place + 0.5) * width
        said = "\n".join(textwrap.wrap(value, max(8, int(width * 125))))
        axes.text(middle, -0.2, said, fontsize=7.5, ha="center", va="bottom")
    for line, row in enumerate(rows):
        said = textwrap.shorten(row.claim.text, LINE * 2, placeholder=" …")
        axes.text(0, line + 0.5, "\n".join(textwrap.wrap(said, LINE)), fontsize=7, va="center")
        for place, one in enumerate(row.all):
            draw_cell(axes, (COLUMNS_FROM + place * width, line, width), one)


def draw_cell(axes: Axes, place: tuple[float, float, float], one: ClaimOutcome) -> None:
    """Draw the measured value of a claim under one alternative."""
    from matplotlib.patches import Rectangle

    left, top, width = place
    assert one.measured is not None, "nothing is left out"
    cell = Rectangle(
        (left, top),
        width,
        1,
        facecolor=MET if one.met else NOT_MET,
        edgecolor="white",
        linewidth=1.5,
    )
    axes.add_patch(cell)
    said = f"{one.measured.value:.3g} {one.claim.unit}".rstrip()
    axes.text(
        left + width / 2,
        top + 0.5,
        f"{said}  {'✓' if one.met else '✗'}",
        fontsize=7.5,
        ha="center",
        va="center",
    )

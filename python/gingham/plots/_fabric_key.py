"""Legend below the picture of a fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gingham.plots import _style as style
from gingham.plots._fringe import tight

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gingham.plots._scene import Scene

# In points: margins, line height, left edge, width of the scale, position of the sample.
MARGIN, LINE, LEFT, SCALE, SAMPLE = 12.0, 11.0, 16.0, 190.0, 72.0
TEXT_SIZE = 7.0


def key_lines(drawn: Scene, *, cores: bool) -> list[str]:
    """Return the legend of this picture's marks; it has cores if channels can be stopped."""
    lines = ["half at A: channel from A to B"]
    if cores:
        lines.append("black core: share of time it was stopped")
    return [*lines, *marks(drawn, "; line: the busiest of them")]


def marks(drawn: Scene, line: str = "") -> list[str]:
    """Return the legend of marks of any fabric; `line` describes the joint line to many hosts."""
    lines = []
    if drawn.placement.around:
        lines.append("loose end: the cable goes round to the other side")
    if any(len(group.nodes) > 1 for group in drawn.groups):
        mark = "dot: all hosts of a switch" if tight(drawn.placement) else "number: so many hosts"
        lines.append(f"{mark}{line}")
    if others := sorted({group.kind for group in drawn.groups} - {"host"}):
        lines.append(f"square: {', '.join(others)}")
    return lines


def key_height(lines: list[str]) -> float:
    """Return the height of the key in points."""
    return 2 * MARGIN + LINE * max(len(lines), 2)


def draw_key(axes: Axes, top: float, lines: list[str], *, cores: bool) -> None:
    """Draw the colour scale up to the utilisation `top`, and the legend of marks."""
    level = axes.get_ylim()[1] - MARGIN
    box = (LEFT, LEFT + SCALE, level - 14, level - 5)
    shades = np.linspace(0, 1, 64)[None, :]
    limits = axes.get_xlim(), axes.get_ylim()
    axes.imshow(shades, cmap=style.LOAD_COLOURS, extent=box, interpolation="bilinear")
    axes.set(xlim=limits[0], ylim=limits[1], aspect="auto")
    for share in (0.0, 0.5, 1.0):
        text = style.percent(share * top)
        axes.text(LEFT + share * SCALE, level - 17, text, size=TEXT_SIZE, ha="center", va="top")
    said = "utilisation of the channel (grey: idle)"
    axes.text(LEFT, level, said, size=TEXT_SIZE, va="center")
    draw_sample(axes, LEFT + SCALE + 36, level - 9, cores=cores)
    for line, text in enumerate(lines):
        place = LEFT + SCALE + 36 + SAMPLE + 20, level - LINE * line
        axes.text(*place, text, size=TEXT_SIZE, va="center")


def draw_text(axes: Axes, lines: list[str]) -> None:
    """Draw the legend of the marks, without a scale."""
    top = axes.get_ylim()[1] - MARGIN
    for line, text in enumerate(lines):
        axes.text(LEFT, top - LINE * line, text, size=TEXT_SIZE, va="center")


def draw_sample(axes: Axes, left: float, level: float, *, cores: bool) -> None:
    """Draw a cable between A and B, with a core if channels can be stopped."""
    right = left + SAMPLE
    middle = (left + right) / 2
    of_a, of_b = style.LOAD_COLOURS([0.75, 0.2])
    strokes = [((left, middle - 1), of_a, 4.0), ((middle + 1, right), of_b, 4.0)]
    if cores:
        strokes.append(((left + 5, left + 17), style.INK, 1.7))
    for ends, colour, width in strokes:
        axes.plot(ends, (level, level), color=colour, linewidth=width, solid_capstyle="butt")
    for x, name in ((left, "A"), (right, "B")):
        text = axes.text(x, level, name, size=TEXT_SIZE, ha="center", va="center")
        text.set(bbox=style.node_box("round", 0.2))

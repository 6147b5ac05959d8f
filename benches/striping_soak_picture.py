"""Picture of `make soak`: deliveries, faults and resources of the processes over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gingham.plots import _style as style
from gingham.plots._file import encoded
from gingham.studies._namespaces import ENDS

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

# Averaging window of rates, in seconds.
WINDOW_S = 1.0


def draw(soaked: Any, path: Path) -> None:
    """Draw a run, and write the picture."""
    path.write_bytes(encoded(figure(soaked), "png"))


@style.styled
def figure(soaked: Any):  # noqa: ANN201 - Figure
    """Return a figure: TCP, faults, memory, computing."""
    verdict = f"{len(soaked.wrong)} wrong" if soaked.wrong else "no byte lost, nothing left"
    subtitle = f"{soaked.seconds / 60:g} minutes, seed {soaked.seed}: {verdict}."
    made = style.new_figure(10, 8.4, "Two daemons under faults", subtitle)
    heights = [1.6, 1.8, 1.2, 1.2]
    panels = made.subplots(4, 1, sharex=True, gridspec_kw={"height_ratios": heights})
    _flows(panels[0], soaked)
    _faults(panels[1], soaked)
    for axes, values, label in (
        (panels[2], _memory(soaked), "memory, MB"),
        (panels[3], _computing(soaked), "CPU, cores"),
    ):
        for colour, (end, (times, shown)) in zip(style.CLASS_COLOURS, values.items(), strict=False):
            style.course(axes, times, shown, color=colour, lw=1.2, label=end)
        axes.set_ylabel(label)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))
    panels[-1].set_xlabel("time (s)")
    return made


def _flows(axes: Axes, soaked: Any) -> None:
    times = np.array([one.at for one in soaked.samples])
    for colour, way in zip(style.CLASS_COLOURS, ("forth", "back"), strict=False):
        came = np.array([one.came[way] for one in soaked.samples], dtype=float)
        before = np.interp(times - WINDOW_S, times, came)
        style.course(
            axes, times, (came - before) * 8e-6 / WINDOW_S, color=colour, lw=1.2, label=way
        )
    axes.set_ylabel("TCP, Mbit/s")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))


def _faults(axes: Axes, soaked: Any) -> None:
    kinds = sorted({one.kind for one in soaked.befell})
    for one in soaked.befell:
        row = kinds.index(one.kind)
        width = max(one.end - one.start, WINDOW_S / 2)
        axes.barh(row, width, left=one.start, height=0.7, color=style.INK, lw=0)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.set_ylim(len(kinds) - 0.4, -0.6)


def _memory(soaked: Any) -> dict[str, tuple[Any, Any]]:
    return {
        end: _broken(
            [(one.at, one.memory_kb.get(end), one.starts.get(end)) for one in soaked.samples], 1e-3
        )
        for end in ENDS
    }


def _computing(soaked: Any) -> dict[str, tuple[Any, Any]]:
    told = {}
    for end in ENDS:
        values = []
        for before, one in zip(soaked.samples, soaked.samples[1:], strict=False):
            start = one.starts.get(end)
            is_same = start is not None and before.starts.get(end) == start
            rate = (one.cpu_s[end] - before.cpu_s[end]) / (one.at - before.at) if is_same else None
            values.append((one.at, rate, start))
        told[end] = _broken(values, 1)
    return told


def _broken(values: list[tuple[float, Any, Any]], scale: float) -> tuple[Any, Any]:
    """Return a time series with breaks where samples are missing or the process changed."""
    times, shown, last = [], [], None
    for at, value, start in values:
        if start != last:
            times.append(at)
            shown.append(np.nan)
        times.append(at)
        shown.append(np.nan if value is None else value * scale)
        last = start
    return np.array(times), np.array(shown, dtype=float)

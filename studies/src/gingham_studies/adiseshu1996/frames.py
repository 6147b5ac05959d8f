"""Films of the video experiment: random frame lengths, drawn once.

They are stored in `film.txt` and `small-frames.txt`.

::

    I B B P B B P B B P B B  I B B ...      a group of twelve frames, 0.4 s

The paper's traces of NV are not available. A film has the proportions of MPEG: the median I frame
is five times and the median P frame twice as long as the median B frame, and lengths vary by a
third (log-normal). NV sends the changed blocks, one to four packets per frame. Both models are
ours, and no claim depends on their details.
"""

from __future__ import annotations

import random
from typing import Final

GROUP: Final = "IBBPBBPBBPBB"
# Medians in bytes; with them a film has about 4 Mbit/s.
MEDIANS: Final = {"I": 45_000, "P": 18_000, "B": 9_000}
SPREAD: Final = 0.33
FRAMES: Final = 900
SMALL: Final = (250, 4_000)


def film(seed: int = 1) -> list[int]:
    """Return the lengths of half a minute of film, in bytes."""
    draw = random.Random(seed)  # noqa: S311  (no secret)
    kinds = (GROUP[place % len(GROUP)] for place in range(FRAMES))
    return [round(MEDIANS[kind] * draw.lognormvariate(0, SPREAD)) for kind in kinds]


def small_frames(seed: int = 2) -> list[int]:
    """Return the lengths of half a minute of small frames, in bytes."""
    draw = random.Random(seed)  # noqa: S311  (no secret)
    return [draw.randint(*SMALL) for _ in range(FRAMES)]


def text(title: str, lengths: list[int]) -> str:
    """Return the file of a film: one length per line."""
    return f"# {title}\n" + "".join(f"{length}\n" for length in lengths)


FILES: Final = {
    "film.txt": ("half a minute of film with the proportions of MPEG, made by frames.py", film),
    "small-frames.txt": (
        "half a minute of frames of one to four packets, made by frames.py",
        small_frames,
    ),
}

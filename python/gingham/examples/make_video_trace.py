"""Generate `video-mpeg2.txt`: frame sizes of synthetic pictures, as MPEG-2 at 4 Mbit/s.

    python -m gingham.examples.make_video_trace FILE

Each line has a frame's index in display order, its time in milliseconds, its type and its size in
bytes; lines are in order of transmission. Needs `ffmpeg` and `ffprobe`; results depend on their
version, which the trace records. Scenarios need neither.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FRAMES_PER_S = 30
FRAMES = 600
# Two alternating kinds of pictures, whose cuts change the frame sizes.
PICTURES = (
    "mandelbrot=size=704x480:rate=30:maxiter=400",
    "testsrc2=size=704x480:rate=30",
)


def program(name: str) -> str:
    """Return the path of a program."""
    if found := shutil.which(name):
        return found
    raise SystemExit(f"{name} is missing: apt-get install ffmpeg")


def encoded(folder: Path) -> Path:
    """Encode alternating segments of five seconds of each kind of pictures."""
    film = folder / "film.m2v"
    seconds = FRAMES // FRAMES_PER_S // 4
    parts = [f"{PICTURES[part % 2]},trim=duration={seconds}[p{part}]" for part in range(4)]
    joined = "".join(f"[p{part}]" for part in range(4)) + "concat=n=4:v=1[out]"
    sources = ";".join([*parts, joined])
    rate = ["-b:v", "4M", "-maxrate", "8M", "-bufsize", "1835k", "-g", "15", "-bf", "2"]
    source = ["-threads", "1", "-filter_complex", sources, "-map", "[out]"]
    length = ["-frames:v", str(FRAMES), "-c:v", "mpeg2video", "-threads", "1"]
    target = ["-flags", "+bitexact", "-f", "mpeg2video", str(film)]
    subprocess.run([program("ffmpeg"), "-v", "error", *source, *length, *rate, *target], check=True)
    return film


def packets(film: Path) -> list[tuple[str, int]]:
    """Return type and size of each frame, in order of transmission."""
    entries = "packet=size:frame=pict_type,pkt_pos,coded_picture_number"
    command = [program("ffprobe"), "-v", "error", "-show_packets", "-show_frames", "-of", "json"]
    shown = subprocess.run(
        [*command, "-show_entries", entries, str(film)], check=True, capture_output=True
    )
    found = json.loads(shown.stdout)["packets_and_frames"]
    sizes = [int(of["size"]) for of in found if of["type"] == "packet"]
    frames = [of for of in found if of["type"] == "frame"]
    kinds = {int(of["coded_picture_number"]): of["pict_type"] for of in frames}
    return [(kinds[place], size) for place, size in enumerate(sizes)]


def displayed(kinds: list[str]) -> list[int]:
    """Return the display index of each frame: a B frame precedes the I or P frame sent last."""
    order: list[int] = []
    held: int | None = None
    for place, kind in enumerate(kinds):
        if kind == "B":
            order.append(place)
            continue
        if held is not None:
            order.append(held)
        held = place
    if held is not None:
        order.append(held)
    shown = [0] * len(kinds)
    for index, place in enumerate(order):
        shown[place] = index
    return shown


def text() -> str:
    """Return the trace."""
    told = subprocess.run(
        [program("ffmpeg"), "-version"], check=True, capture_output=True, text=True
    )
    version = " ".join(told.stdout.split()[:3])
    with tempfile.TemporaryDirectory() as folder:
        frames = packets(encoded(Path(folder)))
    shown = displayed([kind for kind, _ in frames])
    bits = 8 * sum(size for _, size in frames) * FRAMES_PER_S / len(frames)
    what = f"{len(frames)} frames of generated pictures as MPEG-2, {bits / 1e6:.2f} Mbit/s"
    lines = [
        f"# {what} at {FRAMES_PER_S} frames/s, in order of transmission",
        f"# made by gingham.examples.make_video_trace with {version}",
        "# index in order of display, time in ms, type, size in bytes",
    ]
    for index, (kind, size) in zip(shown, frames, strict=True):
        lines.append(f"{index}\t{1000 * index / FRAMES_PER_S:.3f}\t{kind}\t{size}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")

"""Measure the share of its channels that a pipe over UDP carries, in network namespaces.

    sudo .venv/bin/python benches/striping_sockets.py [--seconds 13] [--only NAME]
    sudo .venv/bin/python benches/striping_sockets.py --idle

Requires root. The ends are not configured with properties of the channels. Shares are relative to
the payload rate of the lines, from 3 s after the start; the result of the row in virtual time
(`benches/striping.py`) stands beside them. Further columns: 99th percentile of the delay, processor
time of both ends and of the kernel on their behalf, late wake-ups, and the number of the run. Runs
with a late emulator are discarded.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.system.pipes import LateError, Line, Programs, idle_bytes, run  # noqa: E402 - not a package

# By row: its lines, and its share in virtual time if it was run there.
ROWS: dict[str, tuple[list[Line], float | None]] = {
    "10 + 20, tbf, 64 kB": ([Line(10), Line(20)], None),
    "100 + 300, tbf, 256 kB": ([Line(100, 0, 256_000), Line(300, 0, 256_000)], None),
    "100 + 300, 10 ms, 64 kB": ([Line(100, 10), Line(300, 10)], 0.988),
    "100 + 300, 25 ms, 128 kB": ([Line(100, 25, 128_000), Line(300, 25, 128_000)], 0.982),
    "100 + 300, 25 ms, 64 kB": ([Line(100, 25), Line(300, 25)], 0.962),
    "100 + 300, 50 ms, 256 kB": ([Line(100, 50, 256_000), Line(300, 50, 256_000)], 0.981),
    "20 + 20, 150 ms, 64 kB": ([Line(20, 150), Line(20, 150)], 0.977),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=13)
    parser.add_argument("--only", default="")
    parser.add_argument("--normal", action="store_true", help="the ends at normal priority")
    parser.add_argument("--programs", type=Path, help="where pipe and gingham-linkemu are built")
    parser.add_argument("--idle", action="store_true", help="bytes a day with nothing to send")
    arguments = parser.parse_args()
    programs = Programs.of(arguments.programs) if arguments.programs else Programs.built()
    if arguments.idle:
        day = idle_bytes(programs, [Line(10), Line(20)], settle=30, seconds=120)
        print(" and ".join(f"{one / 1e6:.2f}" for one in day), "MB a day and channel")
        return
    print("| channels | share | virtual | 99 % of delays | out of order | CPU s/GB | late | run |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (lines, virtual) in ROWS.items():
        if arguments.only not in name:
            continue
        try:
            told = run(
                programs, lines, arguments.seconds, "--from", "3 s", priority=not arguments.normal
            )
        except LateError as error:
            print(f"| {name} | void: {error} |")
            continue
        right, late = told["right"], [told[end]["wakeups"]["late"] for end in ("left", "right")]
        cells = [
            name,
            f"{told['share']:.3f}",
            f"{virtual}" if virtual else "",
            f"{right['delay_ms']['p99']:.0f} ms",
            f"{right['out_of_order']}",
            f"{told['cpu_seconds_per_gb']:.1f}",
            f"{late[0]}, {late[1]}",
            f"{told['runs']}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

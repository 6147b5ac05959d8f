"""Measure the share of their channels' rates that strict and free order carry, row by row.

    .venv/bin/python benches/striping.py [--seeds 10] [--only NAME]

The sender is not configured with properties of the channels. Shares are relative to the rates less
channel losses and tags, for the worst and the median seed; delays are 99th percentiles. The table
is part of the page on rates of striped channels.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median

from gingham import stripe

TAG_BYTES = 12
PACKET_BYTES = 1500
FREE = 'order = "free"\n'
STRICT = 'quanta = "follow"\ncredits = true\n'


@dataclass(frozen=True)
class Line:
    """A channel: rate in Mbit/s, one-way delay in ms, and further options."""

    rate: float
    delay: float
    queue: str = "256 kB"
    loss: float = 0.0
    more: str = ""

    def text(self) -> str:
        """Return the channel in scenario syntax."""
        loss = f"loss = {self.loss}\n" if self.loss else ""
        return (
            f'[[channel]]\nrate = "{self.rate} Mbit/s"\ndelay = "{self.delay} ms"\n'
            f'queue = "{self.queue}"\n{loss}{self.more}\n'
        )


def shifted(rate: float, to: float) -> Line:
    """Return a channel whose rate changes after three seconds."""
    return Line(rate, 10, more=f'rates = [{{ at = "3 s", rate = "{to} Mbit/s" }}]')


JITTER = 'jitter = "10 ms"'
ROWS: dict[str, tuple[list[Line], str]] = {
    "100 + 300, 10 ms, 64 kB": ([Line(100, 10, "64 kB"), Line(300, 10, "64 kB")], ""),
    "100 + 300, 25 ms, 128 kB": ([Line(100, 25, "128 kB"), Line(300, 25, "128 kB")], ""),
    "100 + 300, 25 ms, 64 kB": ([Line(100, 25, "64 kB"), Line(300, 25, "64 kB")], ""),
    "100 + 300, 50 ms, 256 kB": ([Line(100, 50), Line(300, 50)], ""),
    "20 + 20, 150 ms, 64 kB": ([Line(20, 150, "64 kB"), Line(20, 150, "64 kB")], ""),
    "20 + 20, 100 ms, 128 kB, 5 % lost on one": (
        [Line(20, 100, "128 kB"), Line(20, 100, "128 kB", 0.05)],
        "",
    ),
    "the same, threshold 20 %": (
        [Line(20, 100, "128 kB"), Line(20, 100, "128 kB", 0.05)],
        "control.loss_threshold = 0.2\n",
    ),
    "10 + 10, 10 ms": ([Line(10, 10), Line(10, 10)], ""),
    "10 + 20, 10 ms": ([Line(10, 10), Line(20, 10)], ""),
    "20, 10 ms + 20, 40 ms": ([Line(20, 10), Line(20, 40)], ""),
    "5 + 100, 10 ms": ([Line(5, 10), Line(100, 10)], ""),
    "eight of 5 to 100, 5 to 54 ms": (
        [Line(rate, 5 + 7 * place) for place, rate in enumerate([10, 20, 50, 5, 100, 30, 10, 7])],
        "",
    ),
    "10 + 20, that change places after 3 s": ([shifted(10, 20), shifted(20, 10)], ""),
    "10, a fifth lost, + 20, 10 ms": ([Line(10, 10, loss=0.2), Line(20, 10)], ""),
    "20, 10 ms + 10, 60 ms, jitter 10 ms, .5 % lost, repaired": (
        [Line(20, 10, loss=0.005, more=JITTER), Line(10, 60, loss=0.005, more=JITTER)],
        "repair = {}\n",
    ),
}

ENTRY_ROWS = (
    "10 + 20, 10 ms",
    "20, 10 ms + 20, 40 ms",
    "20, 10 ms + 10, 60 ms, jitter 10 ms, .5 % lost, repaired",
)


def measured(lines: list[Line], options: str, seed: int, warm_up: str) -> tuple[float, int, float]:
    """Return the share of the rates, packets out of order, and the 99th-percentile delay in ms."""
    text = (
        f'seed = {seed}\nstop = {{ time = "13 s", warm_up = "{warm_up}" }}\n[stripe]\n{options}'
        + "".join(line.text() for line in lines)
    )
    result = stripe.run(stripe.StripeScenario.parse(text))
    tags = (
        PACKET_BYTES / (PACKET_BYTES + TAG_BYTES)
        if "free" in options or "guaranteed" in options
        else 1
    )
    kept = sum(line.rate * 1e6 * (1 - line.loss) for line in lines) * tags
    summary = result.summary
    goodput = summary["goodput_bits_per_s"] or 0.0
    delays = {one["percentile"]: one["delay_ns"] for one in summary["percentiles"]}
    return goodput / kept, summary["packets_out_of_order"], delays[99.0] / 1e6


def before(lines: list[Line], options: str, cubic: str, seed: int) -> tuple[float, int, int]:
    """Return the share of the rates that one CUBIC flow gets, and its sojourn times in ns."""
    text = (
        f'seed = {seed}\nstop = {{ time = "23 s", warm_up = "3 s" }}\n{options}'
        + "".join(line.text() for line in lines)
        + f"[[source]]\nkind.cubic = {{{cubic}}}\n"
    )
    summary = stripe.run(stripe.StripeScenario.parse(text)).summary
    share = (summary["goodput_bits_per_s"] or 0.0) / sum(line.rate * 1e6 for line in lines)
    return share, summary["sojourn_p50_ns"], summary["sojourn_p99_ns"]


def print_entry(seeds: int) -> None:
    """Print the results of a CUBIC flow through each queue before the stripe."""
    queues = {
        "one queue of 250 kB": ('entry.queue = "fifo"\n', ""),
        "queues by flow": ('entry.queue = "fq-codel"\n', ""),
        "with marks": ('entry.queue = "fq-codel"\n', "ecn = true"),
    }
    print(f"| channels, Mbit/s and one-way delay | {' | '.join(queues)} |")
    print("|---|" + "---|" * len(queues))
    for name in ENTRY_ROWS:
        lines, more = ROWS[name]
        cells = []
        for entry, cubic in queues.values():
            options = entry + "".join(f"stripe.{line}\n" for line in more.splitlines())
            found = [before(lines, options, cubic, seed) for seed in range(1, seeds + 1)]
            worst, half, most = min(found)
            middle = median(share for share, _, _ in found)
            cells.append(
                f"{worst:.3f} ({middle:.3f}), {half / 1e6:.0f} and {most / 1e6:.0f} ms",
            )
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--entry", action="store_true")
    arguments = parser.parse_args()
    if arguments.entry:
        print_entry(arguments.seeds)
        return
    print("| channels, Mbit/s and one-way delay | free | strict |")
    print("|---|---|---|")
    for name, (lines, more) in ROWS.items():
        if arguments.only not in name:
            continue
        cells = []
        for order in (FREE, STRICT):
            options = order + more
            if "repair" in more and order is STRICT:
                options += "guaranteed = true\n"
            warm_up = "5 s" if "eight" in name or "change" in name else "3 s"
            found = [
                measured(lines, options, seed, warm_up) for seed in range(1, arguments.seeds + 1)
            ]
            shares = [share for share, _, _ in found]
            disorder = max(disorder for _, disorder, _ in found)
            delay = median(delay for _, _, delay in found)
            tail = f", {disorder} out of order" if disorder else ""
            cells.append(f"{min(shares):.3f} ({median(shares):.3f}), {delay:.0f} ms{tail}")
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()

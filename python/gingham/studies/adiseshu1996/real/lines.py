"""What joins both ends: pairs of virtual interfaces, each way with a bucket of tokens."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from gingham.studies.adiseshu1996.real.namespaces import ENDS, ip, namespaces, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A bucket of two milliseconds, or of some frames, and a queue behind it.
BURST_S = 2e-3
BURST_BYTES_MIN = 10_000
QUEUE_BYTES = 64_000


@contextmanager
def shaped(rates_mbit: Sequence[float]) -> Iterator[dict[str, str]]:
    """Join two namespaces by a line of each of these rates, in Mbit/s of frames, 0 for no end."""
    with namespaces(ENDS) as names:
        for channel, rate in enumerate(rates_mbit):
            device = f"wan{channel}"
            peer = ["peer", "name", device, "netns", names["right"]]
            ip("-n", names["left"], "link", "add", device, "type", "veth", *peer)
            burst = max(BURST_BYTES_MIN, int(rate * 1e6 / 8 * BURST_S))
            shape = ["rate", f"{rate}mbit", "burst", f"{burst}b", "limit", str(QUEUE_BYTES)]
            for name in names.values():
                if rate:
                    said("tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf", *shape)
                ip("-n", name, "link", "set", device, "up")
        yield names

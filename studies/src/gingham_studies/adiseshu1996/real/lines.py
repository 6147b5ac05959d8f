"""Lines between both ends: pairs of virtual interfaces with a token bucket each way."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from gingham.studies._namespaces import ENDS, ip, limit, namespaces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

QUEUE_BYTES = 64_000


@contextmanager
def shaped(rates_mbit: Sequence[float]) -> Iterator[dict[str, str]]:
    """Join two namespaces by one line per rate, in Mbit/s of frames; 0 means unlimited."""
    with namespaces(ENDS) as names:
        for channel, rate in enumerate(rates_mbit):
            device = f"wan{channel}"
            peer = ["peer", "name", device, "netns", names["right"]]
            ip("-n", names["left"], "link", "add", device, "type", "veth", *peer)
            for name in names.values():
                if rate:
                    limit(name, device, rate, QUEUE_BYTES)
                ip("-n", name, "link", "set", device, "up")
        yield names

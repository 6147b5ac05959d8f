"""The mechanisms whose pairs are examined, with the scenario values that enable each.

They are representative, not every name of the catalogue: other routing algorithms or message
lengths can be combined like those listed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STREAMS = {
    "data": {"mpeg2": {"mean": "64 B", "deviation": "8 B"}},
    "interval": "2 us",
    "message": "64 B",
    "count": 2,
}


@dataclass(frozen=True)
class Part:
    """A mechanism with the scenario values that enable it."""

    name: str
    meaning: str
    # Its concept in the catalogue, if any.
    concept: str = ""
    # Values by table of the scenario.
    routing: Mapping[str, Any] = field(default_factory=dict)
    network: Mapping[str, Any] = field(default_factory=dict)
    measure: Mapping[str, Any] = field(default_factory=dict)
    # Values of the single traffic class, and keys that are removed from it.
    traffic: Mapping[str, Any] = field(default_factory=dict)
    without: Sequence[str] = ()

    def tables(self) -> dict[str, Any]:
        """Return the values by table."""
        return {
            "routing": self.routing,
            "network": self.network,
            "measure": self.measure,
            "traffic": self.traffic,
        }


PARTS = (
    Part(
        "in-transit",
        "hosts that re-inject packets",
        "routing",
        routing={"algorithm": "in-transit"},
    ),
    Part(
        "path-choice",
        "two paths for every pair of hosts",
        "path-choice",
        routing={"alternative": {"algorithm": "up-down", "choose": {"at-random": {"percent": 50}}}},
    ),
    Part(
        "datelines",
        "lanes against deadlock on a torus",
        "lanes",
        routing={"algorithm": "dimension-order"},
        network={"lanes": {"count": 4, "datelines": True}},
    ),
    Part(
        "lanes",
        "several lanes a channel, and a class on some of them",
        "lane",
        network={"lanes": {"count": 4}},
        traffic={"lanes": [2, 3]},
    ),
    Part(
        "lane-weights",
        "lanes that share a link by weight",
        "scheduler",
        network={
            "lanes": {
                "count": 4,
                "link_output": {"weighted-round-robin": {"weights": [1, 2, 3, 4]}},
                "adapter_port": {"weighted-round-robin": {"weights": [1, 2, 3, 4]}},
            }
        },
    ),
    Part(
        "cut-through",
        "packets forwarded only where there is room for all of them",
        "forwarding",
        network={"lanes": {"forwarding": "virtual-cut-through"}},
    ),
    Part(
        "pauses",
        "receivers that pause lanes instead of giving credits",
        "flow-control",
        network={"packets": {"flow_control": {"pfc": {}}}},
    ),
    Part(
        "overtaking",
        "whole packets that overtake those ahead of them",
        "overtaking",
        network={"packets": {"overtaking": {"at_most": 4}}},
    ),
    Part(
        "output-buffers",
        "switches with output buffers of whole packets",
        network={"packets": {"output_buffer": "8 KiB"}},
    ),
    Part(
        "segments",
        "messages cut into packets",
        "segmentation",
        traffic={"segmentation": {"fixed": "64 B"}},
    ),
    Part(
        "priorities",
        "classes that go first at hosts and switches",
        "arbitration",
        network={"arbitration": "strict-priority"},
        traffic={"priority": 1},
    ),
    Part(
        "policing",
        "excess that is delayed",
        "policing",
        traffic={"policing": {"rate": 0.2, "burst": "512 B", "excess": "delay"}},
    ),
    Part(
        "policing-drops",
        "excess that is dropped",
        "policing",
        traffic={"policing": {"rate": 0.2, "burst": "512 B", "excess": "drop"}},
    ),
    Part(
        "windows",
        "a bound on packets of a flow in flight, with acknowledgements",
        "flow",
        traffic={"window": {"packets": 2}},
    ),
    Part(
        "rate-limits",
        "packets of a flow that are paced",
        "flow",
        traffic={"rate_limit": 0.5},
    ),
    Part(
        "responses",
        "flows that lower their rate where packets were marked",
        "response",
        traffic={"window": {"packets": 2, "response": "lipd"}},
    ),
    Part(
        "marks",
        "switches that mark by the fill of a buffer",
        "marking",
        network={"marking": {"threshold": {"above": "64 B"}}},
    ),
    Part(
        "marks-by-output",
        "switches that mark by the outputs that a full buffer waits for",
        "marking",
        network={"marking": "input-triggered"},
    ),
    Part(
        "adapters",
        "send buffers to which messages are posted",
        "refused-post",
        network={"adapters": {"send_buffer": 8}},
    ),
    Part(
        "credits",
        "hosts limited by credits",
        "congestion-control",
        network={"adapters": {"send_buffer": 8, "congestion_control": "credits"}},
        traffic={"post": {"credits": {"per-host": 4}}},
    ),
    Part(
        "at-least-one",
        "hosts that begin where a useful lane is free",
        "congestion-control",
        network={"adapters": {"send_buffer": 8, "congestion_control": "at-least-one"}},
    ),
    Part(
        "self-tuned",
        "hosts that begin while few buffers of the network are full",
        "congestion-control",
        network={"adapters": {"send_buffer": 8, "congestion_control": "self-tuned"}},
    ),
    Part(
        "streams",
        "many flows a host, of frames",
        "stream-data",
        traffic={"streams": STREAMS},
        without=("load", "length"),
    ),
    Part(
        "admission",
        "streams that ask before they send",
        "admission",
        network={"admission": {"share": 0.8}},
        traffic={"streams": STREAMS},
        without=("load", "length"),
    ),
    Part(
        "leases",
        "reservations that end unless packets renew them",
        "admission",
        network={"admission": {"share": 0.8, "lease": "10 us"}},
        traffic={"streams": STREAMS},
        without=("load", "length"),
    ),
    Part(
        "trees",
        "a sample of the waiting packets",
        measure={"congestion": {"step": "1 us"}},
    ),
)

# Concepts that are not examined: values of every scenario, or parameters of a part, which combine
# like that part.
LEFT_OUT = {
    "generator": "a fabric",
    "preset": "numbers of a network",
    "arrivals": "traffic",
    "length": "traffic",
    "destinations": "traffic",
    "crossbar": "of switches with virtual lanes",
    "allocator": "of switches with virtual lanes",
    "reallocation": "of switches with virtual lanes",
    "injection": "of hosts with virtual lanes",
    "vc-allocator": "of switches with virtual lanes",
    "reselect": "of switches with virtual lanes",
    "select": "of switches with virtual lanes",
    "read": "of switches with whole packets",
    "placement": "of streams",
    "spread": "of streams",
    "credits": "of credits",
}

"""InfiniBand's congestion control, annex A10, as lines of `opensm.conf`.

Source of names, units and bits: the file that `opensm -c` of OpenSM 3.3.23 writes, and opensm(8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.qos._settings import Response, comment, marking_of, responses_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gingham.scenario import Scenario

# Bits of cc_sw_cong_setting_control_map.
VICTIM_MASK, THRESHOLD, MARKING_RATE = 1 << 0, 1 << 2, 1 << 4
# Ports 1 to 254 of the mask of 256 bits.
EVERY_PORT = (1 << 255) - 2
MASK_DIGITS = 64
# An adapter logs no event for an index.
TRIGGER_NONE = 0


def congestion_conf(scenario: Scenario) -> str:
    """Return lines of `opensm.conf` with the congestion control of a scenario.

    Switches mark by `fecn`, and adapters respond by `becn`, at the service level of each traffic
    class. Comments list the units and the settings without a counterpart. Raises `InputError` if
    the scenario has neither, or if two classes need different values of a setting of the subnet.
    """
    marking, responses = marking_of(scenario, "fecn"), responses_of(scenario, "becn")
    if marking is None and not responses:
        scenario.refuse(
            "network.marking",
            "opensm.conf holds InfiniBand's annex A10: marking by fecn, responses by becn; neither "
            "is here",
        )
    return "".join([head(), *switch_lines(marking), *adapter_lines(scenario, responses)])


def head() -> str:
    """Return the lines that enable congestion control."""
    return (
        comment(
            "Written by gingham; lines for /etc/opensm/opensm.conf.",
            "No counterpart in a scenario: cc_key, the key of your subnet, and",
            "cc_max_outstanding_mads, OpenSM's default.",
        )
        + "congestion_control TRUE\ncc_key 0x0000000000000000\ncc_max_outstanding_mads 500\n"
    )


def switch_lines(marking: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the settings of switches."""
    if marking is None:
        yield comment("Switches are left as they are: they do not mark by fecn.")
        return
    mask = EVERY_PORT if marking["victim_mask"] else 0
    yield comment(
        "Switches. Bits of the map: 0 victim mask, 2 threshold and packet size, 4 marking rate.",
        "Threshold: 0 none, 1 loose, 15 aggressive; each vendor defines it in bytes.",
        "Packet size in units of 64 B; marking rate in packets between two that are marked.",
        "No counterpart in a scenario: credit mask and credit starvation.",
    )
    values = {
        "control_map": f"0x{VICTIM_MASK | THRESHOLD | MARKING_RATE:x}",
        "victim_mask": f"0x{mask:0{MASK_DIGITS}x}",
        "threshold": f"0x{marking['threshold']:02x}",
        "packet_size": f"{marking['packet_size']}",
        "marking_rate": f"{marking['marking_rate']}",
    }
    for name, value in values.items():
        yield f"cc_sw_cong_setting_{name} {value}\n"


def adapter_lines(scenario: Scenario, responses: Sequence[Response]) -> Iterator[str]:
    """Yield the settings of adapters, by service level, and the table of delays."""
    if not responses:
        yield comment("Adapters are left as they are: no traffic class responds by becn.")
        return
    levels: dict[int, Response] = {}
    for response in responses:
        first = levels.setdefault(response.service_level, response)
        if settings(first) != settings(response):
            scenario.refuse(
                response.key,
                f"another class of service level {response.service_level} has other settings, and "
                "an adapter has one a level: give the classes levels of their own",
            )
    yield comment(
        "Adapters. Port control 0: each queue pair by itself, as flows are here.",
        "ccti_timer in units of 1.024 us. The first number of a line is the service level.",
        "No counterpart in a scenario: trigger_threshold, the index at which an event is logged.",
        "No counterpart in opensm.conf: the packets under way of a flow (window.packets).",
    )
    yield "cc_ca_cong_setting_port_control 0x0000\n"
    yield f"cc_ca_cong_setting_control_map 0x{sum(1 << level for level in levels):04x}\n"
    for level, response in sorted(levels.items()):
        values = response.parameters
        yield f"cc_ca_cong_setting_ccti_timer {level} {values['timer']}\n"
        yield f"cc_ca_cong_setting_ccti_increase {level} {values['increase']}\n"
        yield f"cc_ca_cong_setting_trigger_threshold {level} {TRIGGER_NONE}\n"
        yield f"cc_ca_cong_setting_ccti_min {level} {values['min']}\n"
    yield comment(
        "Delay after a packet by index, as shift:multiplier: multiplier times the time of the",
        "packet, over 2 to the shift. The last entry is the limit of the index.",
    )
    yield f"cc_cct {','.join(table_of(scenario, responses))}\n"


def settings(response: Response) -> tuple[int, int, int]:
    """Return the settings of an adapter for each service level."""
    values = response.parameters
    return values["timer"], values["increase"], values["min"]


def table_of(scenario: Scenario, responses: Sequence[Response]) -> list[str]:
    """Return the common table of delays up to the limit; reject a class with another table."""
    tables = [delays(response.parameters) for response in responses]
    for response, table in zip(responses, tables, strict=True):
        if table != tables[0]:
            scenario.refuse(
                response.key,
                "another class has another table or limit, and OpenSM gives every adapter one "
                "table (cc_cct): give both classes the same",
            )
    return tables[0]


def delays(parameters: Mapping[str, Any]) -> list[str]:
    """Return the entries from 0 to the limit; missing entries are linear in the index."""
    given = parameters["table"]
    return [
        given[index] if index < len(given) else f"0:{index}"
        for index in range(parameters["limit"] + 1)
    ]

"""DCQCN on Ethernet: marking thresholds of SONiC switches, and parameters of mlx5 adapters.

Sources: SONiC's table WRED_PROFILE and `config ecn` (sonic-utilities); NVIDIA's page "DCQCN CC
Parameters" for names, units and ranges, and its register layouts for the 15 bits of the byte
counter. No real device was at hand: read the values back on one device before you set them on all.
"""

from __future__ import annotations

import re
import shlex
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError
from gingham.qos._settings import (
    comment,
    link_rate_of,
    marking_of,
    number,
    responses_of,
    the_only,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gingham.qos._settings import Response
    from gingham.scenario import Scenario

# Default thresholds, as transmission times of the link: 1 us and 40 us.
K_MIN_US, K_MAX_US = Decimal(1), Decimal(40)
# Defaults as shares of the highest rate; the byte counter as a time at that rate.
ADDITIVE, HYPER, BYTE_COUNTER_US = Decimal(1) / 1000, Decimal(1) / 100, Decimal(2000)
BITS = 8
US = Decimal(10**6)
MBIT = Decimal(10**6)
PER_CENT = Decimal(100)
# The byte counter of an adapter has 15 bits, and 0 turns it off.
BYTE_RESET_MAX = 32_767
# The count of increases before the target rises has 5 bits, a time 17.
THRESHOLD_MAX, TIME_MAX_US = 31, 131_071
# `alpha` and its weight are fixed-point numbers with 10 bits.
FIXED_POINT, ALPHA_MAX = Decimal(1024), 1023
PRIORITIES = 8
# Names of profiles and interfaces.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*")
FOLDER = "/sys/class/net/{interface}/ecn"


def sonic_commands(scenario: Scenario, *, profile: str = "AZURE_LOSSLESS") -> str:
    """Return commands that give a SONiC switch the marking by `red` of a scenario.

    They write the fields of the profile in its table `WRED_PROFILE`. Comments list the units, and
    settings without a counterpart. Raises `InputError` if the switches of the scenario do not mark
    by `red`, or if the profile name is invalid.
    """
    require_name("profile", profile)
    marking = marking_of(scenario, "red")
    if marking is None:
        scenario.refuse("network.marking", "a switch of SONiC marks by random early detection: red")
    k_min, k_max = (
        whole(number(marking[key]) if marking.get(key) else bytes_in(scenario, default_us))
        for key, default_us in (("k_min", K_MIN_US), ("k_max", K_MAX_US))
    )
    share = Decimal(str(marking["p_max"])) * PER_CENT
    percent = max(1, whole(share)) if share else 0
    rounded = [f"p_max is {share.normalize():f} %, rounded to whole per cent."]
    fields = {
        "ecn": "ecn_all",
        "wred_green_enable": "true",
        "green_min_threshold": k_min,
        "green_max_threshold": k_max,
        "green_drop_probability": percent,
    }
    words = " ".join(f"{name} {value}" for name, value in fields.items())
    return (
        comment(
            "Written by gingham; for a SONiC switch. Thresholds in bytes, probability in per cent.",
            *(rounded if share != percent else []),
            "Command that changes an existing profile:",
            f"  config ecn -profile {profile} -gmin {k_min} -gmax {k_max} -gdrop {percent}",
            "No counterpart in a scenario: yellow and red packets, and the queues of a profile.",
            "SONiC measures a shared output queue; the model counts the bytes behind a packet.",
        )
        + f"sonic-db-cli CONFIG_DB HSET {shlex.quote(f'WRED_PROFILE|{profile}')} {words}\n"
    )


def mlx5_commands(scenario: Scenario, *, interface: str = "eth0", priority: int = 3) -> str:
    """Return commands that give an mlx5 adapter the response by `dcqcn` of a scenario.

    They write the files of the reaction point (`roce_rp`) and of the notification point (`roce_np`)
    of an interface. Comments list the units, and settings without a counterpart. Raises
    `InputError` if no traffic class responds by `dcqcn`, if two do so with different parameters, or
    if the interface name or priority is invalid.
    """
    require_name("interface", interface)
    if priority not in range(PRIORITIES):
        raise InputError(f"priority is {priority}, and must be 0 to 7", key="priority")
    found = responses_of(scenario, "dcqcn")
    if not found:
        scenario.refuse(
            "traffic.0.window.response", "an mlx5 adapter responds by dcqcn, and no class does here"
        )
    why = "another class has other parameters of dcqcn, and an adapter has one set a port"
    response = the_only(scenario, found, why)
    values, notes = reaction(scenario, response)
    lines = [
        comment(
            f"Written by gingham; for {interface}, as root, until the next restart.",
            "Times in us, rates in Mbit/s, the byte counter in bytes, dce_tcp_g and alpha in",
            "1024ths, rpg_min_dec_fac in per cent. Newer drivers have the files in params/.",
            *notes,
        ),
        f"ecn={shlex.quote(FOLDER.format(interface=interface))}\n",
        'rp="$ecn/roce_rp"; np="$ecn/roce_np"\n',
        f'echo 1 > "$rp/enable/{priority}"\necho 1 > "$np/enable/{priority}"\n',
        '[ -d "$rp/params" ] && rp="$rp/params"; [ -d "$np/params" ] && np="$np/params"\n',
        *(f'echo {value} > "$rp/{name}"\n' for name, value in values.items()),
    ]
    if response.notification_us is None:
        lines.append(
            comment("min_time_between_cnps is left as it is: each acknowledgement has its mark.")
        )
    else:
        lines.append(f'echo {whole(response.notification_us)} > "$np/min_time_between_cnps"\n')
    return "".join(lines)


def require_name(key: str, name: str) -> None:
    """Raise `InputError` for a name that would end a comment, a key of SONiC or a folder name."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"{key} is {name!r}, and must be letters, digits and any of _ - . : @ after the first",
            key=key,
        )


def reaction(scenario: Scenario, response: Response) -> tuple[dict[str, int], list[str]]:
    """Return the parameters of the reaction point, and notes on those without a counterpart."""
    given = response.parameters
    highest = highest_rate(scenario, response)
    counter = byte_counter(given, highest)
    values = {
        "dce_tcp_g": min(whole(FIXED_POINT * (1 - Decimal(str(given["g"])))), ALPHA_MAX),
        "dce_tcp_rtt": min(max(1, whole(number(given["alpha_timer"]))), TIME_MAX_US),
        "rpg_time_reset": whole(number(given["timer"])),
        "rpg_byte_reset": counter if counter <= BYTE_RESET_MAX else 0,
        "rpg_threshold": min(given["fast_recovery"], THRESHOLD_MAX),
        "rpg_ai_rate": mbit(given["additive"], ADDITIVE * highest),
        "rpg_hai_rate": mbit(given["hyper"], HYPER * highest),
        "rpg_min_rate": max(1, whole(Decimal(str(given["lowest"])) * highest / MBIT)),
        "rpg_max_rate": 0 if response.rate_limit is None else whole(highest / MBIT),
        # Behaviour of the model: a cut by alpha / 2, at most half, of rate and target, at each
        # notification; alpha starts at 1, and a flow at its highest rate.
        "rpg_gd": 11,
        "rpg_min_dec_fac": 50,
        "clamp_tgt_rate": 1,
        "rate_reduce_monitor_period": 1,
        "initial_alpha_value": ALPHA_MAX,
        "rate_to_set_on_first_cnp": 0,
    }
    return values, list(notes_of(response, counter))


def notes_of(response: Response, counter: int) -> Iterator[str]:
    """Return notes on parameters without a counterpart, or with a changed value."""
    if counter > BYTE_RESET_MAX:
        yield f"rpg_byte_reset has 15 bits: {counter} B do not fit, so 0 turns the counter off."
    if response.parameters["fast_recovery"] > THRESHOLD_MAX:
        yield f"rpg_threshold has 5 bits: {THRESHOLD_MAX} is the most, and more was asked for."
    if response.window_packets is not None:
        yield f"No counterpart: {response.window_packets} packets under way of a flow."
    yield "No counterpart in a scenario: clamp_tgt_rate_after_time_inc, CNP priority and DSCP."


def byte_counter(given: Mapping[str, Any], highest: Decimal) -> int:
    """Return the bytes between increases; by default, 2 ms at the highest rate."""
    if given["byte_counter"]:
        return whole(number(given["byte_counter"]))
    return whole(highest * BYTE_COUNTER_US / US / BITS)


def highest_rate(scenario: Scenario, response: Response) -> Decimal:
    """Return the highest rate of a flow: that of the link, or the rate limit of its class."""
    if isinstance(response.rate_limit, str):
        return number(response.rate_limit)
    share = Decimal(1) if response.rate_limit is None else Decimal(str(response.rate_limit))
    return link_rate_of(scenario) * share


def mbit(given: str | None, default: Decimal) -> int:
    """Return a rate in Mbit/s, at least 1."""
    return max(1, whole((number(given) if given else default) / MBIT))


def bytes_in(scenario: Scenario, time_us: Decimal) -> Decimal:
    """Return the bytes that a link sends in a time."""
    return link_rate_of(scenario) * time_us / US / BITS

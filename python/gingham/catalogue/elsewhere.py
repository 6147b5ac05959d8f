"""Scenario keys by their names in other simulators and vendors' documentation.

::

    num_vcs          network.lanes.count       a key of ours
    speculative      -                         no counterpart

Sources: BookSim 2, `src/booksim_config.cpp`; CAMINOS, `caminos-lib`, `src/defaults/main.cfg`;
NVIDIA, "DCQCN CC Parameters" (DOCA 3.4) and `mlxconfig`; SONiC, `sonic-buildimage`,
`files/build_templates/qos_config.j2`; `opensm -c` of OpenSM 3.3.23. The page on each (`PAGES`)
lists the differences. Names that are also Gingham's own keys are omitted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PAGE = "docs/how-to/booksim.md"
BOOKSIM, CAMINOS = "BookSim", "CAMINOS"
NVIDIA, SONIC, OPENSM = "NVIDIA", "SONiC", "OpenSM"
PAGES = {
    BOOKSIM: PAGE,
    CAMINOS: PAGE,
    NVIDIA: "docs/concepts/congestion.md",
    SONIC: "docs/concepts/congestion.md",
    OPENSM: "docs/concepts/congestion.md",
}
_DCQCN = "traffic.0.window.response.dcqcn"
_BECN = "traffic.0.window.response.becn"
_FECN = "network.marking.fecn"

# Scenario keys, by simulator or vendor and by its name for them.
KEYS = {
    BOOKSIM: {
        "network_file": "topology.file",
        "anynet": "topology.file",
        "k": "topology.generate.mesh.dimensions",
        "routing_function": "routing.algorithm",
        "num_vcs": "network.lanes.count",
        "vc_buf_size": "network.lanes.depth",
        "routing_delay": "network.lanes.routing_cycles",
        "vc_allocator": "network.lanes.vc_allocator",
        "sw_allocator": "network.lanes.allocator",
        "alloc_iters": "network.lanes.allocator.islip.iterations",
        "wait_for_tail_credit": "network.lanes.reallocation",
        "hold_switch_for_packet": "network.lanes.crossbar_input",
        "output_buffer_size": "network.lanes.output_depth",
        "vct": "network.lanes.forwarding",
        "channel_width": "network.lanes.flit",
        "use_noc_latency": "network.cable_length",
        "injection_rate": "traffic.0.load",
        "packet_size": "traffic.0.length",
        "const_flits_per_packet": "traffic.0.length",
        "injection_process": "traffic.0.arrivals",
        "burst_alpha": "traffic.0.arrivals.on-off",
        "burst_beta": "traffic.0.arrivals.on-off",
        "class_priority": "traffic.0.priority",
        "use_read_write": "traffic.0.arrivals.reply",
        "max_outstanding_requests": "traffic.0.window",
        "sample_period": "stop.time",
        "max_samples": "stop.time",
        "warmup_periods": "stop.warm_up",
        "warmup_thres": "stop.warm_up",
        "stopping_thres": "stop.relative_width",
        "watch_file": "measure.follow",
        "watch_flits": "measure.follow",
        "min_adapt": "routing.adaptive",
        "min_adapt_mesh": "routing.adaptive",
        "min_adapt_torus": "routing.adaptive",
        "nca": "routing.adaptive",
    },
    CAMINOS: {
        "random_seed": "seed",
        "virtual_channels": "network.lanes.count",
        "buffer_size": "network.lanes.depth",
        "message_size": "traffic.0.length",
        "maximum_packet_size": "traffic.0.segmentation",
        "virtual_channel_policies": "traffic.0.lanes",
        "pattern": "traffic.0.destinations",
        "measured": "stop.time",
    },
    NVIDIA: {
        "dce_tcp_g": f"{_DCQCN}.g",
        "dce_tcp_rtt": f"{_DCQCN}.alpha_timer",
        "rpg_time_reset": f"{_DCQCN}.timer",
        "rpg_byte_reset": f"{_DCQCN}.byte_counter",
        "rpg_threshold": f"{_DCQCN}.fast_recovery",
        "rpg_ai_rate": f"{_DCQCN}.additive",
        "rpg_hai_rate": f"{_DCQCN}.hyper",
        "rpg_min_rate": f"{_DCQCN}.lowest",
        "rpg_max_rate": "traffic.0.rate_limit",
        "min_time_between_cnps": "traffic.0.window.acknowledged.marked",
    },
    SONIC: {
        "green_min_threshold": "network.marking.red.k_min",
        "green_max_threshold": "network.marking.red.k_max",
        "green_drop_probability": "network.marking.red.p_max",
    },
    OPENSM: {
        "cc_sw_cong_setting_threshold": f"{_FECN}.threshold",
        "cc_sw_cong_setting_packet_size": f"{_FECN}.packet_size",
        "cc_sw_cong_setting_marking_rate": f"{_FECN}.marking_rate",
        "cc_sw_cong_setting_victim_mask": f"{_FECN}.victim_mask",
        "cc_ca_cong_setting_ccti_increase": f"{_BECN}.increase",
        "cc_ca_cong_setting_ccti_timer": f"{_BECN}.timer",
        "cc_ca_cong_setting_ccti_min": f"{_BECN}.min",
        "ccti_increase": f"{_BECN}.increase",
        "ccti_timer": f"{_BECN}.timer",
        "ccti_min": f"{_BECN}.min",
        "ccti_limit": f"{_BECN}.limit",
    },
}
# Reasons why a name has no key here, by simulator or vendor.
NOTHING = {
    BOOKSIM: {
        "speculative": "heads never speculate",
        "internal_speedup": "a switch has one clock",
        "buffer_policy": "each lane has a buffer of its own",
        "deadlock_warn_timeout": "routes are proved before a run, and a real deadlock ends it",
        "latency_thres": "the verdict `saturated` compares accepted with offered load",
        "sim_count": "--replications of `gingham curve`, replications of a sweep",
        "sim_power": "there is no model of power",
        "sim_type": "every run measures latency and throughput",
        "subnets": "a scenario has one network",
        "link_failures": "`gingham fabric convert --without` takes cables out",
        "flatfly": "write an anynet file, which topology.file names",
        "fly": "write an anynet file, which topology.file names",
        "valiant": "packets take shortest ways, or those of routing.algorithm",
        "romm": "packets take shortest ways, or those of routing.algorithm",
        "romm_ni": "packets take shortest ways, or those of routing.algorithm",
        "ugal": "packets take shortest ways, or those of routing.algorithm",
        "chaos": "packets are never misrouted",
        "planar_adapt": "routing.adaptive is fully adaptive, with escape lanes",
        "wavefront": "allocators are maximal, islip and separable, input or output first",
    },
    CAMINOS: {
        "bubble": "datelines keep rings free of deadlock",
        "hamming": "write an anynet file, which topology.file names",
    },
    NVIDIA: {
        "initial_alpha_value": "alpha starts at 1",
        "rpg_gd": "a notification cuts the rate by the share alpha / 2, as rpg_gd = 11 does",
        "rpg_min_dec_fac": "a notification never cuts the rate by more than half",
        "rate_reduce_monitor_period": "every notification cuts the rate",
        "rate_to_set_on_first_cnp": "a flow begins at its highest rate, which notifications cut",
        "clamp_tgt_rate": "every notification sets the target to the rate before the cut",
        "clamp_tgt_rate_after_time_inc": "every notification sets the target anew",
    },
    SONIC: {
        "yellow_min_threshold": "packets have no colours",
        "yellow_max_threshold": "packets have no colours",
        "red_min_threshold": "packets have no colours",
        "red_max_threshold": "packets have no colours",
    },
    OPENSM: {
        "cc_key": "it protects the settings of a subnet, and no packet depends on it",
        "cc_sw_cong_setting_credit_mask": "switches mark by queues alone",
        "cc_sw_cong_setting_credit_starvation_threshold": "switches mark by queues alone",
        "cc_ca_cong_setting_trigger_threshold": "adapters log no events",
    },
}
# Suffix for the port that `mlxconfig` appends to names.
PORT = re.compile(r"_p[12]$")
# A line of a BookSim configuration; no line of TOML ends in a semicolon.
SETTING = re.compile(r"^\s*(\w+)\s*=\s*([^;#\"']+|\{[^}]*\});\s*(//.*)?$")


@dataclass(frozen=True)
class Elsewhere:
    """The scenario key for a name of another simulator or of a vendor."""

    simulator: str
    name: str
    # The key to write, if there is one.
    key: str | None
    why: str

    def __str__(self) -> str:
        """Return the correspondence as a sentence without a full stop.

        >>> print(named("num_vcs"))
        BookSim's num_vcs is network.lanes.count here
        >>> print(named("speculative"))
        BookSim's speculative has no key here: heads never speculate
        """
        if self.key:
            return f"{self.simulator}'s {self.name} is {self.key} here"
        return f"{self.simulator}'s {self.name} has no key here: {self.why}"


def named(name: str) -> Elsewhere | None:
    """Look up a name of a simulator or vendor, ignoring case; return `None` if it is unknown.

    >>> print(named("RPG_AI_RATE_P1"))
    NVIDIA's rpg_ai_rate is traffic.0.window.response.dcqcn.additive here
    """
    plain = PORT.sub("", re.sub("[- ]", "_", name.lower()))
    for simulator, keys in KEYS.items():
        if plain in keys:
            return Elsewhere(simulator, plain, keys[plain], "")
        if plain in NOTHING[simulator]:
            return Elsewhere(simulator, plain, None, NOTHING[simulator][plain])
    return None


def unknown_in(message: str) -> list[Elsewhere]:
    """Return the entries for names that a message reports as unknown, in order and each once.

    >>> [str(one) for one in unknown_in("x.toml:3:1: unknown key `num_vcs` in `network.lanes`")]
    ["BookSim's num_vcs is network.lanes.count here"]
    """
    names = re.findall(r"unknown (?:key|name) `([^`]+)`", message)
    return [one for one in map(named, dict.fromkeys(names)) if one]


def is_booksim(text: str) -> bool:
    """Whether a text is a configuration of BookSim: settings that end in semicolons, and comments.

    >>> is_booksim("topology = mesh; // 8 x 8"), is_booksim("topology.file = 'x'")
    (True, False)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.lstrip().startswith("//")]
    return bool(told) and all(map(SETTING.match, told))

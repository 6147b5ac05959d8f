//! Names used by earlier versions of the network laboratory.

use gingham_input::OldName;

/// Renamed keys, columns and engines. An old name is refused with an error that gives the current
/// name.
pub const OLD_NAMES: [OldName; 17] = [
    OldName::key("routing.second", "routing.alternative"),
    OldName::key("traffic.*.window.answer", "traffic.*.window.ack"),
    OldName::key("traffic.*.window.answered", "traffic.*.window.acknowledged"),
    OldName::key("traffic.*.pace", "traffic.*.rate_limit"),
    OldName::key(
        "network.packets.flow_control.pfc.answer",
        "network.packets.flow_control.pfc.response_time",
    ),
    OldName::column("drawn_load", "generated_load"),
    OldName::column("second_share", "alternative_share"),
    OldName::column("held_pace", "held_rate_limit"),
    OldName::column("held_pace_smoothed", "held_rate_limit_smoothed"),
    OldName::column("packets_answered", "packets_acknowledged"),
    OldName::column("answers_waiting_max", "acks_waiting_max"),
    OldName::column("streams_asked", "streams_requested"),
    OldName::column("asked_ps", "requested_ps"),
    OldName::column("answered_ps", "responded_ps"),
    OldName::column("looks", "samples"),
    OldName::column("looks_with_trees", "samples_with_trees"),
    OldName { what: "engine", old: "runs", new: "fast" },
];

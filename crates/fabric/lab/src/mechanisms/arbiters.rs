//! Lane arbiters at crossbar inputs and outputs, links and adapters.
//!
//! Keys: [`gingham_net::Scheduler`]. State machine: `gingham_net::lanes::arbiter`.
//!
//! Invariant: [`gingham_net::LaneArbiter::new`] accepts every scheduler of a plan.

mod checks;
mod file;
mod plan;
mod served;

pub(crate) use checks::{of_packets, of_plan};
pub(crate) use plan::{crossbar, ports};

use gingham_net::ArbiterPlace;
use gingham_topology::routing::LaneSet;
use gingham_topology::subnet::PortKind;

trait Place {
    fn key(self) -> &'static str;

    fn port_kind(self) -> PortKind;
}

impl Place for ArbiterPlace {
    fn key(self) -> &'static str {
        match self {
            Self::CrossbarInput => "network.lanes.crossbar_input",
            Self::CrossbarOutput => "network.lanes.crossbar_output",
            Self::LinkOutput => "network.lanes.link_output",
            Self::AdapterPort => "network.lanes.adapter_port",
        }
    }

    fn port_kind(self) -> PortKind {
        match self {
            Self::CrossbarInput | Self::CrossbarOutput | Self::LinkOutput => PortKind::SwitchOuter,
            Self::AdapterPort => PortKind::Adapter,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Among {
    pub(crate) count: u8,
    pub(crate) flit_bytes: u32,
    pub(crate) cut_through: LaneSet,
}

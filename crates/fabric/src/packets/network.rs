//! What moves packets between hosts, and what all of it shares.

use crate::bits::Bits;
use crate::packets::clock::Clock;
use crate::packets::credits::Credits;
use crate::packets::crossing::OutputBuffers;
use crate::packets::links::Links;
use crate::packets::losses::Losses;
use crate::packets::packet::Packets;
use crate::packets::pauses::Pauses;
use crate::packets::reading::is_plain;
use crate::packets::standing::Standing;
use crate::packets::switches::LANES;
use crate::packets::waiting::Waiting;
use crate::packets::watched::Watched;
use gingham_fairq::Head;
use gingham_model::{
    ArbiterPlace, Endpoints, LaneArbiter, Notice, PacketsPlan, Plan, Stay, Wanted,
};
use gingham_topology::{ChannelId, Fabric};
use std::sync::Arc;

/// The network with its clock, and the endpoints that are told what happens.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) plan: Arc<Plan>,
    pub(crate) packets_plan: Arc<PacketsPlan>,
    pub(crate) clock: Clock,
    pub(crate) endpoints: Endpoints,
    pub(crate) wanted: Wanted,
    pub(crate) packets: Packets,
    pub(crate) links: Links,
    pub(crate) credits: Credits,
    /// What is not known of credits, where updates of them may be lost.
    pub(crate) losses: Option<Losses>,
    /// In place of credits, where receivers pause lanes.
    pub(crate) pauses: Option<Pauses>,
    /// Buffers of outputs, where those have some.
    pub(crate) output_buffers: Option<OutputBuffers>,
    /// By channel: the arbiter of its lanes where it begins, if there are several lanes.
    pub(crate) arbiters: Vec<LaneArbiter>,
    pub(crate) waiting: Waiting,
    pub(crate) standing: Standing,
    /// Packets whose heads were read at this instant, where somebody wants to know what comes of it.
    pub(crate) read: Vec<Stay>,
    /// Channels on which anything may have happened since the last section.
    pub(crate) active: Bits,
    /// When the last section ended.
    pub(crate) section_ps: u64,
    /// What hosts want to know before they begin a message.
    pub(crate) watched: Watched,
}

impl Network {
    pub(crate) fn new(plan: Arc<Plan>, packets_plan: Arc<PacketsPlan>) -> Self {
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let channels = plan.channels.len();
        let wanted = endpoints.wanted();
        Self {
            clock: Clock::new(),
            wanted,
            endpoints,
            packets: Packets::default(),
            links: Links::new(&plan),
            credits: Credits::new(&plan, &packets_plan.buffer_blocks, |channel| {
                plan.channel(Fabric::reverse(channel)).delay + packets_plan.credit_delay
            }),
            losses: Losses::new(&plan, &packets_plan),
            pauses: Pauses::new(&plan, &packets_plan),
            output_buffers: OutputBuffers::new(&plan, &packets_plan),
            arbiters: arbiters(&plan),
            waiting: Waiting::new(channels, !is_plain(&packets_plan)),
            standing: Standing::new(channels, plan.lanes.count, wanted.read),
            read: Vec::new(),
            active: Bits::new(channels),
            section_ps: 0,
            watched: Watched::new(&plan, &packets_plan),
            packets_plan,
            plan,
        }
    }

    /// Tells the endpoints what happens now. What they order is to be carried out by the hosts
    /// before anything else happens.
    #[inline]
    pub(crate) fn tell(&mut self, notice: Notice<'_>) {
        self.endpoints.tell(self.clock.time(), notice);
    }

    /// The lane that the sender on a channel serves, of those that can be chosen.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        channel: ChannelId,
        eligible: u16,
        heads: &[Head; LANES],
    ) -> Option<u8> {
        match self.arbiters.get_mut(channel.index()) {
            None => (eligible == 1).then_some(0),
            Some(arbiter) => arbiter.serve(eligible, heads),
        }
    }

    /// Whether a channel is idle now.
    #[inline]
    pub(crate) fn is_idle(&self, channel: ChannelId) -> bool {
        self.links.busy_until_ps(channel) <= self.clock.now()
    }
}

fn arbiters(plan: &Plan) -> Vec<LaneArbiter> {
    let arbiter = |channel| {
        let at_host = plan.has_place(ArbiterPlace::AdapterPort, channel);
        let of = if at_host { &plan.lanes.adapter_port } else { &plan.lanes.link_output };
        LaneArbiter::over(of, &plan.lanes)
    };
    let count = if plan.lanes.count > 1 { plan.channels.len() } else { 0 };
    ChannelId::first(count).map(arbiter).collect()
}

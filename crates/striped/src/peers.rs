//! The other ends of a bundle: each has a pipe, a queue before it, and addresses.
//!
//! ```text
//!   interface ──► whose is the destination? ──► queue 0 ──► pipe 0 ══╗
//!                                           └─► queue 1 ──► pipe 1 ══╬══ ports in common
//!   interface ◄── is the source its own?    ◄── either pipe ◄════════╝
//! ```
//!
//! Over Ethernet there is one, of whom nothing is known.

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use gingham_stripe::{Controlled, Epoch, Instant, Order};
use gingham_stripe_udp::{
    End, EndPlan, Ends, LinkPlan, Opener, Packet, Sources, StripingPlan, now,
};
use nix::time::{ClockId, clock_gettime};

use crate::allowed::{Allowed, is_to_group};
use crate::check::Checked;
use crate::class::Marks;
use crate::config::{Channel, ChannelNumber, Config};
use crate::entry::Entry;
use crate::line::{HalfLine, reopened};
use crate::observer::{Crowd, Observer};
use crate::policy::Policies;
use crate::quota;

/// An epoch is a count of so many milliseconds: no end resets so often for long, and half of what
/// 32 bits count, within which one is told from an earlier one, is four years.
const EPOCH_MS: u128 = 64;
/// Peers that send and get no packets are looked at so often: of 256 that rest, looking at each ten
/// times a second was a quarter of what they cost.
const LOOK_AT_QUIET: Duration = Duration::from_secs(1);

/// All of them.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) ends: Ends,
    queues: Queues,
    allowed: Allowed,
    /// What the longest packet of a pipe may be, at least and at most.
    longest: (u16, u16),
    /// Packets that did not go in, since they were to go to nobody.
    pub(crate) refused_destinations: u64,
    crowd: Crowd,
}

/// By the numbers of the ends.
#[derive(Debug)]
struct Queues(Vec<Peer>);

impl Sources for Queues {
    type One = Entry;

    fn of(&mut self, end: usize) -> &mut Entry {
        &mut self.0[end].entry
    }
}

/// What there is of an other end beside its pipe.
#[derive(Debug)]
pub(crate) struct Peer {
    /// As reports call it, where it has a name or a key.
    pub(crate) name: Option<String>,
    pub(crate) entry: Entry,
    /// Packets that did not come out, for where they said that they came from.
    pub(crate) refused_sources: u64,
    /// What marks of the way did to its packets.
    pub(crate) marks: Marks,
    /// The longest packet that its pipe takes now.
    longest_bytes: u16,
    pub(crate) observer: Observer,
    /// A packet came or went since it was looked at last.
    is_busy: bool,
    /// Then it is looked at though it rests.
    looks_by: Instant,
}

impl Peers {
    /// Opens the pipes that a file describes, for packets with so many bytes before each.
    pub(crate) fn open(
        checked: &Checked,
        line: &Arc<HalfLine>,
        prefix_bytes: usize,
    ) -> Result<Self, String> {
        let Checked { config, peers } = checked;
        let refused = |error: &dyn std::fmt::Display| error.to_string();
        let private = peers.first().map(|peer| &peer.private);
        let granule = EndPlan::free(config.mtu.into()).granule;
        let mut ends = Ends::new(private, granule).map_err(|error| refused(&error))?;
        let mut queues = Vec::new();
        for number in 0..peers.len().max(1) {
            let mut plan = plan(config)?;
            plan.peer = peers.get(number).cloned();
            let links = links(config, number);
            let channels = links.len();
            let opened = ends.add(&plan, links, epoch());
            let place = opened.map_err(|error| refused(&error))?;
            debug_assert_eq!(place, number, "they are opened in the order of the file");
            if let Some(end) = ends.end_mut(number) {
                for id in 0..channels {
                    end.set_opener(id, opener(line, number, id));
                }
                prefer(config, number, end);
                quota::count(config, number, end);
            }
            let mut entry = Entry::new(plan.striping.longest_bytes, prefix_bytes, config.dscp);
            entry.set_policies(Policies::new(config));
            queues.push(Peer {
                name: config.peers.list.get(number).map(crate::config::PeerTable::name),
                entry,
                refused_sources: 0,
                marks: Marks::default(),
                longest_bytes: config.mtu,
                observer: Observer::new(number, ends.end(number).map_or(0, End::channels), now()),
                is_busy: false,
                looks_by: now(),
            });
        }
        Ok(Self {
            ends,
            queues: Queues(queues),
            allowed: Allowed::new(config),
            longest: longest(config),
            refused_destinations: 0,
            crowd: Crowd::default(),
        })
    }

    /// Each of them, and its pipe.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&Peer, &End)> {
        let ends = (0..self.queues.0.len()).filter_map(|number| self.ends.end(number));
        self.queues.0.iter().zip(ends)
    }

    /// The next packet that came out of a pipe, as its peer may send it, and how long those may be that
    /// go back.
    pub(crate) fn next_packet(&mut self) -> Option<(Packet, u16)> {
        while let Some((number, mut packet)) = self.ends.next_packet() {
            let peer = &mut self.queues.0[number];
            peer.is_busy = true;
            if self.allowed.source(&packet.bytes) != Some(number) {
                peer.refused_sources += 1;
            } else if peer.marks.passes(&mut packet.bytes, packet.ecn) {
                return Some((packet, peer.longest_bytes));
            }
        }
        None
    }

    /// To whom a packet of the interface goes, and how long it may be.
    pub(crate) fn destination(&mut self, packet: &[u8]) -> Option<(usize, u16)> {
        let number = self.allowed.destination(packet);
        let Some(number) = number else {
            // The kernel itself speaks to groups on each interface that it has.
            self.refused_destinations += u64::from(!is_to_group(packet));
            return None;
        };
        Some((number, self.queues.0[number].longest_bytes))
    }

    /// A packet goes to a peer.
    pub(crate) fn enqueue(&mut self, now: Instant, number: usize, packet: &[u8]) {
        let peer = &mut self.queues.0[number];
        peer.is_busy = true;
        peer.entry.advance(now);
        peer.entry.enqueue(packet);
        self.ends.touch(number);
    }

    /// Sends what may go.
    pub(crate) fn transmit(&mut self, now: Instant) {
        for number in self.ends.active() {
            self.queues.0[*number].entry.advance(now);
        }
        self.ends.transmit(&mut self.queues);
    }

    /// Looks at what has been found of pipes: how long their packets may be, and their round trips.
    /// What has changed is told.
    pub(crate) fn look(&mut self, now: Instant) {
        let (least, most) = self.longest;
        self.crowd.look(now, self.ends.strangers(), self.refused_destinations);
        for (number, peer) in self.queues.0.iter_mut().enumerate() {
            if !take(&mut peer.is_busy) && now < peer.looks_by {
                continue;
            }
            let Some(end) = self.ends.end(number) else { continue };
            peer.looks_by = now.after(LOOK_AT_QUIET);
            peer.observer.look(now, end, peer.refused_sources);
            let longest_bytes = u16::try_from(end.longest_bytes()).unwrap_or(u16::MAX);
            peer.longest_bytes = longest_bytes.clamp(least, most);
            if let Some(round_trip) = end.round_trip_least() {
                peer.entry.set_round_trip(round_trip);
            }
            peer.entry.rest(now);
        }
    }

    /// All that another file says of peers and channels holds from now on. Channels that come do so
    /// before others go: the last one cannot. Why what does not hold does not.
    pub(crate) fn follow(
        &mut self,
        before: &Config,
        config: &Config,
        line: &Arc<HalfLine>,
    ) -> Result<(), String> {
        self.allowed = Allowed::new(config);
        self.longest = longest(config);
        let mut refused = Vec::new();
        for number in 0..self.queues.0.len() {
            self.queues.0[number].entry.set_policies(Policies::new(config));
            let (was, is) = (links(before, number), links(config, number));
            let Some(end) = self.ends.end_mut(number) else { continue };
            let mut note = |done: Result<(), String>| refused.extend(done.err());
            for (id, plan) in is.iter().enumerate() {
                if was.get(id) == Some(plan) && end.is_there(id) {
                    continue;
                }
                let opener = Some(opener(line, number, id));
                let done = if end.is_there(id) {
                    end.move_channel_by(id, plan.clone(), opener)
                } else {
                    end.add_channel_by(id, plan.clone(), opener)
                };
                note(done.map_err(|error| error.to_string()));
            }
            prefer(config, number, end);
            for id in (is.len()..end.channels()).filter(|_| !config.is_ethernet()) {
                if end.is_there(id) {
                    note(end.remove_channel(id).map_err(|error| error.to_string()));
                }
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(refused.join("; ")) }
    }

    /// Does something to every pipe.
    pub(crate) fn each(&mut self, mut what: impl FnMut(&mut End)) {
        for number in 0..self.queues.0.len() {
            self.ends.end_mut(number).into_iter().for_each(&mut what);
        }
    }

    /// The longest packet that any pipe takes now. What goes whole goes however long.
    pub(crate) fn longest_bytes(&self) -> u16 {
        let all = self.queues.0.iter().map(|peer| peer.longest_bytes);
        all.max().unwrap_or(self.longest.1)
    }
}

/// The channels of a peer are used as the file says.
fn prefer(config: &Config, peer: usize, end: &mut End) {
    for (id, at) in config.channels_of(peer).enumerate() {
        end.prefer(id, at.channel.preference());
    }
}

/// What a socket of a channel is asked for by.
fn opener(line: &Arc<HalfLine>, peer: usize, id: usize) -> Opener {
    let (line, number) = (Arc::clone(line), ChannelNumber { peer, id }.number());
    Opener::new(move || reopened(&line, number))
}

/// What the longest packet of a pipe may be, at least and at most.
fn longest(config: &Config) -> (u16, u16) {
    if config.offload { (u16::MAX, u16::MAX) } else { (config.mtu_min(), config.mtu) }
}

/// What carries the channels of a peer, by their ids.
fn links(config: &Config, peer: usize) -> Vec<LinkPlan> {
    if config.is_ethernet() {
        return config.ethernet_plans().into_iter().map(LinkPlan::from).collect();
    }
    let plan = |channel: &Channel| {
        let over_udp = channel.plan(config.mark).map(LinkPlan::from);
        over_udp.or_else(|| channel.tcp_plan(config).map(LinkPlan::from))
    };
    config.channels_of(peer).filter_map(|at| plan(at.channel)).collect()
}

fn plan(config: &Config) -> Result<EndPlan, String> {
    if config.is_ethernet() {
        return config.ethernet_plan();
    }
    let Config { mtu, order, control, channels_max, dscp, .. } = *config;
    let mut striping = match order.into() {
        Order::Free => StripingPlan::free(mtu.into()),
        Order::Strict => StripingPlan::strict(mtu.into()),
    }
    .repaired();
    if let Some(plan) = &mut striping.sender.control {
        plan.by = Controlled::from(control);
    }
    let (channels_max, dscp) = (Some(channels_max), dscp.of_messages());
    Ok(EndPlan { striping, channels_max, dscp, ..EndPlan::free(mtu.into()) })
}

/// Over Ethernet, where no handshake names a session: later than that of any start before, unless
/// somebody puts the clock back.
fn epoch() -> Epoch {
    let since_1970 = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    let count = Duration::from(since_1970).as_millis() / EPOCH_MS;
    Epoch::new(u32::try_from(count % (1 << 32)).expect("below 2^32"))
}

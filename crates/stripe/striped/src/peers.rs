//! Peers of a bundle, each with an entry queue, a pipe and allowed addresses.
//!
//! Over Ethernet, there is a single peer without a key.

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use gingham_stripe::{Controlled, Epoch, Instant, Order};
use gingham_stripe_crypt::{PeerPlan, PresharedKey, PrivateKey};
use gingham_stripe_udp::{
    End, EndPlan, Ends, LinkPlan, Opener, Packet, Sources, StripingPlan, now,
};
use nix::time::{ClockId, clock_gettime};
use tracing::info;

use crate::allowed::{Allowed, is_to_group};
use crate::asking::Asking;
use crate::check::Checked;
use crate::class::Marks;
use crate::config::{ChannelNumber, Config, PeerTable};
use crate::entry::Entry;
use crate::observer::{Crowd, Observer};
use crate::peer;
use crate::policy::Policies;
use crate::quota::Quotas;

/// Unit of the epoch counter in ms. Epochs can be ordered over half of the 32-bit range, which is
/// four years.
const EPOCH_MS: u128 = 64;
/// Poll interval of idle peers: ten polls per second took a quarter of the CPU time of 256 idle
/// peers.
const POLL_QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) ends: Ends,
    queues: Queues,
    places: Vec<usize>,
    private: Option<PrivateKey>,
    quotas: Quotas,
    prefix_bytes: usize,
    allowed: Allowed,
    longest: (u16, u16),
    pub(crate) refused_destinations: u64,
    crowd: Crowd,
}

#[derive(Debug, Default)]
struct Queues(Vec<Option<Peer>>);

impl Queues {
    fn at(&mut self, place: usize) -> Option<&mut Peer> {
        self.0.get_mut(place)?.as_mut()
    }
}

impl Sources for Queues {
    type One = Entry;

    fn of(&mut self, end: usize) -> &mut Entry {
        &mut self.at(end).expect("an end has one").entry
    }
}

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: Option<String>,
    pub(crate) entry: Entry,
    pub(crate) refused_sources: u64,
    pub(crate) marks: Marks,
    longest_bytes: u16,
    pub(crate) observer: Observer,
    is_busy: bool,
    poll_by: Instant,
    preshared: Option<PresharedKey>,
}

impl Peers {
    pub(crate) fn open(
        checked: &Checked,
        line: &Arc<Asking>,
        prefix_bytes: usize,
    ) -> Result<Self, String> {
        let Checked { config, peers } = checked;
        let private = peers.first().map(|peer| peer.private.clone());
        let granule = EndPlan::free(config.mtu.into()).granule;
        let ends = Ends::new(private.as_ref(), granule).map_err(|error| error.to_string())?;
        let mut all = Self {
            ends,
            queues: Queues::default(),
            places: places(config),
            private,
            quotas: Quotas::open(config),
            prefix_bytes,
            allowed: Allowed::new(config),
            longest: longest(config),
            refused_destinations: 0,
            crowd: Crowd::default(),
        };
        for number in 0..all.places.len() {
            all.begin(config, number, peers.get(number).cloned(), line)?;
        }
        Ok(all)
    }

    fn begin(
        &mut self,
        config: &Config,
        number: usize,
        peer: Option<PeerPlan>,
        line: &Arc<Asking>,
    ) -> Result<(), String> {
        let place = self.places[number];
        let preshared = peer.as_ref().and_then(|peer| peer.preshared.clone());
        let plan = EndPlan { peer, ..plan(config)? };
        // Over Ethernet, this process opens sockets itself.
        let opener = |id| (!config.is_ethernet()).then(|| opener(line, place, id));
        let links = links(config, number).into_iter().enumerate();
        let links = links.map(|(id, link)| (link, opener(id))).collect();
        let begun = self.ends.add_by(place, &plan, links, epoch());
        begun.map_err(|error| error.to_string())?;
        let mut entry = Entry::new(plan.striping.longest_bytes, self.prefix_bytes, config.dscp);
        entry.set_policies(Policies::new(config));
        if self.queues.0.len() <= place {
            self.queues.0.resize_with(place + 1, || None);
        }
        let Some(end) = self.ends.end_mut(place) else { return Ok(()) };
        prefer(config, number, end);
        self.quotas.count(config, number, end);
        self.queues.0[place] = Some(Peer {
            name: name(config, number),
            entry,
            refused_sources: 0,
            marks: Marks::default(),
            longest_bytes: config.mtu,
            observer: Observer::new(number, end.channels(), now()),
            preshared,
            is_busy: false,
            poll_by: now(),
        });
        Ok(())
    }

    pub(crate) fn list(&self) -> impl Iterator<Item = (usize, &Peer, &End)> {
        self.places.iter().enumerate().filter_map(|(number, place)| {
            Some((number, self.queues.0.get(*place)?.as_ref()?, self.ends.end(*place)?))
        })
    }

    pub(crate) fn next_packet(&mut self) -> Option<(Packet, u16)> {
        while let Some((place, mut packet)) = self.ends.next_packet() {
            let Some(peer) = self.queues.at(place) else { continue };
            peer.is_busy = true;
            if self.allowed.source(&packet.bytes) != Some(place) {
                peer.refused_sources += 1;
            } else if peer.marks.passes(&mut packet.bytes, packet.ecn) {
                return Some((packet, peer.longest_bytes));
            }
        }
        None
    }

    pub(crate) fn destination(&mut self, packet: &[u8]) -> Option<(usize, u16)> {
        let place = self.allowed.destination(packet);
        let there = place.and_then(|place| Some((place, self.queues.at(place)?.longest_bytes)));
        // Multicast is not counted, as the kernel sends it on every interface.
        self.refused_destinations += u64::from(there.is_none() && !is_to_group(packet));
        there
    }

    pub(crate) fn enqueue(&mut self, now: Instant, place: usize, packet: &[u8]) {
        let Some(peer) = self.queues.at(place) else { return };
        peer.is_busy = true;
        peer.entry.advance(now);
        peer.entry.enqueue(packet);
        self.ends.touch(place);
    }

    pub(crate) fn transmit(&mut self, now: Instant) {
        for place in self.ends.active() {
            if let Some(peer) = self.queues.at(*place) {
                peer.entry.advance(now);
            }
        }
        self.ends.transmit(&mut self.queues);
    }

    pub(crate) fn poll(&mut self, now: Instant) {
        let (least, most) = self.longest;
        self.crowd.poll(now, self.ends.unauthenticated(), self.refused_destinations);
        for (place, peer) in self.queues.0.iter_mut().enumerate() {
            let (Some(peer), Some(end)) = (peer, self.ends.end(place)) else { continue };
            if !take(&mut peer.is_busy) && now < peer.poll_by {
                continue;
            }
            peer.poll_by = now.after(POLL_QUIET);
            peer.observer.poll(now, end, peer.refused_sources);
            let longest_bytes = u16::try_from(end.longest_bytes()).unwrap_or(u16::MAX);
            peer.longest_bytes = longest_bytes.clamp(least, most);
            if let Some(round_trip) = end.round_trip_least() {
                peer.entry.set_round_trip(round_trip);
            }
            peer.entry.rest(now);
        }
    }

    pub(crate) fn follow(
        &mut self,
        before: &Config,
        config: &Config,
        preshared: Vec<Option<PresharedKey>>,
        line: &Arc<Asking>,
    ) -> Result<(), String> {
        self.allowed = Allowed::new(config);
        self.longest = longest(config);
        self.places = places(config);
        self.forget_others(&preshared);
        let mut refused = Vec::new();
        let mut preshared = preshared.into_iter();
        for number in 0..self.places.len() {
            let preshared = preshared.next().flatten();
            if self.ends.end(self.places[number]).is_some() {
                refused.extend(self.follow_one(before, config, number, line));
                continue;
            }
            let table = config.peers.list.get(number).zip(self.private.as_ref());
            let peer = table
                .map(|(table, private)| peer::peer_plan(private, table.public_key.0, preshared));
            refused.extend(self.begin(config, number, peer, line).err());
        }
        if refused.is_empty() { Ok(()) } else { Err(refused.join("; ")) }
    }

    fn forget_others(&mut self, preshared: &[Option<PresharedKey>]) {
        for place in 0..self.queues.0.len() {
            let number = self.places.iter().position(|one| *one == place);
            let preshared_key = number.map(|number| preshared.get(number).and_then(Option::as_ref));
            let Some(peer) = self.queues.at(place) else { continue };
            if preshared_key == Some(peer.preshared.as_ref()) {
                continue;
            }
            info!(peer = peer.name, "the peer is there no longer");
            self.queues.0[place] = None;
            drop(self.ends.remove(place));
        }
    }

    /// Applies changes to one peer. Channels are added before others are removed, as the last
    /// channel cannot be removed.
    fn follow_one(
        &mut self,
        before: &Config,
        config: &Config,
        number: usize,
        line: &Arc<Asking>,
    ) -> Vec<String> {
        let place = self.places[number];
        let (Some(end), Some(peer)) = (self.ends.end_mut(place), self.queues.at(place)) else {
            return Vec::new();
        };
        peer.name = name(config, number);
        peer.observer.set_number(number);
        peer.entry.set_policies(Policies::new(config));
        let number_before = before.peers.at(place).unwrap_or(number);
        let (was, is) = (links(before, number_before), links(config, number));
        let mut refused = Vec::new();
        let mut note = |done: Result<(), String>| refused.extend(done.err());
        for (id, plan) in is.iter().enumerate() {
            if was.get(id) == Some(plan) && end.is_there(id) {
                continue;
            }
            let opener = Some(opener(line, place, id));
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
        refused
    }

    pub(crate) fn each(&mut self, mut what: impl FnMut(&mut End)) {
        for place in &self.places {
            self.ends.end_mut(*place).into_iter().for_each(&mut what);
        }
    }

    pub(crate) fn longest_bytes(&self) -> u16 {
        let all = self.queues.0.iter().flatten().map(|peer| peer.longest_bytes);
        all.max().unwrap_or(self.longest.1)
    }
}

fn prefer(config: &Config, peer: usize, end: &mut End) {
    for (id, at) in config.channels_of(peer).enumerate() {
        end.prefer(id, at.channel.preference());
    }
}

fn opener(line: &Arc<Asking>, place: usize, id: usize) -> Opener {
    let (line, number) = (Arc::clone(line), ChannelNumber { place, id }.number());
    Opener::new(move |opening| line.socket(number, opening))
}

fn name(config: &Config, number: usize) -> Option<String> {
    config.peers.list.get(number).map(PeerTable::name)
}

fn places(config: &Config) -> Vec<usize> {
    let count = if config.is_ethernet() { 1 } else { config.peers.list.len() };
    (0..count).map(|number| config.peers.place(number)).collect()
}

fn longest(config: &Config) -> (u16, u16) {
    if config.offload { (u16::MAX, u16::MAX) } else { (config.mtu_min(), config.mtu) }
}

fn links(config: &Config, peer: usize) -> Vec<LinkPlan> {
    if config.is_ethernet() {
        return config.ethernet_plans().into_iter().map(LinkPlan::from).collect();
    }
    config.channels_of(peer).filter_map(|at| at.channel.link(config)).collect()
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

/// Returns the epoch of a session over Ethernet, later than at any earlier start unless the clock
/// was set back.
fn epoch() -> Epoch {
    let since_1970 = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    let count = Duration::from(since_1970).as_millis() / EPOCH_MS;
    Epoch::new(u32::try_from(count % (1 << 32)).expect("below 2^32"))
}

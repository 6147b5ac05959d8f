//! Both ends, what is between them, and what befalls them.
//!
//! ```text
//!   |<-- faults, a stranger -->|<-- nothing is wrong, 10 s at most -->|<-- all counts, and comes -->|
//!   0                        heal                                  healed                        end
//! ```

use crate::case::{Case, Event, MS, SECOND, Shares};
use crate::host::Host;
use crate::ledger::Ledger;
use crate::network::Network;
use crate::{BYTES_MAX, held_bytes};

/// So long after the last fault it is looked whether the tunnel carries again; at the last it must: a
/// handshake is tried again after at most 6.7 s (`Times::default`: 5 s and a third), and a channel that
/// was out is probed each second.
const HEALS_S: [u64; 5] = [1, 2, 4, 7, 10];
/// What is sent for so long is all to come, within so long.
const COUNTED_NS: u64 = SECOND;
const COMES_NS: u64 = SECOND;
/// Of what is offered then so many percent are taken at least.
const TAKEN_PERCENT: u64 = 50;
/// A packet in the middle, with all that stands before it.
const PACKET_BYTES: u64 = 554 + 28 + 42;
/// Once nothing is wrong, no more is offered than such a part of what the channels carry: what a full
/// queue loses is given up where a copy would be too late, which is promised.
const PART_OFFERED: u64 = 4;

/// What happened in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    pub(crate) datagrams: u64,
    pub(crate) delivered: u64,
    pub(crate) discarded: u64,
    pub(crate) sessions: u64,
    pub(crate) keys: u64,
    pub(crate) processes: u64,
    pub(crate) bytes_max: usize,
}

impl Told {
    /// This run and others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.datagrams += other.datagrams;
        self.delivered += other.delivered;
        self.discarded += other.discarded;
        self.sessions += other.sessions;
        self.keys += other.keys;
        self.processes += other.processes;
        self.bytes_max = self.bytes_max.max(other.bytes_max);
    }
}

pub(crate) struct World<'a> {
    case: &'a Case,
    hosts: [Host; 2],
    ledgers: [Ledger; 2],
    network: Network,
    now: u64,
    events: usize,
    /// When each end has a packet more, and when the stranger does the next of each.
    offers_at: [u64; 2],
    stranger_at: [u64; 3],
    turns: u64,
    told: Told,
    is_aloud: bool,
}

impl<'a> World<'a> {
    pub(crate) fn new(case: &'a Case, is_aloud: bool) -> Self {
        let mut world = Self {
            case,
            hosts: Host::both(case),
            ledgers: [0, 1].map(Ledger::new),
            network: Network::new(case),
            now: 0,
            events: 0,
            offers_at: [0; 2],
            stranger_at: [0; 3],
            turns: 0,
            told: Told::default(),
            is_aloud,
        };
        (0..2).for_each(|end| world.hosts[end].start(0, &mut world.ledgers[end]));
        world
    }

    pub(crate) fn run(mut self) -> Result<Told, String> {
        self.go_until(self.case.heal_ns)?;
        self.heal();
        let mut why = String::new();
        for after in HEALS_S {
            self.go_until(self.case.heal_ns + after * SECOND)?;
            let first = self.ledgers.each_ref().map(Ledger::taken);
            self.go_until(self.now + COUNTED_NS)?;
            let last = self.ledgers.each_ref().map(Ledger::taken);
            self.go_until(self.now + COMES_NS)?;
            let not_yet = (0..2).find_map(|end| self.lacks(end, first[end], last[end]));
            let Some(lacking) = not_yet else { return Ok(self.told()) };
            why = format!("{lacking}, from {after} s after the last fault on");
        }
        Err(why)
    }

    /// What is not as it is to be of what an end took in a second, if anything is.
    fn lacks(&self, end: usize, first: u32, last: u32) -> Option<String> {
        let offered = self.packets_per_second(end) * COUNTED_NS / SECOND;
        let taken = last - first;
        if u64::from(taken) * 100 < offered * TAKEN_PERCENT {
            return Some(format!("end {end} took {taken} of {offered} packets"));
        }
        let missing = self.ledgers[end].missing(first, last);
        (!missing.is_empty()).then(|| format!("of end {end}, {missing:?} of {first}.. are missing"))
    }

    /// How many packets an end has a second.
    fn packets_per_second(&self, end: usize) -> u64 {
        let bytes: u64 = self.case.ways.iter().map(|way| way.bytes_per_second).sum();
        let offered = self.case.packets_per_second[end];
        let is_wrong = self.now < self.case.heal_ns;
        if is_wrong { offered } else { offered.min(bytes / PACKET_BYTES / PART_OFFERED) }
    }

    fn told(&self) -> Told {
        let mut told = self.told;
        told.delivered = self.ledgers.iter().map(|ledger| ledger.delivered).sum();
        for host in &self.hosts {
            told.processes += u64::from(host.process);
            if let Some(counts) = host.end.as_ref().and_then(|end| end.handshakes()) {
                told.sessions += counts.sessions;
                told.keys += counts.keys;
                told.discarded += counts.discards.total();
            }
        }
        told
    }

    /// How both are, each second.
    #[expect(clippy::print_stdout, reason = "a run alone is told")]
    fn tell(&self) {
        for (host, ledger) in self.hosts.iter().zip(&self.ledgers) {
            let Some(end) = &host.end else { continue };
            let channels = (0..self.case.ways.len()).map(|one| (end.is_in(one), end.counts(one)));
            println!(
                "  {:5} ms: open {}, {} taken, {} delivered, {:?}\n    {:?}\n    {:?}\n    {:?}\n    {:?}\n    {} dropped",
                self.now / MS,
                end.is_open(),
                ledger.taken(),
                ledger.delivered,
                end.handshakes(),
                channels.collect::<Vec<_>>(),
                end.flight(0),
                end.sending(),
                end.reception(),
                self.network.dropped
            );
        }
    }

    /// Nothing is wrong from now on.
    fn heal(&mut self) {
        for end in 0..2 {
            self.network.is_dark[end].fill(false);
            (0..self.case.ways.len()).for_each(|channel| self.hosts[end].plug(channel, true));
            if self.hosts[end].end.is_none() {
                self.hosts[end].start(self.now, &mut self.ledgers[end]);
            }
        }
    }

    fn go_until(&mut self, until: u64) -> Result<(), String> {
        loop {
            let wakes = self.hosts.iter().map(|host| host.wakes_at);
            let event = self.case.events.get(self.events).map(|(at, _)| *at);
            let faults = [event, self.stranger_at.iter().min().copied()];
            let faults = faults.into_iter().flatten().filter(|at| *at < self.case.heal_ns);
            let next = wakes.chain(self.offers_at).chain(self.network.next_at()).chain(faults);
            let next = next.min().unwrap_or(until).max(self.now);
            if next >= until {
                self.now = until;
                return Ok(());
            }
            if self.is_aloud && next / SECOND > self.now / SECOND {
                self.tell();
            }
            self.now = next;
            self.happen();
            while let Some(coming) = self.network.next(self.now) {
                self.hosts[coming.end].put(self.now, coming.channel, coming.datagram);
            }
            (0..2).try_for_each(|end| self.turn(end))?;
        }
    }

    fn turn(&mut self, end: usize) -> Result<(), String> {
        if self.offers_at[end] <= self.now {
            self.offers_at[end] = self.now + SECOND / self.packets_per_second(end);
            if self.hosts[end].end.is_some() {
                self.ledgers[end].offer();
                self.hosts[end].wake(self.now);
            }
        }
        if self.hosts[end].wakes_at > self.now {
            return Ok(());
        }
        let [left, right] = &mut self.ledgers;
        let ledgers = if end == 0 { [left, right] } else { [right, left] };
        let sent = self.hosts[end].turn(self.now, ledgers);
        let sent = sent.map_err(|told| format!("at {} ms: {told}", self.now / MS))?;
        self.told.datagrams += sent.len() as u64;
        let healed = Shares::default();
        let shares = if self.now < self.case.heal_ns { &self.case.shares } else { &healed };
        for (channel, datagram) in sent {
            self.network.send(self.now, (end, channel), datagram, shares);
        }
        self.turns += 1;
        if self.turns.is_multiple_of(64) {
            self.told.bytes_max = self.told.bytes_max.max(held_bytes());
            if self.told.bytes_max > BYTES_MAX {
                return Err(format!("{} bytes are held", self.told.bytes_max));
            }
        }
        Ok(())
    }

    /// What befalls both until now.
    fn happen(&mut self) {
        if self.now >= self.case.heal_ns {
            return;
        }
        while let Some((at, event)) = self.case.events.get(self.events)
            && *at <= self.now
        {
            self.events += 1;
            self.befall(*event);
        }
        let stranger = self.case.stranger;
        let each = [stranger.replayed, stranger.forged, stranger.initiations];
        for (deed, per_second) in each.into_iter().enumerate() {
            if self.stranger_at[deed] > self.now {
                continue;
            }
            self.stranger_at[deed] =
                SECOND.checked_div(per_second).map_or(u64::MAX, |gap| self.now + gap);
            match deed {
                _ if per_second == 0 => {}
                0 | 1 => self.network.replay(self.now, deed == 1),
                _ => self.network.begin_handshake(self.now),
            }
        }
    }

    fn befall(&mut self, event: Event) {
        match event {
            Event::Crash { end } => self.hosts[end].crash(),
            Event::Start { end } if self.hosts[end].end.is_none() => {
                self.hosts[end].start(self.now, &mut self.ledgers[end]);
            }
            Event::Start { .. } => {}
            Event::Dark { end, channel, is_dark } => self.network.is_dark[end][channel] = is_dark,
            Event::Plug { end, channel, is_there } => self.hosts[end].plug(channel, is_there),
            Event::Move { channel, is_port_alone } => self.network.relocate(channel, is_port_alone),
        }
    }
}

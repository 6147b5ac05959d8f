//! All ends, their network, and their faults.
//!
//! ```text
//!   |<-- faults, attacker -->|<-- no faults, at most 10 s -->|<-- all packets arrive, checked -->|
//!   0                      heal                           healed                               end
//! ```

use gingham_stripe_udp::End;

use crate::case::{Case, Event, MS, SECOND, Shares};
use crate::host::{Host, Ledgers};
use crate::ledger::Ledger;
use crate::network::Network;
use crate::{BYTES_MAX, held_bytes};

/// Checks of recovery, the last mandatory: a handshake is retried after at most 6.7 s
/// (`Times::default`: 5 s and a third), and a channel that was out is probed every second.
const HEALS_S: [u64; 5] = [1, 2, 4, 7, 10];
/// Time span whose packets must all arrive, and the time within which they must.
const COUNTED_NS: u64 = SECOND;
const COMES_NS: u64 = SECOND;
/// Accepted part of the packets offered in that span.
const TAKEN_PERCENT: u64 = 50;
/// Average packet with all headers.
const PACKET_BYTES: u64 = 554 + 28 + 42;
/// Part of the capacity offered after the last fault: packets lost in a full queue are given up if
/// a copy would be too late, as documented.
const PART_OFFERED: u64 = 4;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) datagrams: u64,
    pub(crate) delivered: u64,
    pub(crate) discarded: u64,
    pub(crate) sessions: u64,
    pub(crate) keys: u64,
    pub(crate) processes: u64,
    pub(crate) bytes_max: usize,
}

impl Totals {
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
    hosts: Vec<Host>,
    ledgers: Ledgers,
    network: Network,
    now: u64,
    events: usize,
    /// Next packets from each client and to it, and next actions of the attacker by kind.
    offers_at: Vec<[u64; 2]>,
    stranger_at: [u64; 3],
    turns: u64,
    totals: Totals,
    is_aloud: bool,
}

impl<'a> World<'a> {
    pub(crate) fn new(case: &'a Case, is_aloud: bool) -> Self {
        let mut world = Self {
            case,
            hosts: Host::all(case),
            ledgers: (0..case.clients)
                .map(|client| [0, 1].map(|way| Ledger::new(2 * client + way)))
                .collect(),
            network: Network::new(case),
            now: 0,
            events: 0,
            offers_at: vec![[0; 2]; case.clients],
            stranger_at: [0; 3],
            turns: 0,
            totals: Totals::default(),
            is_aloud,
        };
        world.hosts.iter_mut().for_each(|host| host.start(0, &mut world.ledgers));
        world
    }

    pub(crate) fn run(mut self) -> Result<Totals, String> {
        self.go_until(self.case.heal_ns)?;
        self.heal();
        let mut why = String::new();
        for after in HEALS_S {
            self.go_until(self.case.heal_ns + after * SECOND)?;
            let first = self.taken();
            self.go_until(self.now + COUNTED_NS)?;
            let last = self.taken();
            self.go_until(self.now + COMES_NS)?;
            let mut counted = first.into_iter().zip(last).enumerate();
            let not_yet = counted.find_map(|(one, (first, last))| self.lacks(one, first, last));
            let Some(lacking) = not_yet else { return Ok(self.totals()) };
            why = format!("{lacking}, from {after} s after the last fault on");
        }
        Err(why)
    }

    fn taken(&self) -> Vec<u32> {
        self.ledgers.iter().flatten().map(Ledger::taken).collect()
    }

    fn lacks(&self, one: usize, first: u32, last: u32) -> Option<String> {
        let (client, way) = (one / 2, one % 2);
        let offered = self.packets_per_second(way) * COUNTED_NS / SECOND;
        let taken = last - first;
        if u64::from(taken) * 100 < offered * TAKEN_PERCENT {
            return Some(format!("end {one} took {taken} of {offered} packets"));
        }
        let missing = self.ledgers[client][way].missing(first, last);
        (!missing.is_empty()).then(|| format!("of end {one}, {missing:?} of {first}.. are missing"))
    }

    /// Clients share the channels.
    fn packets_per_second(&self, way: usize) -> u64 {
        let bytes: u64 = self.case.ways.iter().map(|way| way.bytes_per_second).sum();
        let bytes = bytes / self.case.clients as u64;
        let offered = self.case.packets_per_second[way];
        let is_wrong = self.now < self.case.heal_ns;
        if is_wrong { offered } else { offered.min(bytes / PACKET_BYTES / PART_OFFERED) }
    }

    fn totals(&self) -> Totals {
        let mut totals = self.totals;
        totals.delivered = self.ledgers.iter().flatten().map(|ledger| ledger.delivered).sum();
        for host in &self.hosts {
            totals.processes += u64::from(host.process);
            totals.discarded += host.of_unauthenticated();
            for counts in host.ends().into_iter().filter_map(End::handshakes) {
                totals.sessions += counts.sessions;
                totals.keys += counts.keys;
                totals.discarded += counts.discards.total();
            }
        }
        totals
    }

    #[expect(clippy::print_stdout, reason = "a run alone is told")]
    fn print_state(&self) {
        let ends = self.hosts.iter().flat_map(Host::ends);
        let (clients, server) = (self.ledgers.iter().map(|[from, _]| from), self.ledgers.iter());
        for (end, ledger) in ends.zip(clients.chain(server.map(|[_, to]| to))) {
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

    fn heal(&mut self) {
        for (host, is_dark) in self.hosts.iter_mut().zip(&mut self.network.is_dark) {
            is_dark.fill(false);
            (0..self.case.ways.len()).for_each(|channel| host.plug(channel, true));
            if !host.is_up() {
                host.start(self.now, &mut self.ledgers);
            }
        }
    }

    fn go_until(&mut self, until: u64) -> Result<(), String> {
        loop {
            let wakes = self.hosts.iter().map(|host| host.wakes_at);
            let event = self.case.events.get(self.events).map(|(at, _)| *at);
            let faults = [event, self.stranger_at.iter().min().copied()];
            let faults = faults.into_iter().flatten().filter(|at| *at < self.case.heal_ns);
            let offers = self.offers_at.iter().flatten().copied();
            let next = wakes.chain(offers).chain(self.network.next_at()).chain(faults);
            let next = next.min().unwrap_or(until).max(self.now);
            if next >= until {
                self.now = until;
                return Ok(());
            }
            if self.is_aloud && next / SECOND > self.now / SECOND {
                self.print_state();
            }
            self.now = next;
            self.happen();
            while let Some(coming) = self.network.next(self.now) {
                self.hosts[coming.end].put(self.now, coming.channel, coming.datagram);
            }
            self.offer();
            (0..self.hosts.len()).try_for_each(|end| self.turn(end))?;
        }
    }

    fn offer(&mut self) {
        for one in 0..2 * self.case.clients {
            let (client, way) = (one / 2, one % 2);
            if self.offers_at[client][way] > self.now {
                continue;
            }
            self.offers_at[client][way] = self.now + SECOND / self.packets_per_second(way);
            let host = &mut self.hosts[[client, self.case.clients][way]];
            if host.is_up() {
                self.ledgers[client][way].offer();
                host.wake(self.now);
            }
        }
    }

    fn turn(&mut self, end: usize) -> Result<(), String> {
        if self.hosts[end].wakes_at > self.now {
            return Ok(());
        }
        let sent = self.hosts[end].turn(self.now, &mut self.ledgers);
        let sent = sent.map_err(|failure| format!("at {} ms: {failure}", self.now / MS))?;
        self.totals.datagrams += sent.len() as u64;
        let healed = Shares::default();
        let shares = if self.now < self.case.heal_ns { &self.case.shares } else { &healed };
        for (channel, datagram) in sent {
            self.network.send(self.now, (end, channel), datagram, shares);
        }
        self.turns += 1;
        if self.turns.is_multiple_of(64) {
            self.totals.bytes_max = self.totals.bytes_max.max(held_bytes());
            if self.totals.bytes_max > BYTES_MAX * self.case.clients {
                return Err(format!("{} bytes are held", self.totals.bytes_max));
            }
        }
        Ok(())
    }

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
            Event::Start { end } if !self.hosts[end].is_up() => {
                self.hosts[end].start(self.now, &mut self.ledgers);
            }
            Event::Start { .. } => {}
            Event::Dark { end, channel, is_dark } => self.network.is_dark[end][channel] = is_dark,
            Event::Plug { end, channel, is_there } => self.hosts[end].plug(channel, is_there),
            Event::Move { client, channel, is_port_alone } => {
                self.network.relocate(client, channel, is_port_alone);
            }
        }
    }
}

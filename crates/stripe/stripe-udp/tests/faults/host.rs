//! A machine with its clock and its process, if one runs. The server has an end for each client, on
//! shared ports if there are several.

use std::net::{Ipv4Addr, SocketAddr};

use gingham_stripe::{Epoch, Instant};
use gingham_stripe_crypt::{PeerPlan, PrivateKey};
use gingham_stripe_udp::{
    Datagram, End, EndPlan, Ends, MemoryPlan, MemoryPort, OpenError, Sources, StripingPlan,
};

use crate::case::{Case, MS};
use crate::ledger::Ledger;
use crate::network::place;

const LONGEST_BYTES: u32 = 1_200;
const DATAGRAM_BYTES_MAX: usize = 1_472;
/// Pause of the daemon between two wake-ups.
const GRANULE_NS: u64 = MS / 4;
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
/// Maximum consecutive requests for an immediate call.
const CALLS_MAX: u32 = 1_000;

pub(crate) type Ledgers = Vec<[Ledger; 2]>;

enum Process {
    One(Box<End>),
    Many(Box<Ends>),
}

pub(crate) struct Host {
    number: usize,
    holds: Option<Process>,
    /// Plan of each end, and the host of its peer.
    plans: Vec<(EndPlan, usize)>,
    ports: Vec<MemoryPort>,
    /// Whether the other ends' addresses are known.
    knows: bool,
    /// Offset of the clock, and its excess speed in millionths.
    clock: (u64, u64),
    pub(crate) process: u16,
    pub(crate) wakes_at: u64,
    turned_at: u64,
    calls: u32,
}

struct ToClients<'a>(&'a mut Ledgers);

impl Sources for ToClients<'_> {
    type One = Ledger;
    fn of(&mut self, end: usize) -> &mut Ledger {
        &mut self.0[end][1]
    }
}

impl Host {
    pub(crate) fn all(case: &Case) -> Vec<Self> {
        let server = case.clients;
        let keys: Vec<_> =
            (0..=server).map(|_| PrivateKey::random().expect("randomness")).collect();
        let plan = |number: usize, other: usize| {
            let peer = PeerPlan {
                private: keys[number].clone(),
                peer: keys[other].public(),
                preshared: None,
                times: case.times,
            };
            let mut plan = EndPlan { peer: Some(peer), ..EndPlan::free(LONGEST_BYTES) };
            if case.is_strict {
                plan.striping = StripingPlan::strict(LONGEST_BYTES);
            }
            plan.striping = plan.striping.repaired();
            (plan, other)
        };
        let host = |number| Self {
            number,
            holds: None,
            plans: if number == server {
                (0..server).map(|client| plan(server, client)).collect()
            } else {
                vec![plan(number, server)]
            },
            ports: case.ways.iter().map(|_| MemoryPort::new(DATAGRAM_BYTES_MAX)).collect(),
            knows: number != server || case.right_knows,
            clock: ((7 << 40) >> (3 * number), case.fast_ppm[usize::from(number == server)]),
            process: 0,
            wakes_at: 0,
            turned_at: 0,
            calls: 0,
        };
        (0..=server).map(host).collect()
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.holds.is_some()
    }

    pub(crate) fn ends(&self) -> Vec<&End> {
        match &self.holds {
            None => Vec::new(),
            Some(Process::One(end)) => vec![end],
            Some(Process::Many(ends)) => {
                (0..self.plans.len()).filter_map(|number| ends.end(number)).collect()
            }
        }
    }

    pub(crate) fn of_unauthenticated(&self) -> u64 {
        if let Some(Process::Many(ends)) = &self.holds {
            ends.unauthenticated().discards.total()
        } else {
            0
        }
    }

    fn at(&self, now: u64) -> Instant {
        Instant::from_nanoseconds(self.clock.0 + now + now / 1_000_000 * self.clock.1)
    }

    fn when(&self, at: Instant) -> u64 {
        let since = u128::from(at.nanoseconds().saturating_sub(self.clock.0));
        let when = since * 1_000_000 / (1_000_000 + u128::from(self.clock.1));
        u64::try_from(when).unwrap_or(u64::MAX).saturating_add(1_000)
    }

    pub(crate) fn start(&mut self, now: u64, ledgers: &mut Ledgers) {
        let Ok(process) = self.opened(self.at(now)) else { return };
        self.holds = Some(process);
        self.process += 1;
        (self.wakes_at, self.turned_at, self.calls) = (now, 0, 0);
        let server = ledgers.len();
        if self.number == server {
            for [_, to] in ledgers {
                to.begin();
            }
        } else {
            ledgers[self.number][0].begin();
        }
    }

    fn opened(&self, at: Instant) -> Result<Process, OpenError> {
        let channels = |other: usize| {
            let remote = move |channel| if self.knows { place(other, channel) } else { NOWHERE };
            let ports = self.ports.iter().enumerate();
            ports.map(move |(channel, port)| MemoryPlan {
                port: port.clone(),
                remote: remote(channel),
            })
        };
        if let [(plan, other)] = &self.plans[..] {
            let end = End::open_at(at, plan, channels(*other).collect(), Epoch::new(1))?;
            return Ok(Process::One(Box::new(end)));
        }
        let key = self.plans[0].0.peer.as_ref().map(|peer| &peer.private);
        let mut ends = Ends::new(key, std::time::Duration::from_nanos(GRANULE_NS))?;
        for (number, (plan, other)) in self.plans.iter().enumerate() {
            let channels = channels(*other).map(|one| (one.into(), None)).collect();
            ends.add_at(at, number, plan, channels, Epoch::new(1))?;
        }
        Ok(Process::Many(Box::new(ends)))
    }

    pub(crate) fn crash(&mut self) {
        self.holds = None;
        self.wakes_at = u64::MAX;
        for port in &self.ports {
            port.forget();
        }
    }

    pub(crate) fn plug(&self, channel: usize, is_there: bool) {
        self.ports[channel].set_there(is_there);
    }

    pub(crate) fn put(&mut self, now: u64, channel: usize, datagram: Datagram) {
        if self.is_up() {
            self.ports[channel].put(self.at(now), datagram);
            self.wake(now);
        }
    }

    pub(crate) fn wake(&mut self, now: u64) {
        self.wakes_at = self.wakes_at.min(now.max(self.turned_at + GRANULE_NS));
    }

    pub(crate) fn turn(
        &mut self,
        now: u64,
        ledgers: &mut Ledgers,
    ) -> Result<Vec<(usize, Datagram)>, String> {
        let at = self.at(now);
        let timeout = match &mut self.holds {
            None => return Ok(Vec::new()),
            Some(Process::One(end)) => {
                let server = ledgers.len();
                let [from, to] = &mut ledgers[self.number % server];
                let [ours, theirs] = if self.number < server { [from, to] } else { [to, from] };
                end.receive_at(at);
                while let Some(packet) = end.next_packet() {
                    theirs.take(self.process, &packet.bytes)?;
                }
                end.transmit_at(at, ours);
                end.timeout()
            }
            Some(Process::Many(ends)) => {
                ends.receive_at(at);
                while let Some((client, packet)) = ends.next_packet() {
                    ledgers[client][0].take(self.process, &packet.bytes)?;
                }
                for (client, [_, to]) in ledgers.iter().enumerate() {
                    if to.waits() {
                        ends.touch(client);
                    }
                }
                ends.transmit_at(at, &mut ToClients(ledgers));
                ends.timeout()
            }
        };
        self.calls = if timeout <= at { self.calls + 1 } else { 0 };
        if self.calls > CALLS_MAX {
            return Err(format!("host {} asks to be called again and again", self.number));
        }
        self.turned_at = now;
        self.wakes_at = self.when(timeout).max(now + GRANULE_NS);
        let ports = self.ports.iter().enumerate();
        Ok(ports
            .flat_map(|(channel, port)| port.take().into_iter().map(move |one| (channel, one)))
            .collect())
    }
}

//! An end with its clock, and the process in which it is, if there is one.

use std::net::{Ipv4Addr, SocketAddr};

use gingham_stripe::{Epoch, Instant};
use gingham_stripe_crypt::{PeerPlan, PrivateKey};
use gingham_stripe_udp::{Datagram, End, EndPlan, MemoryPlan, MemoryPort, StripingPlan};

use crate::case::{Case, MS};
use crate::ledger::Ledger;
use crate::network::place;

const LONGEST_BYTES: u32 = 1_200;
const DATAGRAM_BYTES_MAX: usize = 1_472;
/// The daemon rests so long between two wake-ups.
const GRANULE_NS: u64 = MS / 4;
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
/// So often in a row an end may ask to be called at once.
const CALLS_MAX: u32 = 1_000;

/// An end.
pub(crate) struct Host {
    number: usize,
    pub(crate) end: Option<End>,
    plan: EndPlan,
    ports: Vec<MemoryPort>,
    /// Whether it is told where the other end is.
    knows: bool,
    /// Since when its clock runs, and by how much too fast.
    clock: (u64, u64),
    pub(crate) process: u16,
    /// When its turn is next.
    pub(crate) wakes_at: u64,
    turned_at: u64,
    calls: u32,
}

/// Both ends' keys.
fn peers(case: &Case) -> [PeerPlan; 2] {
    let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
    [0, 1].map(|end| PeerPlan {
        private: keys[end].clone(),
        peer: keys[1 - end].public(),
        preshared: None,
        times: case.times,
    })
}

impl Host {
    pub(crate) fn both(case: &Case) -> [Self; 2] {
        let mut number = 0..;
        peers(case).map(|peer| {
            let number = number.next().expect("there are two");
            let mut plan = EndPlan { peer: Some(peer), ..EndPlan::free(LONGEST_BYTES) };
            if case.is_strict {
                plan.striping = StripingPlan::strict(LONGEST_BYTES);
            }
            plan.striping = plan.striping.repaired();
            Self {
                number,
                end: None,
                plan,
                ports: case.ways.iter().map(|_| MemoryPort::new(DATAGRAM_BYTES_MAX)).collect(),
                knows: number == 0 || case.right_knows,
                clock: ((7 << 40) >> (3 * number), case.fast_ppm[number]),
                process: 0,
                wakes_at: 0,
                turned_at: 0,
                calls: 0,
            }
        })
    }

    /// What its clock shows.
    fn at(&self, now: u64) -> Instant {
        Instant::from_nanoseconds(self.clock.0 + now + now / 1_000_000 * self.clock.1)
    }

    /// When its clock shows that, or a little later.
    fn when(&self, at: Instant) -> u64 {
        let since = u128::from(at.nanoseconds().saturating_sub(self.clock.0));
        let when = since * 1_000_000 / (1_000_000 + u128::from(self.clock.1));
        u64::try_from(when).expect("it was no more before").saturating_add(1_000)
    }

    /// A process begins, where all interfaces are there.
    pub(crate) fn start(&mut self, now: u64, ledger: &mut Ledger) {
        let remote = |channel| if self.knows { place(1 - self.number, channel) } else { NOWHERE };
        let plans = self
            .ports
            .iter()
            .enumerate()
            .map(|(channel, port)| MemoryPlan { port: port.clone(), remote: remote(channel) });
        let opened = End::open_at(self.at(now), &self.plan, plans.collect(), Epoch::new(1));
        let Ok(end) = opened else { return };
        self.end = Some(end);
        self.process += 1;
        (self.wakes_at, self.turned_at, self.calls) = (now, 0, 0);
        ledger.begin();
    }

    pub(crate) fn crash(&mut self) {
        self.end = None;
        self.wakes_at = u64::MAX;
        for port in &self.ports {
            port.forget();
        }
    }

    pub(crate) fn plug(&self, channel: usize, is_there: bool) {
        self.ports[channel].set_there(is_there);
    }

    /// A datagram has come.
    pub(crate) fn put(&mut self, now: u64, channel: usize, datagram: Datagram) {
        if self.end.is_some() {
            self.ports[channel].put(self.at(now), datagram);
            self.wake(now);
        }
    }

    /// There is something to do, and it may rest before.
    pub(crate) fn wake(&mut self, now: u64) {
        self.wakes_at = self.wakes_at.min(now.max(self.turned_at + GRANULE_NS));
    }

    /// Does all that is to be done now: what comes and what goes, by channel.
    pub(crate) fn turn(
        &mut self,
        now: u64,
        [ours, theirs]: [&mut Ledger; 2],
    ) -> Result<Vec<(usize, Datagram)>, String> {
        let at = self.at(now);
        let Some(end) = &mut self.end else { return Ok(Vec::new()) };
        end.receive_at(at);
        while let Some(packet) = end.next_packet() {
            theirs.take(self.process, &packet.bytes)?;
        }
        end.transmit_at(at, ours);
        let timeout = end.timeout();
        self.calls = if timeout <= at { self.calls + 1 } else { 0 };
        if self.calls > CALLS_MAX {
            return Err(format!("end {} asks to be called again and again", self.number));
        }
        self.turned_at = now;
        self.wakes_at = self.when(timeout).max(now + GRANULE_NS);
        let ports = self.ports.iter().enumerate();
        Ok(ports
            .flat_map(|(channel, port)| port.take().into_iter().map(move |one| (channel, one)))
            .collect())
    }
}

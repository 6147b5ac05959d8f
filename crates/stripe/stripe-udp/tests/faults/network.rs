//! The network between all ends, and an attacker who receives every datagram.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use gingham_stripe_udp::Datagram;

use crate::case::{Case, Chance, MS, SECOND, Shares, Way};

const RECORDED: usize = 400;
/// Headers of Ethernet, IP and UDP.
const HEADER_BYTES: u64 = 42;

#[derive(Clone, Debug)]
pub(crate) struct Coming {
    pub(crate) end: usize,
    pub(crate) channel: usize,
    pub(crate) datagram: Datagram,
}

#[derive(Debug)]
pub(crate) struct Network {
    ways: Vec<Way>,
    /// By sending host and channel: end of the queue, and darkness.
    free_at: Vec<Vec<u64>>,
    pub(crate) is_dark: Vec<Vec<bool>>,
    /// By host and channel: address visible to others.
    places: Vec<Vec<SocketAddr>>,
    moves: u16,
    on_the_way: BTreeMap<(u64, u64), (SocketAddr, Datagram)>,
    count: u64,
    /// Destination, source and bytes of datagrams.
    recorded: Vec<(SocketAddr, SocketAddr, Vec<u8>)>,
    seen: u64,
    pub(crate) dropped: u64,
    pub(crate) chance: Chance,
}

pub(crate) fn place(end: usize, channel: usize) -> SocketAddr {
    let byte = |number: usize| u8::try_from(number).expect("few");
    (Ipv4Addr::new(10, 0, byte(channel), byte(end) + 1), 7_000).into()
}

impl Network {
    pub(crate) fn new(case: &Case) -> Self {
        let channels = case.ways.len();
        Self {
            ways: case.ways.clone(),
            free_at: vec![vec![0; channels]; case.clients + 1],
            is_dark: vec![vec![false; channels]; case.clients + 1],
            places: (0..=case.clients)
                .map(|host| (0..channels).map(|channel| place(host, channel)).collect())
                .collect(),
            moves: 0,
            on_the_way: BTreeMap::new(),
            count: 0,
            recorded: Vec::new(),
            seen: 0,
            dropped: 0,
            chance: Chance::new(case.seed ^ 0xbb67_ae85_84ca_a73b),
        }
    }

    pub(crate) fn relocate(&mut self, client: usize, channel: usize, is_port_alone: bool) {
        self.moves += 1;
        let place = &mut self.places[client][channel];
        if is_port_alone {
            place.set_port(20_000 + self.moves);
        } else {
            let host = u8::try_from(100 + self.moves % 100).expect("below 256");
            let channel = u8::try_from(channel).expect("few");
            *place = (Ipv4Addr::new(10, 1, channel, host), 7_000).into();
        }
    }

    pub(crate) fn send(
        &mut self,
        now: u64,
        (end, channel): (usize, usize),
        datagram: Datagram,
        shares: &Shares,
    ) {
        let Datagram { address: to, mut bytes } = datagram;
        let (from, way) = (self.places[end][channel], self.ways[channel]);
        self.record(to, from, &bytes);
        let free_at = self.free_at[end][channel].max(now);
        let waiting =
            u128::from(free_at - now) * u128::from(way.bytes_per_second) / u128::from(SECOND);
        let length = bytes.len() as u64 + HEADER_BYTES;
        if self.is_dark[end][channel] || waiting + u128::from(length) > way.queue_bytes.into() {
            self.dropped += 1;
            return;
        }
        let gone_at = free_at + length * SECOND / way.bytes_per_second;
        self.free_at[end][channel] = gone_at;
        if self.chance.is(shares.lost) {
            return;
        }
        if self.chance.is(shares.flipped) {
            let at = self.chance.index(bytes.len());
            bytes[at] ^= 1 << self.chance.index(8);
        }
        if self.chance.is(shares.cut) {
            bytes.truncate(self.chance.index(bytes.len()));
        }
        let late = if self.chance.is(shares.late) { self.chance.within(0, 60 * MS) } else { 0 };
        let copies = if self.chance.is(shares.doubled) { 2 } else { 1 };
        for copy in 0..copies {
            let at = gone_at + way.delay_ns + late + copy * self.chance.within(1, 50 * MS);
            self.put(at, to, from, bytes.clone());
        }
    }

    fn put(&mut self, at: u64, to: SocketAddr, address: SocketAddr, bytes: Vec<u8>) {
        self.count += 1;
        self.on_the_way.insert((at, self.count), (to, Datagram { address, bytes }));
    }

    /// Uniform sample of all datagrams so far (reservoir sampling).
    fn record(&mut self, to: SocketAddr, from: SocketAddr, bytes: &[u8]) {
        self.seen += 1;
        if self.recorded.len() < RECORDED {
            self.recorded.push((to, from, bytes.to_vec()));
        } else if self.chance.next() % self.seen < RECORDED as u64 {
            let at = self.chance.index(RECORDED);
            self.recorded[at] = (to, from, bytes.to_vec());
        }
    }

    pub(crate) fn next_at(&self) -> Option<u64> {
        self.on_the_way.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn next(&mut self, now: u64) -> Option<Coming> {
        while self.next_at().is_some_and(|at| at <= now) {
            let (_, (to, datagram)) = self.on_the_way.pop_first()?;
            let at = |end: usize| self.places[end].iter().position(|place| *place == to);
            let found =
                (0..self.places.len()).find_map(|end| at(end).map(|channel| (end, channel)));
            if let Some((end, channel)) = found {
                return Some(Coming { end, channel, datagram });
            }
            self.dropped += 1;
        }
        None
    }

    pub(crate) fn replay(&mut self, now: u64, is_changed: bool) {
        if self.recorded.is_empty() {
            return;
        }
        let at = self.chance.index(self.recorded.len());
        let (to, from, mut bytes) = self.recorded[at].clone();
        if is_changed {
            self.change(&mut bytes);
        }
        let from = if self.chance.is(500) { from } else { self.elsewhere() };
        let at = now + self.chance.within(1, 20 * MS);
        self.put(at, to, from, bytes);
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        match self.chance.index(4) {
            0 => {
                let length = self.chance.index(1_400);
                *bytes = self.chance.bytes(length);
                // A nearly valid datagram is a harder test than an invalid one.
                if let Some(first) = bytes.first_mut() {
                    *first = 0x40 | *first & 0xf;
                }
            }
            1 => bytes.truncate(self.chance.index(bytes.len().max(1))),
            2 => bytes.extend(self.chance.bytes(16)),
            _ if bytes.is_empty() => {}
            _ => {
                let limit = if self.chance.is(500) { bytes.len().min(12) } else { bytes.len() };
                let at = self.chance.index(limit);
                bytes[at] ^= 1 << self.chance.index(8);
            }
        }
    }

    /// Replays an initiation from an address of the attacker.
    pub(crate) fn begin_handshake(&mut self, now: u64) {
        let is_initiation =
            |(_, _, bytes): &&(_, _, Vec<u8>)| bytes.len() == 166 && bytes[0] == 0x43;
        let found = self.recorded.iter().rev().find(is_initiation).cloned();
        if let Some((to, _, bytes)) = found {
            let from = self.elsewhere();
            self.put(now + MS, to, from, bytes);
        }
    }

    fn elsewhere(&mut self) -> SocketAddr {
        let [a, b, c, d, ..] = self.chance.next().to_be_bytes();
        (Ipv4Addr::new(172, 16 | a & 15, b, c), 1_024 + u16::from(d)).into()
    }
}

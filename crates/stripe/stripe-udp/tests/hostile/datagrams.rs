//! Arbitrary datagrams to an end, from anyone or from a malicious peer with keys.
//!
//! ```text
//!   bytes, nearly valid bytes                 ──►
//!   headers and contents of any kind, sealed  ──►   an end, in memory
//!   time                                      ──►
//! ```
//!
//! Invariants: delivered packets come from the peer with the keys; few replies, and no unlimited
//! requests for immediate calls.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use gingham_stripe::{Content, Epoch, Header, Instant};
use gingham_stripe_crypt::{
    Peer, PeerPlan, PrivateKey, Sender, Times, is_handshake, seed_randomness,
};
use gingham_stripe_udp::{Datagram, End, EndPlan, MemoryPlan, MemoryPort, Source, StripingPlan};

use crate::script::Script;
use crate::wire::sealed;

const CHANNELS: usize = 3;
const LONGEST_BYTES: u32 = 1_200;

struct Zeros(u32);

impl Source for Zeros {
    fn next_bytes(&mut self) -> Option<usize> {
        (self.0 > 0).then_some(100)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        self.0 -= 1;
        buffer.resize(buffer.len() + 100, 0);
    }
}

pub(crate) struct Target {
    end: End,
    ports: Vec<MemoryPort>,
    peer: Option<Peer>,
    now: Instant,
    numbers: [u32; 2],
    sealed: u64,
    pub(crate) came: u64,
    pub(crate) datagrams: u64,
}

pub(crate) fn run(data: &[u8]) {
    let mut script = Script(data);
    let mut target = Target::new(script.byte());
    while !script.0.is_empty() {
        target.step(&mut script);
    }
    target.turn();
}

fn from(number: u8) -> SocketAddr {
    (Ipv4Addr::new(10, 9, 8, number), 7_000).into()
}

impl Target {
    /// Options: sealed or in clear, free or strict order, with retransmission or without.
    pub(crate) fn new(options: u8) -> Self {
        seed_randomness(Some(options.into()));
        let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
        let plan_of = |end: usize| PeerPlan {
            private: keys[end].clone(),
            peer: keys[1 - end].public(),
            preshared: None,
            times: Times::default(),
        };
        let (now, is_sealed) = (Instant::ORIGIN, options & 1 == 0);
        let mut plan = EndPlan::free(LONGEST_BYTES);
        if options & 2 != 0 {
            plan.striping = StripingPlan::strict(LONGEST_BYTES);
        }
        if options & 4 != 0 {
            plan.striping = plan.striping.repaired();
        }
        plan.peer = is_sealed.then(|| plan_of(0));
        let ports: Vec<_> = (0..CHANNELS).map(|_| MemoryPort::new(1_472)).collect();
        let plans = ports.iter().map(|port| MemoryPlan { port: port.clone(), remote: from(0) });
        let end = End::open_at(now, &plan, plans.collect(), Epoch::new(1)).expect("options");
        let peer = is_sealed.then(|| Peer::new(&plan_of(1), now).expect("randomness"));
        let mut target =
            Self { end, ports, peer, now, numbers: [0; 2], sealed: 0, came: 0, datagrams: 0 };
        target.shake_hands();
        target
    }

    fn shake_hands(&mut self) {
        for _ in 0..4 {
            self.turn();
            self.now = self.now.after(Duration::from_millis(1));
        }
        if let Some(peer) = &self.peer {
            assert!(peer.can_seal() && self.end.is_open());
        }
    }

    pub(crate) fn step(&mut self, script: &mut Script<'_>) {
        let (operation, channel) = (script.byte(), script.below(CHANNELS));
        match operation % 8 {
            0 => {
                let bytes = script.bytes();
                self.put(channel, script.byte(), bytes);
            }
            1 => self.nearly(script, channel),
            2 => self.message(script, channel),
            3..=5 => self.behind(script, channel),
            6 => self.turn(),
            _ => {
                let units = Duration::from_micros(50) * u32::from(script.byte());
                self.now = self.now.after(units * (1 + u32::from(operation / 8)));
                self.turn();
            }
        }
    }

    fn put(&mut self, channel: usize, address: u8, bytes: Vec<u8>) {
        self.datagrams += 1;
        self.ports[channel].put(self.now, Datagram { address: from(address), bytes });
    }

    fn nearly(&mut self, script: &mut Script<'_>, channel: usize) {
        let (mut bytes, address) = (script.bytes(), script.byte());
        if let [first, named, ..] = &mut bytes[..] {
            (*first, *named) = (0x40 | *first & 0xf, u8::try_from(channel).expect("few"));
        }
        // In clear they are packets, and may be delivered.
        self.sealed += u64::from(self.peer.is_none());
        self.put(channel, address, bytes);
    }

    fn message(&mut self, script: &mut Script<'_>, channel: usize) {
        let mut bytes = script.bytes();
        if let Some(named) = bytes.get_mut(4) {
            *named = u8::try_from(channel).expect("few");
        }
        if let Some(channels) = bytes.get_mut(5) {
            *channels = u8::try_from(CHANNELS).expect("few");
        }
        if bytes.len() >= 12 {
            bytes[8..12].copy_from_slice(&1_u32.to_be_bytes());
        }
        let kind = bytes.get(3).map_or(0, |kind| usize::from(kind % 9));
        let body_bytes = [4, 52, 4, 0, 0, 16, 16, 60, 12][kind];
        let message = sealed(&bytes, body_bytes).unwrap_or(bytes);
        let to = script.byte() & 1;
        self.seal(Content::Message, channel, 1, 0, &[&[to], &message[..]].concat());
    }

    fn behind(&mut self, script: &mut Script<'_>, channel: usize) {
        let content = [Content::Data, Content::Data, Content::Copy, Content::Message];
        let content = content[script.below(4)];
        let (ahead, session) = (script.byte(), script.byte());
        let (session, ahead) = (if session < 250 { 1 } else { session.into() }, ahead / 250);
        let mut bytes = script.bytes();
        if script.byte() < 200 && content == Content::Data && bytes.len() >= 4 {
            let sequence = self.numbers[0] + u32::from(bytes[3] / 200);
            bytes[..4].copy_from_slice(&sequence.to_be_bytes());
        }
        self.seal(content, channel, session, ahead.into(), &bytes);
    }

    fn seal(&mut self, content: Content, channel: usize, session: u16, ahead: u32, bytes: &[u8]) {
        let kind = usize::from(content == Content::Message);
        let number = self.numbers[kind].wrapping_add(ahead);
        self.numbers[kind] = number.wrapping_add(1);
        let channel_number = u8::try_from(channel).expect("few");
        let header = Header { content, channel: channel_number, session, number };
        let mut datagram = header.to_bytes().to_vec();
        datagram.extend_from_slice(bytes);
        if let Some(peer) = &mut self.peer {
            peer.advance(self.now);
            if peer.can_seal() {
                peer.seal(0, &mut datagram);
            }
        }
        self.sealed += u64::from(kind == 0);
        self.put(channel, 0, datagram);
    }

    pub(crate) fn turn(&mut self) {
        self.end.receive_at(self.now);
        while self.end.next_packet().is_some() {
            self.came += 1;
        }
        assert!(self.came <= self.sealed, "{} came of {}", self.came, self.sealed);
        self.end.transmit_at(self.now, &mut Zeros(3));
        let Some(peer) = &mut self.peer else {
            self.ports.iter().for_each(|port| drop(port.take()));
            return;
        };
        let sender = Sender { address: ([198, 18, 0, 1], 7000).into(), is_known: true };
        for port in &self.ports {
            for Datagram { bytes, .. } in port.take() {
                let mut reply = Vec::new();
                let is_answered = is_handshake(&bytes)
                    && peer.handle(self.now, sender, &bytes, &mut reply).is_ok();
                if is_answered && !reply.is_empty() {
                    port.put(self.now, Datagram { address: from(0), bytes: reply });
                }
            }
        }
        while let Some(message) = peer.poll_transmit(self.now, true) {
            let datagram = Datagram { address: from(0), bytes: message.to_vec() };
            self.ports[0].put(self.now, datagram);
        }
    }
}

//! Two ends and the network between them in virtual time: 10 ms each way, two addresses per end.

use std::collections::BTreeMap;
use std::time::Duration;

use gingham_stripe::{Content, Header, Instant};
use gingham_stripe_crypt::{Discard, Peer, PeerPlan, PrivateKey, Sender, Times, is_handshake};

const ONE_WAY_NS: u64 = 10_000_000;
const STEP_NS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Comes,
    Lost,
    Twice,
    /// Delayed by another five one-way delays.
    Late,
    Cut,
}

/// Receiving end, source port and bytes.
type Datagram = (usize, u16, Vec<u8>);

pub(crate) struct Network {
    pub(crate) ends: [Peer; 2],
    plans: [PeerPlan; 2],
    pub(crate) can_begin: [bool; 2],
    pub(crate) clocks: [u64; 2],
    now: u64,
    on_the_way: BTreeMap<(u64, u64), Datagram>,
    count: u64,
    pub(crate) record: Vec<Datagram>,
    pub(crate) fate: fn(u64, &[u8]) -> Fate,
    /// Fates of datagrams, applied in rotation.
    pub(crate) fates: Vec<u8>,
    number: u32,
    pub(crate) said: [u64; 2],
    pub(crate) opened: [u64; 2],
}

pub(crate) fn plans() -> [PeerPlan; 2] {
    let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
    [0, 1].map(|end| PeerPlan {
        private: keys[end].clone(),
        peer: keys[1 - end].public(),
        preshared: None,
        times: Times::default(),
    })
}

pub(crate) fn is_initiation(datagram: &[u8]) -> bool {
    is_handshake(datagram) && datagram.len() == 166
}

fn at(nanoseconds: u64) -> Instant {
    Instant::from_nanoseconds(nanoseconds)
}

impl Network {
    pub(crate) fn new(plans: [PeerPlan; 2]) -> Self {
        let start = 1 << 40;
        let ends = plans.each_ref().map(|plan| Peer::new(plan, at(start)).expect("randomness"));
        Self {
            ends,
            plans,
            can_begin: [true; 2],
            clocks: [start; 2],
            now: 0,
            on_the_way: BTreeMap::new(),
            count: 0,
            record: Vec::new(),
            fate: |_, _| Fate::Comes,
            fates: Vec::new(),
            number: 0,
            said: [0; 2],
            opened: [0; 2],
        }
    }

    pub(crate) fn change_plans(&mut self, change: impl Fn(&mut PeerPlan)) {
        self.plans.iter_mut().for_each(change);
        (0..2).for_each(|end| self.restart(end));
    }

    pub(crate) fn restart(&mut self, end: usize) {
        self.ends[end] = Peer::new(&self.plans[end], at(self.clocks[end])).expect("randomness");
    }

    pub(crate) fn run(&mut self, span: Duration) {
        let ends_at = self.now + u64::try_from(span.as_nanos()).expect("short");
        loop {
            for end in 0..2 {
                self.poll(end);
            }
            if self.now >= ends_at {
                return;
            }
            self.now += STEP_NS;
            self.clocks.iter_mut().for_each(|clock| *clock += STEP_NS);
            while let Some(entry) = self.on_the_way.first_entry() {
                if entry.key().0 > self.now {
                    break;
                }
                let (to, from, datagram) = entry.remove();
                self.arrive(to, from, datagram);
            }
        }
    }

    pub(crate) fn chatter(&mut self, span: Duration) {
        let steps = span.as_millis() / 100;
        for _ in 0..steps {
            (0..2).for_each(|end| self.say(end));
            self.run(Duration::from_millis(100));
        }
    }

    fn poll(&mut self, end: usize) {
        let now = at(self.clocks[end]);
        while let Some(message) = self.ends[end].poll_transmit(now, self.can_begin[end]) {
            let message = message.to_vec();
            for port in [0, 1] {
                self.send(1 - end, port, message.clone());
            }
        }
    }

    fn place(&self) -> usize {
        let count = self.fates.len().max(1) as u64;
        usize::try_from(self.count % count).expect("there are few")
    }

    fn send(&mut self, to: usize, from: u16, mut datagram: Vec<u8>) {
        self.record.push((to, from, datagram.clone()));
        let number = self.count;
        let fate = match self.fates.iter().cycle().nth(self.place()) {
            Some(1) => Fate::Lost,
            Some(2) => Fate::Twice,
            Some(3) => Fate::Late,
            Some(4) => Fate::Cut,
            Some(_) => Fate::Comes,
            None => (self.fate)(number, &datagram),
        };
        if fate == Fate::Cut {
            datagram.pop();
        }
        let late_ns = if fate == Fate::Late { 5 * ONE_WAY_NS } else { 0 };
        let copies = match fate {
            Fate::Lost => 0,
            Fate::Twice => 2,
            _ => 1,
        };
        for _ in 0..copies {
            self.count += 1;
            let key = (self.now + ONE_WAY_NS + late_ns, self.count);
            self.on_the_way.insert(key, (to, from, datagram.clone()));
        }
        self.count = self.count.max(number + 1);
    }

    pub(crate) fn arrive(&mut self, to: usize, from: u16, datagram: Vec<u8>) {
        if is_handshake(&datagram) {
            let (now, mut reply) = (at(self.clocks[to]), Vec::new());
            let [a, b] = from.to_be_bytes();
            let sender = Sender { address: ([198, 18, a, b], 7000).into(), is_known: false };
            let _: Result<(), Discard> = self.ends[to].handle(now, sender, &datagram, &mut reply);
            assert!(reply.len() <= datagram.len().max(166), "nothing is made larger");
            if !reply.is_empty() && from < 2 {
                self.send(1 - to, from, reply);
            }
        } else if self.open(to, datagram).is_ok() {
            self.opened[to] += 1;
        }
    }

    pub(crate) fn seal(&mut self, end: usize, number: u32) -> Vec<u8> {
        let header = Header { content: Content::Message, channel: 1, session: 0, number };
        let mut datagram = header.to_bytes().to_vec();
        datagram.extend(b"what is said");
        self.ends[end].seal(0, &mut datagram);
        assert!(!datagram.windows(12).any(|bytes| bytes == b"what is said"));
        datagram
    }

    pub(crate) fn open(&mut self, end: usize, mut datagram: Vec<u8>) -> Result<(), Discard> {
        self.ends[end].advance(at(self.clocks[end]));
        let (_, behind, _) = self.ends[end].open(&mut datagram)?;
        assert_eq!(behind, b"what is said");
        Ok(())
    }

    pub(crate) fn say(&mut self, end: usize) {
        self.ends[end].advance(at(self.clocks[end]));
        if self.ends[end].can_seal() {
            self.number += 1;
            let datagram = self.seal(end, self.number + 100);
            self.said[1 - end] += 1;
            self.send(1 - end, 0, datagram);
        }
    }

    pub(crate) fn both_carry(&mut self) -> bool {
        self.number += 1;
        let number = self.number + 1_000_000;
        (0..2).all(|end| {
            self.ends[end].can_seal() && {
                let datagram = self.seal(end, number);
                self.open(1 - end, datagram).is_ok()
            }
        })
    }

    pub(crate) fn are_in_one_session(&mut self) -> bool {
        let before = self.sessions();
        self.chatter(Duration::from_secs(3));
        before == self.sessions()
    }

    pub(crate) fn sessions(&self) -> [u64; 2] {
        self.ends.each_ref().map(Peer::sessions)
    }
}

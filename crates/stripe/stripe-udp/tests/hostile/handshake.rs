//! Handshakes of two peers under any sequence of operations.
//!
//! Invariants: a response is no longer than its request, except an initiation with its cookie; a
//! session begins only with a process start; once interference ends, both ends can send.

use std::time::Duration;

use gingham_stripe::{Content, Header, Instant};
use gingham_stripe_crypt::{
    Discard, Peer, PeerPlan, PrivateKey, Sender, Times, is_handshake, seed_randomness,
};

use crate::script::Script;

const WAITING_MAX: usize = 64;
const INITIATION_BYTES: usize = 166;
/// Of a tenth of a second: an unanswered handshake is retried after at most 6.7 s, and once more if
/// both ends had just begun.
const RECOVERY_STEPS: u32 = 200;

struct World {
    plans: [PeerPlan; 2],
    peers: [Peer; 2],
    /// In flight to each end; below, all datagrams so far.
    waiting: [Vec<Vec<u8>>; 2],
    recorded: Vec<(usize, Vec<u8>)>,
    processes: u64,
    now: Instant,
    number: u32,
}

pub(crate) fn run(data: &[u8]) {
    seed_randomness(Some(0));
    let mut script = Script(data);
    let mut world = World::new();
    while !script.0.is_empty() {
        world.step(&mut script);
    }
    world.recovers();
}

impl World {
    fn new() -> Self {
        let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
        let plans = [0, 1].map(|end| PeerPlan {
            private: keys[end].clone(),
            peer: keys[1 - end].public(),
            preshared: None,
            times: Times { rekey: Duration::from_secs(2), ..Times::default() },
        });
        let now = Instant::ORIGIN;
        let peers = plans.each_ref().map(|plan| Peer::new(plan, now).expect("randomness"));
        let (waiting, recorded) = ([Vec::new(), Vec::new()], Vec::new());
        Self { plans, peers, waiting, recorded, processes: 2, now, number: 0 }
    }

    fn step(&mut self, script: &mut Script<'_>) {
        let (operation, to) = (script.byte(), script.below(2));
        match operation % 16 {
            0..=4 => self.poll(),
            5..=7 => self.arrive(to),
            8 => drop(self.waiting[to].pop()),
            9 => self.pass(Duration::from_micros(script.word().into())),
            10 => self.change(script, to),
            11 => self.repeat(script),
            12 => self.make_up(script, to),
            13 => self.say(to),
            14 if operation > 240 => self.begin_anew(to),
            14 => self.pass(Duration::from_millis(script.byte().into())),
            _ => {
                let datagram = script.bytes();
                self.take(to, script.byte().into(), datagram);
            }
        }
        assert!(self.peers.iter().all(|peer| peer.sessions() <= self.processes));
    }

    fn poll(&mut self) {
        for end in 0..2 {
            while let Some(message) = self.peers[end].poll_transmit(self.now, true) {
                let message = message.to_vec();
                self.send(1 - end, message);
            }
        }
    }

    fn send(&mut self, to: usize, datagram: Vec<u8>) {
        if self.waiting[to].len() < WAITING_MAX {
            self.waiting[to].push(datagram.clone());
        }
        if self.recorded.len() < WAITING_MAX {
            self.recorded.push((to, datagram));
        }
    }

    fn arrive(&mut self, to: usize) {
        if !self.waiting[to].is_empty() {
            let datagram = self.waiting[to].remove(0);
            self.take(to, 0, datagram);
        }
    }

    fn take(&mut self, to: usize, from: u16, mut datagram: Vec<u8>) {
        if !is_handshake(&datagram) {
            let _: Result<_, Discard> = self.peers[to].open(&mut datagram);
            return;
        }
        let mut reply = Vec::new();
        let [a, b] = from.to_be_bytes();
        let sender = Sender { address: ([198, 18, a, b], 7000).into(), is_known: false };
        let taken = self.peers[to].handle(self.now, sender, &datagram, &mut reply);
        assert!(taken.is_ok() || reply.is_empty(), "what is not taken is not answered");
        assert!(reply.len() <= datagram.len().max(INITIATION_BYTES), "nothing is made larger");
        if !reply.is_empty() && from == 0 {
            self.send(1 - to, reply);
        }
    }

    fn change(&mut self, script: &mut Script<'_>, to: usize) {
        let (place, value) = (script.word() as usize, script.byte());
        if let Some(datagram) = self.waiting[to].first_mut() {
            let place = place % datagram.len();
            if value == 0 {
                datagram.truncate(place);
            } else {
                datagram[place] ^= value;
            }
            if datagram.is_empty() {
                self.waiting[to].remove(0);
            }
        }
    }

    fn repeat(&mut self, script: &mut Script<'_>) {
        if !self.recorded.is_empty() {
            let (to, datagram) = self.recorded[script.below(self.recorded.len())].clone();
            self.take(to, script.byte().into(), datagram);
        }
    }

    /// Arbitrary bytes with the beginning and length of a handshake datagram.
    fn make_up(&mut self, script: &mut Script<'_>, to: usize) {
        let kind = script.below(4);
        let mut datagram = script.bytes();
        datagram.resize([166, 78, 68, 24][kind], 0xa5);
        datagram[0] = 0x43 | u8::try_from(kind << 2).expect("two bits");
        (datagram[1], datagram[3]) = (2, 0);
        self.take(to, 0, datagram);
    }

    fn say(&mut self, to: usize) {
        self.number += 1;
        let header =
            Header { content: Content::Message, channel: 1, session: 0, number: self.number };
        let mut datagram = header.to_bytes().to_vec();
        datagram.extend(b"what is said");
        self.peers[1 - to].advance(self.now);
        if self.peers[1 - to].can_seal() {
            self.peers[1 - to].seal(0, &mut datagram);
            self.send(to, datagram);
        }
    }

    fn begin_anew(&mut self, end: usize) {
        self.peers[end] = Peer::new(&self.plans[end], self.now).expect("randomness");
        self.processes += 1;
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.after(span);
    }

    fn recovers(&mut self) {
        self.waiting.iter_mut().for_each(Vec::clear);
        for _ in 0..RECOVERY_STEPS {
            if self.peers.iter().all(Peer::can_seal) {
                return;
            }
            self.pass(Duration::from_millis(100));
            self.poll();
            (0..2).for_each(|to| self.say(to));
            for _ in 0..3 {
                for to in 0..2 {
                    while !self.waiting[to].is_empty() {
                        self.arrive(to);
                    }
                }
                self.poll();
            }
        }
        assert!(self.peers.iter().all(Peer::can_seal), "20 s later both carry");
    }
}

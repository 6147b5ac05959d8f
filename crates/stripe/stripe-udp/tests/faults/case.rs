//! Parameters of a run, drawn from its seed.

use std::fmt;
use std::time::Duration;

use gingham_stripe_crypt::Times;

#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) const fn within(&mut self, first: u64, last: u64) -> u64 {
        first + self.next() % (last - first)
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.next() % length as u64).expect("below a length")
    }

    /// With a probability of `permille` in a thousand.
    pub(crate) const fn is(&mut self, permille: u64) -> bool {
        self.next() % 1_000 < permille
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_be_bytes()[0]).collect()
    }
}

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// Channel with equal parameters in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) bytes_per_second: u64,
    pub(crate) delay_ns: u64,
    pub(crate) queue_bytes: u64,
}

/// Faults of datagrams, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) late: u64,
    pub(crate) flipped: u64,
    pub(crate) cut: u64,
}

/// Datagrams of an attacker, per second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stranger {
    pub(crate) replayed: u64,
    pub(crate) forged: u64,
    pub(crate) initiations: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Crash of the process of an end.
    Crash { end: usize },
    /// Start of a new process.
    Start { end: usize },
    /// A channel carries nothing in one direction.
    Dark { end: usize, channel: usize, is_dark: bool },
    /// Appearance or removal of an interface.
    Plug { end: usize, channel: usize, is_there: bool },
    /// Address change of a client on a channel, or of its NAT.
    Move { client: usize, channel: usize, is_port_alone: bool },
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    /// Clients of one server, which is the last host.
    pub(crate) clients: usize,
    pub(crate) ways: Vec<Way>,
    pub(crate) is_strict: bool,
    pub(crate) shares: Shares,
    pub(crate) stranger: Stranger,
    pub(crate) events: Vec<(u64, Event)>,
    pub(crate) right_knows: bool,
    /// Excess speed of the clocks of clients and server, in millionths.
    pub(crate) fast_ppm: [u64; 2],
    pub(crate) times: Times,
    /// Packets from each client, and to each.
    pub(crate) packets_per_second: [u64; 2],
    /// Time of the last fault.
    pub(crate) heal_ns: u64,
}

impl Case {
    pub(crate) fn draw(seed: u64) -> Self {
        Self::draw_of(Chance::new(seed ^ 0x6a09_e667_f3bc_c908), seed, 1)
    }

    pub(crate) fn draw_many(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0x3c6e_f372_fe94_f82b);
        let clients = 2 + chance.index(3);
        Self::draw_of(chance, seed, clients)
    }

    fn draw_of(mut chance: Chance, seed: u64, clients: usize) -> Self {
        let channels = chance.within(1, 5);
        let way = |chance: &mut Chance| Way {
            bytes_per_second: 50_000 << chance.within(0, 6),
            delay_ns: chance.within(0, 40) * MS,
            queue_bytes: chance.within(8, 64) * 1_000,
        };
        let ways: Vec<_> = (0..channels).map(|_| way(&mut chance)).collect();
        let mut share = |max| if chance.is(500) { chance.within(0, max) } else { 0 };
        let shares = Shares {
            lost: share(200),
            doubled: share(200),
            late: share(200),
            flipped: share(100),
            cut: share(50),
        };
        let stranger =
            Stranger { replayed: share(500), forged: share(500), initiations: share(2_000) };
        let heal_ns = chance.within(1_000, 4_000) * MS;
        let mut events = Vec::new();
        for _ in 0..chance.within(0, 7) {
            let (at, lasts) = (chance.within(0, heal_ns), chance.within(1, 1_500) * MS);
            let (end, channel) = (chance.index(clients + 1), chance.index(ways.len()));
            events.extend(befall(
                &mut chance,
                at,
                (at + lasts).min(heal_ns),
                (clients, end, channel),
            ));
        }
        events.sort_by_key(|(at, _)| *at);
        let mut packets = || 5_u64 << chance.within(0, 6);
        let packets_per_second = [packets(), packets()];
        let fast_ppm = [[0, 0], [200, 0], [0, 200]][chance.index(3)];
        Self {
            seed,
            clients,
            ways,
            is_strict: chance.is(250),
            shares,
            stranger,
            events,
            right_knows: chance.is(500),
            fast_ppm,
            times: times(&mut chance),
            packets_per_second,
            heal_ns,
        }
    }
}

fn befall(
    chance: &mut Chance,
    at: u64,
    until: u64,
    (clients, end, channel): (usize, usize, usize),
) -> Vec<(u64, Event)> {
    match chance.index(6) {
        0 | 1 => vec![(at, Event::Crash { end }), (until, Event::Start { end })],
        2 => [(at, true), (until, false)]
            .map(|(at, is_dark)| (at, Event::Dark { end, channel, is_dark }))
            .into(),
        3 => [(at, false), (until, true)]
            .map(|(at, is_there)| (at, Event::Plug { end, channel, is_there }))
            .into(),
        _ => {
            let (client, is_port_alone) = (end.min(clients - 1), chance.is(500));
            vec![(at, Event::Move { client, channel, is_port_alone })]
        }
    }
}

/// Defaults of the daemon, or short ones with frequent rekeying.
fn times(chance: &mut Chance) -> Times {
    if chance.is(500) {
        return Times::default();
    }
    let rekey = Duration::from_millis(chance.within(300, 2_000));
    // On a full channel a response takes a second, and a handshake two or more.
    Times { rekey, reject: rekey + Duration::from_secs(10), ..Times::default() }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}, {} clients, until {} ms",
            self.seed,
            self.clients,
            self.heal_ns / MS
        )?;
        writeln!(f, "  {:?}\n  {:?}", self.shares, self.stranger)?;
        for way in &self.ways {
            writeln!(f, "  {way:?}")?;
        }
        for (at, event) in &self.events {
            writeln!(f, "  {:5} ms {event:?}", at / MS)?;
        }
        write!(
            f,
            "  strict {}, right knows {}, fast {:?} ppm, {:?} packets/s, {:?}",
            self.is_strict, self.right_knows, self.fast_ppm, self.packets_per_second, self.times
        )
    }
}

//! Memory: its cap holds for any input.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use gingham_fairq::{Causal, Number, Round, Standing, SurplusRoundRobin};
use gingham_stripe::{
    Charge, Departure, Epoch, Guarantee, Instant, Kind, Marker, Message, Receiver, ReceiverOptions,
    RepairOf, RepairRequests, ReportPlan, Tag,
};
use proptest::prelude::*;

use super::pair::{LONGEST_BYTES, Words};

/// Included in a sum of charges while it exists.
struct Packet {
    charge: u64,
    alive: Rc<Cell<u64>>,
}

impl Packet {
    fn new(alive: &Rc<Cell<u64>>, charge: u32) -> Self {
        let (charge, alive) = (u64::from(charge), Rc::clone(alive));
        alive.set(alive.get() + charge);
        Self { charge, alive }
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - self.charge);
    }
}

type End = Receiver<SurplusRoundRobin<64>, Packet>;

/// A small number, to cover all of them, or any number.
fn number(words: &mut Words) -> u32 {
    if words.below(8) == 0 { words.below(u32::MAX) } else { words.below(40) }
}

fn message(words: &mut Words, channel: usize, channels: usize, epoch: u32) -> Message {
    let small = |number: usize| u8::try_from(number).expect("at most 64");
    let other = usize::try_from(words.below(8)).expect("few") % channels;
    let next = Number { round: Round::new(number(words)), deficit_bytes: LONGEST_BYTES };
    let kind = match words.below(8) {
        0 => Kind::Reset { quantum: LONGEST_BYTES },
        1 => Kind::Left(Departure {
            channel: small(other),
            since: Round::new(number(words)),
            sent_packets: number(words),
            next_sequence: number(words),
        }),
        _ => Kind::Marker(Marker {
            standing: Standing { next, quantum_bytes: LONGEST_BYTES, coming: None },
            sent_packets: number(words),
            sent_bytes: 1_000 * u64::from(number(words)),
            next_sequence: number(words),
            round_trip_ns: words.below(100_000_000),
            lowered: words.below(2) == 0,
            ..Marker::default()
        }),
    };
    // Occasionally the sender has started anew.
    let epoch = Epoch::new(epoch + u32::from(words.below(20) == 0));
    Message { epoch, channel: small(channel), channels: small(channels), kind }
}

fn come(
    end: &mut End,
    words: &mut Words,
    now: Instant,
    alive: &Rc<Cell<u64>>,
    (tagged, epoch): (bool, u32),
) {
    let channels = end.scheduler().channels();
    let channel = words.below(64) as usize % channels;
    if words.below(50) == 0 {
        for channel in 0..channels {
            let number = u8::try_from(channel).expect("at most 64");
            let kind = Kind::Reset { quantum: LONGEST_BYTES };
            let (epoch, channels) = (Epoch::new(epoch + 1), channels.try_into().expect("few"));
            let _ = end.handle_message(
                now,
                channel,
                Message { epoch, channel: number, channels, kind },
            );
        }
        return;
    }
    if words.below(10) == 0 {
        let _ = end.handle_message(now, channel, message(words, channel, channels, epoch));
        return;
    }
    let length_bytes = if words.below(2) == 0 { 1 } else { words.length_bytes() };
    let packet = Packet::new(alive, Charge::BYTES.of(length_bytes));
    let copy = RepairOf { channel: 0, channel_sequence: number(words), next_sequence: 40 };
    let tag = Tag {
        channel: u8::try_from(channel).expect("at most 64"),
        session: u16::try_from(epoch % (1 << 16)).expect("half a word"),
        sequence: number(words),
        channel_sequence: number(words),
        repair_of: (words.below(3) == 0).then_some(copy),
    };
    let _ = if tagged {
        end.handle_tagged(now, tag, length_bytes, packet)
    } else {
        end.handle_packet(now, channel, length_bytes, packet)
    };
}

proptest! {
    /// The receiver reads occasionally, and the sender ignores credits: the held charge is that of
    /// the existing packets.
    #[test]
    fn held_memory_stays_within_its_cap(
        seed: u64, channels in 1_usize..=64, more in 0_u64..20_000, tagged: bool, repairs: bool,
        reads in 0_u32..4,
    ) {
        let mut words = Words(seed);
        let repair = repairs.then(RepairRequests::default);
        let least = u64::from(Charge::BYTES.of(LONGEST_BYTES)) * (channels as u64 + 1);
        let options = ReceiverOptions {
            buffer_bytes_max: least + more,
            wait: Duration::from_millis(20),
            reports: Some(ReportPlan::default()),
            guaranteed: tagged.then_some(Guarantee { repair }),
            ..ReceiverOptions::default()
        };
        let scheduler =
            SurplusRoundRobin::new(LONGEST_BYTES, &vec![LONGEST_BYTES; channels]).expect("quanta");
        let mut end = End::synchronised(scheduler, options, Epoch::new(1)).expect("options");
        let (mut now, alive) = (Instant::ORIGIN, Rc::new(Cell::new(0)));
        let (mut most, mut epoch) = (0, 1);
        for _ in 0..1_000 {
            now = now.after(Duration::from_micros(words.below(2_000).into()));
            epoch = end.epoch().map_or(epoch, Epoch::get);
            come(&mut end, &mut words, now, &alive, (tagged, epoch));
            prop_assert!(alive.get() <= end.held_bytes(), "{} of {}", end.held_bytes(), alive.get());
            prop_assert!(end.held_bytes() <= least + more, "{} held", end.held_bytes());
            most = most.max(alive.get());
            for _ in 0..words.below(reads + 1) {
                drop(end.poll_packet(now));
            }
            while end.poll_message(now).is_some() {}
        }
        prop_assert!(most > 0, "something was held");
        while end.poll_packet(now.after(Duration::from_secs(10))).is_some() {}
        // The remaining packets wait for copies or numbers that are never sent.
        prop_assert!(alive.get() <= end.held_bytes());
    }
}

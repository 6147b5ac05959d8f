//! After set-up, packets, markers and reports allocate no memory.

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{
    Charge, ControlPlan, Epoch, Guarantee, Instant, Order, Receiver, ReceiverOptions, RepairPlan,
    RepairRequests, ReportPlan, Sender, SenderOptions, Tag,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::collections::VecDeque;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CHANNELS: usize = 4;
const QUANTA: [u32; CHANNELS] = [1_500, 3_000, 4_500, 6_000];
/// Frames held by each channel: its skew.
const SKEWS: [usize; CHANNELS] = [0, 3, 9, 1];

type Scheduler = SurplusRoundRobin<CHANNELS>;
type Frame = (u32, u32, Option<Tag>);

struct Ends {
    sender: Sender<Scheduler>,
    receiver: Receiver<Scheduler, u32>,
    frames: [VecDeque<Frame>; CHANNELS],
    tagged: bool,
    microseconds: u64,
    sent: u32,
    came: u32,
}

impl Ends {
    #[allow(clippy::large_types_passed_by_value, reason = "options are given once a test")]
    fn new(sender: SenderOptions, receiver: ReceiverOptions) -> Self {
        let scheduler = Scheduler::new(1_500, &QUANTA).expect("quanta that are long enough");
        let epoch = Epoch::new(1);
        Self {
            tagged: receiver.guaranteed.is_some(),
            sender: Sender::synchronised(scheduler.clone(), sender, epoch, Instant::ORIGIN)
                .expect("options that make sense"),
            receiver: Receiver::synchronised(scheduler, receiver, epoch)
                .expect("options that make sense"),
            frames: std::array::from_fn(|_| VecDeque::with_capacity(64)),
            microseconds: 0,
            sent: 0,
            came: 0,
        }
    }

    fn now(&self) -> Instant {
        Instant::from_nanoseconds(self.microseconds * 1_000)
    }

    /// Loses one packet in `lost_of` (0: none).
    fn run(&mut self, packets: u32, lost_of: u32) {
        for number in 0..packets {
            self.microseconds += 10;
            let length_bytes = 64 + number * 97 % 1_437;
            self.send(length_bytes, lost_of != 0 && number % lost_of == lost_of - 1);
            for (channel, skew) in SKEWS.into_iter().enumerate() {
                while self.frames[channel].len() > skew {
                    self.arrive(channel);
                }
            }
            while self.receiver.poll_packet(self.now()).is_some() {
                self.came += 1;
            }
            self.talk();
        }
    }

    fn send(&mut self, length_bytes: u32, lost: bool) {
        let (now, sequence) = (self.now(), self.sent);
        let sent = if self.tagged {
            self.sender.handle_tagged(now, length_bytes).map(|(channel, tag)| (channel, Some(tag)))
        } else {
            self.sender.handle_packet(now, length_bytes).map(|channel| (channel, None))
        };
        let Ok((channel, tag)) = sent else { return };
        self.sent += 1;
        if !lost {
            self.frames[channel].push_back((length_bytes, sequence, tag));
        }
    }

    fn arrive(&mut self, channel: usize) {
        let now = self.now();
        let (length_bytes, sequence, tag) = self.frames[channel].pop_front().expect("it is there");
        let taken = match tag {
            Some(tag) => self.receiver.handle_tagged(now, tag, length_bytes, sequence),
            None => self.receiver.handle_packet(now, channel, length_bytes, sequence),
        };
        taken.expect("there is room");
    }

    /// Messages overtake no packet.
    fn talk(&mut self) {
        let now = self.now();
        while let Some((channel, message)) = self.sender.poll_message(now) {
            while !self.frames[channel].is_empty() {
                self.arrive(channel);
            }
            let bytes = message.to_bytes();
            self.receiver.handle_bytes(now, channel, &bytes).expect("a message of ours");
        }
        while let Some((channel, message)) = self.receiver.poll_message(now) {
            self.sender.handle_bytes(now, channel, &message.to_bytes()).expect("a message of ours");
        }
        while let Some(repair) = self.sender.poll_repair(now) {
            let (channel, tag) = (repair.channel, repair.tag);
            self.frames[channel].push_back((repair.length_bytes, tag.sequence, Some(tag)));
        }
    }
}

/// Of 22,000 packets, the first 2,000 may allocate, and at least `least` arrive.
///
/// The count is of the whole process, including a thread of the test harness, which stops
/// allocating early.
fn allocates_nothing(what: &str, mut ends: Ends, lost_of: u32, least: u32) {
    ends.run(2_000, lost_of);
    let stretch = |ends: &mut Ends| {
        let region = Region::new(GLOBAL);
        ends.run(2_000, lost_of);
        let change = region.change();
        change.allocations + change.reallocations
    };
    let counts: [_; 10] = std::array::from_fn(|_| stretch(&mut ends));
    assert_eq!(counts.iter().min(), Some(&0), "{what}: {counts:?}");
    assert!(ends.came > least, "{what}: {} packets came", ends.came);
}

#[test]
fn packets_cause_no_allocation() {
    let reports = Some(ReportPlan::default());
    let plain = ReceiverOptions { reports, ..ReceiverOptions::default() };
    let credits = SenderOptions { credits: Some(Charge::default()), ..SenderOptions::default() };
    allocates_nothing("quasi-FIFO with credits", Ends::new(credits, plain), 0, 21_900);
    allocates_nothing(
        "quasi-FIFO with loss",
        Ends::new(SenderOptions::default(), plain),
        50,
        20_000,
    );

    let repairing = SenderOptions { repair: Some(RepairPlan::default()), ..credits };
    let asking = Some(Guarantee { repair: Some(RepairRequests::default()) });
    let guaranteed = ReceiverOptions { guaranteed: asking, ..plain };
    allocates_nothing("guaranteed, with repairs", Ends::new(repairing, guaranteed), 50, 21_900);

    let control = Some(ControlPlan::default());
    let choosing = SenderOptions { order: Order::Free, control, credits: None, ..repairing };
    let free = ReceiverOptions { order: Order::Free, ..guaranteed };
    allocates_nothing("free, with control and repairs", Ends::new(choosing, free), 50, 2_000);
}

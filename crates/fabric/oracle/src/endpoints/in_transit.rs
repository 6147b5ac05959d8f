//! In-transit host that recomputes each decision from a list of its packets (`timing.md`,
//! "In-transit hosts").

use super::differ::{Audited, Tally};
use gingham_kernel::Time;
use gingham_net::{EjectionHead, InTransitPlan, TakenIn, WhenFull};
use std::fmt::Debug;

#[derive(Clone, Copy, Debug)]
struct Held<P> {
    packet: P,
    group: usize,
    bytes: u64,
    head: Time,
    is_spilled: bool,
    /// Time when the packet can be re-injected; `None` until the tail of a spilled packet has
    /// arrived.
    ready: Option<Time>,
    has_begun: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct InTransitHost<P> {
    machine: gingham_net::InTransitHost<P>,
    plan: InTransitPlan,
    tally: Tally,
    held: Vec<Held<P>>,
}

impl<P: Copy + PartialEq + Debug> InTransitHost<P> {
    pub(crate) fn new(plan: InTransitPlan, groups: usize, tally: Tally) -> Self {
        let machine = gingham_net::InTransitHost::new(plan, groups);
        Self { machine, plan, tally, held: Vec::new() }
    }

    #[track_caller]
    fn check<T: PartialEq + Debug>(&self, what: &str, expected: &T, found: &T) {
        assert!(
            expected == found,
            "audit: host in transit, {what}:\nexpected {expected:?}\nfound    {found:?}\nof {:?}",
            self.held
        );
        self.tally.count(Audited::InTransitHost);
    }

    fn used_bytes(&self) -> u64 {
        self.held.iter().filter(|of| !of.is_spilled).map(|of| of.bytes).sum()
    }

    pub(crate) fn pool_bytes(&self) -> u64 {
        let found = self.machine.pool_bytes();
        self.check("bytes in the pool", &self.used_bytes(), &found);
        found
    }

    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let found = self.machine.has_room(bytes);
        let expected = self.used_bytes() + bytes <= self.plan.pool_bytes;
        self.check("room in the pool", &expected, &found);
        found
    }

    pub(crate) fn take_in(
        &mut self,
        packet: P,
        group: usize,
        bytes: u64,
        head: Time,
        now: Time,
    ) -> Option<TakenIn> {
        let found = self.machine.take_in(packet, group, bytes, head, now);
        let is_spilled = self.used_bytes() + bytes > self.plan.pool_bytes;
        let is_stopped = is_spilled && self.plan.when_full == WhenFull::Stop;
        // Detection (T_d) starts when the head arrives. Programming (T_r) starts when detection
        // ends or the packet is ejected, whichever is later.
        let known = (head + self.plan.detection).max(now);
        let ready = (!is_spilled).then(|| known + self.plan.programming);
        let expected = (!is_stopped).then_some((is_spilled, ready));
        self.check("ejection", &expected, &found.map(|taken| (taken.is_spilled, taken.ready)));
        if !is_stopped {
            let has_begun = false;
            self.held.push(Held { packet, group, bytes, head, is_spilled, ready, has_begun });
        }
        found
    }

    pub(crate) fn tail_received(
        &mut self,
        packet: P,
        taken: &mut TakenIn,
        tail: Time,
    ) -> Option<Time> {
        let found = self.machine.tail_received(packet, taken, tail);
        let plan = self.plan;
        let of = self.held.iter_mut().find(|of| of.packet == packet).expect("it was ejected");
        let expected = match plan.when_full {
            WhenFull::Spill { delay, byte } if of.is_spilled => {
                let programmed = of.head + plan.detection + plan.programming;
                Some(programmed.max(tail + delay + byte * (2 * of.bytes)))
            }
            _ => None,
        };
        of.ready = of.ready.or(expected);
        self.check("ready after the tail", &expected, &found);
        found
    }

    /// Returns the packet that became ready first, at or before `now`; in a tie, the packet that
    /// was ejected first.
    fn first_ready(&self, group: usize, now: Time) -> Option<(P, Time)> {
        let waiting = self.held.iter().filter(|of| of.group == group && !of.has_begun);
        let ready = waiting.filter_map(|of| Some((of.packet, of.ready?)));
        ready.filter(|(_, at)| *at <= now).min_by_key(|(_, at)| *at)
    }

    pub(crate) fn next_ready(&self, group: usize, now: Time) -> Option<(P, Time)> {
        let found = self.machine.next_ready(group, now);
        self.check("next packet", &self.first_ready(group, now), &found);
        found
    }

    pub(crate) fn begin(&mut self, group: usize) {
        let (packet, _) = self.first_ready(group, Time::MAX).expect("what begins is ready");
        let taken = self.machine.begin(group);
        let of = self.held.iter_mut().find(|of| of.packet == packet).expect("it is held");
        of.has_begun = true;
        let (expected, found) = ((of.bytes, of.ready), (taken.bytes, taken.ready));
        self.check("packet that begins", &expected, &found);
    }

    pub(crate) fn waiting_groups(&self) -> u32 {
        let found = self.machine.waiting_groups();
        let waiting = self.held.iter().filter(|of| !of.has_begun);
        let expected = waiting.fold(0, |all, of| all | 1 << of.group);
        self.check("groups that wait", &expected, &found);
        found
    }

    /// Releases the space of a packet. Returns whether the packet occupied pool space.
    pub(crate) fn release(&mut self, packet: P, taken: &TakenIn) -> bool {
        let found = self.machine.release(taken);
        let place = self.held.iter().position(|of| of.packet == packet);
        let of = self.held.remove(place.expect("it is held"));
        self.check("space of a packet", &!of.is_spilled, &found);
        self.check("bytes in the pool", &self.used_bytes(), &self.machine.pool_bytes());
        found
    }

    pub(crate) fn next_admitted(
        &self,
        heads: &[EjectionHead],
        bytes: impl Fn(usize) -> u64,
    ) -> Option<(usize, Time)> {
        let found = self.machine.next_admitted(heads, &bytes);
        let mut expected: Option<(usize, Time)> = None;
        for (lane, head) in heads.iter().enumerate() {
            let EjectionHead::Waiting { since } = *head else { continue };
            let fits = self.used_bytes() + bytes(lane) <= self.plan.pool_bytes;
            if fits && expected.is_none_or(|(_, longest)| since < longest) {
                expected = Some((lane, since));
            }
        }
        self.check("head that is ejected next", &expected, &found);
        found
    }
}

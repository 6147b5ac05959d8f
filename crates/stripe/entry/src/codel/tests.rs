//! CoDel compared with hand-traced scenarios, its published schedule and the RFC's pseudocode.

use super::*;
use proptest::prelude::*;
use std::iter::{once, repeat};

const MS: u64 = 1_000_000;
const PLAN: CoDelPlan =
    CoDelPlan { target_ns: 5 * MS, interval_ns: 100 * MS, longest_bytes: 1_500 };

fn standing(sojourn_ns: u64, markable: bool) -> impl FnMut() -> Option<Popped<u32>> {
    move || Some(Popped { packet: 0, sojourn_ns, left_bytes: 100_000, markable })
}

/// Returns the times of drops and of marks, in ms, for a standing queue that is dequeued every
/// millisecond.
fn signals(codel: &mut CoDel, from_ms: u64, to_ms: u64, markable: bool) -> (Vec<u64>, Vec<u64>) {
    let (mut drops, mut marks) = (Vec::new(), Vec::new());
    for ms in from_ms..to_ms {
        let pop = standing(6 * MS, markable);
        let judged = codel.dequeue(ms * MS, &PLAN, pop, |_| drops.push(ms));
        if judged.expect("it stands").marked {
            marks.push(ms);
        }
    }
    (drops, marks)
}

/// Checks the drop times of a standing queue: the first drop at 100 ms, each later drop after an
/// interval of 100 ms divided by √1, √2, √3 ...: at 200, 270.7, 328.4, 378.4, 423.2, 464.0 and
/// 501.8 ms, rounded up to whole milliseconds.
#[test]
fn drop_intervals_shrink_with_the_square_root_of_their_count() {
    let mut codel = CoDel::NEW;
    let (drops, marks) = signals(&mut codel, 0, 502, false);
    assert_eq!(drops, [100, 200, 271, 329, 379, 424, 464]);
    assert!(marks.is_empty());
}

#[test]
fn marks_replace_drops_for_ecn_capable_packets() {
    let mut codel = CoDel::NEW;
    let (drops, marks) = signals(&mut codel, 0, 502, true);
    assert_eq!(marks, [100, 200, 271, 329, 379, 424, 464]);
    assert!(drops.is_empty());
}

#[test]
fn control_law_is_exact() {
    let spans: Vec<_> = [1, 2, 3, 4, 5, 10, 100].map(|n| control_law(0, 100 * MS, n)).to_vec();
    let expected =
        [100_000_000, 70_710_678, 57_735_026, 50_000_000, 44_721_359, 31_622_776, 10_000_000];
    assert_eq!(spans, expected);
}

#[test]
fn occasionally_empty_queue_has_no_drops() {
    let mut codel = CoDel::NEW;
    for ms in 0..1_000 {
        let sojourn_ns = if ms % 100 == 99 { 4 * MS } else { 50 * MS };
        let judged = codel.dequeue(ms * MS, &PLAN, standing(sojourn_ns, false), |_| panic!("{ms}"));
        assert!(!judged.expect("it stands").marked);
    }
}

#[test]
fn single_waiting_packet_is_not_dropped() {
    let mut codel = CoDel::NEW;
    for ms in 0..1_000 {
        let pop =
            || Some(Popped { packet: 0, sojourn_ns: 900 * MS, left_bytes: 1_500, markable: false });
        codel.dequeue(ms * MS, &PLAN, pop, |_| panic!("{ms}"));
    }
}

/// Seven packets are dropped until 502 ms. The sojourn time exceeds the target again from 503 ms,
/// so dropping resumes at 603 ms, within 16 intervals of the last scheduled drop. The count resumes
/// at 7 - 1 = 6: the next drop follows 100 / √6 = 40.8 ms later, at 644 ms, then 100 / √7 = 37.8 ms
/// later, at 682 ms.
#[test]
fn soon_recurring_queue_resumes_the_earlier_drop_rate() {
    let mut codel = CoDel::NEW;
    signals(&mut codel, 0, 502, false);
    assert_eq!((codel.count, codel.dropping), (7, true));
    codel.dequeue(502 * MS, &PLAN, standing(4 * MS, false), |_| panic!("below the target"));
    assert!(!codel.dropping);
    let (drops, _) = signals(&mut codel, 503, 690, false);
    assert_eq!(drops, [603, 644, 682]);
    // The next drop was scheduled for 717 ms. More than 16 intervals later, the drop rate starts
    // anew.
    codel.dequeue(690 * MS, &PLAN, standing(4 * MS, false), |_| panic!("below the target"));
    let (drops, _) = signals(&mut codel, 2_300, 2_502, false);
    assert_eq!(drops, [2_400, 2_500]);
}

/// Independent implementation of the pseudocode of RFC 8289, section 5; a time of 0 means none.
#[derive(Default)]
struct Pseudocode {
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Pseudocode {
    fn dodequeue(&mut self, now: u64, packet: Option<(u64, u64)>) -> bool {
        match packet {
            Some((sojourn, bytes)) if sojourn >= PLAN.target_ns && bytes > 1_500 => {
                if self.first_above_time == 0 {
                    self.first_above_time = now + PLAN.interval_ns;
                    return false;
                }
                now >= self.first_above_time
            }
            _ => {
                self.first_above_time = 0;
                false
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 1e8")]
    fn control_law(t: u64, count: u32) -> u64 {
        t + (1e8 / f64::from(count).sqrt()) as u64
    }

    fn dequeue(&mut self, now: u64, mut pop: impl FnMut() -> Option<(u64, u64)>) -> u32 {
        let mut drops = 0;
        let mut ok_to_drop = self.dodequeue(now, pop());
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                drops += 1;
                self.count += 1;
                ok_to_drop = self.dodequeue(now, pop());
                if ok_to_drop {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            drops += 1;
            self.dodequeue(now, pop());
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let is_recent = now < self.drop_next + 16 * PLAN.interval_ns;
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = Self::control_law(now, self.count);
            self.lastcount = self.count;
        }
        drops
    }
}

proptest! {
    #[test]
    fn drops_match_the_pseudocode(
        phases in prop::collection::vec((1_u64..400, 0_u64..40, 0_u64..40, 0_u64..6_000), 1..20),
        step_ns in 300_007_u64..3_000_000,
    ) {
        let (mut codel, mut pseudocode, mut now_ns) = (CoDel::NEW, Pseudocode::default(), step_ns);
        for (calls, first_ms, later_ms, left_bytes) in phases {
            for _ in 0..calls {
                now_ns += step_ns;
                let sojourns = || once(first_ms * MS).chain(repeat(later_ms * MS));
                let (mut one, mut other) = (sojourns(), sojourns());
                let pop = || {
                    let sojourn_ns = one.next()?;
                    Some(Popped { packet: (), sojourn_ns, left_bytes, markable: false })
                };
                let mut drops = 0;
                codel.dequeue(now_ns, &PLAN, pop, |()| drops += 1);
                let expected =
                    pseudocode.dequeue(now_ns, || Some((other.next()?, left_bytes)));
                prop_assert_eq!(drops, expected);
            }
        }
    }
}

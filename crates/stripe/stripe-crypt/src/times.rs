//! When keys are made anew, and how long one waits.

use std::time::Duration;

/// When what is done.
///
/// ```text
///   0               rekey        midway         reject
///   |-----------------|-------------|--------------|-----> age of a pair of keys
///    who began it begins again ─────^ the other end begins     nothing is sealed any more
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// At this age of its keys the end that began the last handshake begins another one; the other end
    /// does midway from here to `reject`.
    pub rekey: Duration,
    /// Keys of this age seal nothing.
    pub reject: Duration,
    /// A handshake that is not answered is tried again after so long, then after twice as long, and
    /// so on; up to a third is added by chance.
    pub retry: Duration,
    /// But no later than this.
    pub retry_max: Duration,
    /// If nothing was heard for so long though something was sent that asks for an answer, a
    /// handshake is begun.
    pub silence: Duration,
}

impl Default for Times {
    /// 120, 180 and 5 s as WireGuard has them (section 6.1: `REKEY_AFTER_TIME`,
    /// `REJECT_AFTER_TIME`, `REKEY_TIMEOUT`). A second before the first retry is what RFC 6298,
    /// section 2.1, waits for an answer of a path that is not known yet; as long a silence is worth a
    /// handshake, which costs less than the second that a process that was started again waits.
    fn default() -> Self {
        Self {
            rekey: Duration::from_secs(120),
            reject: Duration::from_secs(180),
            retry: Duration::from_secs(1),
            retry_max: Duration::from_secs(5),
            silence: Duration::from_secs(1),
        }
    }
}

impl Times {
    /// At which age of a pair this end begins a handshake.
    pub(crate) fn rekey_of(&self, is_initiator: bool) -> Duration {
        if is_initiator { self.rekey } else { (self.rekey + self.reject) / 2 }
    }

    /// How long a pair opens what comes: as long as the other end may seal, which made it a round trip
    /// later at most.
    pub(crate) fn open(&self) -> Duration {
        self.reject + self.retry_max
    }

    /// How long the try of this number waits; `chance` is any number.
    pub(crate) fn wait(&self, tries: u32, chance: u32) -> Duration {
        let wait = self.retry.saturating_mul(1_u32.checked_shl(tries).unwrap_or(u32::MAX));
        let wait = wait.min(self.retry_max);
        wait + wait.mul_f64(f64::from(chance) / f64::from(u32::MAX) / 3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_longest_and_a_third_more() {
        let times = Times::default();
        let waits = [0, 1, 2, 3, 40].map(|tries| times.wait(tries, 0).as_secs());
        assert_eq!(waits, [1, 2, 4, 5, 5]);
        let third = times.wait(0, u32::MAX).as_secs_f64() - 4.0 / 3.0;
        assert!(third.abs() < 1e-6);
        assert_eq!([true, false].map(|is| times.rekey_of(is).as_secs()), [120, 150]);
    }
}

//! Key lifetimes and handshake retry intervals.

use std::time::Duration;

/// Time limits of keys and handshakes.
///
/// ```text
///   0                rekey              midway             reject
///   |------------------|------------------|------------------|-----> age of a key pair
///                      └ the initiator    └ the responder    └ sealing stops
///                        starts a handshake, if none was started before
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Age of a pair when its initiator starts a new handshake; the responder does so midway
    /// between `rekey` and `reject`.
    pub rekey: Duration,
    /// Maximum age of a pair for sealing.
    pub reject: Duration,
    /// Delay before the first retry. The delay doubles with each retry, plus a random addition of
    /// up to a third.
    pub retry: Duration,
    /// Maximum delay, without the random addition.
    pub retry_max: Duration,
    /// Time without a reply after which a handshake starts.
    pub silence: Duration,
}

impl Default for Times {
    /// Returns WireGuard's values of 120, 180 and 5 s (section 6.1: `REKEY_AFTER_TIME`,
    /// `REJECT_AFTER_TIME`, `REKEY_TIMEOUT`), and 1 s for `retry`, the initial timeout of RFC 6298,
    /// section 2.1. The silence is also 1 s, as a handshake costs less than a longer outage after a
    /// peer's restart.
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
    pub(crate) fn rekey_of(&self, is_initiator: bool) -> Duration {
        if is_initiator { self.rekey } else { (self.rekey + self.reject) / 2 }
    }

    /// Returns the maximum age of a pair for opening datagrams. The peer may have created its pair
    /// a round trip later, and seals with it up to the age of `reject`.
    pub(crate) fn open(&self) -> Duration {
        self.reject + self.retry_max
    }

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
    fn retry_waits_double_to_maximum_plus_a_third_of_jitter() {
        let times = Times::default();
        let waits = [0, 1, 2, 3, 40].map(|tries| times.wait(tries, 0).as_secs());
        assert_eq!(waits, [1, 2, 4, 5, 5]);
        let third = times.wait(0, u32::MAX).as_secs_f64() - 4.0 / 3.0;
        assert!(third.abs() < 1e-6);
        assert_eq!([true, false].map(|is| times.rekey_of(is).as_secs()), [120, 150]);
    }
}

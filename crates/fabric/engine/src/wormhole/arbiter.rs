//! Output arbiter: round robin among the requests of the highest priority level.
//!
//! ```text
//!   level 1   ports 3, 6      the highest level with a request is granted,
//!   level 0   ports 0, 2, 5   at its first port after the last winner
//! ```

use gingham_fairq::{Arbiter as _, Ready, RoundRobin};

#[derive(Clone, Debug)]
pub(crate) struct Arbiter {
    requests: u32,
    lowest: Level,
    above: Box<[Level]>,
}

#[derive(Clone, Debug)]
struct Level {
    round_robin: RoundRobin,
    /// Requests in a switch with at most 64 ports, one bit per port.
    few: [u64; 1],
    /// Requests in a larger switch; otherwise empty.
    many: Box<[u64]>,
}

impl Arbiter {
    pub(crate) fn new(ports: usize, levels: usize) -> Self {
        let above = (1..levels).map(|_| Level::new(ports)).collect();
        Self { requests: 0, lowest: Level::new(ports), above }
    }

    pub(crate) const fn is_idle(&self) -> bool {
        self.requests == 0
    }

    pub(crate) fn request(&mut self, port: usize, level: usize) {
        self.requests += 1;
        match level {
            0 => self.lowest.flip(port, true),
            _ => self.above[level - 1].flip(port, true),
        }
    }

    pub(crate) fn grant(&mut self) -> Option<usize> {
        let higher = self.above.iter_mut().rev().find_map(Level::grant);
        let port = higher.or_else(|| self.lowest.grant())?;
        self.requests -= 1;
        Some(port)
    }
}

impl Level {
    fn new(ports: usize) -> Self {
        let words = if ports <= 64 { 0 } else { ports.div_ceil(64) };
        let many = vec![0; words].into_boxed_slice();
        Self { round_robin: RoundRobin::new(ports), few: [0], many }
    }

    #[inline]
    fn grant(&mut self) -> Option<usize> {
        let words = if self.many.is_empty() { &self.few } else { &*self.many };
        let port = self.round_robin.serve(&Ready::alike(words))?;
        self.flip(port, false);
        Some(port)
    }

    fn flip(&mut self, port: usize, requests: bool) {
        let word = if self.many.is_empty() { &mut self.few[0] } else { &mut self.many[port / 64] };
        debug_assert_eq!(
            *word >> (port % 64) & 1 == 1,
            !requests,
            "a port requests once, and is granted then"
        );
        *word ^= 1 << (port % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_is_correct_for_any_port_count() {
        for ports in [8, 64, 65, 200] {
            let mut arbiter = Arbiter::new(ports, 1);
            let last = ports - 1;
            for port in [last, 0, 5] {
                arbiter.request(port, 0);
            }
            assert_eq!(arbiter.grant(), Some(0));
            assert_eq!(arbiter.grant(), Some(5));
            arbiter.request(5, 0);
            assert_eq!(arbiter.grant(), Some(last), "of {ports} ports");
            assert!(!arbiter.is_idle());
            assert_eq!((arbiter.grant(), arbiter.grant()), (Some(5), None));
            assert!(arbiter.is_idle());
        }
    }

    #[test]
    fn higher_level_precedes_and_each_level_keeps_its_turn() {
        let mut arbiter = Arbiter::new(8, 3);
        for (port, level) in [(1, 0), (2, 0), (3, 2), (4, 1), (5, 2)] {
            arbiter.request(port, level);
        }
        assert_eq!([(); 3].map(|()| arbiter.grant()), [Some(3), Some(5), Some(4)]);
        assert_eq!(arbiter.grant(), Some(1));
        for (port, level) in [(1, 0), (3, 2), (6, 2)] {
            arbiter.request(port, level);
        }
        let order: [_; 5] = core::array::from_fn(|_| arbiter.grant());
        assert_eq!(order, [Some(6), Some(3), Some(2), Some(1), None]);
        assert!(arbiter.is_idle());
    }
}

//! The arbiter of an output: who requests it, and whose turn is next.

use gingham_fairq::RoundRobin;

/// Input ports that request an output of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Arbiter {
    turn: RoundRobin,
    /// Ports that request.
    requests: u32,
    /// A bit a port, where a switch has no more than 64.
    few: u64,
    /// The same for a switch with more; else empty.
    many: Box<[u64]>,
}

impl Arbiter {
    /// An arbiter of a switch with so many ports.
    pub(crate) fn new(ports: usize) -> Self {
        let words = if ports <= 64 { 0 } else { ports.div_ceil(64) };
        let many = vec![0; words].into_boxed_slice();
        Self { turn: RoundRobin::new(ports), requests: 0, few: 0, many }
    }

    /// Whether nobody requests.
    pub(crate) const fn is_idle(&self) -> bool {
        self.requests == 0
    }

    /// A port requests.
    pub(crate) fn request(&mut self, port: usize) {
        self.requests += 1;
        self.flip(port, true);
    }

    /// Chooses the port whose turn it is among those that request, and takes it out.
    pub(crate) fn grant(&mut self) -> Option<usize> {
        let few = [self.few];
        let words = if self.many.is_empty() { &few } else { &*self.many };
        let port = self.turn.grant_among(words)?;
        self.requests -= 1;
        self.flip(port, false);
        Some(port)
    }

    fn flip(&mut self, port: usize, requests: bool) {
        let word = if self.many.is_empty() { &mut self.few } else { &mut self.many[port / 64] };
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
    fn ports_take_turns_on_small_and_large_switches() {
        for ports in [8, 64, 65, 200] {
            let mut arbiter = Arbiter::new(ports);
            let last = ports - 1;
            for port in [last, 0, 5] {
                arbiter.request(port);
            }
            assert_eq!(arbiter.grant(), Some(0));
            assert_eq!(arbiter.grant(), Some(5));
            arbiter.request(5);
            assert_eq!(arbiter.grant(), Some(last), "of {ports} ports");
            assert!(!arbiter.is_idle());
            assert_eq!((arbiter.grant(), arbiter.grant()), (Some(5), None));
            assert!(arbiter.is_idle());
        }
    }
}

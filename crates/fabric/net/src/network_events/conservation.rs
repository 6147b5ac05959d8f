//! Conservation of packets: injected = delivered + in flight + lost.

/// Counts of packets of all kinds that entered and left the network since time zero.
///
/// Without debug assertions, injected and delivered packets are not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conservation {
    injected: u64,
    delivered: u64,
    lost: u64,
}

impl Conservation {
    #[inline]
    pub(crate) fn inject(&mut self) {
        if cfg!(debug_assertions) {
            self.injected += 1;
        }
    }

    #[inline]
    pub(crate) fn deliver(&mut self) {
        if cfg!(debug_assertions) {
            self.delivered += 1;
        }
    }

    pub(crate) fn lose(&mut self) {
        self.lost += 1;
    }

    /// Returns the number of bad packets discarded by their destinations.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Asserts, with debug assertions, that `in_flight` is the number of injected packets that were
    /// neither delivered nor lost.
    pub fn assert_holds(&self, in_flight: usize) {
        let Self { injected, delivered, lost } = *self;
        debug_assert_eq!(
            injected,
            delivered + in_flight as u64 + lost,
            "{injected} packets were injected: {delivered} delivered, {in_flight} in flight, {lost} lost"
        );
    }
}

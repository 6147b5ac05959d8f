//! Conservation of packets: injected = delivered + in flight + lost.

/// Packets that entered and left the network since time zero, acknowledgements, signals and control
/// packets included.
///
/// Injected and delivered packets are counted only with debug assertions; both are 0 otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conservation {
    injected: u64,
    delivered: u64,
    lost: u64,
}

impl Conservation {
    /// Counts a packet that an adapter hands to its link.
    #[inline]
    pub(crate) fn inject(&mut self) {
        if cfg!(debug_assertions) {
            self.injected += 1;
        }
    }

    /// Counts a packet that has arrived whole at its destination.
    #[inline]
    pub(crate) fn deliver(&mut self) {
        if cfg!(debug_assertions) {
            self.delivered += 1;
        }
    }

    /// Counts a packet that its destination discards because it is bad.
    pub(crate) fn lose(&mut self) {
        self.lost += 1;
    }

    /// Returns the number of bad packets that their destinations have discarded.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Asserts that the packets in the network are those that were injected and neither delivered
    /// nor lost. Does nothing without debug assertions.
    pub fn assert_holds(&self, in_flight: usize) {
        let Self { injected, delivered, lost } = *self;
        debug_assert_eq!(
            injected,
            delivered + in_flight as u64 + lost,
            "{injected} packets were injected: {delivered} delivered, {in_flight} in flight, {lost} lost"
        );
    }
}

//! Traffic meters of channels.
//!
//! Sent and received datagrams count, including IP and UDP headers. A datagram that the meter does
//! not grant is dropped, and its channel is taken out of use.

use std::fmt::Debug;

use crate::run::Run;

/// Traffic counter and limiter of a channel.
pub trait Meter: Debug + Send {
    /// Grants up to `datagrams` datagrams, and counts the granted ones as sent. Returns their
    /// number.
    fn grant(&mut self, datagrams: u64, bytes_each: u64) -> u64;

    /// Counts received bytes, including headers.
    fn came(&mut self, bytes: u64);

    /// Returns the total number of bytes counted.
    fn used(&self) -> u64;
}

#[derive(Debug, Default)]
pub(crate) struct Metering {
    meter: Option<Box<dyn Meter>>,
    header_bytes: u64,
}

impl Metering {
    pub(crate) fn set(&mut self, meter: Box<dyn Meter>, header_bytes: u32) {
        *self = Self { meter: Some(meter), header_bytes: header_bytes.into() };
    }

    pub(crate) fn cut(&mut self, run: &mut Run) -> u64 {
        let Some(meter) = &mut self.meter else { return 0 };
        let (datagrams, each) = (run.datagrams as u64, run.segment_bytes);
        let last_bytes = run.bytes.len() - each * run.datagrams.saturating_sub(1);
        let whole = datagrams - u64::from(last_bytes < each);
        let mut granted = meter.grant(whole, each as u64 + self.header_bytes);
        if granted == whole && whole < datagrams {
            granted += meter.grant(1, last_bytes as u64 + self.header_bytes);
        }
        let kept = usize::try_from(granted.min(datagrams)).expect("no more than there were");
        if kept < run.datagrams {
            run.bytes.truncate(kept * each);
            run.datagrams = kept;
        }
        datagrams - kept as u64
    }

    pub(crate) fn grants(&mut self, bytes: usize) -> bool {
        let bytes_each = bytes as u64 + self.header_bytes;
        self.meter.as_mut().is_none_or(|meter| meter.grant(1, bytes_each) == 1)
    }

    pub(crate) fn used(&self) -> Option<u64> {
        self.meter.as_ref().map(|meter| meter.used())
    }

    pub(crate) fn came(&mut self, datagrams: usize, bytes: usize) {
        if let Some(meter) = &mut self.meter {
            meter.came(bytes as u64 + datagrams as u64 * self.header_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Left(u64);

    impl Meter for Left {
        fn grant(&mut self, datagrams: u64, bytes_each: u64) -> u64 {
            let granted = datagrams.min(self.0 / bytes_each);
            self.0 -= granted * bytes_each;
            granted
        }

        fn came(&mut self, bytes: u64) {
            self.0 = self.0.saturating_sub(bytes);
        }

        fn used(&self) -> u64 {
            0
        }
    }

    #[test]
    fn only_granted_bytes_are_sent() {
        for (left, datagrams, bytes) in
            [(4_240, 5, 4_100), (4_239, 4, 4_000), (4_111, 3, 3_000), (1_027, 0, 0)]
        {
            let mut run = Run::default();
            for length in [1_000, 1_000, 1_000, 1_000, 100] {
                run.begin(0, length);
                run.bytes.resize(run.bytes.len() + length, 0);
            }
            let mut metering = Metering::default();
            assert_eq!(metering.cut(&mut run), 0, "nobody counts");
            metering.set(Box::new(Left(left + 280)), 28);
            metering.came(10, 0);
            assert_eq!(metering.cut(&mut run), 5 - datagrams as u64);
            assert_eq!((run.datagrams, run.bytes.len()), (datagrams, bytes), "{left}");
        }
    }
}

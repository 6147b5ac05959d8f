//! How what is in flight on channels is controlled, and how a channel is chosen.

use core::time::Duration;

use gingham_congestion::{Control, Told};

use crate::OptionsError;

/// How the channel of a packet is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In turn, so that the receiver knows which comes next: what a scheduler says. With or without
    /// tags.
    #[default]
    Strict,
    /// The channel with room on which it is there first; the numbers of the tags give the order.
    Free,
}

/// What says how much may be in flight on a channel, and how fast it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controlled {
    /// A rate that is told, in bytes a second.
    Told(u64),
}

impl Default for Controlled {
    fn default() -> Self {
        Self::Told(12_500_000)
    }
}

/// How what is in flight on channels is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPlan {
    /// By what.
    pub by: Controlled,
    /// The most that may be in flight on a channel; nothing where the controller alone says so.
    pub window_bytes_max: Option<u64>,
    /// What goes on a channel at once: packets of so much time at its pace.
    pub burst: Duration,
}

impl Default for ControlPlan {
    /// A millisecond at once, as what the segmentation of a network card sends.
    fn default() -> Self {
        Self { by: Controlled::default(), window_bytes_max: None, burst: Duration::from_millis(1) }
    }
}

impl ControlPlan {
    pub(super) fn check(&self, longest_bytes: u32) -> Result<(), OptionsError> {
        if self.window_bytes_max.is_some_and(|most| most < u64::from(longest_bytes)) {
            Err(OptionsError::SmallWindow { longest_bytes })
        } else {
            Ok(())
        }
    }

    pub(super) fn control(&self, longest_bytes: u64, _channel: usize) -> Control {
        match self.by {
            Controlled::Told(bytes_per_second) => {
                Control::Told(Told::new(bytes_per_second, longest_bytes))
            }
        }
    }
}

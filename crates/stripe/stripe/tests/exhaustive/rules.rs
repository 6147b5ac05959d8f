//! The searched pipe, and the flaw that tests the search.

use std::time::Duration;

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{
    Class, ControlPlan, Controlled, Guarantee, MarkerPlan, Order, ReceiverOptions, RepairPlan,
    RepairRequests, SenderOptions,
};

use crate::world::{CHANNELS, INTERVAL};

/// With this length the channel is chosen anew after each packet in free order.
pub(crate) const LONGEST_BYTES: u32 = 60_000;
/// Packets of alternately 60 and 40 kB go on the channels 0, 1, 1, 0, 0, 1.
pub(crate) const QUANTA: [u32; CHANNELS] = [60_000, 90_000];
/// Bytes per second of the channel to be chosen: no packet waits for the one before it.
pub(crate) const RATE: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Quasi,
    Guaranteed,
    Repairing,
    /// Every packet goes on both channels.
    Redundant,
    Free,
}

impl Mode {
    pub(crate) const fn is_confirmed(self) -> bool {
        !matches!(self, Self::Quasi)
    }

    const fn is_repaired(self) -> bool {
        matches!(self, Self::Repairing | Self::Redundant)
    }

    pub(crate) const fn class(self) -> Class {
        if matches!(self, Self::Redundant) { Class::Redundant } else { Class::Spread }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Packets delivered at one instant are swapped.
    Swaps,
    /// Packets delivered late are delivered twice.
    Repeats,
    /// The receiver runs a scheduler with other quanta, and no marker corrects it.
    OtherQuanta,
    NoMarkers,
    NoRequests,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) mode: Mode,
    pub(crate) flaw: Option<Flaw>,
}

impl Rules {
    const fn order(self) -> Order {
        match self.mode {
            Mode::Free => Order::Free,
            _ => Order::Strict,
        }
    }

    pub(crate) fn sender(self) -> SenderOptions {
        let fixed_rate = ControlPlan { by: Controlled::FixedRate(RATE), ..ControlPlan::default() };
        SenderOptions {
            markers: MarkerPlan {
                every_rounds: 2,
                before_channel: 0,
                interval: INTERVAL,
                idle_interval_max: INTERVAL,
            },
            order: self.order(),
            control: (self.mode == Mode::Free).then_some(fixed_rate),
            repair: self
                .mode
                .is_repaired()
                .then_some(RepairPlan { packets: 16, ..RepairPlan::default() }),
            ..SenderOptions::default()
        }
    }

    pub(crate) fn receiver(self) -> ReceiverOptions {
        let repair = self.mode.is_repaired().then(RepairRequests::default);
        ReceiverOptions {
            wait: Duration::from_millis(200),
            order: self.order(),
            guaranteed: self.mode.is_confirmed().then_some(Guarantee { repair }),
            ..ReceiverOptions::default()
        }
    }

    pub(crate) fn theirs(self, ours: &SurplusRoundRobin<CHANNELS>) -> SurplusRoundRobin<CHANNELS> {
        if self.flaw == Some(Flaw::OtherQuanta) {
            let [first, second] = QUANTA;
            return SurplusRoundRobin::new(LONGEST_BYTES, &[second, first])
                .expect("quanta of a test");
        }
        ours.clone()
    }
}

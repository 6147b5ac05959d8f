//! Which pipe is searched, and what is made wrong in it where the search itself is tested.

use std::time::Duration;

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{
    Class, ControlPlan, Controlled, Guarantee, MarkerPlan, Order, ReceiverOptions, RepairPlan,
    RepairRequests, SenderOptions,
};

use crate::world::{CHANNELS, INTERVAL};

/// So long that after each packet the channel is chosen anew where the choice is free.
pub(crate) const LONGEST_BYTES: u32 = 60_000;
/// With packets of 60 and 40 kB in turn the six of them go on the channels 0, 1, 1, 0, 0, 1.
pub(crate) const QUANTA: [u32; CHANNELS] = [60_000, 90_000];
/// Bytes a second of a channel that is to be chosen: no packet waits for the one before it.
pub(crate) const RATE: u64 = 1_000_000_000_000;

/// How a pipe keeps order.
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
    /// Whether numbers confirm the order.
    pub(crate) const fn is_confirmed(self) -> bool {
        !matches!(self, Self::Quasi)
    }

    /// Whether lost packets are sent again.
    const fn is_repaired(self) -> bool {
        matches!(self, Self::Repairing | Self::Redundant)
    }

    /// How packets go.
    pub(crate) const fn class(self) -> Class {
        if matches!(self, Self::Redundant) { Class::Redundant } else { Class::Spread }
    }
}

/// What is made wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// What is given out at once comes the wrong way round.
    Swaps,
    /// What is given out late comes twice.
    Repeats,
    /// The receiver runs a scheduler with other quanta, and no marker tells it better.
    OtherQuanta,
    /// Markers do not go.
    NoMarkers,
    /// Nobody hears that a reset is asked for.
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
        let told = ControlPlan { by: Controlled::Told(RATE), ..ControlPlan::default() };
        SenderOptions {
            markers: MarkerPlan {
                every_rounds: 2,
                before_channel: 0,
                interval: INTERVAL,
                idle_interval_max: INTERVAL,
            },
            order: self.order(),
            control: (self.mode == Mode::Free).then_some(told),
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

    /// The receiver's scheduler.
    pub(crate) fn theirs(self, ours: &SurplusRoundRobin<CHANNELS>) -> SurplusRoundRobin<CHANNELS> {
        if self.flaw == Some(Flaw::OtherQuanta) {
            let [first, second] = QUANTA;
            return SurplusRoundRobin::new(LONGEST_BYTES, &[second, first])
                .expect("quanta of a test");
        }
        ours.clone()
    }
}

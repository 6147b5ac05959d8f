//! Packet loss, independent or in bursts.
//!
//! Invariant: the burst state depends only on the packet number, so that queue drops and duplicates
//! do not change the loss of other packets.

use crate::draws::{Draw, Draws};
use crate::{Loss, Probability};
use gingham_kernel::Purpose;

#[derive(Clone, Debug)]
pub(crate) struct Losses {
    loss: Loss,
    bad: bool,
    changes: Draws,
    draws: Draws,
}

impl Losses {
    pub(crate) fn new(loss: Loss, seed: u64, direction: &str) -> Self {
        let draws = |purpose| Draws::new(seed, direction, purpose);
        Self { loss, bad: false, changes: draws(Purpose::LossBurst), draws: draws(Purpose::Loss) }
    }

    pub(crate) const fn set_loss(&mut self, loss: Loss) {
        self.loss = loss;
        self.bad = false;
    }

    pub(crate) fn next_packet(&mut self, packet: u64) {
        if let Loss::Bursts(bursts) = self.loss {
            let change = if self.bad { bursts.to_good } else { bursts.to_bad };
            self.bad ^= self.changes.happens(change, Draw { packet, copy: 0 });
        }
    }

    pub(crate) fn loses(&self, draw: Draw) -> bool {
        self.draws.happens(self.probability(), draw)
    }

    const fn probability(&self) -> Probability {
        match self.loss {
            Loss::None => Probability::NEVER,
            Loss::Independent(probability) => probability,
            Loss::Bursts(bursts) if self.bad => bursts.loss_bad,
            Loss::Bursts(bursts) => bursts.loss_good,
        }
    }
}

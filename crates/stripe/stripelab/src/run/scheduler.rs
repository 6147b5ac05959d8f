//! Schedulers that both ends can run.
//!
//! Packets do not carry their round and deficit, which are recorded for the event table when the
//! scheduler charges the packet.

use crate::plan::{Plan, Spread};
use gingham_fairq::{
    CHANNELS_MAX, Causal, Change, Number, Round, SchedulerError, Standing, SurplusRoundRobin,
};
use gingham_stripe::{Numbered, PacketRounds, Rounds};

#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    rounds: Rounds<CHANNELS_MAX>,
    charged: Number,
    has_sent_rounds: bool,
}

impl Scheduler {
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let quanta: Vec<u32> = plan.links.iter().map(|link| link.quantum_bytes).collect();
        let fits = "quanta and packets a turn are checked where scenarios are compiled";
        let rounds = match &plan.spread {
            Spread::Surplus => {
                Rounds::Bytes(SurplusRoundRobin::new(plan.longest_bytes, &quanta).expect(fits))
            }
            Spread::Packets(packets) => Rounds::Packets(PacketRounds::new(packets).expect(fits)),
            Spread::Randomised | Spread::ShortestQueue | Spread::AddressHash => return None,
        };
        let charged = Number { round: Round::FIRST, deficit_bytes: 0 };
        Some(Self { rounds, charged, has_sent_rounds: false })
    }

    pub(crate) fn quantum(&self, channel: usize) -> u32 {
        self.standing(channel).quantum_bytes
    }

    pub(crate) fn of_receiver(plan: &Plan) -> Option<Self> {
        Some(Self { has_sent_rounds: plan.round_alone, ..Self::of(plan)? })
    }

    /// Returns whether a round-only marker is outdated: the channel has already reached its round.
    fn knows_better(&self, channel: usize, received: &Standing) -> bool {
        let own = self.standing(channel);
        let both_in = own.is_in() && received.is_in();
        self.has_sent_rounds && both_in && !received.next.round.is_after(own.next.round)
    }

    pub(crate) const fn charged(&self) -> Number {
        self.charged
    }
}

impl Causal for Scheduler {
    fn channels(&self) -> usize {
        self.rounds.channels()
    }

    fn current(&self) -> usize {
        self.rounds.current()
    }

    fn charge(&mut self, length_bytes: u32) {
        self.charged = self.standing(self.current()).next;
        self.rounds.charge(length_bytes);
    }
}

impl Numbered for Scheduler {
    fn round(&self) -> Round {
        self.rounds.round()
    }

    fn standing(&self, channel: usize) -> Standing {
        self.rounds.standing(channel)
    }

    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError> {
        if self.knows_better(channel, &standing) {
            return Ok(());
        }
        self.rounds.set_standing(channel, standing)
    }

    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError> {
        self.rounds.change(channel, change)
    }

    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError> {
        self.rounds.skip_to(channel, round)
    }

    fn is_sound(&self, rounds_max: u32) -> bool {
        self.rounds.is_sound(rounds_max)
    }

    fn quantum_min(&self) -> u32 {
        self.rounds.quantum_min()
    }

    fn longest_bytes(&self) -> u32 {
        self.rounds.longest_bytes()
    }
}

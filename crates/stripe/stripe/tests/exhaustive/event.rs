//! Events, and the budget for further ones.

use std::time::Duration;

use crate::world::INTERVAL;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Span {
    /// Until markers are due again.
    Interval,
    /// Until the waits of the receiver are over, and resets are repeated.
    Wait,
    /// Until a reset does not wait for channels any more.
    Reset,
}

impl Span {
    pub(crate) const fn duration(self) -> Duration {
        match self {
            Self::Interval => INTERVAL,
            Self::Wait => Duration::from_millis(250),
            Self::Reset => Duration::from_millis(600),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// In free order, on this channel.
    Send(Option<usize>),
    Arrive(usize),
    Return(usize),
    Lose(usize),
    LoseReturn(usize),
    /// A frame arrives, followed at once by a duplicate.
    Repeat(usize),
    RepeatReturn(usize),
    /// In a later epoch, as from a clock.
    RestartSender,
    /// In its first epoch.
    ForgetSender,
    RestartReceiver,
    /// Loses everything, in both directions, until the channel is dead.
    Outage(usize),
    Pass(Span),
}

impl Event {
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Send(_) => "Send",
            Self::Arrive(_) => "Arrive",
            Self::Return(_) => "Return",
            Self::Lose(_) => "Lose",
            Self::LoseReturn(_) => "LoseReturn",
            Self::Repeat(_) => "Repeat",
            Self::RepeatReturn(_) => "RepeatReturn",
            Self::RestartSender => "RestartSender",
            Self::ForgetSender => "ForgetSender",
            Self::RestartReceiver => "RestartReceiver",
            Self::Outage(_) => "Outage",
            Self::Pass(Span::Interval) => "Pass(Interval)",
            Self::Pass(Span::Wait) => "Pass(Wait)",
            Self::Pass(Span::Reset) => "Pass(Reset)",
        }
    }

    /// Whether the event is fault-free.
    pub(crate) const fn is_kind(self) -> bool {
        matches!(self, Self::Send(_) | Self::Arrive(_) | Self::Return(_))
    }

    /// Whether the event changes only the receiver and the frames in flight to it.
    pub(crate) const fn is_of_receiver(self) -> bool {
        matches!(self, Self::Arrive(_) | Self::Lose(_) | Self::Repeat(_) | Self::RestartReceiver)
    }
}

/// Budget of further events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) packets: u8,
    /// All kinds of faults together.
    pub(crate) faults: u8,
    pub(crate) losses: u8,
    pub(crate) repeats: u8,
    pub(crate) restarts: u8,
    pub(crate) outages: u8,
    pub(crate) pauses: u8,
}

impl Left {
    pub(crate) const fn spend(&mut self, event: Event) {
        let left = self;
        let kind = match event {
            Event::Arrive(_) | Event::Return(_) => return,
            Event::Send(_) => {
                left.packets -= 1;
                return;
            }
            Event::Pass(_) => {
                left.pauses -= 1;
                return;
            }
            Event::Lose(_) | Event::LoseReturn(_) => &mut left.losses,
            Event::Repeat(_) | Event::RepeatReturn(_) => &mut left.repeats,
            Event::RestartSender | Event::ForgetSender | Event::RestartReceiver => {
                &mut left.restarts
            }
            Event::Outage(_) => &mut left.outages,
        };
        *kind -= 1;
        left.faults -= 1;
    }

    /// Whether this budget permits everything that the other permits.
    pub(crate) const fn covers(self, other: Self) -> bool {
        self.packets >= other.packets
            && self.faults >= other.faults
            && self.losses >= other.losses
            && self.repeats >= other.repeats
            && self.restarts >= other.restarts
            && self.outages >= other.outages
            && self.pauses >= other.pauses
    }
}

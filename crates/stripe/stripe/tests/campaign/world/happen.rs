//! Effects of the story's events.

use gingham_stripe::{Epoch, QuantaError, Receiver, RetransmissionBuffer, Sender};

use super::{World, orders};
use crate::story::Happening;

impl World<'_> {
    pub(super) fn happen(&mut self) {
        while let Some((at_ns, happening)) = self.case.story.get(self.happened)
            && *at_ns <= self.now_ns
        {
            self.happened += 1;
            match happening {
                Happening::SenderCrashes { epochs_off } => {
                    // Guaranteed order requires rising epochs that differ in the 16 bits carried by
                    // tags.
                    let guaranteed = self.case.receiver.guaranteed.is_some();
                    let off = if guaranteed { 1 + epochs_off % 10_000 } else { *epochs_off };
                    let epoch = Epoch::new(self.sender.epoch().get().wrapping_add(off));
                    self.count_sender();
                    self.kept = RetransmissionBuffer::new(1_024);
                    let scheduler = self.scheduler.clone();
                    let sender = Sender::new(scheduler, self.case.sender, epoch, self.now());
                    self.sender = self.case.configure(sender.expect("options of a test"));
                    self.totals.crashes += 1;
                }
                Happening::ReceiverCrashes => {
                    self.count_receiver();
                    self.orders = orders(self.case);
                    self.ledger.forget_order();
                    self.receiver = Receiver::new(self.scheduler.clone(), self.case.receiver)
                        .expect("options of a test");
                    self.totals.crashes += 1;
                }
                Happening::Reset => self.sender.reset(self.now()),
                Happening::Toggles(channel) => self.toggle(*channel),
                Happening::Moves(channel) => {
                    // A move of an absent channel is refused.
                    let moved = self.sender.move_channel(self.now(), *channel).is_ok();
                    self.totals.channels += u64::from(moved);
                }
                Happening::AllThere => {
                    for channel in 0..self.case.quanta.len() {
                        let _ = self.sender.add_channel(self.now(), channel);
                    }
                }
                Happening::Quanta(quanta) => {
                    let is_to_be_in = |(channel, quantum): (usize, &u32)| {
                        *quantum != 0 && self.sender.is_there(channel)
                    };
                    let can_be = quanta.iter().enumerate().any(is_to_be_in);
                    let changed = self.sender.change_quanta(quanta);
                    assert_eq!(changed, if can_be { Ok(()) } else { Err(QuantaError::NoneIn) });
                    self.totals.changes += u64::from(can_be);
                }
            }
        }
    }

    fn toggle(&mut self, channel: usize) {
        let now = self.now();
        // The last channel cannot be removed.
        let done = if self.sender.is_there(channel) {
            self.sender.remove_channel(now, channel)
        } else {
            self.sender.add_channel(now, channel)
        };
        self.totals.channels += u64::from(done.is_ok());
    }
}

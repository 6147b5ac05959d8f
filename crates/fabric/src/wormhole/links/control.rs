//! STOP and GO, which travel against the data.

use super::input::Input;
use super::{End, Links};
use crate::wormhole::clock::Clock;
use crate::wormhole::event::Event;
use gingham_topology::{ChannelId, Fabric};

impl Links {
    // Phase 2: control arrives.

    /// A STOP (or GO) reaches the sender of `channel`. Returns whether it may start a worm now and
    /// has none.
    pub(crate) fn on_control(&mut self, clock: &mut Clock, channel: ChannelId, stop: bool) -> bool {
        let now = clock.now();
        let was_stopped = self.senders[channel.index()].stopped_since.is_some();
        assert_ne!(was_stopped, stop, "STOP and GO alternate on a channel");
        self.touch(channel);
        if stop {
            self.senders[channel.index()].stopped_since = Some(now);
            self.counts[channel.index()].stops += 1;
            self.cut(channel, now);
            self.note_change(channel);
            return false;
        }
        self.counts[channel.index()].stopped_ps += self.senders[channel.index()].go(now);
        // A long worm is many runs when it is stopped often; those that are over can go.
        if self.end(channel) == End::Switch {
            let gone = self.gone(channel, now);
            self.senders[channel.index()].forget_before(gone);
        }
        if self.senders[channel.index()].worm.is_none() {
            return true;
        }
        self.extend(clock, channel);
        false
    }

    // Phase 6: transfer.

    /// The flit that kept `channel` busy has left: the control flit that waits goes first. Returns
    /// whether a host may start a worm there instead.
    pub(crate) fn send_waiting_control(&mut self, clock: &mut Clock, channel: ChannelId) -> bool {
        let about = Fabric::reverse(channel);
        let input = self.input(about);
        if !input.control_pending() {
            return input.is_at_host();
        }
        debug_assert!(self.senders[channel.index()].busy_until(clock.now() - 1) <= clock.now());
        self.send_control(clock, about, clock.now());
        false
    }

    /// Whether a control flit is to start on a host's `channel` before anything else does.
    pub(crate) fn control_waits(&self, channel: ChannelId) -> bool {
        let port = self.inputs[Fabric::reverse(channel).index()].as_ref();
        port.is_some_and(Input::control_pending)
    }

    // Phase 7: emit control.

    /// The fill of the input at the end of `channel` may have crossed a mark.
    pub(crate) fn emit_control(&mut self, clock: &mut Clock, channel: ChannelId) {
        let now = clock.now();
        let fill = self.fill(channel, now);
        let input = self.input_mut(channel);
        if input.emit_at != Some(now) {
            return;
        }
        input.emit_at = None;
        input.wants_stop = input.judges_stop(fill);
        if input.control_pending() {
            let speaking = Fabric::reverse(channel);
            let busy = self.senders[speaking.index()].busy_until(now);
            if busy <= now {
                self.send_control(clock, channel, now + 1);
            } else {
                clock.schedule(busy, Event::SendControl { channel: speaking });
            }
        }
        self.note_change(channel);
    }

    /// Tells the sender of `channel`, over the other channel of the cable. Data flits of that one
    /// which would start at `from` or later, and before the control flit has left, are put off.
    fn send_control(&mut self, clock: &mut Clock, channel: ChannelId, from: u64) {
        let input = self.input_mut(channel);
        let (stop, is_host) = (input.wants_stop, input.is_at_host());
        input.announced_stop = stop;
        let speaking = Fabric::reverse(channel);
        let sender = &mut self.senders[speaking.index()];
        let (until, arrival) = sender.send_control(clock.now());
        let last = sender.schedule.last_start_by(until - 1);
        let collides = last.is_some_and(|start| start >= from);
        self.counts[speaking.index()].control_flits += 1;
        self.touch(speaking);
        clock.schedule(arrival, Event::ControlArrives { channel, stop });
        if is_host {
            clock.schedule(until, Event::StartWorm { channel: speaking });
        }
        if collides && self.cut(speaking, from) {
            self.extend(clock, speaking);
        }
    }
}

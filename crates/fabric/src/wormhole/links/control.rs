//! Links: STOP and GO travel against the data.

use crate::wormhole::event::Event;
use crate::wormhole::simulation::Simulation;
use crate::wormhole::state::Input;
use gingham_topology::{ChannelId, Fabric};

impl Simulation {
    // Phase 2: control arrives.

    pub(crate) fn hear(&mut self, channel: ChannelId, stop: bool) {
        let since = self.senders[channel.index()].stopped_since;
        assert_ne!(since.is_some(), stop, "STOP and GO alternate on a channel");
        self.touch(channel);
        if stop {
            self.senders[channel.index()].stopped_since = Some(self.now);
            self.counts[channel.index()].stops += 1;
            self.cut(channel, self.now);
            self.unsettle(channel);
        } else {
            let stopped = since.map_or(0, |since| self.now - since);
            self.counts[channel.index()].stopped_ps += stopped;
            self.senders[channel.index()].stopped_since = None;
            // A long worm is many runs when it is stopped often; those that are over can go.
            if self.inputs[channel.index()].as_ref().is_some_and(|input| !input.is_at_host()) {
                let gone = self.gone(channel);
                let schedule = &mut self.senders[channel.index()].schedule;
                schedule.sum_up_to(gone);
                schedule.forget_before(gone);
            }
            if self.senders[channel.index()].worm.is_some() {
                self.extend(channel);
            } else if self.places[channel.index()].sender.is_some() {
                self.start_soon(channel);
            }
        }
    }

    // Phase 6: transfer.

    /// The flit that kept `channel` busy has left: the control flit that waits goes first.
    pub(crate) fn send_waiting_control(&mut self, channel: ChannelId) {
        let about = Fabric::reverse(channel);
        let input = self.inputs[about.index()].as_ref().expect("a switch input");
        if input.control_pending() {
            debug_assert!(self.senders[channel.index()].busy_until(self.now - 1) <= self.now);
            self.send_control(about, self.now);
        } else if input.is_at_host() {
            self.start_soon(channel);
        }
    }

    /// Whether a control flit is to start on a host's `channel` before anything else does.
    pub(crate) fn control_waits(&self, channel: ChannelId) -> bool {
        let port = self.inputs[Fabric::reverse(channel).index()].as_ref();
        port.is_some_and(Input::control_pending)
    }

    // Phase 7: emit control.

    pub(crate) fn emit_control(&mut self, channel: ChannelId) {
        let fill = self.fill(channel);
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        if input.emit_at != Some(self.now) {
            return;
        }
        input.emit_at = None;
        input.wants_stop = input.judges_stop(fill);
        if input.control_pending() {
            let speaking = Fabric::reverse(channel);
            let busy = self.senders[speaking.index()].busy_until(self.now);
            if busy <= self.now {
                self.send_control(channel, self.now + 1);
            } else {
                self.schedule(busy, Event::SendControl { channel: speaking });
            }
        }
        self.unsettle(channel);
    }

    /// Tells the sender of `channel`, over the other channel of the cable. Data flits of that one
    /// which would start at `from` or later, and before the control flit has left, are put off.
    fn send_control(&mut self, channel: ChannelId, from: u64) {
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        let (stop, is_host) = (input.wants_stop, input.is_at_host());
        input.announced_stop = stop;
        let speaking = Fabric::reverse(channel);
        let sender = &mut self.senders[speaking.index()];
        sender.control_until = self.now + sender.flit;
        let arrival = self.now + sender.latency;
        let until = sender.control_until;
        let collides = sender.schedule.last_start_by(until - 1).is_some_and(|start| start >= from);
        self.counts[speaking.index()].control_flits += 1;
        self.touch(speaking);
        self.schedule(arrival, Event::ControlArrives { channel, stop });
        if is_host {
            self.schedule(until, Event::StartWorm { channel: speaking });
        }
        if collides && self.cut(speaking, from) {
            self.extend(speaking);
        }
    }
}

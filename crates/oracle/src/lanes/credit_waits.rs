//! Waits for credits (`docs/concepts/timing.md`, lanes and credits): flits that an idle channel
//! could have taken in a tick with more credits.
//!
//! ```text
//!   flit in an output lane ─► no credit                                 seen in step 2
//!   head without a lane    ─► lanes are free, credits for it are not    step 4 of the tick before
//!   flit at the crossbar   ─► no credit, if it is taken there           step 3 of the tick before
//! ```

use crate::lanes::allocation::Request;
use crate::lanes::clock::Tick;
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_topology::{ChannelId, NodeId};

impl Simulation {
    /// Records whether a channel waits for credits in a tick. A wait begins when a flit could have begun.
    pub(crate) fn set_credit_wait(&mut self, channel: ChannelId, waits: bool, tick: Tick) {
        let from = if waits { self.begins(channel, tick) } else { self.timeline.now };
        self.outputs[channel.index()].wait.set(waits, from);
    }

    /// Whether a channel of a switch has something to take and no credits for any of it.
    pub(crate) fn lacks_credits(
        &self,
        channel: ChannelId,
        candidates: &[Option<Head>],
        tick: Tick,
    ) -> bool {
        let output = &self.outputs[channel.index()];
        let mut open = (0..self.plan.lanes.count).filter(|lane| output.chooser.is_open_to(*lane));
        if open.clone().any(|lane| candidates[usize::from(lane)].is_some()) {
            return false;
        }
        let first = |lane| output.lane(lane).buffer.front();
        let stands = |lane| first(lane).is_some_and(|flit| flit.since < tick);
        open.any(stands) || output.is_short || output.is_unpaid
    }

    /// Records the outputs of a switch whose VC allocation left a head without a lane for lack of
    /// credits alone.
    pub(crate) fn note_short(&mut self, node: NodeId, tick: Tick) {
        let mut short = Vec::new();
        for input in self.channels_into(node) {
            for lane in 0..self.plan.lanes.count {
                let requests = self.requests_of(input, lane, tick);
                let is_short = |request: &&Request| self.is_short(request, tick);
                short.extend(requests.iter().filter(is_short).map(|request| request.output));
            }
        }
        for output in self.channels_from(node) {
            self.outputs[output.index()].is_short = short.contains(&output);
        }
    }

    /// Whether a head could be granted a lane but for credits.
    fn is_short(&self, request: &Request, tick: Tick) -> bool {
        self.lanes_to_grant(request, tick).is_empty()
            && self.free_lanes(request, tick).next().is_some()
    }

    /// Records the outputs of a switch that flits could have crossed to with more credits.
    pub(crate) fn note_unpaid(&mut self, node: NodeId) {
        let tick = self.tick();
        let mut unpaid = Vec::new();
        let mut paid = Vec::new();
        for input in self.channels_into(node) {
            for lane in &self.input(input).lanes {
                let is_there = lane.first().is_some_and(|first| first.since < tick);
                let Some(hold) = lane.holds.filter(|hold| is_there && hold.since < tick) else {
                    continue;
                };
                let has_credit = self.outputs[hold.output.index()].lane(hold.lane).has_credit();
                if has_credit { &mut paid } else { &mut unpaid }.push(hold.output);
            }
        }
        for output in self.channels_from(node) {
            let is_empty = self.outputs[output.index()].fill() == 0;
            self.outputs[output.index()].is_unpaid =
                is_empty && unpaid.contains(&output) && !paid.contains(&output);
        }
    }
}

//! Where streams go.
//!
//! ```text
//!   even, 4 hosts of 4 streams      turns: + 2, + 1, + 3, + 2      an order that is drawn, round after round
//!     h0 ─► h2 h1 h3 h2
//!     h1 ─► h3 h2 h0 h3             in every turn each host receives one
//! ```

use crate::compile::classes::context::ClassContext;
use crate::compile::follow::ends;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::{Placement, Streams};
use gingham_kernel::{Purpose, Stream};
use gingham_model::traffic::{DataPlan, OtherHosts};
use gingham_topology::EndpointId;

/// A stream: from where to where.
pub(super) type Pair = (EndpointId, EndpointId);

impl ClassContext<'_> {
    /// Both ends of every stream, those of a host together.
    pub(super) fn placed(
        &self,
        streams: &Streams,
        data: &DataPlan,
        gathered: &mut Gathered,
    ) -> Result<Vec<Pair>, LabError> {
        if let Placement::Pairs(pairs) = &streams.placement {
            return self.placed_pairs(streams, pairs);
        }
        let hosts = self.sending_hosts()?;
        let has_others = |host: &EndpointId| self.hosts_near(*host).has_any();
        let (senders, silent): (Vec<EndpointId>, Vec<EndpointId>) =
            hosts.into_iter().partition(has_others);
        if senders.is_empty() {
            let message = "none of the hosts can reach another one to send a stream to";
            return Err(self.error("hosts", message).into());
        }
        if !silent.is_empty() {
            let text = format!("{} hosts can reach no other and are silent", silent.len());
            self.note(gathered, text);
        }
        let counts = self.counts(streams, data, &senders, gathered)?;
        let place = match streams.placement {
            Placement::Random => Self::placed_randomly,
            _ => Self::placed_evenly,
        };
        let mut placed = Vec::new();
        for (host, count) in senders.into_iter().zip(counts) {
            place(self, host, count, &mut placed);
        }
        Ok(placed)
    }

    /// The streams of a host go to all others in turn.
    fn placed_evenly(&self, host: EndpointId, count: u64, placed: &mut Vec<Pair>) {
        let OtherHosts { among, own } = self.hosts_near(host);
        let others = among.len() - own.len();
        let turns = self.turns(others);
        let turn = |stream: u64| {
            let turn = turns[usize::try_from(stream % others as u64).expect("below a length")];
            // Counted on from the last of its own node.
            among[(own.end + turn) % among.len()]
        };
        placed.extend((0..count).map(|stream| (host, turn(stream))));
    }

    /// By how many hosts further each turn goes, in the order of the turns: the same for all hosts.
    fn turns(&self, others: usize) -> Vec<usize> {
        let mut turns: Vec<usize> = (0..others).collect();
        let (seed, name) = (self.source.scenario.seed, &self.class.name);
        Stream::new(seed, name, Purpose::Permutation).shuffle(&mut turns);
        turns
    }

    fn placed_randomly(&self, host: EndpointId, count: u64, placed: &mut Vec<Pair>) {
        let OtherHosts { among, own } = self.hosts_near(host);
        let (seed, class) = (self.source.scenario.seed, &self.class.name);
        let port = self.fabric.endpoint(host);
        let name = self.fabric.node(port.node).stable_name();
        let name = format!("{name}[{}]/{class}/placement", port.port);
        let mut stream = Stream::new(seed, &name, Purpose::Destination);
        let mut draw = || {
            let place = stream.below((among.len() - own.len()) as u64);
            let place = usize::try_from(place).expect("below a length");
            among[if place < own.start { place } else { place + own.len() }]
        };
        placed.extend((0..count).map(|_| (host, draw())));
    }

    fn placed_pairs(&self, streams: &Streams, pairs: &[String]) -> Result<Vec<Pair>, LabError> {
        for (key, is_written) in
            [("hosts", self.class.hosts.is_some()), ("load", self.class.load.is_some())]
        {
            if is_written {
                let message = format!(
                    "streams.placement.pairs tells this itself, with streams.count; leave `{key}` out"
                );
                return Err(self.error(key, message).into());
            }
        }
        if pairs.is_empty() {
            let message = "a class of streams needs at least one pair, such as \"h0 -> h1\"";
            return Err(self.error("streams.placement.pairs", message).into());
        }
        let count = streams.count.map_or(Ok(1), |count| self.count(count))?;
        self.check_memory(streams, count.saturating_mul(pairs.len() as u64))?;
        let mut placed = Vec::new();
        for (index, text) in pairs.iter().enumerate() {
            let pair = self.pair(&format!("streams.placement.pairs.{index}"), text)?;
            placed.extend((0..count).map(|_| pair));
        }
        // Those of a host stand together, in the order in which they are written.
        placed.sort_by_key(|(source, _)| *source);
        Ok(placed)
    }

    fn pair(&self, key: &str, text: &str) -> Result<Pair, LabError> {
        let refuse = |message: String| self.error(key, message);
        let (from, to) = ends(text).ok_or_else(|| {
            refuse(format!("a pair is written as `h0 -> h1`, and not as `{text}`"))
        })?;
        let find =
            |name: &str| self.hosts.find(self.fabric, name).map_err(|fault| fault.within(refuse));
        let (source, destination) = (find(from)?, find(to)?);
        let node = |endpoint: EndpointId| self.fabric.endpoint(endpoint).node;
        if node(source) == node(destination) {
            let message = format!("the stream would go from `{from}` to itself: name another host");
            return Err(refuse(message).into());
        }
        if !self.hosts.joined(source, destination) {
            return Err(refuse(format!("no path leads from `{from}` to `{to}`")).into());
        }
        Ok((source, destination))
    }
}

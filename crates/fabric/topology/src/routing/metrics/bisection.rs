//! Channel sharing while half of the hosts send to the other half.
//!
//! ```text
//!   a random half A        the other half B       a flow gets 1 / n of its link; n is the largest
//!   h0 ──────────────────► h3                     number of flows on a channel of its path
//!   h4 ──────────────────► h1
//! ```
//!
//! The mean of these shares over flows and random matchings is the *effective bisection bandwidth*:
//! 1 if no two flows ever share a channel. All links count as equal, and a pair uses the first of
//! its paths.
//!
//! The half-width of the 95 % confidence interval over n samples with standard deviation s is
//! `1.96 s / sqrt(n)` (normal distribution).
//!
//! Reference: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of
//! static routing in high-performance networks", IEEE Cluster 2008.

use crate::routing::lanes::route_set::RouteSet;
use crate::routing::paths::graph::{Attachment, SwitchGraph};
use crate::routing::paths::routes::Routes;
use crate::routing::paths::table_routes::{WalkEnd, Walker};
use crate::{ChannelId, EndpointId, Fabric};
use gingham_kernel::{Purpose, Stream};

const STREAM: &str = "bisection";

const NORMAL_95: f64 = 1.96;

/// Mean over samples, with a confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SampleMean {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half-width of the 95 % confidence interval of the mean.
    pub half_width: f64,
}

/// Bandwidth and channel load over random matchings of hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bisection {
    /// Number of matchings.
    pub samples: u32,
    /// Number of flows in each matching: half of the hosts, rounded down.
    pub flows: usize,
    /// Number of flows on the busiest channel.
    pub busiest: SampleMean,
    /// Mean fraction of the link bandwidth that a flow gets; 0 for a flow without a route.
    pub bandwidth: SampleMean,
}

impl Bisection {
    /// Measures random matchings drawn from `seed`; `None` with fewer than two hosts or samples.
    pub fn new<'a>(
        fabric: &Fabric,
        routes: impl Into<RouteSet<'a>>,
        samples: u32,
        seed: u64,
    ) -> Option<Self> {
        let mut hosts: Vec<EndpointId> =
            fabric.endpoint_ids().filter(|endpoint| fabric.is_host_endpoint(*endpoint)).collect();
        let flows = hosts.len() / 2;
        if flows == 0 || samples < 2 {
            return None;
        }
        let mut stream = Stream::new(seed, STREAM, Purpose::Destination);
        let mut matching = Matching::new(fabric, &routes.into().routes[0]);
        let (mut busiest, mut bandwidth) = (Vec::new(), Vec::new());
        for _ in 0..samples {
            stream.shuffle(&mut hosts);
            let (senders, receivers) = hosts.split_at(flows);
            let pairs = senders.iter().copied().zip(receivers.iter().copied());
            let (most, mean) = matching.measure(pairs);
            busiest.push(most);
            bandwidth.push(mean);
        }
        Some(Self {
            samples,
            flows,
            busiest: sample_mean(&busiest),
            bandwidth: sample_mean(&bandwidth),
        })
    }
}

struct Matching<'a> {
    fabric: &'a Fabric,
    graph: SwitchGraph,
    routes: &'a Routes,
    walker: Walker,
    flows: Vec<u32>,
    channels: Vec<ChannelId>,
    ends: Vec<usize>,
}

impl<'a> Matching<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes) -> Self {
        Self {
            fabric,
            graph: SwitchGraph::new(fabric),
            routes,
            walker: Walker::new(fabric),
            flows: vec![0; fabric.channel_count()],
            channels: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn measure(&mut self, pairs: impl Iterator<Item = (EndpointId, EndpointId)>) -> (f64, f64) {
        for channel in &self.channels {
            self.flows[channel.index()] = 0;
        }
        self.channels.clear();
        self.ends.clear();
        for (from, to) in pairs {
            self.lay(from, to);
        }
        let most = self.channels.iter().map(|channel| self.flows[channel.index()]).max();
        let (mut begin, mut shares) = (0, 0.0);
        for &end in &self.ends {
            let on = self.channels[begin..end].iter().map(|channel| self.flows[channel.index()]);
            shares += on.max().map_or(0.0, |sharing| 1.0 / f64::from(sharing));
            begin = end;
        }
        (f64::from(most.unwrap_or(0)), shares / real(self.ends.len()))
    }

    fn lay(&mut self, from: EndpointId, to: EndpointId) {
        let begin = self.channels.len();
        let own = self.fabric.endpoint_channel(from);
        match self.graph.attachment(from) {
            Attachment::Peer(peer) if peer == to => self.channels.push(own),
            Attachment::Peer(_) => {}
            Attachment::Switch(switch) => {
                let (onward, end) = self.routes.onward(self.fabric, &mut self.walker, switch, to);
                if end == WalkEnd::Arrived {
                    self.channels.push(own);
                    self.channels.extend(onward);
                }
            }
        }
        for channel in &self.channels[begin..] {
            self.flows[channel.index()] += 1;
        }
        self.ends.push(self.channels.len());
    }
}

fn sample_mean(samples: &[f64]) -> SampleMean {
    let count = real(samples.len());
    let mean = samples.iter().sum::<f64>() / count;
    let square = |sample: &f64| (sample - mean) * (sample - mean);
    let variance = samples.iter().map(square).sum::<f64>() / (count - 1.0);
    SampleMean { mean, half_width: NORMAL_95 * (variance / count).sqrt() }
}

#[expect(clippy::cast_precision_loss, reason = "counts of hosts and samples")]
fn real(count: usize) -> f64 {
    count as f64
}

//! Path selection at one endpoint.

use super::output_load::ByLoad;
use super::{Contention, ContentionPlan, Decision, OutputLoad, PathId};
use crate::{Packet, Plan};
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_topology::EndpointId;
use std::sync::Arc;

/// Selects the paths of an endpoint's packets.
#[derive(Clone, Debug, Default)]
pub struct SourceChooser {
    state: State,
    over_switches: Option<Box<OverSwitches>>,
}

#[derive(Clone, Debug)]
struct OverSwitches {
    vias: usize,
    stream: Stream,
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    ByPair,
    ByLength {
        below_bytes: u32,
    },
    AtRandom {
        alternative: f64,
        stream: Box<Stream>,
    },
    ByContention {
        plan: ContentionPlan,
        now: Contention,
    },
    ByLoad(Box<(Arc<Plan>, ByLoad)>),
}

impl SourceChooser {
    /// Creates the chooser of an endpoint before its first packet.
    pub fn new(plan: &Arc<Plan>, endpoint: EndpointId) -> Self {
        let state = match plan.routing.decision {
            Decision::ByPair | Decision::AtSwitches(_) => State::ByPair,
            Decision::ByLength { below_bytes } => State::ByLength { below_bytes },
            Decision::AtRandom { alternative } => {
                let name = plan.fabric.endpoint_name(endpoint);
                let stream = Stream::new(plan.seed, &name, Purpose::PathChoice);
                State::AtRandom { alternative, stream: Box::new(stream) }
            }
            Decision::ByContention(plan) => {
                State::ByContention { plan, now: Contention::new(&plan) }
            }
            Decision::ByLoad { threshold_bytes } => {
                let by_load = ByLoad::new(plan, endpoint, threshold_bytes);
                State::ByLoad(Box::new((Arc::clone(plan), by_load)))
            }
        };
        let over_switches = (!plan.routing.vias.is_empty()).then(|| {
            // A separate random stream, independent of the choice between direct and alternative
            // paths.
            let name = format!("{}, over switches", plan.fabric.endpoint_name(endpoint));
            let stream = Stream::new(plan.seed, &name, Purpose::PathChoice);
            Box::new(OverSwitches { vias: plan.routing.vias.len(), stream })
        });
        Self { state, over_switches }
    }

    /// Returns the path of a packet that starts now, from a message with a payload of
    /// `message_bytes`.
    pub fn choose(&mut self, packet: &Packet, message_bytes: u32) -> PathId {
        let takes_alternative = match &mut self.state {
            State::ByPair => return packet.path_id,
            State::ByLength { below_bytes } => message_bytes >= *below_bytes,
            State::AtRandom { alternative, stream } => stream.unit() < *alternative,
            State::ByContention { now, .. } => now.path_id == PathId::ALTERNATIVE,
            State::ByLoad(_) => true,
        };
        if !takes_alternative {
            return PathId::PRIMARY;
        }
        let over_switches = self.over_switches.as_mut();
        let alternative = over_switches.map_or(PathId::ALTERNATIVE, |of| of.draw());
        match &self.state {
            State::ByLoad(of) if !of.1.prefers(&of.0, packet, alternative) => PathId::PRIMARY,
            _ => alternative,
        }
    }

    /// Records the loads of the first switch's outputs, if path selection uses them.
    pub fn on_loads(&mut self, loads: &[OutputLoad]) {
        if let State::ByLoad(of) = &mut self.state {
            of.1.update(loads);
        }
    }

    /// Records that a local packet has left. Returns the new contention state if path selection
    /// uses it.
    pub fn on_left(
        &mut self,
        started: Time,
        left: Time,
        flits: u64,
        flit: Span,
    ) -> Option<Contention> {
        let State::ByContention { plan, now } = &mut self.state else { return None };
        now.on_left(plan, left.since(started), flit * flits);
        Some(*now)
    }
}

impl OverSwitches {
    fn draw(&mut self) -> PathId {
        let via = self.stream.below(self.vias as u64);
        PathId::over(usize::try_from(via).expect("an index"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassId, Content, Priority};
    use gingham_topology::routing::VcClass;

    fn chooser(state: State) -> SourceChooser {
        SourceChooser { state, over_switches: None }
    }

    fn packet() -> Packet {
        let ends = (EndpointId::new(0), EndpointId::new(1));
        let level = (Priority::default(), VcClass(0));
        Packet::without_message(Content::Control, ClassId::new(0), ends, level, 32)
    }

    #[test]
    fn long_messages_take_the_alternative_path() {
        let mut chooser = chooser(State::ByLength { below_bytes: 64 });
        let of = [1, 63, 64, 65].map(|bytes| chooser.choose(&packet(), bytes));
        assert_eq!(
            of,
            [PathId::PRIMARY, PathId::PRIMARY, PathId::ALTERNATIVE, PathId::ALTERNATIVE]
        );
    }

    #[test]
    fn single_path_leaves_no_choice() {
        let mut only = SourceChooser::default();
        assert_eq!([1, 4_096].map(|bytes| only.choose(&packet(), bytes)), [PathId::PRIMARY; 2]);
        let left = only.on_left(Time::ZERO, Time::from_ps(100), 1, Span::from_ps(1));
        assert_eq!(left, None, "nobody asks how long a packet took");
    }

    fn alternatives(alternative: f64, name: &str, packets: u32) -> u32 {
        let stream = Box::new(Stream::new(1, name, Purpose::PathChoice));
        let mut chooser = chooser(State::AtRandom { alternative, stream });
        let drawn =
            (0..packets).filter(|_| chooser.choose(&packet(), 32) == PathId::ALTERNATIVE).count();
        u32::try_from(drawn).unwrap()
    }

    #[test]
    fn alternative_path_is_drawn_with_its_probability() {
        for (alternative, name) in [(0.5, "h0"), (0.5, "h1"), (0.1, "h0"), (0.99, "h7")] {
            let (packets, drawn) = (40_000, f64::from(alternatives(alternative, name, 40_000)));
            // Tolerance: four standard deviations of the binomial distribution, which one seed in
            // 16,000 exceeds.
            let (mean, deviation) = (
                alternative * f64::from(packets),
                (f64::from(packets) * alternative * (1.0 - alternative)).sqrt(),
            );
            assert!(
                (drawn - mean).abs() < 4.0 * deviation,
                "{drawn} of {packets} at {alternative}"
            );
        }
        assert_ne!(
            alternatives(0.5, "h0", 40_000),
            alternatives(0.5, "h1", 40_000),
            "coins of one host"
        );
    }

    #[test]
    fn intermediate_switches_are_drawn_with_equal_probability() {
        let stream = Stream::new(1, "h0", Purpose::PathChoice);
        let over_switches = Some(Box::new(OverSwitches { vias: 4, stream }));
        let state = State::ByLength { below_bytes: 64 };
        let mut chooser = SourceChooser { state, over_switches };
        assert_eq!(chooser.choose(&packet(), 63), PathId::PRIMARY);
        let mut drawn = [0_u32; 4];
        for _ in 0..40_000 {
            drawn[chooser.choose(&packet(), 64).via().unwrap()] += 1;
        }
        // Tolerance: four standard deviations of 86.6, the square root of 40,000 x 1/4 x 3/4.
        assert!(drawn.iter().all(|count| count.abs_diff(10_000) < 347), "{drawn:?}");
    }

    #[test]
    fn probabilities_0_and_1_are_exact() {
        assert_eq!([alternatives(0.0, "h0", 10_000), alternatives(1.0, "h0", 10_000)], [0, 10_000]);
    }
}

//! The crossbar of a switch of more than 64 ports, whose ports do not fit a word: the matching of [`super::crossbar`],
//! output by output.

use crate::lanes::simulation::Simulation;
use crate::lanes::state::SHIFT;

/// Memory of the matching of a wide switch.
#[derive(Clone, Debug)]
pub(crate) struct WideMatching {
    /// Input ports that are not matched yet.
    inputs: Vec<usize>,
    /// By output port of the switch.
    outputs: Vec<Output>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Output {
    is_matched: bool,
    /// The input port that it grants in this round.
    granted: Option<usize>,
}

impl WideMatching {
    pub(crate) fn new(span: usize) -> Self {
        Self { inputs: Vec::with_capacity(span), outputs: vec![Output::default(); span] }
    }
}

impl Simulation {
    /// The switch of so many ports whose first one is the first of a word.
    pub(crate) fn match_wide(&mut self, word: usize, span: usize, tick: u64) {
        let mut matching = std::mem::replace(&mut self.matching.wide, WideMatching::new(0));
        let (inputs, outputs) = (&mut matching.inputs, &mut matching.outputs);
        for place in word..word + span.div_ceil(64) {
            let mut ports = self.crossing.take(place);
            while ports != 0 {
                let port = place * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                if self.ports[port].can_cross() != 0 {
                    inputs.push(port);
                }
            }
        }
        // Who is not matched is there again in the next tick.
        for port in inputs.iter() {
            self.crossing.insert(*port);
        }
        outputs.fill(Output::default());
        while !inputs.is_empty() {
            for port in inputs.iter() {
                self.ask_wide(word * 64, span, *port, outputs);
            }
            inputs.retain(|port| self.accept_wide(word * 64, *port, outputs, tick));
            for output in outputs.iter_mut() {
                output.granted = None;
            }
        }
        self.matching.wide = matching;
    }

    /// Every output that an input port can send to grants it, unless it has granted one that is nearer in turn.
    fn ask_wide(&self, first: usize, span: usize, port: usize, outputs: &mut [Output]) {
        for lane in self.crossing_lanes(port) {
            let output = usize::from(self.inputs[port << SHIFT | lane].out) >> SHIFT;
            let turn = usize::from(self.ports[first + output].turn);
            let wait = |port: usize| (port - first + span - turn) % span;
            let output = &mut outputs[output];
            if !output.is_matched && output.granted.is_none_or(|other| wait(port) < wait(other)) {
                output.granted = Some(port);
            }
        }
    }

    /// An input port sends to one of the outputs that granted it. Returns whether it may yet be matched: it was granted by none,
    /// and wants one that is not matched.
    fn accept_wide(
        &mut self,
        first: usize,
        port: usize,
        outputs: &mut [Output],
        tick: u64,
    ) -> bool {
        let output_of = |lane: usize| usize::from(self.inputs[port << SHIFT | lane].out) >> SHIFT;
        let lanes = || self.crossing_lanes(port);
        let granted = lanes().filter(|lane| outputs[output_of(*lane)].granted == Some(port));
        let granted = granted.fold(0_u16, |lanes, lane| lanes | 1 << lane);
        if granted == 0 {
            return lanes().any(|lane| !outputs[output_of(lane)].is_matched);
        }
        if let Some(lane) = self.choose_input(port, granted) {
            let output = usize::from(self.inputs[port << SHIFT | lane].out) >> SHIFT;
            outputs[output].is_matched = true;
            debug_assert!(first + output < self.ports.len(), "an output is a port of the switch");
            self.cross_flit(port, lane, tick);
        }
        false
    }

    /// Lanes of an input port that can send through the crossbar.
    fn crossing_lanes(&self, port: usize) -> impl Iterator<Item = usize> + use<> {
        let lanes = self.ports[port].can_cross();
        (0..16).filter(move |lane| lanes >> lane & 1 == 1)
    }
}

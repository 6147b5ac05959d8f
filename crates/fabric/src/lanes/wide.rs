//! The crossbar of a switch of more than 64 ports, whose ports do not fit a word: the allocator of
//! [`super::crossbar`], output by output.

use crate::lanes::layout::{SHIFT, lanes_of};
use crate::lanes::matching::{WideMatching, WideOutput};
use crate::lanes::network::Network;

impl Network {
    /// The switch of so many ports whose first one is the first of a word.
    pub(crate) fn allocate_wide(&mut self, word: usize, span: usize, tick: u64) {
        let mut matching = std::mem::replace(&mut self.matching.wide, WideMatching::new(0));
        let (inputs, outputs) = (&mut matching.inputs, &mut matching.outputs);
        for place in word..word + span.div_ceil(64) {
            let mut ports = self.switches.crossing.take(place);
            while ports != 0 {
                let port = place * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                if self.switches.port(port).can_cross() != 0 {
                    inputs.push(port);
                }
            }
        }
        // Who is not matched is there again in the next tick.
        for port in inputs.iter() {
            self.switches.crossing.insert(*port);
        }
        outputs.fill(WideOutput::default());
        while !inputs.is_empty() {
            for port in inputs.iter() {
                self.grant_wide(word * 64, span, *port, outputs);
            }
            inputs.retain(|port| self.accept_wide(*port, outputs, tick));
            for output in outputs.iter_mut() {
                output.granted = None;
            }
        }
        self.matching.wide = matching;
    }

    /// Every output that an input port can send to grants it, unless it has granted one that comes
    /// before it, round robin.
    fn grant_wide(&self, first: usize, span: usize, port: usize, outputs: &mut [WideOutput]) {
        for lane in lanes_of(self.switches.port(port).can_cross()) {
            let output = self.output_of(port, lane);
            let pointer = usize::from(self.switches.port(first + output).pointer);
            let distance = |port: usize| (port - first + span - pointer) % span;
            let output = &mut outputs[output];
            let is_nearer = |other| distance(port) < distance(other);
            if !output.is_matched && output.granted.is_none_or(is_nearer) {
                output.granted = Some(port);
            }
        }
    }

    /// An input port sends to one of the outputs that granted it. Returns whether it may yet be
    /// matched: it was granted by none, and requests one that is not matched.
    fn accept_wide(&mut self, port: usize, outputs: &mut [WideOutput], tick: u64) -> bool {
        let lanes = || lanes_of(self.switches.port(port).can_cross());
        let granted =
            lanes().filter(|lane| outputs[self.output_of(port, *lane)].granted == Some(port));
        let granted = granted.fold(0_u16, |lanes, lane| lanes | 1 << lane);
        if granted == 0 {
            return lanes().any(|lane| !outputs[self.output_of(port, lane)].is_matched);
        }
        if let Some(lane) = self.switches.serve(port, granted, &self.buffers) {
            outputs[self.output_of(port, lane)].is_matched = true;
            self.traverse_switch(port, lane, tick);
        }
        false
    }

    /// The output port that an input lane can send to, by its number in the switch.
    fn output_of(&self, port: usize, lane: usize) -> usize {
        usize::from(self.buffers.lane(port << SHIFT | lane).out) >> SHIFT
    }
}

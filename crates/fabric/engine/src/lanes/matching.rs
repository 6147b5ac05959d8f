//! Requests and grants of switch allocation.

use crate::lanes::layout::{Layout, SHIFT};
use crate::lanes::switches::SwitchPort;

#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// For each port of a switch with at most 64 ports, all ports of the switch as bits of one
    /// word.
    pub(crate) switches: Vec<u64>,
    /// Outputs that the lanes of each input port can reach, in switches with at most 64 ports.
    pub(crate) requested: Vec<u64>,
    requesting: Vec<u64>,
    pub(crate) granted: Vec<u64>,
    pub(crate) wide: WideMatching,
    pub(crate) by_lane: LaneMatching,
}

#[derive(Clone, Debug)]
pub(crate) struct WideMatching {
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<WideOutput>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WideOutput {
    pub(crate) is_matched: bool,
    pub(crate) granted: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LaneMatching {
    pub(crate) inputs: Vec<usize>,
    pub(crate) granted: Vec<u16>,
    /// Outputs with requests, by port number within the switch.
    pub(crate) requested: Vec<usize>,
    pub(crate) outputs: Vec<OutputLanes>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputLanes {
    /// Lanes whose holder is unmatched and can send; empty once the port is matched.
    pub(crate) able: u16,
    pub(crate) among: u16,
}

impl LaneMatching {
    fn new(ports: &[SwitchPort]) -> Self {
        let span = ports.iter().map(|port| usize::from(port.span)).max().unwrap_or(0);
        Self {
            inputs: Vec::with_capacity(span),
            granted: vec![0; span],
            requested: Vec::with_capacity(span),
            outputs: vec![OutputLanes::default(); span],
        }
    }
}

impl Matching {
    pub(crate) fn new(ports: &[SwitchPort], layout: &Layout) -> Self {
        let span = ports[layout.first_wide * 64..].iter().map(|port| usize::from(port.span)).max();
        let switch =
            |port: &SwitchPort| (u64::MAX >> (64 - port.span)) << ((port.base >> SHIFT) % 64);
        Self {
            switches: ports[..layout.first_wide * 64].iter().map(switch).collect(),
            requested: vec![0; 64],
            requesting: vec![0; 64],
            granted: vec![0; 64],
            wide: WideMatching::new(span.unwrap_or(0)),
            by_lane: LaneMatching::new(ports),
        }
    }

    pub(crate) fn gather_requests(&mut self, inputs: u64, outputs: u64) {
        let mut left = outputs;
        while left != 0 {
            self.requesting[left.trailing_zeros() as usize] = 0;
            left &= left - 1;
        }
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut requested = self.requested[input];
            while requested != 0 {
                self.requesting[requested.trailing_zeros() as usize] |= 1 << input;
                requested &= requested - 1;
            }
        }
    }

    #[inline]
    pub(crate) fn requesting(&self, output: usize, inputs: u64) -> u64 {
        self.requesting[output] & inputs
    }

    #[inline]
    pub(crate) fn grant(&mut self, input: usize, output: usize, granted: &mut u64) {
        if *granted >> input & 1 == 0 {
            *granted |= 1 << input;
            self.granted[input] = 0;
        }
        self.granted[input] |= 1 << output;
    }
}

impl WideMatching {
    pub(crate) fn new(span: usize) -> Self {
        Self { inputs: Vec::with_capacity(span), outputs: vec![WideOutput::default(); span] }
    }
}

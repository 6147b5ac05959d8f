//! Router-specific parameters of `network.lanes`: credits, outputs, allocators.
//!
//! Conflicting keys are refused at the key responsible: flits that would wait at an output without
//! a buffer, and arbiters of a crossbar that an allocator matches in round robin.

use super::section::Section;
use crate::compile::written::{first_written, whose};
use crate::error::LabError;
use crate::scenario::PipelineParameters;
use gingham_net::{Allocator, Crossbar, Islip, Scheduler, VcAllocator};
use gingham_topology::routing::LANES_MAX;

/// Maximum delay of a credit, in cycles.
const CREDIT_DELAY_MAX: i64 = 65_535;
/// Maximum number of iterations of an allocator.
const ITERATIONS_MAX: i64 = 1_000;

impl Section<'_> {
    /// Returns the delay of a credit in cycles, if configured.
    pub(super) fn credit_delay(
        &self,
        switch: &PipelineParameters,
    ) -> Result<Option<u32>, LabError> {
        let rule = format!("a credit takes from 0 to {CREDIT_DELAY_MAX} cycles back to its sender");
        let number = |cycles| self.number("credit_delay", cycles, 0..=CREDIT_DELAY_MAX, &rule);
        switch.credit_delay.map(number).transpose()
    }

    /// Returns the depths of output lanes; refuses keys that conflict with a depth of 0.
    pub(super) fn output_depths(
        &self,
        switch: &PipelineParameters,
        count: u8,
    ) -> Result<Option<[u32; LANES_MAX as usize]>, LabError> {
        let Some(written) = &switch.output_depth else { return Ok(None) };
        let depths = self.depths("output_depth", written, count, 0)?;
        let of_lanes = &depths[..usize::from(count)];
        if of_lanes.iter().all(|depth| *depth > 0) {
            return Ok(Some(depths));
        }
        if of_lanes.iter().any(|depth| *depth > 0) {
            let message = "at an output without a buffer no flit waits for the link, so that all lanes have one or none: give \
                           all lanes a depth of 1 at least, or all of them 0";
            return Err(self.refuse("output_depth", message));
        }
        let waits = [
            (switch.crossbar == Crossbar::Full, "crossbar", "is \"full\"", "multiplexed"),
            (switch.output_speedup > 1, "output_speedup", "is more than 1", "1"),
            (
                switch.lanes.arbiters.link_output != Scheduler::default(),
                "link_output",
                "chooses otherwise than in turn by the flit",
                "round-robin",
            ),
        ];
        match waits.into_iter().find(|(is_so, ..)| *is_so) {
            None => Ok(Some(depths)),
            Some((_, key, why, cure)) => Err(self.refuse_full_output(key, why, cure)),
        }
    }

    /// Refuses a key that makes flits wait at outputs without buffers; `cure` is the value to use
    /// instead.
    fn refuse_full_output(&self, key: &str, why: &str, cure: &str) -> LabError {
        let [depth, other] = ["output_depth", key].map(|key| format!("network.lanes.{key}"));
        let [of_depth, of_other] = [&depth, &other].map(|key| whose(self.source, key));
        let cure = if cure == "1" { cure.to_owned() } else { format!("\"{cure}\"") };
        let message = format!(
            "at an output without a buffer no flit waits for the link, and here some would: {depth} is 0{of_depth}, and {other} \
             {why}{of_other}. Say {depth} = 1 or more, or {other} = {cure}"
        );
        self.source.refuse(first_written(self.source, &[&depth, &other]), message).into()
    }

    /// Returns the allocator of a multiplexed crossbar, and its input and output speedup.
    pub(super) fn allocator(
        &self,
        switch: &PipelineParameters,
        count: u8,
    ) -> Result<(Allocator, [u8; 2]), LabError> {
        let allocator = switch.allocator;
        if let Allocator::Islip(islip) = allocator {
            self.check_iterations("allocator.islip.iterations", islip)?;
        }
        let ways = [
            ("input_speedup", switch.input_speedup, "into"),
            ("output_speedup", switch.output_speedup, "out of"),
        ];
        let mut speedups = [1; 2];
        for (speedup, (key, value, way)) in speedups.iter_mut().zip(ways) {
            let of_count = whose(self.source, "network.lanes.count");
            if count == 1 && value != 1 {
                let message = format!(
                    "channels have one lane{of_count}, so that a port has one way {way} the crossbar, not {value}: leave the key \
                     out, or give channels more lanes (network.lanes.count)"
                );
                return Err(self.refuse(key, message));
            }
            let rule = format!(
                "network.lanes.count is {count}{of_count}, so that a port has from 1 to {count} ways {way} the crossbar"
            );
            let value = self.number(key, value, 1..=count.into(), &rule)?;
            *speedup = u8::try_from(value).expect("as many as lanes");
        }
        let said = [
            ("allocator", allocator != Allocator::default(), "\"maximal\""),
            ("input_speedup", speedups[0] > 1, "1"),
            ("output_speedup", speedups[1] > 1, "1"),
        ];
        if let Some((key, _, cure)) = said.into_iter().find(|(_, is_said, _)| *is_said) {
            self.check_turns(switch, key, cure)?;
        }
        Ok((allocator, speedups))
    }

    pub(super) fn vc_allocator(
        &self,
        switch: &PipelineParameters,
    ) -> Result<VcAllocator, LabError> {
        if let VcAllocator::Islip(islip) = switch.vc_allocator {
            self.check_iterations("vc_allocator.islip.iterations", islip)?;
        }
        Ok(switch.vc_allocator)
    }

    fn check_iterations(&self, key: &str, Islip { iterations }: Islip) -> Result<(), LabError> {
        let rule = format!("iSLIP iterates from 1 to {ITERATIONS_MAX} times a cycle");
        self.number(key, iterations.into(), 1..=ITERATIONS_MAX, &rule).map(|_| ())
    }

    /// Refuses a full crossbar or other arbiters beside a key of the allocator; `cure` is the value
    /// of the key to use instead.
    fn check_turns(
        &self,
        switch: &PipelineParameters,
        key: &str,
        cure: &str,
    ) -> Result<(), LabError> {
        let key = format!("network.lanes.{key}");
        let of_key = whose(self.source, &key);
        if switch.crossbar == Crossbar::Full {
            let other = "network.lanes.crossbar";
            let of_other = whose(self.source, other);
            let message = format!(
                "every lane has its own way through a full crossbar{of_other}, so that {key}{of_key} has nothing to match: say \
                 {key} = {cure}, or {other} = \"multiplexed\""
            );
            return Err(self
                .source
                .refuse(first_written(self.source, &[&key, other]), message)
                .into());
        }
        let arbiter = [
            (switch.crossbar_input != Scheduler::default(), "network.lanes.crossbar_input"),
            (switch.crossbar_output.is_some(), "network.lanes.crossbar_output"),
        ];
        match arbiter.into_iter().find(|(is_said, _)| *is_said) {
            None => Ok(()),
            Some((_, arbiter)) => {
                let message = format!(
                    "{key}{of_key} takes inputs, outputs and lanes in turn, flit by flit, and {arbiter} chooses otherwise: say \
                     {key} = {cure}, or leave {arbiter} out"
                );
                let at = first_written(self.source, &[&key, arbiter]);
                Err(self.source.refuse(at, message).into())
            }
        }
    }
}

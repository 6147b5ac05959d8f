//! Cables: rates and lengths become flit times, delays and slack buffers.

use crate::error::LabError;
use crate::input::InputError;
use crate::scenario::ScenarioSource;
use gingham_kernel::FlitTime;
use gingham_model::{ChannelPlan, SlackBuffer, WormholeParameters};
use gingham_topology::{ChannelId, Fabric};

/// Rounding errors below this need no mention.
const ROUNDING_NOTED: f64 = 1e-3;

/// The channels of every cable, with notes on what departs from the preset.
pub(super) fn channels(
    source: &ScenarioSource,
    fabric: &Fabric,
    parameters: &WormholeParameters,
    notes: &mut Vec<String>,
) -> Result<Vec<ChannelPlan>, LabError> {
    let network = &source.scenario.network;
    let mut census = Census::default();
    let mut channels = Vec::with_capacity(fabric.channel_count());
    for channel in ChannelId::first(fabric.channel_count()) {
        let cable = fabric.cable_of(channel);
        let told = cable.speed.map(gingham_topology::LinkSpeed::rate);
        let rate = network.link_rate.or(told).unwrap_or(parameters.link_rate);
        let length = cable.length.unwrap_or(parameters.cable_length);
        let flit = rate.flit_time(1);
        let delay = length.propagation(parameters.delay_per_metre);
        let first_flit_delay = parameters.routing_delay + parameters.setup_delay;
        let slack = match network.slack {
            Some(exact) => exact,
            None => parameters.slack.scaled(flit.span, delay, first_flit_delay),
        };
        let ends_at_switch = fabric.node(fabric.target(channel).node).is_switch();
        if ends_at_switch {
            slack.check(flit.span, delay).map_err(|error| {
                let message = format!("on {}: {error}", fabric.channel_name(channel));
                InputError::at(&source.tree, "network.slack", message)
            })?;
            census.see_buffer(slack, parameters.slack);
        }
        census.see_rate(told.is_some_and(|told| told != parameters.link_rate), &flit);
        channels.push(ChannelPlan {
            flit: flit.span,
            delay,
            slack: ends_at_switch.then_some(slack),
        });
    }
    census.note(source, fabric, notes);
    Ok(channels)
}

/// What deserves a note.
#[derive(Default)]
struct Census {
    foreign_speeds: usize,
    rounding_max: f64,
    grown: usize,
    capacity_max: u32,
}

impl Census {
    fn see_buffer(&mut self, slack: SlackBuffer, preset: SlackBuffer) {
        self.grown += usize::from(slack.capacity > preset.capacity);
        self.capacity_max = self.capacity_max.max(slack.capacity);
    }

    fn see_rate(&mut self, foreign: bool, flit: &FlitTime) {
        self.foreign_speeds += usize::from(foreign);
        self.rounding_max = self.rounding_max.max(flit.relative_error.abs());
    }

    fn note(&self, source: &ScenarioSource, fabric: &Fabric, notes: &mut Vec<String>) {
        let network = &source.scenario.network;
        let preset = network.preset.name();
        let cables = fabric.cables().len();
        let foreign = self.foreign_speeds / 2;
        if foreign > 0 {
            notes.push(match network.link_rate {
                Some(rate) => format!(
                    "{foreign} of {cables} cables tell a speed of their own; all run at {rate} as network.link_rate says"
                ),
                None => format!(
                    "{foreign} of {cables} cables run at the speed that the fabric tells, not at the {preset} preset's; \
                     its delays are kept"
                ),
            });
        }
        if self.grown > 0 && network.slack.is_none() {
            notes.push(format!(
                "{} input buffers grew beyond the {preset} preset's, up to {} flits, because their cables hold more",
                self.grown, self.capacity_max
            ));
        }
        if self.rounding_max > ROUNDING_NOTED {
            notes.push(format!(
                "flit times are whole picoseconds; the largest rounding is {:.2} %",
                100.0 * self.rounding_max
            ));
        }
    }
}

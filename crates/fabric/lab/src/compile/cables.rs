//! Compilation of cables: rates and lengths become flit times, delays and slack buffers.

use super::network::NetworkKind;
use crate::error::LabError;
use crate::scenario::{Parameters, Preset, ScenarioSource, SwitchingParameters};
use gingham_input::InputError;
use gingham_kernel::{FlitTime, Length, Rate, Span};
use gingham_net::{ChannelPlan, InTransitParameters, SlackBuffer, Switching, WhenPoolFull};
use gingham_topology::{ChannelId, Fabric, LinkSpeed, PartialSpeed};

/// Relative rounding error above which a note is given.
const ROUNDING_NOTED: f64 = 1e-3;
/// Slowest link: the longest worm, of 2^32 flits, then passes it in less than 2^63 ps.
pub(crate) const RATE_MIN: Rate = Rate::from_bytes_per_second(1_000);
/// Longest delay of a cable or a header.
pub(crate) const DELAY_MAX: Span = Span::from_ps(1_000_000_000_000);
/// Width of a cable in the presets of InfiniBand, in lanes.
const LANES_OF_PRESETS: u8 = 4;
/// Limit on the flits that a cable or a waiting header may hold: buffers scaled for them still
/// count in 32 bits.
const FLITS_MAX: u64 = 1 << 30;

/// Returns the channels of every cable, with notes on deviations from the preset.
pub(crate) fn channels(
    source: &ScenarioSource,
    fabric: &Fabric,
    parameters: &Parameters,
    kind: &NetworkKind,
    notes: &mut Vec<String>,
) -> Result<Vec<ChannelPlan>, LabError> {
    let network = &source.scenario.network;
    let flit_bytes = kind.switching.flit_bytes();
    check_delays(source, parameters, kind)?;
    let mut census = Census::default();
    let mut channels = Vec::with_capacity(fabric.channel_count());
    for channel in ChannelId::first(fabric.channel_count()) {
        let cable = fabric.cable_of(channel);
        let told = cable.speed.map(LinkSpeed::rate);
        let half = || told_in_half(cable.partial_speed?, network.preset(), parameters);
        let rate = network.link_rate.or(told).or_else(half).unwrap_or(parameters.links.link_rate);
        let length = cable.length.unwrap_or(parameters.links.cable_length);
        let flit = rate.flit_time(flit_bytes.into());
        check_cable(rate, length, flit.span, parameters, kind).map_err(|(key, message)| {
            let message = format!("on {}: {message}", fabric.channel_name(channel));
            InputError::at(&source.tree, key, message)
        })?;
        let delay = parameters.cable_delay(length);
        let cable = Cable { channel, flit: flit.span, delay };
        let slack = slack_buffer(source, fabric, cable, parameters, kind, &mut census)?;
        census.see_rate(told.is_some_and(|told| told != parameters.links.link_rate));
        census.see_unknown(fabric.cable_of(channel));
        // The time of a whole packet is computed from its bytes, without rounding per flit.
        if !matches!(kind.switching, Switching::Packets(_)) {
            census.see_rounding(&flit);
        }
        let bytes = rate.byte_time();
        channels.push(ChannelPlan { flit: flit.span, bytes, delay, slack });
    }
    census.note(source, fabric, notes);
    Ok(channels)
}

/// Returns the rate of a cable with a half-known speed: its lanes at the generation of the preset,
/// or four lanes of its generation. `None` for lanes under a preset that is not InfiniBand.
fn told_in_half(half: PartialSpeed, preset: Preset, parameters: &Parameters) -> Option<Rate> {
    match half {
        PartialSpeed::Width(width) => preset.is_infiniband().then(|| {
            let lanes = u64::from(LANES_OF_PRESETS);
            let all = parameters.links.link_rate.bytes_per_second();
            Rate::from_bytes_per_second(all * u64::from(width) / lanes)
        }),
        PartialSpeed::Generation(generation) => {
            Some(LinkSpeed::InfiniBand { width: LANES_OF_PRESETS, generation }.rate())
        }
    }
}

/// A channel with its timing.
#[derive(Clone, Copy)]
struct Cable {
    channel: ChannelId,
    flit: Span,
    delay: Span,
}

/// Returns the slack buffer at the end of a channel, if there is one.
fn slack_buffer(
    source: &ScenarioSource,
    fabric: &Fabric,
    cable: Cable,
    parameters: &Parameters,
    kind: &NetworkKind,
    census: &mut Census,
) -> Result<Option<SlackBuffer>, LabError> {
    let Cable { channel, flit, delay } = cable;
    let Some(smallest) = kind.slack else { return Ok(None) };
    let Some(held) = held_header(fabric, channel, parameters, kind) else { return Ok(None) };
    let slack = match source.scenario.network.slack {
        Some(exact) => exact,
        None => smallest.scaled(flit, delay, held),
    };
    slack.check(flit, delay).map_err(|error| {
        let message = format!("on {}: {error}", fabric.channel_name(channel));
        InputError::at(&source.tree, "network.slack", message)
    })?;
    if fabric.node(fabric.target(channel).node).is_switch() {
        census.see_buffer(slack, smallest);
    }
    Ok(Some(slack))
}

/// Returns how long the port at the end of a channel holds the header of a lone worm; `None` at a
/// host that accepts every packet.
fn held_header(
    fabric: &Fabric,
    channel: ChannelId,
    parameters: &Parameters,
    kind: &NetworkKind,
) -> Option<Span> {
    let InTransitParameters { detection, programming, when_full, .. } = parameters.in_transit;
    if fabric.node(fabric.target(channel).node).is_switch() {
        kind.header_delay().map(|(_, delay)| delay)
    } else {
        (when_full == WhenPoolFull::Stop).then_some(detection + programming)
    }
}

fn check_delays(
    source: &ScenarioSource,
    parameters: &Parameters,
    kind: &NetworkKind,
) -> Result<(), LabError> {
    let of_cables = [
        ("network.delay_per_metre", parameters.links.delay_per_metre),
        ("network.fec_delay", parameters.links.fec_delay),
    ];
    let mut delays = kind.switch_delays().into_iter().chain(of_cables);
    match delays.find(|(_, delay)| *delay > DELAY_MAX) {
        Some((key, delay)) => {
            let message = format!("a delay is at most {DELAY_MAX}, not {delay}");
            Err(InputError::at(&source.tree, key, message).into())
        }
        None => Ok(()),
    }
}

/// Refuses values beyond 64 bits of picoseconds or 32 bits of flits; the error has the key and the
/// reason.
fn check_cable(
    rate: Rate,
    length: Length,
    flit: Span,
    parameters: &Parameters,
    kind: &NetworkKind,
) -> Result<(), (&'static str, String)> {
    if rate < RATE_MIN {
        return Err((
            "network.link_rate",
            format!("a link carries at least {RATE_MIN}, not {rate}"),
        ));
    }
    let product = u128::from(length.as_mm()) * u128::from(parameters.links.delay_per_metre.as_ps());
    if product / 1_000 >= u128::from(DELAY_MAX.as_ps()) {
        let message = format!("a cable of {length} delays by {DELAY_MAX} or more");
        return Err(("network.cable_length", message));
    }
    let under_way = (parameters.cable_delay(length) * 2).div_ceil(flit);
    let held = kind.header_delay().map(|(key, delay)| (key, delay.div_ceil(flit)));
    let InTransitParameters { detection, programming, .. } = parameters.in_transit;
    let unit = match kind.switching {
        Switching::Packets(_) => "bytes",
        Switching::Wormhole(_) | Switching::VirtualLanes(_) => "flits",
    };
    let held_by_host = (detection + programming).div_ceil(flit);
    let fills = [
        Some(("network.cable_length", under_way)),
        held,
        Some(("network.in_transit.detection", held_by_host)),
    ];
    for (key, flits) in fills.into_iter().flatten() {
        if flits > FLITS_MAX {
            let message =
                format!("at {rate} it takes {flits} {unit} to fill this delay, beyond 2^30");
            return Err((key, message));
        }
    }
    Ok(())
}

const fn delay_keys(switching: &SwitchingParameters) -> &'static str {
    match switching {
        SwitchingParameters::Wormhole(_) => "network.setup_delay, network.routing_delay",
        SwitchingParameters::VirtualLanes(_) => {
            "network.lanes.pipeline_cycles, network.lanes.routing_cycles"
        }
        SwitchingParameters::Packets(_) => "network.packets.forwarding_delay",
    }
}

/// Counts of cables and buffers that are worth a note.
#[derive(Default)]
struct Census {
    foreign_speeds: usize,
    /// Channels of unknown speed.
    unknown: usize,
    /// Channels of unknown speed with a known width or generation.
    in_half: usize,
    /// Channels with a known speed, width or generation.
    telling: usize,
    rounding_max: f64,
    grown: usize,
    capacity_max: u32,
}

impl Census {
    fn see_buffer(&mut self, slack: SlackBuffer, preset: SlackBuffer) {
        self.grown += usize::from(slack.capacity > preset.capacity);
        self.capacity_max = self.capacity_max.max(slack.capacity);
    }

    fn see_rate(&mut self, foreign: bool) {
        self.foreign_speeds += usize::from(foreign);
    }

    fn see_unknown(&mut self, cable: &gingham_topology::Cable) {
        self.unknown += usize::from(cable.speed.is_none());
        self.in_half += usize::from(cable.partial_speed.is_some());
        self.telling += usize::from(cable.told_speed().is_some());
    }

    fn see_rounding(&mut self, flit: &FlitTime) {
        self.rounding_max = self.rounding_max.max(flit.relative_error.abs());
    }

    fn note(&self, source: &ScenarioSource, fabric: &Fabric, notes: &mut Vec<String>) {
        let network = &source.scenario.network;
        let preset = network.preset().name();
        let cables = fabric.cables().len();
        let foreign = self.foreign_speeds / 2;
        if foreign > 0 {
            notes.push(match network.link_rate {
                Some(rate) => format!(
                    "{foreign} of {cables} cables tell a speed of their own; all run at {rate} as network.link_rate says"
                ),
                None => format!(
                    "{foreign} of {cables} cables run at the speed that the fabric tells, not at the {preset} preset's; \
                     the delays of its switch are kept ({})",
                    delay_keys(&network.parameters().switching)
                ),
            });
        }
        if self.unknown > 0 && self.telling > 0 && network.link_rate.is_none() {
            let (unknown, half) = (self.unknown / 2, self.in_half / 2);
            let told = match half {
                0 => String::new(),
                half => format!(", {half} of them with the lanes or the generation that they tell"),
            };
            notes.push(format!(
                "the speed of {unknown} of {cables} cables is unknown: they run at the {preset} preset's{told}; \
                 network.preset or the file can say another"
            ));
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

//! Compilation of cables: rates and lengths become flit times, delays and slack buffers.

use super::gathered::Gathered;
use super::network::NetworkKind;
use crate::check::{Check, Subject, check, delay_too_long, note, outside, refuse, say, when};
use crate::error::LabError;
use crate::scenario::{Parameters, Preset, ScenarioSource, SwitchingParameters};
use gingham_kernel::{FlitTime, Length, Rate, Span};
use gingham_net::{ChannelPlan, InTransitParameters, SlackBuffer, Switching, WhenPoolFull};
use gingham_topology::{ChannelId, Fabric, LinkSpeed, PartialSpeed};

const ROUNDING_NOTED: f64 = 1e-3;
/// Slowest allowed link rate: the longest worm, of 2^32 flits, takes less than 2^63 ps.
pub(crate) const RATE_MIN: Rate = Rate::from_bytes_per_second(1_000);
pub(crate) const DELAY_MAX: Span = Span::from_ps(1_000_000_000_000);
const LANES_OF_PRESETS: u8 = 4;
/// Maximum number of flits on a cable, or during the routing of a header; enlarged buffers then fit
/// into 32 bits.
const FLITS_MAX: u64 = 1 << 30;

pub(crate) fn channels(
    source: &ScenarioSource,
    fabric: &Fabric,
    parameters: &Parameters,
    kind: &NetworkKind,
    gathered: &mut Gathered,
) -> Result<Vec<ChannelPlan>, LabError> {
    let network = &source.scenario.network;
    let flit_bytes = kind.switching.flit_bytes();
    check(&of_delays(), &Subject::of_table(source, "", (parameters, kind)), gathered)?;
    let mut census = Census { cables: fabric.cables().len(), ..Census::default() };
    let mut channels = Vec::with_capacity(fabric.channel_count());
    for channel in ChannelId::first(fabric.channel_count()) {
        let cable = fabric.cable_of(channel);
        let reported = cable.speed.map(LinkSpeed::rate);
        let half = || rate_of_partial(cable.partial_speed?, network.preset(), parameters);
        let rate =
            network.link_rate.or(reported).or_else(half).unwrap_or(parameters.links.link_rate);
        let length = cable.length.unwrap_or(parameters.links.cable_length);
        let flit = rate.flit_time(flit_bytes.into());
        let cable = Cable { fabric, parameters, kind, channel, rate, length, flit: flit.span };
        let cable = &Subject::of_table(source, "", cable);
        check(&of_cable(), cable, gathered)?;
        let slack = slack_buffer(source, cable, &mut census)?;
        census.see_rate(reported.is_some_and(|reported| reported != parameters.links.link_rate));
        census.see_unknown(fabric.cable_of(channel));
        // Whole packets have exact transmission times, which do not depend on flit times.
        if !matches!(kind.switching, Switching::Packets(_)) {
            census.see_rounding(&flit);
        }
        let (bytes, delay) = (rate.byte_time(), cable.delay());
        channels.push(ChannelPlan { flit: flit.span, bytes, delay, slack });
    }
    check(&of_census(), &Subject::of_table(source, "", census), gathered)?;
    Ok(channels)
}

/// Returns the rate of a cable whose speed is known only by width or generation. The preset
/// supplies a missing generation; a missing width defaults to four lanes.
fn rate_of_partial(half: PartialSpeed, preset: Preset, parameters: &Parameters) -> Option<Rate> {
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

struct Cable<'a> {
    fabric: &'a Fabric,
    parameters: &'a Parameters,
    kind: &'a NetworkKind,
    channel: ChannelId,
    rate: Rate,
    length: Length,
    flit: Span,
}

impl Cable<'_> {
    fn name(&self) -> String {
        self.fabric.channel_name(self.channel)
    }

    fn delay(&self) -> Span {
        self.parameters.cable_delay(self.length)
    }

    fn leads_to_switch(&self) -> bool {
        self.fabric.node(self.fabric.target(self.channel).node).is_switch()
    }

    /// Returns how long the port at the channel's end holds the header of a lone worm; `None` at a
    /// host that accepts every packet.
    fn held_header(&self) -> Option<Span> {
        let InTransitParameters { detection, programming, when_full, .. } =
            self.parameters.in_transit;
        if self.leads_to_switch() {
            self.kind.header_delay().map(|(_, delay)| delay)
        } else {
            (when_full == WhenPoolFull::Stop).then_some(detection + programming)
        }
    }
}

fn slack_buffer(
    source: &ScenarioSource,
    cable: &Cable<'_>,
    census: &mut Census,
) -> Result<Option<SlackBuffer>, LabError> {
    let (Some(smallest), Some(held)) = (cable.kind.slack, cable.held_header()) else {
        return Ok(None);
    };
    let (flit, delay) = (cable.flit, cable.delay());
    let slack = match source.scenario.network.slack {
        Some(exact) => exact,
        None => smallest.scaled(flit, delay, held),
    };
    slack
        .check(flit, delay)
        .map_err(|error| source.refuse("network.slack", format!("on {}: {error}", cable.name())))?;
    if cable.leads_to_switch() {
        census.see_buffer(slack, smallest);
    }
    Ok(Some(slack))
}

fn of_delays<'a>() -> [Check<(&'a Parameters, &'a NetworkKind)>; 1] {
    [refuse("network", |it| {
        let (Parameters { links, .. }, kind) = it.of;
        let of_cables = [
            ("network.delay_per_metre", links.delay_per_metre),
            ("network.fec_delay", links.fec_delay),
        ];
        let mut delays = kind.switch_delays().into_iter().chain(of_cables);
        delays.find_map(|(key, delay)| Some(delay_too_long(delay)?.at(key)))
    })]
}

/// Refuses cables whose times in picoseconds exceed 64 bits, or whose buffers in flits exceed 32
/// bits.
fn of_cable<'a>() -> [Check<Cable<'a>>; 3] {
    [
        refuse("network.link_rate", |it| {
            when!(
                it.rate < RATE_MIN,
                "on {}: a link carries at least {RATE_MIN}, not {}",
                it.name(),
                it.rate
            )
        }),
        refuse("network.cable_length", |it| {
            let per_metre = u128::from(it.parameters.links.delay_per_metre.as_ps());
            let delay = u128::from(it.length.as_mm()) * per_metre / 1_000;
            when!(
                delay >= u128::from(DELAY_MAX.as_ps()),
                "on {}: a cable of {} delays by {DELAY_MAX} or more",
                it.name(),
                it.length
            )
        }),
        refuse("network.cable_length", |it| {
            let InTransitParameters { detection, programming, .. } = it.parameters.in_transit;
            let fills = [
                Some(("network.cable_length", it.delay() * 2)),
                it.kind.header_delay(),
                Some(("network.in_transit.detection", detection + programming)),
            ];
            let mut fills = fills.into_iter().flatten();
            let (key, flits) = fills.find_map(|(key, delay)| {
                Some((key, outside(delay.div_ceil(it.flit), ..=FLITS_MAX)?))
            })?;
            let unit = match it.kind.switching {
                Switching::Packets(_) => "bytes",
                Switching::Wormhole(_) | Switching::VirtualLanes(_) => "flits",
            };
            let sentence = say!(
                "on {}: at {} it takes {flits} {unit} to fill this delay, beyond 2^30",
                it.name(),
                it.rate
            );
            Some(sentence?.at(key))
        }),
    ]
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

#[derive(Default)]
struct Census {
    cables: usize,
    foreign_speeds: usize,
    unknown: usize,
    /// Number of channels with a known width or generation, but unknown speed.
    in_half: usize,
    /// Number of channels with a known speed, width or generation.
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
        self.telling += usize::from(cable.reported_speed().is_some());
    }

    fn see_rounding(&mut self, flit: &FlitTime) {
        self.rounding_max = self.rounding_max.max(flit.relative_error.abs());
    }
}

fn of_census() -> [Check<Census>; 4] {
    [
        note(|it| {
            let (network, foreign) = (&it.source.scenario.network, it.foreign_speeds / 2);
            match network.link_rate.filter(|_| foreign > 0) {
                Some(rate) => say!(
                    "{foreign} of {} cables have a speed of their own; all run at {rate}, the network.link_rate",
                    it.cables
                ),
                None => when!(
                    foreign > 0,
                    "{foreign} of {} cables run at the speed given in the fabric, not at the {} preset's; \
                     the delays of its switch are kept ({})",
                    it.cables,
                    network.preset().name(),
                    delay_keys(&network.parameters().switching)
                ),
            }
        }),
        note(|it| {
            let network = &it.source.scenario.network;
            when!(
                it.unknown > 0 && it.telling > 0 && network.link_rate.is_none(),
                "the speed of {} of {} cables is unknown: they run at the {} preset's{}; \
                 network.preset or the file can set another",
                it.unknown / 2,
                it.cables,
                network.preset().name(),
                match it.in_half / 2 {
                    0 => String::new(),
                    half => format!(
                        ", {half} of them with the lanes or the generation given in the fabric"
                    ),
                }
            )
        }),
        note(|it| {
            let network = &it.source.scenario.network;
            when!(
                it.grown > 0 && network.slack.is_none(),
                "{} input buffers grew beyond the {} preset's, up to {} flits, because their cables hold more",
                it.grown,
                network.preset().name(),
                it.capacity_max
            )
        }),
        note(|it| {
            when!(
                it.rounding_max > ROUNDING_NOTED,
                "flit times are whole picoseconds; the largest rounding is {:.2} %",
                100.0 * it.rounding_max
            )
        }),
    ]
}

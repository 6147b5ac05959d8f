//! The section on virtual lanes: buffers, credits, crossbar and schedulers.

use super::datelines::DatelineChoice;
use gingham_kernel::Bytes;
use gingham_net::{Allocator, Crossbar, Injection, Reallocation, Scheduler, VcAllocator};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Lanes of every channel, each with a buffer and credits of its own (Yum et al. 2002, section
/// 3.1).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lanes {
    /// Lanes of every channel, from 1 to 16. Default: the preset's.
    pub count: Option<i64>,
    /// Lanes that each virtual lane (VL) owns where imported tables map service levels to VLs. VL `v`
    /// owns the lanes from `v * per_vl` on, and a packet takes any lane of its VL. Default: the lanes of
    /// a channel shared out equally among the VLs up to the highest in use.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.6.6; several lanes are ours"))]
    pub per_vl: Option<i64>,
    /// Flits that the buffer of a lane holds at the end of a channel, for all lanes or as a list of
    /// one a lane. Default: the preset's.
    pub depth: Option<PerLane<i64>>,
    /// What one flit carries. Default: the preset's.
    pub flit: Option<Bytes>,
    /// How packets are forwarded to the next switch, for all lanes or as a list of one a lane.
    /// Default: the preset's.
    pub forwarding: Option<PerLane<Forwarding>>,
    /// Flits that wait for the link at the output of a switch, for all lanes or as a list of one a
    /// lane. Default: as many as the lane buffers hold. With 0 for all lanes none waits there: a
    /// flit crosses only if there is a credit for it, and takes it then.
    pub output_depth: Option<PerLane<i64>>,
    /// Cycles from the arrival of a flit at a switch to its lane buffer. This is a pipeline that
    /// accepts a flit a cycle: it models switches that are slower and carry no less. Default: the
    /// preset's.
    pub pipeline_cycles: Option<i64>,
    /// Cycles in which a switch computes the route of a packet, before it requests the output. The
    /// next packet of the lane is routed after that. Default: the preset's.
    pub routing_cycles: Option<i64>,
    /// Cycles that a credit takes back to its sender. Default: those of the cable.
    #[schemars(extend("x-source" = "Jiang et al. 2013, credit_delay"))]
    pub credit_delay: Option<i64>,
    /// When an output lane can be granted to another packet. Default: the preset's.
    pub reallocation: Option<Reallocation>,
    /// How packets that request an output are matched with its lanes. Default: the preset's.
    pub vc_allocator: Option<VcAllocator>,
    /// How many flits cross a switch in a cycle. Default: the preset's.
    pub crossbar: Option<Crossbar>,
    /// How inputs and outputs of a multiplexed crossbar are matched. Default: the preset's.
    pub allocator: Option<Allocator>,
    /// Crossbar inputs of an input port: how many of its lanes cross a multiplexed crossbar in a
    /// cycle. The number of a lane decides on its crossbar input. Default: the preset's.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 17.2; Jiang et al. 2013, input_speedup"))]
    pub input_speedup: Option<i64>,
    /// Crossbar outputs of an output port: how many flits it takes from a multiplexed crossbar in a
    /// cycle, for different lanes. Default: the preset's.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 17.2; Jiang et al. 2013, output_speedup; by output lane is ours"))]
    pub output_speedup: Option<i64>,
    /// Whether the lanes of a class are shared out among dateline classes, so that rings of switches
    /// are free of deadlock. With `true` or `"by-hop"` a packet takes a higher one when it crosses a
    /// dateline. With `"by-wrap"` it has the higher one in all of a dimension whose dateline it is
    /// going to cross, which balances the two. Unless given they are by hop where dimension-order
    /// routing needs it and every class has enough lanes.
    #[schemars(extend("x-source" = "Dally and Seitz 1987, section IV; by wrap: Scott and Thorson 1994"))]
    #[schemars(extend("x-example" = r#"routing.algorithm = "dimension-order"
network.lanes = { count = 2, datelines = true }"#))]
    pub datelines: Option<DatelineChoice>,
    /// How an input port of a switch chooses the lane that sends through a multiplexed crossbar.
    /// Default: round robin.
    pub crossbar_input: Option<Scheduler>,
    /// How an output port of a multiplexed crossbar chooses among its lanes that can accept a flit,
    /// and so which input it grants. Default: it grants input ports by round robin, whatever their
    /// lanes.
    pub crossbar_output: Option<Scheduler>,
    /// How many packets of its own a host may be in the middle of. Default: the preset's.
    pub injection: Option<Injection>,
    /// How an output of a switch chooses the lane that sends on its cable. Default: round robin.
    pub link_output: Option<Scheduler>,
    /// How an adapter chooses the lane that sends on its cable. Default: round robin.
    pub adapter_port: Option<Scheduler>,
}

/// How packets of a lane go on to the next switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// A packet is forwarded as soon as there is room for its head, and may then occupy several
    /// switches.
    #[schemars(extend("x-source" = "Dally and Seitz 1987"))]
    Wormhole,
    /// A packet is forwarded only if the next lane has room for all of it, so it never occupies
    /// several switches for long (Kermani and Kleinrock 1979).
    #[schemars(extend("x-source" = "Kermani and Kleinrock 1979"))]
    VirtualCutThrough,
}

/// Figures of virtual lanes, whatever switches there are.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LaneParameters {
    /// Lanes of every channel.
    pub count: i64,
    /// How an output of a switch chooses among its lanes.
    pub link_output: Scheduler,
    /// How an adapter chooses among its lanes.
    pub adapter_port: Scheduler,
}

impl LaneParameters {
    /// The same where ports choose among lanes by the packet, since nothing else is sent.
    pub(super) fn by_packet(self) -> Self {
        Self {
            link_output: self.link_output.by_packet(),
            adapter_port: self.adapter_port.by_packet(),
            ..self
        }
    }
}

/// Figures of the switch of five stages and its lanes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PipelineParameters {
    /// Its lanes.
    #[serde(flatten)]
    pub lanes: LaneParameters,
    /// Lanes that each VL of imported tables owns. Default: as many as there are for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_vl: Option<i64>,
    /// Flits that the buffer of a lane holds at the end of a channel.
    pub depth: PerLane<i64>,
    /// What one flit carries.
    pub flit: Bytes,
    /// How packets go on.
    pub forwarding: PerLane<Forwarding>,
    /// Flits that wait for the link at the output of a switch. Default: as many as the lane buffers
    /// hold.
    pub output_depth: Option<PerLane<i64>>,
    /// Cycles from the arrival of a flit at a switch to its lane buffer.
    pub pipeline_cycles: i64,
    /// Cycles in which a switch finds the output of a packet.
    pub routing_cycles: i64,
    /// Cycles that a credit takes back. Default: those of the cable.
    pub credit_delay: Option<i64>,
    /// When a lane of an output can be given to another packet.
    pub reallocation: Reallocation,
    /// How packets that request an output are matched with its lanes.
    pub vc_allocator: VcAllocator,
    /// How many flits cross a switch in a cycle.
    pub crossbar: Crossbar,
    /// How inputs and outputs of a multiplexed crossbar are matched.
    pub allocator: Allocator,
    /// Ways of an input port into a multiplexed crossbar.
    pub input_speedup: i64,
    /// Ways out of it to an output port.
    pub output_speedup: i64,
    /// How an input port of a switch chooses among its lanes.
    pub crossbar_input: Scheduler,
    /// How an output port of the crossbar chooses among its lanes. Default: it grants input ports
    /// by round robin.
    pub crossbar_output: Option<Scheduler>,
    /// How many packets of its own a host may be in the middle of.
    pub injection: Injection,
}

impl Default for PipelineParameters {
    /// Yum et al. 2002, sections 3.1 and 4: 16 lanes of 10 flits of 128 bits, five stages, a
    /// multiplexed crossbar.
    fn default() -> Self {
        Self {
            lanes: LaneParameters {
                count: 16,
                link_output: Scheduler::default(),
                adapter_port: Scheduler::default(),
            },
            per_vl: None,
            depth: PerLane::All(10),
            flit: Bytes(16),
            forwarding: PerLane::All(Forwarding::Wormhole),
            output_depth: None,
            pipeline_cycles: 0,
            routing_cycles: 1,
            credit_delay: None,
            reallocation: Reallocation::default(),
            vc_allocator: VcAllocator::default(),
            crossbar: Crossbar::Multiplexed,
            allocator: Allocator::default(),
            input_speedup: 1,
            output_speedup: 1,
            crossbar_input: Scheduler::default(),
            crossbar_output: None,
            injection: Injection::default(),
        }
    }
}

impl Lanes {
    /// A preset's figures with the departures applied.
    pub(super) fn over(&self, preset: &LaneParameters) -> LaneParameters {
        LaneParameters {
            count: self.count.unwrap_or(preset.count),
            link_output: self.link_output.as_ref().unwrap_or(&preset.link_output).clone(),
            adapter_port: self.adapter_port.as_ref().unwrap_or(&preset.adapter_port).clone(),
        }
    }

    /// The same of the switch of five stages.
    pub(super) fn pipeline_over(&self, preset: &PipelineParameters) -> PipelineParameters {
        PipelineParameters {
            lanes: self.over(&preset.lanes),
            per_vl: self.per_vl.or(preset.per_vl),
            depth: self.depth.as_ref().unwrap_or(&preset.depth).clone(),
            flit: self.flit.unwrap_or(preset.flit),
            forwarding: self.forwarding.as_ref().unwrap_or(&preset.forwarding).clone(),
            output_depth: self.output_depth.clone().or_else(|| preset.output_depth.clone()),
            pipeline_cycles: self.pipeline_cycles.unwrap_or(preset.pipeline_cycles),
            routing_cycles: self.routing_cycles.unwrap_or(preset.routing_cycles),
            credit_delay: self.credit_delay.or(preset.credit_delay),
            reallocation: self.reallocation.unwrap_or(preset.reallocation),
            vc_allocator: self.vc_allocator.unwrap_or(preset.vc_allocator),
            crossbar: self.crossbar.unwrap_or(preset.crossbar),
            allocator: self.allocator.unwrap_or(preset.allocator),
            input_speedup: self.input_speedup.unwrap_or(preset.input_speedup),
            output_speedup: self.output_speedup.unwrap_or(preset.output_speedup),
            crossbar_input: self.crossbar_input.as_ref().unwrap_or(&preset.crossbar_input).clone(),
            crossbar_output: self
                .crossbar_output
                .clone()
                .or_else(|| preset.crossbar_output.clone()),
            injection: self.injection.unwrap_or(preset.injection),
        }
    }
}

/// One value for all lanes, or a list of one a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PerLane<T> {
    /// The same for all.
    All(T),
    /// By lane.
    Each(Vec<T>),
}

impl<T: Copy> PerLane<T> {
    /// The value of every lane, or the length of a list that has another.
    pub(crate) fn by_lane(&self, count: usize) -> Result<Vec<T>, usize> {
        match self {
            Self::All(value) => Ok(vec![*value; count]),
            Self::Each(values) if values.len() == count => Ok(values.clone()),
            Self::Each(values) => Err(values.len()),
        }
    }
}

impl<T: Serialize> Serialize for PerLane<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(value) => value.serialize(serializer),
            Self::Each(values) => values.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerLane<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PerLaneVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for PerLane<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("PerLane{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = T::json_schema(generator);
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

struct PerLaneVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PerLaneVisitor<T> {
    type Value = PerLane<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value for all lanes, or a list of one a lane")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<PerLane<T>, E> {
        T::deserialize(number.into_deserializer()).map(PerLane::All)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<PerLane<T>, E> {
        T::deserialize(number.into_deserializer()).map(PerLane::All)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PerLane<T>, E> {
        T::deserialize(text.into_deserializer()).map(PerLane::All)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<PerLane<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(values)).map(PerLane::Each)
    }
}

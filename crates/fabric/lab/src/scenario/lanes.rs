//! The section on virtual lanes: buffers, credits, crossbar and arbiters.

use super::datelines::DatelineChoice;
use super::section::{Over, section};
use gingham_kernel::Bytes;
use gingham_net::{Allocator, Crossbar, Injection, Reallocation, Scheduler, VcAllocator};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

section! {
/// Lanes of every channel, each with its own buffer and credits (Yum et al. 2002, section 3.1).
pub struct Lanes {
    /// Lane parameters common to all switching kinds with lanes.
    [
        LaneParameters,
        /// Arbiters of ports.
        #[serde(flatten)]
        arbiters: LaneArbiters
    ] {
        /// Number of lanes of every channel, from 1 to 16. Default: from the preset.
        value count: i64,
    }
    [written] {
        /// Number of lanes that each virtual lane (VL) owns if imported tables map service levels
        /// to VLs. VL `v` owns `per_vl` lanes, starting with lane `v * per_vl`, and a packet may
        /// take any lane of its VL. Default: the lanes of a channel are divided equally among the
        /// VLs, up to the highest VL in use.
        #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.6.6; several lanes are ours"))]
        #[schemars(extend("x-needs" = "five-stages"))]
        only per_vl: Option<i64>,
        /// Whether the lanes of a class are divided into dateline classes, which keep rings of
        /// switches free of deadlock. With `true` or `"by-hop"`, a packet moves to a higher
        /// dateline class when it crosses a dateline. With `"by-wrap"`, a packet that will cross
        /// the dateline of a dimension uses the higher class throughout this dimension, which
        /// balances the load of the two classes. Default: `true` if dimension-order routing needs
        /// datelines and every class has enough lanes, and `false` otherwise.
        #[schemars(extend("x-source" = "Dally and Seitz 1987, section IV; by wrap: Scott and Thorson 1994"))]
        #[schemars(extend("x-example" = r#"routing.algorithm = "dimension-order"
network.lanes = { count = 2, datelines = true }"#))]
        only datelines: Option<DatelineChoice>,
    }
    /// Parameters of the five-stage switch.
    [
        PipelineParameters,
        /// Lane parameters.
        #[serde(flatten)]
        lanes: LaneParameters
    ] {
        /// Capacity of a lane buffer at the end of a channel, in flits: a single value or a
        /// per-lane list. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value depth: PerLane<i64>,
        /// Size of a flit, in bytes. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value flit: Bytes,
        /// When a switch forwards a packet to the next switch: a single value or a per-lane list.
        /// Default: from the preset.
        value forwarding: PerLane<Forwarding>,
        /// Capacity of an output lane of a switch, in flits waiting for the link: a single value or
        /// a per-lane list. Default: the capacity of the lane buffers. With 0 for all lanes,
        /// outputs have no queue: a flit crosses the switch only if a credit is available, and
        /// consumes this credit as it crosses.
        #[schemars(extend("x-needs" = "five-stages"))]
        open output_depth: PerLane<i64>,
        /// Cycles from the arrival of a flit at a switch to its entry into the lane buffer. This
        /// pipeline accepts one flit per cycle, so it models switches with a higher delay at an
        /// unchanged rate. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value pipeline_cycles: i64,
        /// Cycles of route computation before a packet requests its output. Route computation for
        /// the next packet of the lane starts only after this request. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value routing_cycles: i64,
        /// Cycles from the release of a credit until it reaches the sender. Default: the delay of
        /// the cable.
        #[schemars(extend("x-source" = "Jiang et al. 2013, credit_delay"))]
        #[schemars(extend("x-needs" = "five-stages"))]
        open credit_delay: i64,
        /// When an output lane can be granted to the next packet. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value reallocation: Reallocation,
        /// VC allocation: how packets that request an output are matched with its lanes. Default:
        /// from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value vc_allocator: VcAllocator,
        /// Number of flits that may cross a switch in a cycle. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value crossbar: Crossbar,
        /// Switch allocation: how inputs and outputs of a multiplexed crossbar are matched.
        /// Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value allocator: Allocator,
        /// Number of crossbar inputs of an input port: how many of its lanes may send through a
        /// multiplexed crossbar in one cycle. The lane number determines the crossbar input.
        /// Default: from the preset.
        #[schemars(extend("x-source" = "Dally and Towles 2004, section 17.2; Jiang et al. 2013, input_speedup"))]
        #[schemars(extend("x-needs" = "five-stages"))]
        value input_speedup: i64,
        /// Number of crossbar outputs of an output port: how many flits, each for another lane, the
        /// port may accept from a multiplexed crossbar in one cycle. Default: from the preset.
        #[schemars(extend("x-source" = "Dally and Towles 2004, section 17.2; Jiang et al. 2013, output_speedup; by output lane is ours"))]
        #[schemars(extend("x-needs" = "five-stages"))]
        value output_speedup: i64,
        /// How an input port of a switch chooses the lane that sends through a multiplexed
        /// crossbar. Default: round robin.
        #[schemars(extend("x-needs" = "five-stages"))]
        value crossbar_input: Scheduler,
        /// How an output port of a multiplexed crossbar chooses among its lanes that can accept a
        /// flit. The chosen lane determines the input that the port grants. Default: round robin
        /// among input ports, regardless of their lanes.
        #[schemars(extend("x-needs" = "five-stages"))]
        open crossbar_output: Scheduler,
        /// Number of packets that a host may send concurrently. Default: from the preset.
        #[schemars(extend("x-needs" = "five-stages"))]
        value injection: Injection,
    }
    /// Arbiters of the ports that send on cables.
    #[derive(Default)]
    [LaneArbiters] {
        /// How a switch output chooses the lane that sends on its cable. Default: round robin.
        value link_output: Scheduler,
        /// How an adapter chooses the lane that sends on its cable. Default: round robin.
        value adapter_port: Scheduler,
    }
}
}

/// When a switch forwards packets of a lane to the next switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// As soon as the next lane has buffer space for the packet's head. The packet may then occupy
    /// several switches.
    #[schemars(extend("x-source" = "Dally and Seitz 1987", "x-needs" = "partial-forwarding"))]
    Wormhole,
    /// Only when the next lane has buffer space for the whole packet, so that a packet never
    /// occupies several switches for long (Kermani and Kleinrock 1979).
    #[schemars(extend("x-source" = "Kermani and Kleinrock 1979"))]
    VirtualCutThrough,
}

impl LaneArbiters {
    /// Returns the arbiters that choose per packet, for switches that send only whole packets.
    pub(super) fn by_packet(self) -> Self {
        Self {
            link_output: self.link_output.by_packet(),
            adapter_port: self.adapter_port.by_packet(),
        }
    }
}

impl Default for PipelineParameters {
    /// Returns the parameters of Yum et al. 2002, sections 3.1 and 4: 16 lanes of 10 flits of 128
    /// bits, five stages, a multiplexed crossbar.
    fn default() -> Self {
        Self {
            lanes: LaneParameters { arbiters: LaneArbiters::default(), count: 16 },
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

/// A single value for all lanes, or a list with one value per lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PerLane<T> {
    /// Value of every lane.
    All(T),
    /// Values by lane number.
    Each(Vec<T>),
}

impl<T: Copy> PerLane<T> {
    /// Returns one value per lane; the error is the length of a list that does not have `count`
    /// values.
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

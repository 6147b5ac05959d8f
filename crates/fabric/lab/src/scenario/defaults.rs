//! Defaults that follow from the fabric.
//!
//! ```text
//!   cable speeds ──fastest generation──► network.preset ──packet payload──► traffic.*.length, .segmentation
//! ```
//!
//! The fastest generation decides, because a switch is as new as its fastest port.

use super::topology::{ScenarioFabric, fabric};
use super::{Preset, ScenarioSource};
use crate::error::LabError;
use gingham_input::InputError;
use gingham_net::Segmentation;
use gingham_net::traffic::{Arrivals, Lengths};
use gingham_topology::{Cable, Fabric, Generation, LinkSpeed, PartialSpeed};

pub(crate) fn completed(
    source: &ScenarioSource,
    origin: &ScenarioFabric,
) -> Result<ScenarioSource, LabError> {
    let mut completed = source.clone();
    let preset = preset(source, origin)?;
    completed.scenario.network.preset = Some(preset);
    let file = preset.file();
    if let Some(packet) = file.datasheet.packet {
        // If the preset's usual payload equals its limit, a limit set in the scenario replaces
        // both, even if it is higher.
        let is_longest = file.network.packet_max == Some(packet);
        let limited = |most| if is_longest { most } else { packet.min(most) };
        let packet = completed.scenario.network.packet_max.map_or(packet, limited);
        for class in &mut completed.scenario.traffic {
            if !matches!(class.arrivals, Arrivals::Schedule(_)) && class.streams.is_none() {
                class.length.get_or_insert(Lengths::Fixed(packet));
            }
            class.segmentation.get_or_insert(Segmentation::Fixed(packet));
        }
    }
    Ok(completed)
}

/// Describes the network for titles, with defaults derived from the fabric.
pub fn describe_network(source: &ScenarioSource) -> Result<String, LabError> {
    let completed = completed(source, &fabric(source)?)?;
    Ok(completed.scenario.network.describe())
}

fn preset(source: &ScenarioSource, origin: &ScenarioFabric) -> Result<Preset, InputError> {
    let network = &source.scenario.network;
    let fabric = &origin.loaded.fabric;
    let fastest = generations(fabric).max();
    match (network.preset, fastest) {
        (Some(preset), Some(_)) if network.link_rate.is_none() => {
            check_speeds(source, preset, fabric).map(|()| preset)
        }
        (Some(preset), _) => Ok(preset),
        (None, Some(fastest)) => Ok(Preset::of_generation(fastest)),
        (None, None) if origin.loaded.is_dump => Err(source.refuse(
            "network.preset",
            "the dump has no cable speeds, which would determine the network: name it, such as network.preset = \
             \"infiniband-ndr\"",
        )),
        (None, None) => Ok(Preset::DEFAULT),
    }
}

/// Rejects an InfiniBand preset if every cable has a known speed of another generation.
fn check_speeds(
    source: &ScenarioSource,
    preset: Preset,
    fabric: &Fabric,
) -> Result<(), InputError> {
    let fits = |generation| preset.stands_for(generation).unwrap_or(true);
    let is_unknown = |cable: &Cable| cable.speed.is_none() && generation(cable).is_none();
    if generations(fabric).any(fits) || fabric.cables().iter().any(is_unknown) {
        return Ok(());
    }
    let fastest_cable = fabric.cables().iter().max_by_key(|cable| cable.speed.map(LinkSpeed::rate));
    let fastest =
        fastest_cable.and_then(Cable::reported_speed).expect("a cable tells its generation");
    let instead = generations(fabric).max().map_or("", |of| Preset::of_generation(of).name());
    let message = format!(
        "no cable of the fabric is one of {}, and the fastest has {fastest}: leave the key out or set \
         \"{instead}\"; or set network.link_rate, if all shall run at another speed",
        preset.name()
    );
    Err(source.refuse("network.preset", message))
}

fn generations(fabric: &Fabric) -> impl Iterator<Item = Generation> {
    fabric.cables().iter().filter_map(generation)
}

fn generation(cable: &Cable) -> Option<Generation> {
    match (cable.speed, cable.partial_speed) {
        (Some(LinkSpeed::InfiniBand { generation, .. }), _)
        | (None, Some(PartialSpeed::Generation(generation))) => Some(generation),
        _ => None,
    }
}

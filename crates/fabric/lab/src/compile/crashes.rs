//! Compilation of host crashes.

use super::classes::{Hosts, matching};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_kernel::Time;
use gingham_net::{NetworkEvent, NetworkEvents};
use gingham_topology::Fabric;
use std::collections::BTreeMap;

pub(super) fn plan(
    source: &ScenarioSource,
    fabric: &Fabric,
    end: Time,
) -> Result<NetworkEvents, LabError> {
    let mut crashes = BTreeMap::new();
    for (index, crash) in source.scenario.network.crashes.iter().enumerate() {
        let at = Time::ZERO + crash.at;
        if at >= end {
            let message = format!(
                "the run is over at {}, before these hosts crash: let them crash earlier, or leave this out",
                end.since(Time::ZERO)
            );
            return Err(source.refuse(&format!("network.crashes.{index}.at"), message).into());
        }
        if crash.hosts.is_empty() {
            let message = "a crash needs at least one host; `[\"*\"]` means all".to_owned();
            return Err(source.refuse(&format!("network.crashes.{index}.hosts"), message).into());
        }
        for (place, pattern) in crash.hosts.iter().enumerate() {
            let matched = matching(fabric, pattern);
            if matched.is_empty() {
                let key = format!("network.crashes.{index}.hosts.{place}");
                let fault = Hosts::of(fabric).unknown(pattern);
                return Err(fault.within(|message| source.refuse(&key, message)));
            }
            for host in matched {
                let earliest = crashes.entry(host).or_insert(at);
                *earliest = at.min(*earliest);
            }
        }
    }
    Ok(crashes.into_iter().map(|(host, at)| (at, NetworkEvent::HostCrash(host))).collect())
}

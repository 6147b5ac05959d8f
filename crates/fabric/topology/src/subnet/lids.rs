//! Owners of LIDs.
//!
//! ```text
//!   LID   4          5          6          7            8
//!   h3[1], lid 4, lmc 2: path 0, path 1, path 2, path 3 s1, lid 8
//! ```
//!
//! A port with LMC `m` has `2^m` consecutive LIDs from its base LID on, each with separate routes.
//! The *LID offset* is the difference from the base LID. A fabric without LIDs is numbered from 1
//! in canonical order, switches first.

use crate::format::{FaultCode, FormatError};
use crate::{EndpointId, Fabric, Guid, NodeId, PortRef};

/// Highest unicast LID [IBA 4.1.3].
pub const LID_MAX: u16 = 0xbfff;

const LMC_MAX: u8 = 7;

/// Owner of a LID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LidOwner {
    /// LID of an endpoint.
    Endpoint {
        /// Endpoint with the LID.
        endpoint: EndpointId,
        /// Difference from the base LID.
        lid_offset: u8,
    },
    /// LID of the management port (port 0) of a switch.
    Switch(NodeId),
}

/// LIDs of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lids {
    owners: Vec<Option<LidOwner>>,
    of_endpoints: Vec<Option<(u16, u8)>>,
    of_switches: Vec<Option<u16>>,
    is_made_up: bool,
}

impl Lids {
    /// Returns the LIDs recorded in the fabric, or assigns LIDs if the fabric records none.
    pub fn of(fabric: &Fabric) -> Result<Self, FormatError> {
        let mut lids = Self::none(fabric);
        for switch in fabric.switches() {
            let (lid, lmc) = address(fabric, PortRef { node: switch, port: 0 });
            lids.of_switches[switch.index()] = lid;
            lids.claim(fabric, lid, lmc, |_| LidOwner::Switch(switch))?;
        }
        for endpoint in fabric.endpoint_ids() {
            let (lid, lmc) = address(fabric, fabric.endpoint(endpoint));
            lids.of_endpoints[endpoint.index()] = lid.map(|lid| (lid, lmc));
            lids.claim(fabric, lid, lmc, |lid_offset| LidOwner::Endpoint { endpoint, lid_offset })?;
        }
        if lids.owners.iter().all(Option::is_none) {
            lids.make_up(fabric)?;
        }
        Ok(lids)
    }

    fn none(fabric: &Fabric) -> Self {
        Self {
            owners: vec![None; usize::from(LID_MAX) + 1],
            of_endpoints: vec![None; fabric.endpoints().len()],
            of_switches: vec![None; fabric.switches().len()],
            is_made_up: false,
        }
    }

    fn claim(
        &mut self,
        fabric: &Fabric,
        first: Option<u16>,
        lmc: u8,
        owner: impl Fn(u8) -> LidOwner,
    ) -> Result<(), FormatError> {
        let Some(first) = first else { return Ok(()) };
        for lid_offset in 0..(1_u8 << lmc) {
            let lid = first.saturating_add(u16::from(lid_offset));
            let Some(place) = self.owners.get_mut(usize::from(lid)) else {
                let owner = name(fabric, owner(lid_offset));
                let message = format!("LID {lid} of {owner} is not a unicast LID");
                return Err(FormatError::whole(message, "expected LIDs from 1 to 49151"));
            };
            if let Some(other) = place.replace(owner(lid_offset)) {
                let [one, two] = [other, owner(lid_offset)].map(|owner| name(fabric, owner));
                let error = FormatError::whole(
                    format!("LID {lid} belongs to {one} and to {two}"),
                    "tables by LID cannot distinguish them: let the subnet manager assign new LIDs, and take all \
                     dumps again",
                );
                return Err(error.coded(FaultCode::Contradiction));
            }
        }
        Ok(())
    }

    fn make_up(&mut self, fabric: &Fabric) -> Result<(), FormatError> {
        self.is_made_up = true;
        let mut next = 1_u16;
        for switch in fabric.switches() {
            self.of_switches[switch.index()] = Some(next);
            self.claim(fabric, Some(next), 0, |_| LidOwner::Switch(switch))?;
            next = next.saturating_add(1);
        }
        for endpoint in fabric.endpoint_ids() {
            self.of_endpoints[endpoint.index()] = Some((next, 0));
            let owner = |lid_offset| LidOwner::Endpoint { endpoint, lid_offset };
            self.claim(fabric, Some(next), 0, owner)?;
            next = next.saturating_add(1);
        }
        Ok(())
    }

    /// Returns the owner of `lid`.
    pub fn owner(&self, lid: u16) -> Option<LidOwner> {
        *self.owners.get(usize::from(lid))?
    }

    /// Returns the LID of an endpoint; the offset is taken modulo the endpoint's number of LIDs.
    pub fn of_endpoint(&self, endpoint: EndpointId, lid_offset: u8) -> Option<u16> {
        let (first, lmc) = self.of_endpoints[endpoint.index()]?;
        Some(first + u16::from(lid_offset % (1 << lmc)))
    }

    /// Returns the number of LIDs of an endpoint.
    pub fn count_of(&self, endpoint: EndpointId) -> u8 {
        self.of_endpoints[endpoint.index()].map_or(0, |(_, lmc)| 1 << lmc)
    }

    /// Returns the LID of a switch.
    pub fn of_switch(&self, switch: NodeId) -> Option<u16> {
        self.of_switches[switch.index()]
    }

    /// Returns the largest number of LIDs of any endpoint, at least 1.
    pub fn lid_offsets(&self) -> u8 {
        self.of_endpoints.iter().flatten().map(|(_, lmc)| 1 << lmc).max().unwrap_or(1)
    }

    /// Returns the LIDs in use with their owners, in ascending order.
    pub fn all(&self) -> impl Iterator<Item = (u16, LidOwner)> {
        (0..=LID_MAX).zip(&self.owners).filter_map(|(lid, owner)| Some((lid, (*owner)?)))
    }

    /// Returns whether [`Self::of`] assigned the LIDs.
    pub fn is_made_up(&self) -> bool {
        self.is_made_up
    }
}

fn address(fabric: &Fabric, port: PortRef) -> (Option<u16>, u8) {
    let address = fabric.node(port.node).addresses.get(&port.port).copied().unwrap_or_default();
    (address.lid.filter(|lid| (1..=LID_MAX).contains(lid)), address.lmc.unwrap_or(0).min(LMC_MAX))
}

pub(super) fn port_guid(fabric: &Fabric, owner: LidOwner) -> Option<Guid> {
    let port = match owner {
        LidOwner::Endpoint { endpoint, .. } => fabric.endpoint(endpoint),
        LidOwner::Switch(switch) => PortRef { node: switch, port: 0 },
    };
    fabric.node(port.node).addresses.get(&port.port)?.guid
}

pub(super) fn name(fabric: &Fabric, owner: LidOwner) -> String {
    match owner {
        LidOwner::Endpoint { endpoint, .. } => fabric.endpoint_name(endpoint),
        LidOwner::Switch(switch) => fabric.node(switch).name.clone(),
    }
}

//! Permutations: which host stands at which place, and where it sends to.
//!
//! ```text
//!   bits, square       the hosts of the class in canonical order, numbered from 0
//!   grid of N / c      cell = place / c; the place within a cell stays
//!   the fabric's grid  cell = the switch; the place among the hosts of a switch stays
//! ```

use super::context::ClassContext;
use super::destinations::Aim;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_model::traffic::{GridPlaces, GridShift, Permutation};
use gingham_topology::Grid;
use gingham_topology::{EndpointId, NodeId};
use std::collections::BTreeMap;

impl ClassContext<'_> {
    pub(super) fn permuted(
        &self,
        hosts: &[EndpointId],
        name: &str,
        permutation: Permutation,
    ) -> Result<Vec<Aim>, LabError> {
        let places = hosts.len();
        let fits = permutation.check(places);
        fits.map_err(|error| self.error("destinations", format!("{name} {error}")))?;
        Ok(self.at_places(hosts, |place| permutation.apply(place, places)))
    }

    pub(super) fn shifted(
        &self,
        hosts: &[EndpointId],
        name: &str,
        shift: GridShift,
        written: &GridPlaces,
        gathered: &mut Gathered,
    ) -> Result<Vec<Aim>, LabError> {
        if let Some(dimensions) = &written.dimensions {
            let sizes = self.sizes(name, dimensions, hosts.len())?;
            let per_cell = hosts.len() / sizes.iter().product::<usize>();
            return Ok(self.at_places(hosts, |place| {
                shift.apply(place / per_cell, &sizes) * per_cell + place % per_cell
            }));
        }
        match self.grid_targets(hosts, shift) {
            Ok((sizes, targets)) => {
                self.note(gathered, format!("{name} on the fabric's grid of {sizes} switches"));
                Ok(self.at_places(hosts, |place| targets[place]))
            }
            Err(why) => {
                let count = hosts.len();
                self.note(gathered, format!("{name} on one ring of {count} hosts, because {why}"));
                Ok(self.at_places(hosts, |place| shift.apply(place, &[count])))
            }
        }
    }

    /// The sizes of a grid that a scenario gives, if the hosts fill its cells equally.
    fn sizes(&self, name: &str, written: &[u32], hosts: usize) -> Result<Vec<usize>, LabError> {
        let cells = written.iter().fold(1_u128, |cells, size| cells.saturating_mul((*size).into()));
        let message = if written.is_empty() || cells == 0 {
            "a grid needs at least one dimension, and each at least one place".to_owned()
        } else if (hosts as u128).is_multiple_of(cells) {
            return Ok(written.iter().map(|size| *size as usize).collect());
        } else {
            format!(
                "{name} on {written:?} needs {cells} hosts or a multiple of them, and the class has {hosts}"
            )
        };
        Err(self.error(&format!("destinations.{name}.dimensions"), message).into())
    }

    /// For each place its target on the fabric's own grid, with the sizes of the grid in words; or
    /// why there is no such grid.
    fn grid_targets(
        &self,
        hosts: &[EndpointId],
        shift: GridShift,
    ) -> Result<(String, Vec<usize>), String> {
        if self.fabric.switches().len() < 2 {
            return Err("the fabric has no grid of switches".to_owned());
        }
        let grid = Grid::recognise(self.fabric).map_err(|error| error.to_string())?;
        let switch_of =
            |host: &EndpointId| self.fabric.target(self.fabric.endpoint_channel(*host)).node;
        let mut on_switch: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (place, host) in hosts.iter().enumerate() {
            on_switch.entry(switch_of(host)).or_default().push(place);
        }
        let counts = self.fabric.switches().map(|s| on_switch.get(&s).map_or(0, Vec::len));
        let equal = counts.collect::<Vec<_>>().windows(2).all(|pair| pair[0] == pair[1]);
        if !equal {
            return Err("the switches of the fabric's grid do not have equally many of them".into());
        }
        let target = |(place, host): (usize, &EndpointId)| {
            let switch = switch_of(host);
            let local = on_switch[&switch].iter().position(|other| *other == place);
            on_switch[&shifted_switch(&grid, switch, shift)][local.expect("a host on its switch")]
        };
        let targets = hosts.iter().enumerate().map(target).collect();
        let sizes: Vec<String> = grid.dimensions().iter().map(u32::to_string).collect();
        Ok((sizes.join(" x "), targets))
    }
}

fn shifted_switch(grid: &Grid, switch: NodeId, shift: GridShift) -> NodeId {
    let sizes: Vec<usize> = grid.dimensions().iter().map(|size| *size as usize).collect();
    let at: Vec<usize> =
        (0..sizes.len()).map(|dimension| grid.coordinate(switch, dimension) as usize).collect();
    let target = shift.apply_to(&at, &sizes);
    let target: Vec<u32> =
        target.iter().map(|at| u32::try_from(*at).expect("a coordinate fits 32 bits")).collect();
    grid.switch_at(&target).expect("a shift stays on the grid")
}

//! Stencils: each message to one of the neighbours of its host on a grid.
//!
//! ```text
//!   the grid       as for shifts (`permutations.rs`); the place within a cell stays
//!   its edges      wrap around as `wrap` sets, else as the cables of the fabric's own grid
//! ```

use super::context::ClassContext;
use super::destinations::{Aim, UNREACHABLE};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_model::traffic::{OtherHosts, Stencil, StencilPlaces};
use gingham_topology::EndpointId;

impl ClassContext<'_> {
    /// Destinations of a stencil, with a note on the number of neighbours of a host.
    pub(super) fn stencil(
        &self,
        hosts: &[EndpointId],
        written: &StencilPlaces,
        gathered: &mut Gathered,
    ) -> Result<Vec<Aim>, LabError> {
        let layout = self.layout(hosts, "stencil", written.dimensions.as_deref(), gathered)?;
        let wraps = written.wrap.map_or(layout.wraps, |wrap| vec![wrap; layout.sizes.len()]);
        let stencil = Stencil { dimensions: layout.sizes, wraps, diagonals: written.diagonals };
        let by_cell: Vec<Vec<usize>> =
            (0..layout.cells.len()).map(|cell| stencil.neighbours(cell)).collect();
        let counts = || by_cell.iter().map(Vec::len);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        self.note(gathered, format!("stencil: each host has {range} neighbours"));
        let aim = |(host, (cell, local)): (&EndpointId, &(usize, usize))| {
            let cells = &by_cell[*cell];
            if cells.is_empty() {
                return Aim::Nowhere("have no neighbour");
            }
            let neighbours = cells.iter().map(|cell| hosts[layout.cells[*cell][*local]]);
            let mut among: Vec<EndpointId> =
                neighbours.filter(|other| self.hosts.joined(*host, *other)).collect();
            among.sort_unstable();
            Self::uniform_among(OtherHosts { among: among.into(), own: 0..0 }, UNREACHABLE)
        };
        Ok(hosts.iter().zip(&layout.cell_of).map(aim).collect())
    }
}

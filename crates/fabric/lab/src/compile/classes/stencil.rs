//! Stencils: each message goes to a neighbour of its host on a grid.
//!
//! ```text
//!   the grid       as for shifts (`permutations.rs`); the index within a cell is kept
//!   its edges      wrap around according to `wrap`; default: as in the fabric's grid, else always
//! ```

use super::context::ClassContext;
use super::destinations::{Aim, UNREACHABLE};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_net::traffic::{OtherHosts, Stencil, StencilPlaces};
use gingham_topology::EndpointId;

/// Maximum number of pairs of a host and a neighbour: all pairs among 4,096 hosts.
const PAIRS_MAX: usize = 1 << 24;

pub(super) fn stencil(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    written: &StencilPlaces,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    let layout = super::permutations::layout(
        context,
        hosts,
        "stencil",
        written.dimensions.as_deref(),
        gathered,
    )?;
    let wraps = written.wrap.map_or(layout.wraps, |wrap| vec![wrap; layout.sizes.len()]);
    let stencil = Stencil { dimensions: layout.sizes, wraps, diagonals: written.diagonals };
    let counts: Vec<usize> =
        (0..layout.cells.len()).map(|cell| stencil.neighbour_count(cell)).collect();
    let least = counts.iter().min().copied().unwrap_or(0);
    let most = counts.iter().max().copied().unwrap_or(0);
    let pairs = layout.cell_of.iter().map(|(cell, _)| counts[*cell]);
    if pairs.fold(0, usize::saturating_add) > PAIRS_MAX {
        let message = format!(
            "{} hosts with up to {most} neighbours each are more than {PAIRS_MAX} pairs: leave out `diagonals`, or \
             take a grid of fewer dimensions",
            hosts.len()
        );
        return Err(context.error("destinations.stencil", message).into());
    }
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    context.note(gathered, format!("stencil: each host has {range} neighbours"));
    let by_cell: Vec<Vec<usize>> =
        (0..layout.cells.len()).map(|cell| stencil.neighbours(cell)).collect();
    let aim = |(host, (cell, local)): (&EndpointId, &(usize, usize))| {
        let neighbours = by_cell[*cell].iter().map(|cell| hosts[layout.cells[*cell][*local]]);
        let mut neighbours: Vec<EndpointId> = neighbours
            .filter(|other| !super::chosen_hosts::is_own(context, *host, *other))
            .collect();
        if neighbours.is_empty() {
            return Aim::Nowhere("have no neighbour");
        }
        neighbours.retain(|other| context.hosts.joined(*host, *other));
        neighbours.sort_unstable();
        super::destinations::uniform_among(
            OtherHosts { among: neighbours.into(), own: 0..0 },
            UNREACHABLE,
        )
    };
    Ok(hosts.iter().zip(&layout.cell_of).map(aim).collect())
}

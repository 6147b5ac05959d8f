//! Permutations: the index of each host determines the index of its destination.
//!
//! ```text
//!   bits, square       the hosts of the class in canonical order, numbered from 0
//!   grid of N / c      cell = index / c; the index within a cell is kept
//!   the fabric's grid  cell = the switch; the index among the hosts of a switch is kept
//! ```

use super::context::ClassContext;
use super::destinations::Aim;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_net::traffic::{GridPlaces, GridShift, Permutation};
use gingham_topology::Grid;
use gingham_topology::{EndpointId, NodeId};

pub(super) fn permuted(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    name: &str,
    permutation: Permutation,
) -> Result<Vec<Aim>, LabError> {
    let places = hosts.len();
    let fits = permutation.check(places);
    fits.map_err(|error| context.error("destinations", format!("{name} {error}")))?;
    Ok(super::destinations::at_places(context, hosts, |place| permutation.apply(place, places)))
}

pub(super) fn shifted(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    name: &str,
    shift: GridShift,
    written: &GridPlaces,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    let layout = layout(context, hosts, name, written.dimensions.as_deref(), gathered)?;
    Ok(super::destinations::at_places(context, hosts, |place| {
        let (cell, local) = layout.cell_of[place];
        layout.cells[shift.apply(cell, &layout.sizes)][local]
    }))
}

/// Returns the grid of the hosts: the scenario's grid, or else the fabric's, or else a ring.
pub(super) fn layout(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    name: &str,
    written: Option<&[u32]>,
    gathered: &mut Gathered,
) -> Result<Layout, LabError> {
    if let Some(dimensions) = written {
        return Ok(Layout::in_order(sizes(context, name, dimensions, hosts.len())?, hosts.len()));
    }
    match fabric_layout(context, hosts) {
        Ok(layout) => {
            let sizes: Vec<String> = layout.sizes.iter().map(usize::to_string).collect();
            let sizes = sizes.join(" x ");
            context.note(gathered, format!("{name} on the fabric's grid of {sizes} switches"));
            Ok(layout)
        }
        Err(why) => {
            let count = hosts.len();
            context.note(gathered, format!("{name} on one ring of {count} hosts, because {why}"));
            Ok(Layout::in_order(vec![count], count))
        }
    }
}

fn sizes(
    context: &ClassContext<'_>,
    name: &str,
    written: &[u32],
    hosts: usize,
) -> Result<Vec<usize>, LabError> {
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
    Err(context.error(&format!("destinations.{name}.dimensions"), message).into())
}

fn fabric_layout(context: &ClassContext<'_>, hosts: &[EndpointId]) -> Result<Layout, String> {
    if context.fabric.switches().len() < 2 {
        return Err("the fabric has no grid of switches".to_owned());
    }
    let grid = Grid::recognise(context.fabric).map_err(|error| error.to_string())?;
    let sizes: Vec<usize> = grid.dimensions().iter().map(|size| *size as usize).collect();
    let cell_of_switch = |switch: NodeId| {
        let at = (0..sizes.len()).map(|of| grid.coordinate(switch, of) as usize);
        at.zip(&sizes).fold(0, |cell, (at, size)| cell * size + at)
    };
    let mut cells = vec![Vec::new(); sizes.iter().product()];
    for (place, host) in hosts.iter().enumerate() {
        let switch = context.fabric.target(context.fabric.endpoint_channel(*host)).node;
        if !context.fabric.node(switch).is_switch() {
            return Err("a host of the class has no switch".to_owned());
        }
        cells[cell_of_switch(switch)].push(place);
    }
    if cells.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        return Err("the switches of the fabric's grid do not have equally many of them".into());
    }
    let wraps = grid.wraps().to_vec();
    Ok(Layout::new(sizes, wraps, cells))
}

/// Assignment of hosts to grid cells, with the same number of hosts in each cell.
pub(super) struct Layout {
    /// Number of cells in each dimension; the last dimension varies fastest.
    pub(super) sizes: Vec<usize>,
    pub(super) wraps: Vec<bool>,
    pub(super) cells: Vec<Vec<usize>>,
    /// Cell of each host, and the index of the host within this cell.
    pub(super) cell_of: Vec<(usize, usize)>,
}

impl Layout {
    fn new(sizes: Vec<usize>, wraps: Vec<bool>, cells: Vec<Vec<usize>>) -> Self {
        let mut cell_of = vec![(0, 0); cells.iter().map(Vec::len).sum()];
        for (cell, places) in cells.iter().enumerate() {
            for (local, place) in places.iter().enumerate() {
                cell_of[*place] = (cell, local);
            }
        }
        Self { sizes, wraps, cells, cell_of }
    }

    fn in_order(sizes: Vec<usize>, places: usize) -> Self {
        let per_cell = places / sizes.iter().product::<usize>();
        let cells = (0..places).step_by(per_cell.max(1));
        let cells = cells.map(|first| (first..first + per_cell).collect()).collect();
        let wraps = vec![true; sizes.len()];
        Self::new(sizes, wraps, cells)
    }
}

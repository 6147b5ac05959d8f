//! Common base of mesh, torus, ring and hypercube: a grid of switches, cabled to their neighbours.
//!
//! ```text
//!   dimensions = [2, 3]        s0-0 ── s0-1 ── s0-2       the last coordinate varies fastest:
//!                               │       │       │         cells 0, 1, 2
//!                              s1-0 ── s1-1 ── s1-2       cells 3, 4, 5
//! ```
//!
//! Port order on a switch: hosts, then neighbours by dimension. A switch has no port for a
//! dimension of size 1 and one port for a dimension of size 2. For larger dimensions it has two:
//! first down (towards smaller coordinates), then up.

use super::GenerateError;
use super::draft::{Draft, Size};
use super::error::at_least;
use crate::grid::strides;
use crate::{DraftNode, Fabric};

/// Maximum number of dimensions; a fabric of a million nodes has at most 19 dimensions of size 2.
const DIMENSIONS_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct Lattice<'a> {
    pub(super) parameter: (&'static str, &'a dyn std::fmt::Debug),
    pub(super) dimensions: &'a [u32],
    pub(super) wraps: bool,
    pub(super) hosts_per_switch: u32,
}

impl Lattice<'_> {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        self.check()?;
        let mut draft = Draft::default();
        let switches = self.add_nodes(&mut draft);
        let mut port_down = self.hosts_per_switch + 1;
        for (size, stride) in self.dimensions.iter().zip(strides(self.dimensions)) {
            self.add_cables(&mut draft, &switches, *size, stride, port_down);
            port_down += ports_of_dimension(*size);
        }
        Ok(draft.build())
    }

    fn check(&self) -> Result<(), GenerateError> {
        let (parameter, value) = self.parameter;
        let refuse = |expected: String| GenerateError::OutOfRange {
            parameter,
            value: format!("{value:?}"),
            expected,
        };
        if self.dimensions.is_empty() {
            return Err(refuse("at least one dimension".to_owned()));
        }
        if self.dimensions.len() > DIMENSIONS_MAX {
            return Err(refuse(format!("at most {DIMENSIONS_MAX} dimensions")));
        }
        if self.dimensions.contains(&0) {
            return Err(refuse("each size to be at least 1".to_owned()));
        }
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        let hosts_per_switch = u128::from(self.hosts_per_switch);
        Size { switches: 1, hosts: hosts_per_switch, ports_per_switch: hosts_per_switch }
            .check("hosts_per_switch", &self.hosts_per_switch)?;
        self.size().check(parameter, value)
    }

    fn size(&self) -> Size {
        let sizes = self.dimensions.iter();
        let switches = sizes.fold(1_u128, |product, size| product.saturating_mul((*size).into()));
        let ports: u32 = self.dimensions.iter().copied().map(ports_of_dimension).sum();
        let hosts_per_switch = u128::from(self.hosts_per_switch);
        Size {
            switches,
            hosts: switches.saturating_mul(hosts_per_switch),
            ports_per_switch: hosts_per_switch + u128::from(ports),
        }
    }

    fn add_nodes(&self, draft: &mut Draft) -> Vec<DraftNode> {
        let cell_count: usize = self.dimensions.iter().map(|size| *size as usize).product();
        let ports: u32 = self.dimensions.iter().copied().map(ports_of_dimension).sum();
        let strides = strides(self.dimensions);
        let mut switches = Vec::with_capacity(cell_count);
        for cell in 0..cell_count {
            let coordinate = |(size, stride): (&u32, &usize)| cell / stride % *size as usize;
            let coordinates: Vec<String> = self
                .dimensions
                .iter()
                .zip(&strides)
                .map(|dimension| coordinate(dimension).to_string())
                .collect();
            let coordinates = coordinates.join("-");
            let switch = draft.switch(&format!("s{coordinates}"), self.hosts_per_switch + ports);
            draft.hosts_at(switch, &coordinates, self.hosts_per_switch);
            switches.push(switch);
        }
        switches
    }

    fn add_cables(
        &self,
        draft: &mut Draft,
        switches: &[DraftNode],
        size: u32,
        stride: usize,
        port_down: u32,
    ) {
        let port_up = (port_down + ports_of_dimension(size)).saturating_sub(1);
        let size = size as usize;
        for (cell, switch) in switches.iter().enumerate() {
            let above = if cell / stride % size + 1 < size {
                cell + stride
            } else if self.wraps && size > 2 {
                cell - (size - 1) * stride
            } else {
                continue;
            };
            draft.cable((*switch, port_up), (switches[above], port_down));
        }
    }
}

fn ports_of_dimension(size: u32) -> u32 {
    size.saturating_sub(1).min(2)
}

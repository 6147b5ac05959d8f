//! Switch coordinates, recognised by name for dimension-order routing.
//!
//! ```text
//!   names                    coordinates            cables
//!   s0-0   s0-1   s0-2       (0,0) (0,1) (0,2)      s0-0 ── s0-1 ── s0-2     [2, 3]
//!   s1-0   s1-1   s1-2   ──► (1,0) (1,1) (1,2)  ──►  │       │       │       wraps: no, no
//!                                                   s1-0 ── s1-1 ── s1-2
//! ```
//!
//! The numbers in a switch's description (or name, if the description is empty) are its
//! coordinates, relative to the smallest number at the same position. Every cable between switches
//! must join neighbours in exactly one dimension, and all neighbours must be joined. In each
//! dimension, either all lines or no lines are closed to rings. Parallel cables are permitted.
//!
//! Invariants: coordinates are unique and every cell has a switch; `step` follows a cable.

use crate::{Cable, Fabric, NodeId};

/// Grid coordinates of every switch, checked against the cables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    dimensions: Vec<u32>,
    wraps: Vec<bool>,
    strides: Vec<usize>,
    switches: Vec<NodeId>,
    cells: Vec<usize>,
    coordinates: Vec<u32>,
}

/// Reason why a fabric is not a grid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// The fabric has no switches.
    #[error("a grid needs switches, and the fabric has none")]
    NoSwitches,
    /// A description contains no number.
    #[error("{switch:?} holds no number; a switch of a grid has its coordinates in its name")]
    NoNumbers {
        /// Switch description.
        switch: String,
    },
    /// A coordinate exceeds 32 bits.
    #[error("{switch:?} holds a number too large for a coordinate")]
    NumberTooLarge {
        /// Switch description.
        switch: String,
    },
    /// Descriptions contain different numbers of coordinates.
    #[error("{switch:?} holds {count} numbers, but {other:?} holds {other_count}")]
    CountDiffers {
        /// Description of the first switch.
        switch: String,
        /// Number of coordinates in `switch`.
        count: usize,
        /// First description with a different number of coordinates.
        other: String,
        /// Number of coordinates in `other`.
        other_count: usize,
    },
    /// Two switches have equal coordinates.
    #[error("{first} and {second} have the same coordinates")]
    SamePlace {
        /// Name of the first switch.
        first: String,
        /// Name of the second switch.
        second: String,
    },
    /// A cell has no switch.
    #[error("no switch stands at {coordinates:?} of the box {dimensions:?}")]
    EmptyPlace {
        /// Coordinates of the cell, each from 0.
        coordinates: Vec<u32>,
        /// Sizes of all dimensions.
        dimensions: Vec<u32>,
    },
    /// A cable joins switches that are not neighbours.
    #[error("the cable {cable} joins no neighbours of a grid {dimensions:?}")]
    StrayCable {
        /// Both ports of the cable.
        cable: String,
        /// Sizes of all dimensions.
        dimensions: Vec<u32>,
    },
    /// Two neighbours are not joined by a cable.
    #[error("{first} and {second} are neighbours in dimension {dimension} without a cable")]
    MissingCable {
        /// Name of the switch with the lower coordinate.
        first: String,
        /// Name of the switch with the higher coordinate.
        second: String,
        /// 0-based dimension index.
        dimension: usize,
    },
    /// Only some lines of a dimension are closed to rings.
    #[error(
        "dimension {dimension} closes to a ring from {closed} and does not from {open}; \
         all of its lines must be alike"
    )]
    HalfClosed {
        /// 0-based dimension index.
        dimension: usize,
        /// Name of the last switch of a closed line.
        closed: String,
        /// Name of the last switch of an open line.
        open: String,
    },
}

impl Grid {
    /// Recognises the grid of a fabric.
    ///
    /// # Errors
    /// The first switch or cable that does not fit is reported.
    pub fn recognise(fabric: &Fabric) -> Result<Self, GridError> {
        let mut coordinates = read_coordinates(fabric)?;
        count_from_smallest(&mut coordinates);
        let dimensions = check_box(fabric, &coordinates)?;
        let mut grid = Self::place(dimensions, &coordinates);
        grid.check_cables(fabric)?;
        Ok(grid)
    }

    /// Returns the size of each dimension.
    pub fn dimensions(&self) -> &[u32] {
        &self.dimensions
    }

    /// Returns, for each dimension, whether its lines are closed to rings; false for sizes up to 2.
    pub fn wraps(&self) -> &[bool] {
        &self.wraps
    }

    /// Returns the switch at these coordinates; `None` outside the grid.
    pub fn switch_at(&self, coordinates: &[u32]) -> Option<NodeId> {
        let inside = coordinates.len() == self.dimensions.len()
            && coordinates.iter().zip(&self.dimensions).all(|(at, size)| at < size);
        let cell = |()| coordinates.iter().zip(&self.strides).map(|(at, s)| *at as usize * s).sum();
        inside.then_some(()).map(cell).map(|cell: usize| self.switches[cell])
    }

    /// Returns one coordinate of a switch. Panics if `switch` is not a switch or `dimension` is out
    /// of range.
    pub fn coordinate(&self, switch: NodeId, dimension: usize) -> u32 {
        let count = self.dimensions.len();
        self.coordinates[switch.index() * count..][..count][dimension]
    }

    /// Returns the neighbour of a switch in one dimension; `up` means towards larger coordinates.
    /// Steps wrap around only in rings. Panics like [`Self::coordinate`].
    pub fn step(&self, switch: NodeId, dimension: usize, up: bool) -> Option<NodeId> {
        let (at, last) = (self.coordinate(switch, dimension), self.dimensions[dimension] - 1);
        let cell = self.cells[switch.index()];
        let stride = self.strides[dimension];
        let across = last as usize * stride;
        let next = match (up, self.wraps[dimension]) {
            (true, _) if at < last => cell + stride,
            (false, _) if at > 0 => cell - stride,
            (true, true) => cell - across,
            (false, true) => cell + across,
            (_, false) => return None,
        };
        Some(self.switches[next])
    }

    fn place(dimensions: Vec<u32>, coordinates: &[Vec<u32>]) -> Self {
        let strides = strides(&dimensions);
        let cell = |at: &Vec<u32>| at.iter().zip(&strides).map(|(at, s)| *at as usize * s).sum();
        let cells: Vec<usize> = coordinates.iter().map(cell).collect();
        let mut switches = vec![NodeId::new(0); cells.len()];
        for (index, cell) in cells.iter().enumerate() {
            switches[*cell] = NodeId::new(index);
        }
        let wraps = vec![false; dimensions.len()];
        let coordinates = coordinates.concat();
        Self { dimensions, wraps, strides, switches, cells, coordinates }
    }

    fn check_cables(&mut self, fabric: &Fabric) -> Result<(), GridError> {
        // For each dimension and cell, whether a cable leads to the next cell.
        let mut cabled = vec![vec![false; self.cells.len()]; self.dimensions.len()];
        let is_switch = |node: NodeId| fabric.node(node).is_switch();
        for cable in fabric.cables().iter().filter(|c| c.ends.iter().all(|e| is_switch(e.node))) {
            let (dimension, lower) = self.span(cable).ok_or_else(|| GridError::StrayCable {
                cable: cable.ends.map(|end| fabric.port_name(end)).join(" -- "),
                dimensions: self.dimensions.clone(),
            })?;
            cabled[dimension][self.cells[lower.index()]] = true;
        }
        for (dimension, cabled) in cabled.iter().enumerate() {
            self.check_neighbours(fabric, dimension, cabled)?;
            self.wraps[dimension] = self.check_circles(fabric, dimension, cabled)?;
        }
        Ok(())
    }

    /// Returns a cable's dimension and its lower end; for a cable that closes a ring, the end with
    /// the largest coordinate instead.
    fn span(&self, cable: &Cable) -> Option<(usize, NodeId)> {
        let [a, b] = cable.ends.map(|end| end.node);
        let differs =
            |dimension: &usize| self.coordinate(a, *dimension) != self.coordinate(b, *dimension);
        let mut differing = (0..self.dimensions.len()).filter(differs);
        let (dimension, None) = (differing.next()?, differing.next()) else { return None };
        let [at_a, at_b] = [a, b].map(|end| self.coordinate(end, dimension));
        let (low, high) = if at_a < at_b { (a, b) } else { (b, a) };
        if at_a.abs_diff(at_b) == 1 {
            Some((dimension, low))
        } else {
            (at_a.abs_diff(at_b) == self.dimensions[dimension] - 1).then_some((dimension, high))
        }
    }

    fn check_neighbours(
        &self,
        fabric: &Fabric,
        dimension: usize,
        cabled: &[bool],
    ) -> Result<(), GridError> {
        for (cell, switch) in self.switches.iter().enumerate().filter(|(cell, _)| !cabled[*cell]) {
            if self.coordinate(*switch, dimension) + 1 < self.dimensions[dimension] {
                let above = self.switches[cell + self.strides[dimension]];
                let [first, second] = [*switch, above].map(|node| fabric.node(node).name.clone());
                return Err(GridError::MissingCable { first, second, dimension });
            }
        }
        Ok(())
    }

    fn check_circles(
        &self,
        fabric: &Fabric,
        dimension: usize,
        cabled: &[bool],
    ) -> Result<bool, GridError> {
        let last = self.dimensions[dimension] - 1;
        let is_last = |switch: &&NodeId| self.coordinate(**switch, dimension) == last;
        let is_closed = |switch: &&&NodeId| cabled[self.cells[switch.index()]];
        let ends: Vec<&NodeId> = self.switches.iter().filter(is_last).collect();
        let closed = ends.iter().find(|switch| is_closed(switch));
        let open = ends.iter().find(|switch| !is_closed(switch));
        match (closed, open) {
            (Some(closed), Some(open)) => Err(GridError::HalfClosed {
                dimension,
                closed: fabric.node(**closed).name.clone(),
                open: fabric.node(**open).name.clone(),
            }),
            _ => Ok(closed.is_some()),
        }
    }
}

/// Returns, for each dimension, the difference between the cell indices of neighbours.
pub(crate) fn strides(dimensions: &[u32]) -> Vec<usize> {
    let mut strides = vec![1; dimensions.len()];
    for dimension in (1..dimensions.len()).rev() {
        strides[dimension - 1] = strides[dimension] * dimensions[dimension] as usize;
    }
    strides
}

fn read_coordinates(fabric: &Fabric) -> Result<Vec<Vec<u32>>, GridError> {
    let texts: Vec<&str> = fabric.switches().map(|switch| place_text(fabric, switch)).collect();
    let numbers = |text: &&str| {
        numbers_in(text).ok_or_else(|| GridError::NumberTooLarge { switch: (*text).to_owned() })
    };
    let coordinates: Vec<Vec<u32>> = texts.iter().map(numbers).collect::<Result<_, _>>()?;
    let first = coordinates.first().ok_or(GridError::NoSwitches)?;
    if first.is_empty() {
        return Err(GridError::NoNumbers { switch: texts[0].to_owned() });
    }
    match coordinates.iter().position(|numbers| numbers.len() != first.len()) {
        None => Ok(coordinates),
        Some(index) => Err(GridError::CountDiffers {
            switch: texts[0].to_owned(),
            count: first.len(),
            other: texts[index].to_owned(),
            other_count: coordinates[index].len(),
        }),
    }
}

/// Returns the text that contains the coordinates: preferably the description, because unique names
/// may be GUIDs.
fn place_text(fabric: &Fabric, switch: NodeId) -> &str {
    let node = fabric.node(switch);
    if node.description.is_empty() { &node.name } else { &node.description }
}

fn numbers_in(text: &str) -> Option<Vec<u32>> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().ok()).collect()
}

fn count_from_smallest(coordinates: &mut [Vec<u32>]) {
    for dimension in 0..coordinates[0].len() {
        let smallest = coordinates.iter().map(|at| at[dimension]).min().unwrap_or(0);
        for at in coordinates.iter_mut() {
            at[dimension] -= smallest;
        }
    }
}

fn check_box(fabric: &Fabric, coordinates: &[Vec<u32>]) -> Result<Vec<u32>, GridError> {
    let mut order: Vec<usize> = (0..coordinates.len()).collect();
    order.sort_by_key(|index| &coordinates[*index]);
    let name = |index: usize| fabric.node(NodeId::new(index)).name.clone();
    if let Some(pair) = order.windows(2).find(|pair| coordinates[pair[0]] == coordinates[pair[1]]) {
        return Err(GridError::SamePlace { first: name(pair[0]), second: name(pair[1]) });
    }
    let largest = |dimension: usize| coordinates.iter().map(|at| at[dimension]).max();
    let dimensions: Vec<u32> = (0..coordinates[0].len())
        .map(|dimension| largest(dimension).unwrap_or(0).saturating_add(1))
        .collect();
    // Sorted coordinates enumerate the cells up to the first gap.
    let mut place = vec![0; dimensions.len()];
    for index in order {
        if coordinates[index] != place {
            return Err(GridError::EmptyPlace { coordinates: place, dimensions });
        }
        advance(&mut place, &dimensions);
    }
    if place.iter().any(|at| *at > 0) {
        return Err(GridError::EmptyPlace { coordinates: place, dimensions });
    }
    Ok(dimensions)
}

fn advance(place: &mut [u32], dimensions: &[u32]) {
    for (at, size) in place.iter_mut().zip(dimensions).rev() {
        *at += 1;
        if *at < *size {
            return;
        }
        *at = 0;
    }
}

//! Who waits for whom in a network of virtual lanes.

use crate::lanes::simulation::Simulation;
use gingham_model::WaitCycle;

/// A circle of waits, if there is one.
pub(crate) fn find_cycle(_simulation: &Simulation) -> Option<WaitCycle> {
    None
}

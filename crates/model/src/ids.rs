//! What is counted, by its number.

use gingham_kernel::id_type;
use std::num::NonZeroU32;

id_type!(
    /// A traffic class, in the order of the scenario.
    ClassId
);

id_type!(
    /// A message, in order of creation.
    MessageId
);

id_type!(
    /// A message under way; reused once it was delivered.
    AssemblyId
);

/// A flow: the packets of a class from one endpoint to another, numbered at first use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(NonZeroU32);

impl FlowId {
    /// The id of the flow at `index`. Panics beyond 32 bits.
    pub fn new(index: usize) -> Self {
        let number = u32::try_from(index).ok().and_then(|index| index.checked_add(1));
        Self(number.and_then(NonZeroU32::new).expect("an id fits 32 bits"))
    }

    /// The position this id stands for.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

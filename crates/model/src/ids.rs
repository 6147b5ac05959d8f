//! What is counted, by its number.

use gingham_kernel::id_type;

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

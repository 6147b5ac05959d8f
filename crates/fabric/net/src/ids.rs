//! Numeric ids.

use gingham_kernel::{id_type, optional_id_type};

id_type!(
    /// A traffic class, in the order of the scenario.
    ClassId
);

id_type!(
    /// A message among those of its source, in order of creation.
    MessageNumber
);

optional_id_type!(
    /// Storage slot of a message in progress, reused after its delivery.
    MessageSlot
);

optional_id_type!(
    /// A stream, in the order of classes and of the sources of each; only sources with streams
    /// count.
    StreamId
);

optional_id_type!(
    /// A flow: the packets of a class from one endpoint to another, or of one stream among them,
    /// numbered at first use.
    FlowId
);

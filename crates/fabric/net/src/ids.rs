//! Numeric identifiers.

use gingham_kernel::{id_type, optional_id_type};

id_type!(
    /// Index of a traffic class, in scenario order.
    ClassId
);

id_type!(
    /// Number of a message at its source, in order of creation.
    MessageNumber
);

optional_id_type!(
    /// Storage slot of a message in progress, reused after delivery.
    MessageSlot
);

optional_id_type!(
    /// Index of a stream, in the order of the classes and of the sources within each class.
    StreamId
);

optional_id_type!(
    /// Index of a flow, in order of first use. A flow contains all packets of a class from one
    /// endpoint to another, or only the packets of one stream.
    FlowId
);

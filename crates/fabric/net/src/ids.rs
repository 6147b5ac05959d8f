use gingham_kernel::{id_type, optional_id_type};

id_type!(
    /// A traffic class, numbered in scenario order.
    ClassId
);

id_type!(
    /// A message, numbered in order of creation at its source.
    MessageNumber
);

optional_id_type!(
    /// Storage slot of a message in progress, reused after delivery.
    MessageSlot
);

optional_id_type!(
    /// A stream, numbered in the order of classes and, within a class, of its sources with streams.
    StreamId
);

optional_id_type!(
    /// A flow, numbered at first use: all packets of a class from one endpoint to another, or only
    /// those of one stream.
    FlowId
);

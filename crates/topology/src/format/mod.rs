//! File formats of fabrics.

//! Generators of fabrics.

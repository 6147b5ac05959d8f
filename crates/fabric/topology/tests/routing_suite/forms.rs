//! Forms of routes: the algorithms that forwarding tables can represent.

use crate::support::mesh;
use gingham_topology::routing::{Algorithm, Form, RouteError, route};

#[test]
fn algorithms_without_tables_refuse_the_table_form() {
    for algorithm in Algorithm::every() {
        let refused = route(&mesh(&[2]), &algorithm, Form::Table).err();
        let expected = RouteError::SourceFormOnly { algorithm: algorithm.name() };
        assert_eq!(refused, (!algorithm.has_tables()).then_some(expected));
    }
}

//! The Python module `gingham._core`: conversions between Python and the laboratory.
//!
//! ```text
//!   gingham._native  ──►  _core  ──►  gingham-lab, gingham-topology
//!        str, bytes, dict │  ▲ typed values
//!                         ▼  │
//!        gingham.errors.InputError, DeadlockError ◄── typed errors
//! ```
//!
//! Invariants: the module contains no logic and prints nothing; panics become Python exceptions;
//! long computations release the GIL.
//!
//! `python/gingham/_core.pyi` describes the module; a test compares the two.

mod cluster;
mod error;
mod fabric;
mod finding;
mod json;
mod patience;
mod queueing;
mod request;
mod routes;
mod run;
mod scenario;
mod slurm;
mod stripe;
mod subnet;
mod sweep;
mod tables;

use pyo3::pymodule;

#[pymodule]
mod _core {
    use pyo3::pyfunction;

    #[pymodule_export]
    use crate::cluster::{Cluster, max_min_rates};
    #[pymodule_export]
    use crate::fabric::{Fabric, formats};
    #[pymodule_export]
    use crate::queueing::{serve_queues, share_load};
    #[pymodule_export]
    use crate::routes::{Routes, table_algorithms};
    #[pymodule_export]
    use crate::run::{
        Simulation, catalogue, network_said, old_names, other_names, result_schema, routes_title,
        scenario_schema, student_t, switching_kinds,
    };
    #[pymodule_export]
    use crate::scenario::{Scenario, StripeScenario};
    #[pymodule_export]
    use crate::slurm::slurm_yaml;
    #[pymodule_export]
    use crate::stripe::{StripeSimulation, stripe_result_schema, stripe_schema};
    #[pymodule_export]
    use crate::subnet::{load_arbitration, qos_conf};
    #[pymodule_export]
    use crate::sweep::SweepFile;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Panics with `message`, to test how Python reports an internal error.
    #[pyfunction]
    fn panic(message: &str) {
        panic!("{message}");
    }
}

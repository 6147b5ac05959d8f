//! The Python module `gingham._core`: conversions between Python and the laboratory.

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    /// The version of the compiled core.
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Panics with `message`.
    #[pyfunction]
    fn panic(message: &str) {
        panic!("{message}");
    }
}

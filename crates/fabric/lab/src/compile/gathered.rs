//! Notes and other data that a compilation collects in addition to its plan.

use gingham_input::FileRead;

#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) notes: Vec<String>,
    pub(crate) files: Vec<FileRead>,
}

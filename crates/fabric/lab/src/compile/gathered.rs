//! What a compilation collects beside its plan.

use gingham_input::FileRead;

/// Notes, and the files that were read.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) notes: Vec<String>,
    pub(super) files: Vec<FileRead>,
}

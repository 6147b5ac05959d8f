//! Format numbers of scenarios and sweep files.
//!
//! ```toml
//! format = 1
//! ```
//!
//! The number is checked first, because later formats may have unknown keys.

use crate::value::Data;
use crate::{InputError, Tree};

const KEY: &str = "format";

/// Current format number.
pub const FORMAT: u32 = 1;

/// Returns the format of files without the key `format`.
pub const fn present() -> u32 {
    FORMAT
}

pub(crate) fn require_present(tree: &Tree) -> Result<(), InputError> {
    let Some(Data::Integer(number)) = tree.get(KEY).map(|value| &value.data) else {
        return Ok(());
    };
    if *number > i64::from(FORMAT) {
        let version = env!("CARGO_PKG_VERSION");
        let message = format!(
            "needs a version of Gingham that reads format {number}; {version} reads format {FORMAT}"
        );
        return Err(InputError::at(tree, KEY, message).coded("other-form"));
    }
    if *number < 1 {
        let message = format!("found {number}, and formats are numbered from 1");
        return Err(InputError::at(tree, KEY, message));
    }
    Ok(())
}

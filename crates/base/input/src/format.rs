//! Format numbers of scenarios and sweep files.
//!
//! ```toml
//! format = 1
//! ```
//!
//! A file without the key has the present format. The number is checked before all other keys,
//! because a later format may have keys that this version does not know.

use crate::value::Data;
use crate::{InputError, Tree};

/// Key of the format number, at the top of a file.
const KEY: &str = "format";

/// Present number of the format of scenarios and sweep files.
pub const FORMAT: u32 = 1;

/// Returns the format of a file that states none.
pub const fn present() -> u32 {
    FORMAT
}

/// Refuses a file of a later format than the present one, and a number below 1.
pub(crate) fn require_present(tree: &Tree) -> Result<(), InputError> {
    let Some(Data::Integer(number)) = tree.get(KEY).map(|value| &value.data) else {
        // Without a number the format is the present one; other types are refused when it is read.
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

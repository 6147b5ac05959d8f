//! Key files: 32 bytes as 64 hexadecimal digits, readable only by their owner.
//!
//! Invariant: buffers with file contents are zeroed before they are freed.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;

use gingham_stripe_crypt::{BadKey, PrivateKey};
use zeroize::Zeroizing;

use crate::problem::Problem;

const OTHERS: u32 = 0o077;
/// Maximum length read in bytes, more than a key file has.
const FILE_BYTES_MAX: usize = 1_024;

pub(crate) fn read<K: FromStr<Err = BadKey>>(path: &Path, command: &str) -> Result<K, String> {
    let name = path.display();
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("{name}: {error}; to make one: {command} {name}"),
        _ => format!("{name}: {error}"),
    };
    let mut file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    if !metadata.is_file() {
        return Err(format!("{name} is not a file"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(format!("others may use {name} (mode {mode:03o}): chmod 600 {name}"));
    }
    let mut bytes = Zeroizing::new([0; FILE_BYTES_MAX]);
    let mut length = 0;
    while length < FILE_BYTES_MAX {
        match file.read(&mut bytes[length..]).map_err(refused)? {
            0 => break,
            count => length += count,
        }
    }
    let text = str::from_utf8(&bytes[..length]).unwrap_or_default();
    let wrong = |error| format!("{name}: {error}; to make one: {command} {name}");
    text.parse().map_err(wrong)
}

pub(crate) const KEYGEN: &str = "striped keygen";

pub(crate) fn generate(path: &Path) -> Result<(), Problem> {
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let name = path.display();
            Problem::Refused(format!(
                "{name} is there already, and another end may know its key: another file"
            ))
        }
        _ => Problem::environment(&path.display().to_string(), error),
    };
    let key = PrivateKey::random().map_err(|error| Problem::environment("keys", error))?;
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(path).map_err(refused)?;
    let written = file.write_all(key.to_hex().as_bytes()).and_then(|()| file.write_all(b"\n"));
    if let Err(error) = written {
        let _: io::Result<()> = fs::remove_file(path);
        return Err(refused(error));
    }
    print(&key);
    Ok(())
}

pub(crate) fn print_public(path: &Path) -> Result<(), Problem> {
    print(&read(path, KEYGEN).map_err(Problem::Refused)?);
    Ok(())
}

fn print(key: &PrivateKey) {
    let _: io::Result<()> = writeln!(io::stdout().lock(), "{}", key.public());
}

//! Files of keys: 32 bytes as 64 hexadecimal digits, readable by their owner alone.
//!
//! Invariant: what was read of a file is written over before it is given up.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;

use gingham_stripe_crypt::{BadKey, PrivateKey};
use zeroize::Zeroizing;

use crate::problem::Problem;

/// Whoever is not the owner may do nothing with the file.
const OTHERS: u32 = 0o077;
/// More than any key file has.
const FILE_BYTES_MAX: usize = 1_024;

/// The key in a file, or what is wrong with it; the command makes one.
pub(crate) fn read<K: FromStr<Err = BadKey>>(path: &Path, command: &str) -> Result<K, String> {
    let name = path.display();
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("{name}: {error}; to make one: {command} {name}"),
        _ => format!("{name}: {error}"),
    };
    let mut file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    if !metadata.is_file() {
        return Err(format!("{name} is no file"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(format!("others may use {name} (mode {mode:03o}): chmod 600 {name}"));
    }
    // As long as it is to be from the beginning, so that nothing stays where it grew from.
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

/// How a private key is made.
pub(crate) const KEYGEN: &str = "striped keygen";

/// Writes a new private key into a file that is not there yet, and says the public key.
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
        // Half a key is none, and stands in the way of the next.
        let _: io::Result<()> = fs::remove_file(path);
        return Err(refused(error));
    }
    tell(&key);
    Ok(())
}

/// Says the public key of the private one in a file.
pub(crate) fn tell_public(path: &Path) -> Result<(), Problem> {
    tell(&read(path, KEYGEN).map_err(Problem::Refused)?);
    Ok(())
}

/// A reader that has gone away is no reason to end.
fn tell(key: &PrivateKey) {
    let _: io::Result<()> = writeln!(io::stdout().lock(), "{}", key.public());
}

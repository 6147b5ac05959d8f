//! The key file: 32 bytes as 64 hexadecimal digits, readable by its owner alone.
//!
//! A key that never changes is a first step: see `gingham_stripe_udp`'s module of protection for
//! what it does not give. A handshake (Noise IK) with a key pair an end is to take its place; the
//! file then holds the private key, and its checks stay.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gingham_stripe_udp::Secret;

/// Whoever is not the owner may do nothing with the file.
const OTHERS: u32 = 0o077;
/// More than any key file has.
const FILE_BYTES_MAX: u64 = 1_024;

/// The secret in a file, or what is wrong with it.
pub(crate) fn read(path: &Path) -> Result<Secret, String> {
    let name = path.display();
    let refused = |error| format!("{name}: {error}");
    let file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    if !metadata.is_file() {
        return Err(format!("{name} is no file"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(format!("others may use {name} (mode {mode:03o}): chmod 600 {name}"));
    }
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut text).map_err(refused)?;
    parse(&text).ok_or_else(|| {
        format!(
            "{name} does not hold a key of 64 hexadecimal digits; to make one: openssl rand -hex 32"
        )
    })
}

fn parse(text: &[u8]) -> Option<Secret> {
    let digits = text.trim_ascii();
    let mut secret = Secret::default();
    if digits.len() != 2 * secret.len() {
        return None;
    }
    for (byte, pair) in secret.iter_mut().zip(digits.chunks(2)) {
        let [high, low] = [pair[0], pair[1]].map(|digit| char::from(digit).to_digit(16));
        *byte = u8::try_from(high? << 4 | low?).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        let digits = b"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eFF";
        let mut expected: Secret = std::array::from_fn(|place| u8::try_from(place).expect("32"));
        expected[31] = 0xff;
        assert_eq!(parse(digits), Some(expected));
        assert_eq!(parse(&[digits, &b"\n"[..]].concat()), Some(expected));
        let mut wrong = *digits;
        wrong[5] = b'g';
        for wrong in [&wrong[..], &digits[1..], b"", &[digits, &digits[..2]].concat()] {
            assert_eq!(parse(wrong), None);
        }
    }
}

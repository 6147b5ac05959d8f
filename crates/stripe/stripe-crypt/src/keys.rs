//! 32-byte keys.
//!
//! Invariant: secret keys are never printed, and are zeroed when dropped.

use std::fmt;
use std::str::FromStr;

use curve25519_dalek::montgomery::MontgomeryPoint;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::primitives::fill;

/// Key length in bytes.
pub const KEY_BYTES: usize = 32;

/// Error while parsing a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// Text that is not hexadecimal.
    #[error("a key has 64 hexadecimal digits")]
    Digits,
    /// Point of small order, whose shared secrets are public (RFC 7748, section 6.1).
    #[error("this public key has small order, so its shared secrets are public")]
    Nobodys,
    /// Non-canonical encoding: a second encoding of one key would count as another peer.
    #[error("this public key is not canonical; expected {0}")]
    Written(PublicKey),
}

/// Failure of the operating system to supply random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provides no random bytes")]
pub struct NoRandomness;

/// Private key (X25519, RFC 7748).
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct PrivateKey(pub(crate) [u8; KEY_BYTES]);

/// Public key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub(crate) [u8; KEY_BYTES]);

/// Additional secret shared by the two ends.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct PresharedKey(pub(crate) [u8; KEY_BYTES]);

impl PrivateKey {
    /// Creates a random key.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut key = Self([0; KEY_BYTES]);
        fill(&mut key.0)?;
        Ok(key)
    }

    /// Returns the matching public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(MontgomeryPoint::mul_base_clamped(self.0).to_bytes())
    }

    /// Returns the hexadecimal form.
    pub fn to_hex(&self) -> Zeroizing<String> {
        to_hex(&self.0)
    }
}

impl PresharedKey {
    /// Returns the hexadecimal form.
    pub fn to_hex(&self) -> Zeroizing<String> {
        to_hex(&self.0)
    }
}

fn to_hex(key: &[u8; KEY_BYTES]) -> Zeroizing<String> {
    // Allocated at full size, as a growing string would leave copies of the key in memory.
    let mut text = Zeroizing::new(String::with_capacity(2 * KEY_BYTES));
    for byte in key {
        text.extend([byte >> 4, byte & 0xf].map(|digit| char::from(HEX[usize::from(digit)])));
    }
    text
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl FromStr for PrivateKey {
    type Err = BadKey;
    fn from_str(text: &str) -> Result<Self, BadKey> {
        parse(text).map(|bytes| Self(*bytes))
    }
}

impl FromStr for PresharedKey {
    type Err = BadKey;
    fn from_str(text: &str) -> Result<Self, BadKey> {
        parse(text).map(|bytes| Self(*bytes))
    }
}

impl PublicKey {
    /// Returns the key bytes.
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;
    fn from_str(text: &str) -> Result<Self, BadKey> {
        let bytes = parse(text)?;
        let shared = MontgomeryPoint(*bytes).mul_clamped([0; KEY_BYTES]).to_bytes();
        if shared == [0; KEY_BYTES] {
            return Err(BadKey::Nobodys);
        }
        let written = reduced(*bytes);
        if written == *bytes { Ok(Self(written)) } else { Err(BadKey::Written(Self(written))) }
    }
}

/// Reduces a key modulo 2^255 - 19, ignoring the top bit (RFC 7748, section 5).
fn reduced(mut bytes: [u8; KEY_BYTES]) -> [u8; KEY_BYTES] {
    let [first, middle @ .., last] = &mut bytes;
    *last &= 0x7f;
    if *first >= 0xed && *last == 0x7f && middle.iter().all(|byte| *byte == 0xff) {
        *first -= 0xed;
        middle.fill(0);
        *last = 0;
    }
    bytes
}

fn parse(text: &str) -> Result<Zeroizing<[u8; KEY_BYTES]>, BadKey> {
    let digits = text.trim_ascii().as_bytes();
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    if digits.len() != 2 * KEY_BYTES {
        return Err(BadKey::Digits);
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        for digit in pair {
            let digit = char::from(*digit).to_digit(16).ok_or(BadKey::Digits)?;
            *byte = *byte << 4 | u8::try_from(digit).map_err(|_| BadKey::Digits)?;
        }
    }
    Ok(bytes)
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

impl fmt::Debug for PresharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresharedKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_key_matches_openssl() {
        let private = PrivateKey(std::array::from_fn(|place| u8::try_from(place).expect("32")));
        let public = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f";
        assert_eq!(private.public().to_string(), public);
        assert_eq!(public.parse(), Ok(private.public()));
    }

    #[test]
    fn random_keys_differ() {
        assert_ne!(PrivateKey::random(), PrivateKey::random());
    }

    #[test]
    fn small_order_public_keys_are_rejected() {
        let eighth = "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800";
        for small in ["00".repeat(32), format!("01{}", "00".repeat(31)), eighth.into()] {
            assert_eq!(small.parse::<PublicKey>(), Err(BadKey::Nobodys), "{small}");
        }
        assert!(format!("09{}", "00".repeat(31)).parse::<PublicKey>().is_ok());
    }

    #[test]
    fn noncanonical_public_keys_are_rejected() {
        let nine = format!("09{}", "00".repeat(31));
        let key: PublicKey = nine.parse().expect("a key");
        let again = [
            format!("f6{}7f", "ff".repeat(30)),
            format!("f6{}", "ff".repeat(31)),
            format!("09{}80", "00".repeat(30)),
        ];
        for other in again {
            let refused = other.parse::<PublicKey>();
            assert_eq!(refused, Err(BadKey::Written(key)), "{other}");
            let message = refused.map_err(|error| error.to_string());
            assert_eq!(message, Err(format!("this public key is not canonical; expected {nine}")));
        }
        // The largest number below the modulus has small order; this is the number before it.
        let last = format!("eb{}7f", "ff".repeat(30));
        assert!(last.parse::<PublicKey>().is_ok());
    }

    #[test]
    fn key_is_64_hexadecimal_digits() {
        let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e7F";
        let mut expected = std::array::from_fn(|place| u8::try_from(place).expect("32"));
        expected[31] = 0x7f;
        let key: PrivateKey = digits.parse().expect("a key");
        assert_eq!(key, PrivateKey(expected));
        assert_eq!(key.to_hex().as_str(), digits.to_lowercase());
        assert_eq!(format!("{digits}\n").parse(), Ok(PublicKey(expected)));
        let wrong = digits.replacen('5', "g", 1);
        for wrong in [&wrong, &digits[1..], "", &format!("{digits}00")] {
            assert_eq!(wrong.parse::<PrivateKey>(), Err(BadKey::Digits));
        }
        assert!(!format!("{key:?}").contains("0102"));
    }
}

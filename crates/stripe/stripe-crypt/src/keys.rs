//! Keys as values: 32 bytes each, written as 64 hexadecimal digits.
//!
//! Invariant: what is secret is not printed, and is written over when it is dropped.

use std::fmt;
use std::str::FromStr;

use curve25519_dalek::montgomery::MontgomeryPoint;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::primitives::fill;

/// The length of any key.
pub const KEY_BYTES: usize = 32;

/// A text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// It has not the form of one.
    #[error("a key has 64 hexadecimal digits")]
    Digits,
    /// What it makes of any private key is known to all (RFC 7748, section 6.1).
    #[error("this is nobody's public key")]
    Nobodys,
    /// It means a key that is written otherwise, so that one peer would be two.
    #[error("this public key is written {0}")]
    Written(PublicKey),
}

/// The machine gives no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine gives no random bytes")]
pub struct NoRandomness;

/// What an end alone knows (X25519, RFC 7748).
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct PrivateKey(pub(crate) [u8; KEY_BYTES]);

/// What others know of an end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub(crate) [u8; KEY_BYTES]);

/// What both ends know, and nobody else.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct PresharedKey(pub(crate) [u8; KEY_BYTES]);

impl PrivateKey {
    /// A new one.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut key = Self([0; KEY_BYTES]);
        fill(&mut key.0)?;
        Ok(key)
    }

    /// What others are to know.
    pub fn public(&self) -> PublicKey {
        PublicKey(MontgomeryPoint::mul_base_clamped(self.0).to_bytes())
    }

    /// As it stands in a file.
    pub fn to_hex(&self) -> Zeroizing<String> {
        to_hex(&self.0)
    }
}

impl PresharedKey {
    /// As it stands in a file.
    pub fn to_hex(&self) -> Zeroizing<String> {
        to_hex(&self.0)
    }
}

fn to_hex(key: &[u8; KEY_BYTES]) -> Zeroizing<String> {
    // As long as it is to be from the beginning, so that nothing stays where it grew from.
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
    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;
    /// A point of small order, such as zero, is nobody's. Of all bytes that mean a key those are taken
    /// that every private key makes: the number below the modulus.
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

/// A number of 255 bits, whatever the bit above, modulo 2^255 - 19 (RFC 7748, section 5).
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

    /// What `openssl pkey -pubout` makes of it.
    #[test]
    fn a_public_key_is_that_of_others() {
        let private = PrivateKey(std::array::from_fn(|place| u8::try_from(place).expect("32")));
        let public = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f";
        assert_eq!(private.public().to_string(), public);
        assert_eq!(public.parse(), Ok(private.public()));
    }

    #[test]
    fn no_key_is_made_twice() {
        assert_ne!(PrivateKey::random(), PrivateKey::random());
    }

    #[test]
    fn a_point_of_small_order_is_nobodys_key() {
        let eighth = "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800";
        for small in ["00".repeat(32), format!("01{}", "00".repeat(31)), eighth.into()] {
            assert_eq!(small.parse::<PublicKey>(), Err(BadKey::Nobodys), "{small}");
        }
        assert!(format!("09{}", "00".repeat(31)).parse::<PublicKey>().is_ok());
    }

    /// Nine is the base point; behind the modulus it comes again, and the highest bit says nothing.
    #[test]
    fn a_public_key_is_written_in_one_way() {
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
            let said = refused.map_err(|error| error.to_string());
            assert_eq!(said, Err(format!("this public key is written {nine}")));
        }
        // The last below the modulus is of small order, and this is before it.
        let last = format!("eb{}7f", "ff".repeat(30));
        assert!(last.parse::<PublicKey>().is_ok());
    }

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
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

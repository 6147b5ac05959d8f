//! Ethernet addresses and EtherTypes.

use std::fmt::{self, Display};
use std::str::FromStr;

/// MAC address (IEEE 802, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Returns whether this is a group address.
    pub const fn is_group(&self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl FromStr for MacAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a MAC address such as 02:00:5e:00:53:01");
        let mut address = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut address {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_some() { Err(wrong()) } else { Ok(Self(address)) }
    }
}

impl Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            let between = if place == 0 { "" } else { ":" };
            write!(f, "{between}{byte:02x}")?;
        }
        Ok(())
    }
}

/// EtherTypes of a pipe's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtherTypes {
    /// EtherType of packets.
    pub packets: u16,
    /// EtherType of messages: markers, resets, reports.
    pub messages: u16,
}

impl EtherTypes {
    /// Smallest EtherType; lower values are frame lengths (IEEE 802.3, section 3.2.6).
    pub const MIN: u16 = 0x600;
}

impl Default for EtherTypes {
    /// Returns the EtherTypes reserved for local experiments (RFC 9542, section 2.1).
    fn default() -> Self {
        Self { packets: 0x88b5, messages: 0x88b6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mac_address_round_trips() {
        let text = "02:00:5e:a0:53:01";
        let address: MacAddress = text.parse().expect("an address");
        assert_eq!((address.0, address.to_string()), ([2, 0, 0x5e, 0xa0, 0x53, 1], text.into()));
        assert!(!address.is_group() && MacAddress([0xff; 6]).is_group());
        for wrong in
            ["", "02:00:5e:a0:53", "02:00:5e:a0:53:01:02", "2:0:5e:a0:53:1", "02:00:+e:g0:53:01"]
        {
            assert!(wrong.parse::<MacAddress>().is_err(), "{wrong}");
        }
    }
}

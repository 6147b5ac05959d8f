//! What a file says of the other end.
//!
//! ```toml
//! [peer]
//! public-key = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"
//! preshared-key = "bundle0.psk"         # beside this file; none by default
//! allowed-ips = ["10.90.0.0/24"]        # the networks of the interface's addresses by default
//! ```

use gingham_stripe_crypt::PublicKey;
use serde::Deserialize;

use super::Prefix;

/// The other end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PeerTable {
    /// What it is known by.
    pub(crate) public_key: PublicKeyText,
    /// The file of what both ends know beside their keys, if they do.
    pub(crate) preshared_key: Option<String>,
    /// Whom packets out of the pipe may come from, and whom those into it may go to.
    pub(crate) allowed_ips: Option<Vec<Prefix>>,
}

/// A public key.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PublicKeyText(pub(crate) PublicKey);

impl TryFrom<String> for PublicKeyText {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |_| {
            format!(
                "`{text}` is no public key of 64 hexadecimal digits; at the other end: striped pubkey FILE"
            )
        };
        text.parse().map(Self).map_err(wrong)
    }
}

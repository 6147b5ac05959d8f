//! The other end: whether what a file says of it can be right, and what handshakes are told.

use gingham_input::{InputError, Source};
use gingham_stripe_crypt::{PeerPlan, Times};

use crate::config::Config;
use crate::key::{self, KEYGEN};

/// Both ends' keys.
pub(crate) fn load(source: &Source<Config>) -> Result<PeerPlan, InputError> {
    let Config { private_key, peer, .. } = &source.scenario;
    let missing = |key, example| source.refuse(key, format!("`{key}` is missing: {example}"));
    let private_key = private_key.as_ref().ok_or_else(|| {
        missing(
            "private-key",
            "private-key = \"bundle0.key\", which striped keygen bundle0.key makes",
        )
    })?;
    let peer = peer.as_ref().ok_or_else(|| {
        missing("peer", "[peer] with the public-key that striped pubkey FILE says at the other end")
    })?;
    let private: gingham_stripe_crypt::PrivateKey = key::read(&source.path_of(private_key), KEYGEN)
        .map_err(|told| source.refuse("private-key", told))?;
    let public = peer.public_key.0;
    if public == private.public() {
        let message = "this is the key of this end; at the other one: striped pubkey FILE";
        return Err(source.refuse("peer.public-key", message));
    }
    let preshared = peer.preshared_key.as_ref().map(|file| {
        key::read(&source.path_of(file), "(umask 077; openssl rand -hex 32) >")
            .map_err(|told| source.refuse("peer.preshared-key", told))
    });
    let preshared = preshared.transpose()?;
    if peer.allowed_ips.as_ref().is_some_and(Vec::is_empty) {
        let message = "nothing may go either way: allowed-ips = [\"0.0.0.0/0\", \"::/0\"] is all";
        return Err(source.refuse("peer.allowed-ips", message));
    }
    Ok(PeerPlan { private, peer: public, preshared, times: Times::default() })
}

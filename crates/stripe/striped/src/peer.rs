//! Checks of configured peers, and their handshake keys.

use std::collections::BTreeMap;

use gingham_input::{InputError, Source};
use gingham_stripe_crypt::{PeerPlan, PresharedKey, PrivateKey, PublicKey, Times};

use crate::config::Config;
use crate::key::{self, KEYGEN};

pub(crate) fn load(source: &Source<Config>) -> Result<Vec<PeerPlan>, InputError> {
    let Config { private_key, peers, .. } = &source.scenario;
    let missing = |key, example| source.refuse(key, format!("`{key}` is missing: {example}"));
    let private_key = private_key.as_ref().ok_or_else(|| {
        missing(
            "private-key",
            "private-key = \"bundle0.key\", which striped keygen bundle0.key makes",
        )
    })?;
    if peers.list.is_empty() {
        let example = "[peer] with the public-key that striped pubkey FILE prints at the other end";
        return Err(missing("peer", example));
    }
    let private: PrivateKey = key::read(&source.path_of(private_key), KEYGEN)
        .map_err(|message| source.refuse("private-key", message))?;
    check_alike(source)?;
    check_allowed(source)?;
    (0..peers.list.len()).map(|number| plan(source, number, &private)).collect()
}

fn plan(
    source: &Source<Config>,
    number: usize,
    private: &PrivateKey,
) -> Result<PeerPlan, InputError> {
    let peers = &source.scenario.peers;
    let table = &peers.list[number];
    let refuse = |key: &str, message: String| source.refuse(&peers.key(number, key), message);
    let public = table.public_key.0;
    if public == private.public() {
        let message = "this is the key of this end; at the other one: striped pubkey FILE";
        return Err(refuse("public-key", message.into()));
    }
    let preshared = table.preshared_key.as_ref().map(|file| {
        key::read(&source.path_of(file), "(umask 077; openssl rand -hex 32) >")
            .map_err(|message| refuse("preshared-key", message))
    });
    Ok(peer_plan(private, public, preshared.transpose()?))
}

pub(crate) fn peer_plan(
    private: &PrivateKey,
    peer: PublicKey,
    preshared: Option<PresharedKey>,
) -> PeerPlan {
    PeerPlan { private: private.clone(), peer, preshared, times: Times::default() }
}

fn check_alike(source: &Source<Config>) -> Result<(), InputError> {
    let peers = &source.scenario.peers;
    for (number, peer) in peers.list.iter().enumerate() {
        let before = &peers.list[..number];
        let alike = before.iter().position(|one| one.public_key.0 == peer.public_key.0);
        if let Some(other) = alike {
            let message = format!("{} already has this key", peers.title(other));
            return Err(source.refuse(&peers.key(number, "public-key"), message));
        }
        let is_named =
            |one: &&crate::config::PeerTable| one.name.is_some() && one.name == peer.name;
        if let Some(other) = before.iter().position(|one| is_named(&one)) {
            let message = format!("{} already has this name", peers.title(other));
            return Err(source.refuse(&peers.key(number, "name"), message));
        }
    }
    Ok(())
}

fn check_allowed(source: &Source<Config>) -> Result<(), InputError> {
    let peers = &source.scenario.peers;
    let mut claimed = BTreeMap::new();
    for (number, peer) in peers.list.iter().enumerate() {
        let key = peers.key(number, "allowed-ips");
        let Some(prefixes) = &peer.allowed_ips else {
            if peers.list.len() > 1 {
                let message = "`allowed-ips` is missing: with several peers, each needs its own addresses, \
                               allowed-ips = [\"10.90.0.7/32\"]";
                return Err(source.refuse(&key, message));
            }
            continue;
        };
        if prefixes.is_empty() {
            let message =
                "nothing may go either way: allowed-ips = [\"0.0.0.0/0\", \"::/0\"] is all";
            return Err(source.refuse(&key, message));
        }
        for (place, prefix) in prefixes.iter().enumerate() {
            let network = prefix.network();
            if let Some(other) = claimed.insert(network, number).filter(|other| *other != number) {
                let message = format!(
                    "{} claims {network} as well: an address is one peer's; a longer prefix goes \
                     before a shorter one",
                    peers.title(other)
                );
                return Err(source.refuse(&format!("{key}.{place}"), message));
            }
        }
    }
    Ok(())
}

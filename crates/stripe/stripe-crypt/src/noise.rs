//! Noise IK handshake, with a preshared key mixed into the second message.
//!
//! ```text
//!   initiator                                        responder
//!      e, es, s, ss   {process, index}   ──────────►
//!                     ◄──────────   e, ee, se, psk   {process, index}
//! ```
//!
//! Source: Noise, revision 34, `Noise_IKpsk2_25519_ChaChaPoly_SHA256`. The default preshared key is
//! 32 zeros, as in WireGuard.

use ring::aead::LessSafeKey;
use snow::params::NoiseParams;
use snow::{Builder, HandshakeState};
use zeroize::Zeroizing;

use crate::keys::{KEY_BYTES, PresharedKey, PrivateKey, PublicKey};
use crate::primitives::{Primitives, cipher};
use crate::wire::{
    INITIATION_BYTES, MAC1_AT, NOISE_AT, PAYLOAD_BYTES, Payload, RESPONSE_BYTES, RESPONSE_MAC_AT,
    VERSION, version,
};

const NAME: &str = "Noise_IKpsk2_25519_ChaChaPoly_SHA256";
const PSK_PLACE: u8 = 2;

#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) private: PrivateKey,
    pub(crate) public: PublicKey,
    pub(crate) peer: PublicKey,
    pub(crate) preshared: PresharedKey,
}

#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) sealing: LessSafeKey,
    pub(crate) opening: LessSafeKey,
}

/// Returns the Noise prologue, which separates this protocol and version from others with identical
/// keys.
fn prologue() -> String {
    format!("gingham striping {}, handshake {VERSION}", version())
}

fn builder<'a>(private: &'a PrivateKey, prologue: &'a str) -> Builder<'a> {
    let params: NoiseParams = NAME.parse().expect("a name that snow knows");
    let set = Builder::with_resolver(params, Box::new(Primitives))
        .prologue(prologue.as_bytes())
        .and_then(|builder| builder.local_private_key(&private.0));
    set.expect("each is set once")
}

pub(crate) fn initiate(
    identity: &Identity,
    payload: Payload,
    message: &mut [u8; INITIATION_BYTES],
) -> Option<HandshakeState> {
    let prologue = prologue();
    let set = builder(&identity.private, &prologue)
        .psk(PSK_PLACE, &identity.preshared.0)
        .and_then(|builder| builder.remote_public_key(&identity.peer.0));
    let mut state = set.expect("each is set once").build_initiator().expect("all keys are there");
    state.write_message(&payload.to_bytes(), &mut message[NOISE_AT..MAC1_AT]).ok()?;
    Some(state)
}

/// Decrypts an initiation; returns the sender and the payload. The preshared key is not needed for
/// the first message.
pub(crate) fn read_initiation(
    private: &PrivateKey,
    message: &[u8; INITIATION_BYTES],
) -> Option<(HandshakeState, PublicKey, [u8; PAYLOAD_BYTES])> {
    let prologue = prologue();
    let mut state = builder(private, &prologue)
        .psk(PSK_PLACE, &[0; KEY_BYTES])
        .and_then(Builder::build_responder)
        .expect("all keys are there");
    let mut payload = [0; PAYLOAD_BYTES];
    state.read_message(&message[NOISE_AT..MAC1_AT], &mut payload).ok()?;
    let from = PublicKey(state.get_remote_static()?.try_into().ok()?);
    Some((state, from, payload))
}

pub(crate) fn respond(
    mut state: HandshakeState,
    preshared: &PresharedKey,
    payload: Payload,
    message: &mut [u8; RESPONSE_BYTES],
) -> Option<Keys> {
    state.set_psk(PSK_PLACE.into(), &preshared.0).expect("a key of that length");
    state.write_message(&payload.to_bytes(), &mut message[NOISE_AT..RESPONSE_MAC_AT]).ok()?;
    Some(keys(state))
}

pub(crate) fn read_response(
    state: &mut HandshakeState,
    message: &[u8; RESPONSE_BYTES],
) -> Option<[u8; PAYLOAD_BYTES]> {
    let mut payload = [0; PAYLOAD_BYTES];
    state.read_message(&message[NOISE_AT..RESPONSE_MAC_AT], &mut payload).ok()?;
    Some(payload)
}

pub(crate) fn keys(mut state: HandshakeState) -> Keys {
    let (one, other) = state.dangerously_get_raw_split();
    let [initiator, responder] = [one, other].map(|key| cipher(&Zeroizing::new(key)));
    if state.is_initiator() {
        Keys { sealing: initiator, opening: responder }
    } else {
        Keys { sealing: responder, opening: initiator }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prologue_names_both_versions() {
        assert_eq!(prologue(), "gingham striping 4, handshake 2");
    }
}

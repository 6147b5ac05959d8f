//! What is done to datagrams on the way out and in: ciphered, authenticated, taken once.
//!
//! ```text
//!   secret ──HKDF: role, start──► key of a direction since a start
//!   nonce = 0 0 0 0 | header: kind, channel, session, number
//!   AAD   = what is in clear: the header, and of a message the start
//! ```
//!
//! Both ends have one secret, and each a role. An end makes a new key whenever it starts, and
//! whenever a number would not be higher than the last of its kind on its channel, so that no nonce
//! is ever used twice with a key. Which key that is, all its messages tell: the nanoseconds of its
//! start. The other end takes no earlier start than the latest that it has seen in a message that is
//! authentic, as WireGuard does with its time stamps; so a clock that goes back between two starts
//! keeps an end out until it has caught up.
//!
//! This is a first step. A static secret gives no forward secrecy, and an end that has just begun
//! can be told an old start until it hears of a later one: what was recorded since then and up to
//! the next start of the other end it takes once more. A handshake (Noise IK) is to give both
//! ends fresh keys; what is here of roles, nonces and windows stays.
//!
//! Sources: RFC 8439 (ChaCha20-Poly1305), RFC 5869 (HKDF with SHA-256), RFC 9001, section 5.3 (header
//! as associated data), RFC 6479 (window).
//!
//! Invariants: what is not authentic changes nothing; no allocation a datagram.

use gingham_stripe::{Content, HEADER_BYTES, Header};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};

use crate::replay::ReplayWindow;

/// Channels that a header can name.
const CHANNELS: usize = gingham_fairq::CHANNELS_MAX;
const START_BYTES: usize = 8;
/// What tells our keys from those of others that are made of the same secret.
const LABEL: &[u8] = b"gingham striping 1";

/// The secret of a pipe.
pub type Secret = [u8; 32];

/// Which of both ends this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one that is to begin a handshake.
    Initiator,
    /// The one that is to answer.
    Responder,
}

impl Role {
    const fn other(self) -> Self {
        match self {
            Self::Initiator => Self::Responder,
            Self::Responder => Self::Initiator,
        }
    }
}

/// With what datagrams are protected.
#[derive(Clone, PartialEq, Eq)]
pub struct ProtectionPlan {
    secret: Secret,
    role: Role,
}

impl ProtectionPlan {
    /// A secret that the other end has as well, which has the other role.
    pub const fn new(secret: Secret, role: Role) -> Self {
        Self { secret, role }
    }
}

impl std::fmt::Debug for ProtectionPlan {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProtectionPlan").field("role", &self.role).finish_non_exhaustive()
    }
}

/// A key, and since when it holds.
#[derive(Debug)]
struct StartKey {
    started_at: u64,
    key: LessSafeKey,
}

/// Both directions of an end.
#[derive(Debug)]
pub(crate) struct Protection {
    secret: Prk,
    role: Role,
    sealing: StartKey,
    /// The lowest numbers that the key has not been used with.
    next: Box<[[u64; 2]]>,
    opening: Option<StartKey>,
    windows: Box<[[ReplayWindow; 2]]>,
}

impl Protection {
    /// What authenticates a datagram.
    pub(crate) const CHECK_BYTES: usize = 16;
    /// By how much a message is longer.
    pub(crate) const MESSAGE_BYTES: usize = START_BYTES + Self::CHECK_BYTES;

    pub(crate) fn new(plan: &ProtectionPlan, started_at: u64) -> Self {
        let secret = Salt::new(HKDF_SHA256, LABEL).extract(&plan.secret);
        let sealing = start_key(&secret, plan.role, started_at);
        let windows = (0..CHANNELS).map(|_| Default::default()).collect();
        let next = vec![[0; 2]; CHANNELS].into();
        Self { secret, role: plan.role, sealing, next, opening: None, windows }
    }

    /// Since when the key for what goes holds.
    pub(crate) const fn started_at(&self) -> u64 {
        self.sealing.started_at
    }

    /// Seals the datagram that begins here in the buffer.
    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        let (header, _) = Header::parse(&buffer[from..]).expect("a header was written");
        let (kind, number) = numbered(header);
        let next = &mut self.next[usize::from(header.channel)][kind];
        if number < *next {
            self.sealing = start_key(&self.secret, self.role, self.sealing.started_at + 1);
            self.next.fill([0; 2]);
        }
        self.next[usize::from(header.channel)][kind] = number + 1;
        if header.content == Content::Message {
            let start = &mut buffer[from + HEADER_BYTES..][..START_BYTES];
            start.copy_from_slice(&self.sealing.started_at.to_be_bytes());
        }
        let (clear, secret) = buffer[from..].split_at_mut(clear_bytes(header));
        let check = self
            .sealing
            .key
            .seal_in_place_separate_tag(nonce(header), Aad::from(&*clear), secret)
            .expect("a datagram is shorter than the cipher allows");
        buffer.extend_from_slice(check.as_ref());
    }

    /// Opens a datagram in its place, if it is authentic and has not come before: what was sealed.
    pub(crate) fn open<'a>(
        &mut self,
        header: Header,
        datagram: &'a mut [u8],
    ) -> Option<&'a mut [u8]> {
        let (clear, sealed) = datagram.split_at_mut_checked(clear_bytes(header))?;
        let start = clear[HEADER_BYTES..].first_chunk().map(|start| u64::from_be_bytes(*start));
        let known_at = self.opening.as_ref().map(|opening| opening.started_at);
        let (kind, number) = numbered(header);
        let channel = usize::from(header.channel);
        if start.is_none_or(|start| Some(start) == known_at) {
            let key = &self.opening.as_ref()?.key;
            let window = &mut self.windows[channel][kind];
            if !window.is_fresh(number) {
                return None;
            }
            let opened = key.open_in_place(nonce(header), Aad::from(&*clear), sealed).ok()?;
            window.mark(number);
            return Some(opened);
        }
        // A new start, if it is authentic.
        let start = start.filter(|start| known_at.is_none_or(|known_at| known_at < *start))?;
        let new = start_key(&self.secret, self.role.other(), start);
        let opened = new.key.open_in_place(nonce(header), Aad::from(&*clear), sealed).ok()?;
        self.opening = Some(new);
        self.windows.fill_with(Default::default);
        self.windows[channel][kind].mark(number);
        Some(opened)
    }
}

/// How much of a datagram is in clear.
const fn clear_bytes(header: Header) -> usize {
    match header.content {
        Content::Data | Content::Copy => HEADER_BYTES,
        Content::Message => HEADER_BYTES + START_BYTES,
    }
}

/// Of which kind the number of a datagram is on its channel, and a number that grows from one
/// session to the next. Messages go on counting.
const fn numbered(header: Header) -> (usize, u64) {
    let Header { content, session, number, .. } = header;
    match content {
        Content::Data | Content::Copy => (0, (session as u64) << 32 | number as u64),
        Content::Message => (1, number as u64),
    }
}

fn nonce(header: Header) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - HEADER_BYTES..].copy_from_slice(&header.to_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// The key with which the end of this role seals, since it started then.
fn start_key(secret: &Prk, role: Role, started_at: u64) -> StartKey {
    let role = match role {
        Role::Initiator => b"i",
        Role::Responder => b"r",
    };
    let info = [&role[..], &started_at.to_be_bytes()];
    let expanded = secret.expand(&info, &CHACHA20_POLY1305).expect("the length is the cipher's");
    StartKey { started_at, key: LessSafeKey::new(UnboundKey::from(expanded)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(role: Role, started_at: u64) -> Protection {
        Protection::new(&ProtectionPlan::new([7; 32], role), started_at)
    }

    fn sealed(end: &mut Protection, content: Content, session: u16, number: u32) -> Vec<u8> {
        let header = Header { content, channel: 3, session, number };
        let mut bytes = header.to_bytes().to_vec();
        bytes.resize(clear_bytes(header), 0);
        bytes.extend(b"what is said");
        end.seal(0, &mut bytes);
        bytes
    }

    fn said(end: &mut Protection, number: u32) -> Vec<u8> {
        sealed(end, Content::Message, 0, number)
    }

    fn opens(end: &mut Protection, datagram: &[u8]) -> bool {
        let mut bytes = datagram.to_vec();
        let Ok((header, _)) = Header::parse(datagram) else { return false };
        end.open(header, &mut bytes).is_some_and(|opened| opened == b"what is said")
    }

    #[test]
    fn what_was_changed_anywhere_is_not_taken_and_changes_nothing() {
        let (mut left, mut right) = (end(Role::Initiator, 5), end(Role::Responder, 6));
        assert!(opens(&mut right, &said(&mut left, 0)));
        for datagram in [said(&mut left, 1), sealed(&mut left, Content::Data, 0, 0)] {
            assert!(!datagram.windows(12).any(|bytes| bytes == b"what is said"));
            for place in 0..datagram.len() {
                let mut changed = datagram.clone();
                changed[place] ^= 1;
                assert!(!opens(&mut right, &changed), "byte {place}");
            }
            assert!(!opens(&mut right, &datagram[..datagram.len() - 1]));
            assert!(opens(&mut right, &datagram));
        }
    }

    /// Nor what an end said itself, nor what was sealed with another secret.
    #[test]
    fn nothing_is_taken_twice() {
        let (mut left, mut right) = (end(Role::Initiator, 5), end(Role::Responder, 6));
        let first = said(&mut left, 0);
        assert!(opens(&mut right, &first) && !opens(&mut right, &first));
        let data = sealed(&mut left, Content::Data, 0, 0);
        assert!(opens(&mut right, &data) && !opens(&mut right, &data));
        assert!(!opens(&mut left, &first));
        let plan = ProtectionPlan::new([8; 32], Role::Responder);
        assert!(!opens(&mut Protection::new(&plan, 6), &first));
    }

    #[test]
    fn an_end_that_starts_anew_is_heard_and_its_past_is_not() {
        let (mut left, mut right) = (end(Role::Initiator, 5), end(Role::Responder, 6));
        let old = said(&mut left, 0);
        assert!(opens(&mut right, &said(&mut left, 1)));
        let mut left = end(Role::Initiator, 7);
        assert!(!opens(&mut right, &sealed(&mut left, Content::Data, 0, 0)));
        assert!(opens(&mut right, &said(&mut left, 0)));
        assert!(opens(&mut right, &sealed(&mut left, Content::Data, 0, 1)));
        assert!(!opens(&mut right, &old));
    }

    /// A session whose short name has come round, or a number.
    #[test]
    fn a_number_that_is_not_higher_has_a_new_key() {
        let (mut left, mut right) = (end(Role::Initiator, 5), end(Role::Responder, 6));
        assert!(opens(&mut right, &said(&mut left, 0)));
        assert!(opens(&mut right, &sealed(&mut left, Content::Data, 9, 4)));
        assert_eq!(left.started_at(), 5);
        assert!(opens(&mut right, &sealed(&mut left, Content::Data, 10, 0)));
        assert_eq!(left.started_at(), 5);
        let late = sealed(&mut left, Content::Copy, 10, 0);
        assert_eq!(left.started_at(), 6);
        assert!(!opens(&mut right, &late));
        assert!(opens(&mut right, &said(&mut left, 1)) && opens(&mut right, &late));
    }
}

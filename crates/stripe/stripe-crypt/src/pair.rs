//! Key pair from a handshake: one key per direction.
//!
//! ```text
//!   nonce = 0 0 0 0 | header: version, index, kind, channel, session, number
//!   AAD   = the header
//! ```
//!
//! Source: RFC 8439 (ChaCha20-Poly1305), RFC 9001, section 5.3 (header as associated data).
//!
//! Invariants: a datagram that is not authentic changes nothing; no allocation per datagram.

use gingham_stripe::{HEADER_BYTES, Header, Instant};
use ring::aead::{Aad, NONCE_LEN, Nonce};

use crate::discard::Discard;
use crate::noise::Keys;
use crate::numbers::{OpenedNumbers, SealedNumbers, Use};
use crate::primitives::CHECK_BYTES;
use crate::wire::{CONFIRM_BYTES, CONFIRM_CLEAR_BYTES, Type, set_index};

pub(crate) type Processes = (u64, u64);

#[derive(Debug)]
pub(crate) struct Pair {
    keys: Keys,
    pub(crate) index: u8,
    other_index: u8,
    pub(crate) made_at: Instant,
    pub(crate) is_initiator: bool,
    pub(crate) processes: Processes,
    sealed: SealedNumbers,
    opened: OpenedNumbers,
    pub(crate) is_worn: bool,
    pub(crate) is_used_up: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) index: u8,
    pub(crate) other_index: u8,
    pub(crate) at: Instant,
    pub(crate) is_initiator: bool,
    pub(crate) processes: Processes,
}

impl Pair {
    pub(crate) fn new(keys: Keys, made: Made) -> Self {
        Self {
            keys,
            index: made.index,
            other_index: made.other_index,
            made_at: made.at,
            is_initiator: made.is_initiator,
            processes: made.processes,
            sealed: SealedNumbers::new(),
            opened: OpenedNumbers::new(),
            is_worn: false,
            is_used_up: false,
        }
    }

    /// Seals the datagram that starts with a header at `from`. If its nonce was already used, the
    /// datagram is zeroed and the pair is marked as used up.
    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        let (header, _) = Header::parse(&buffer[from..]).expect("a header was written");
        match self.sealed.take(header) {
            Use::Fresh => {}
            Use::Worn => self.is_worn = true,
            Use::Used => {
                (self.is_worn, self.is_used_up) = (true, true);
                buffer[from..].fill(0);
                buffer.resize(buffer.len() + CHECK_BYTES, 0);
                return;
            }
        }
        set_index(&mut buffer[from], self.other_index);
        let (clear, secret) = buffer[from..].split_at_mut(HEADER_BYTES);
        let check = self
            .keys
            .sealing
            .seal_in_place_separate_tag(nonce(clear), Aad::from(&*clear), secret)
            .expect("a datagram is shorter than the cipher allows");
        buffer.extend_from_slice(check.as_ref());
    }

    pub(crate) fn is_fresh(&self, header: Header) -> bool {
        self.opened.is_fresh(header)
    }

    /// Opens an authentic, new datagram in place. Returns the bytes after the header, and whether
    /// it is the newest of its kind on its channel.
    pub(crate) fn open<'a>(
        &mut self,
        header: Header,
        datagram: &'a mut [u8],
    ) -> Result<(&'a [u8], bool), Discard> {
        if !self.opened.is_fresh(header) {
            return Err(Discard::Replayed);
        }
        let (clear, sealed) = datagram.split_at_mut(HEADER_BYTES);
        let opened = self
            .keys
            .opening
            .open_in_place(nonce(clear), Aad::from(&*clear), sealed)
            .map_err(|_| Discard::NotAuthentic)?;
        Ok((opened, self.opened.mark(header)))
    }

    pub(crate) fn confirm(&self) -> [u8; CONFIRM_BYTES] {
        let mut datagram = [0; CONFIRM_BYTES];
        let (clear, check) = datagram.split_at_mut(CONFIRM_CLEAR_BYTES);
        clear[..4].copy_from_slice(&Type::Confirm.header());
        clear[2] = self.other_index;
        let aad = Aad::from(&*clear);
        let tag = self.keys.sealing.seal_in_place_separate_tag(nonce(clear), aad, &mut []);
        check.copy_from_slice(tag.expect("it is short").as_ref());
        datagram
    }

    pub(crate) fn is_confirm(&self, datagram: &[u8; CONFIRM_BYTES]) -> bool {
        let mut datagram = *datagram;
        let (clear, check) = datagram.split_at_mut(CONFIRM_CLEAR_BYTES);
        self.keys.opening.open_in_place(nonce(clear), Aad::from(&*clear), check).is_ok()
    }
}

fn nonce(clear: &[u8]) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - HEADER_BYTES..].copy_from_slice(&clear[..HEADER_BYTES]);
    Nonce::assume_unique_for_key(bytes)
}

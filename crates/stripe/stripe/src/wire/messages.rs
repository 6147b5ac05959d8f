//! Consecutive messages in one datagram.
//!
//! ```text
//!   | message | message | ... | zeros: padding |
//! ```
//!
//! Invariant: any input yields zero or more messages, then at most one [`WireError`].

use super::WireError;
use crate::Message;

/// Iterator over the messages in a datagram.
///
/// ```
/// use gingham_stripe::{Epoch, Kind, Message, Messages};
///
/// let one = Message { epoch: Epoch::new(7), channel: 0, channels: 2, kind: Kind::Acknowledged };
/// let other = Message { channel: 1, ..one };
/// let bytes = [&*one.to_bytes(), &*other.to_bytes(), &[0; 3]].concat();
/// assert!(Messages::new(&bytes).eq([Ok(one), Ok(other)]));
/// ```
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    left: &'a [u8],
}

impl<'a> Messages<'a> {
    /// Creates an iterator over a datagram.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }
}

impl Iterator for Messages<'_> {
    type Item = Result<Message, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if matches!(self.left, [] | [0, ..]) {
            return None;
        }
        // After an invalid message, the start of the next one is unknown.
        let (message, left) = match Message::split_first(self.left) {
            Ok((message, left)) => (Ok(message), left),
            Err(error) => (Err(error), &[][..]),
        };
        self.left = left;
        Some(message)
    }
}

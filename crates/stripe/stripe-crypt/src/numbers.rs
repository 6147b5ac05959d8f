//! Datagram numbers, which ensure that no nonce is used or accepted twice.
//!
//! ```text
//!   messages:  number             32 bits, wraps around; decoded as the value nearest to the highest
//!   packets:   session, number    a later session restarts the numbers
//! ```
//!
//! Numbers are per channel, so that a replay window only covers reordering within a channel, not
//! the skew between channels.

use gingham_stripe::{Content, Header};

use crate::replay::ReplayWindow;

pub(crate) const CHANNELS: usize = gingham_fairq::CHANNELS_MAX;
const KINDS: usize = 2;
/// Half of the session number space; smaller distances count as later (RFC 1982).
const SESSION_HALF: u16 = 1 << 15;
/// Number of datagrams before a new key is requested: half of the number space, so that the other
/// half remains usable until the key is available.
const WORN: u32 = 1 << 31;

const fn place(header: Header) -> (usize, u16) {
    match header.content {
        Content::Data | Content::Copy => (0, header.session),
        Content::Message => (1, 0),
    }
}

const fn is_later(one: u16, than: u16) -> bool {
    let ahead = one.wrapping_sub(than);
    ahead != 0 && ahead < SESSION_HALF
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Fresh,
    Worn,
    Used,
}

#[derive(Debug)]
pub(crate) struct SealedNumbers(Box<[[Option<Sealed>; KINDS]]>);

#[derive(Clone, Copy, Debug)]
struct Sealed {
    first_session: u16,
    session: u16,
    first: u32,
    last: u32,
}

impl SealedNumbers {
    pub(crate) fn new() -> Self {
        Self(vec![[None; KINDS]; CHANNELS].into())
    }

    pub(crate) fn take(&mut self, header: Header) -> Use {
        let (kind, session) = place(header);
        let number = header.number;
        let sealed = &mut self.0[usize::from(header.channel) % CHANNELS][kind];
        let Some(known) = sealed else {
            *sealed = Some(Sealed { first_session: session, session, first: number, last: number });
            return Use::Fresh;
        };
        if session == known.session {
            let used = number.wrapping_sub(known.first);
            let is_ahead = number.wrapping_sub(known.last) < 1 << 31;
            if !is_ahead || used <= known.last.wrapping_sub(known.first) {
                return Use::Used;
            }
            known.last = number;
            return if used < WORN { Use::Fresh } else { Use::Worn };
        }
        // The session must also be later than the first one, as session numbers do not wrap around.
        if !is_later(session, known.session) || !is_later(session, known.first_session) {
            return Use::Used;
        }
        *known = Sealed { session, first: number, last: number, ..*known };
        Use::Fresh
    }
}

#[derive(Debug)]
pub(crate) struct OpenedNumbers(Box<[[Opened; KINDS]]>);

#[derive(Clone, Debug, Default)]
struct Opened {
    session: u16,
    window: Option<Box<ReplayWindow>>,
}

impl OpenedNumbers {
    pub(crate) fn new() -> Self {
        Self((0..CHANNELS).map(|_| Default::default()).collect())
    }

    pub(crate) fn is_fresh(&self, header: Header) -> bool {
        let (kind, session) = place(header);
        let opened = &self.0[usize::from(header.channel) % CHANNELS][kind];
        match &opened.window {
            Some(window) if session == opened.session => {
                window.nearest(header.number).is_some_and(|number| window.is_fresh(number))
            }
            Some(_) => is_later(session, opened.session),
            None => true,
        }
    }

    pub(crate) fn mark(&mut self, header: Header) -> bool {
        let (kind, session) = place(header);
        let opened = &mut self.0[usize::from(header.channel) % CHANNELS][kind];
        match &mut opened.window {
            Some(window) if session == opened.session => {
                window.nearest(header.number).is_some_and(|number| window.mark(number))
            }
            window => {
                // Earlier sessions can be forgotten: the receiver has finished with them.
                opened.session = session;
                let anew = ReplayWindow::from(header.number);
                match window {
                    Some(window) => **window = anew,
                    None => *window = Some(Box::new(anew)),
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(content: Content, session: u16, number: u32) -> Header {
        Header { content, channel: 3, session, number }
    }

    #[test]
    fn nonce_is_never_used_twice() {
        let mut numbers = SealedNumbers::new();
        let mut take = |session, number| numbers.take(header(Content::Data, session, number));
        assert_eq!([take(9, 5), take(9, 5), take(9, 4), take(9, 6)], {
            [Use::Fresh, Use::Used, Use::Used, Use::Fresh]
        });
        assert_eq!([take(9, 4 + (1 << 31)), take(9, u32::MAX), take(9, 4)], {
            [Use::Fresh, Use::Worn, Use::Worn]
        });
        assert_eq!([take(9, 5), take(9, 6)], [Use::Used, Use::Used]);
        assert_eq!([take(10, 5), take(9, 7), take(9 + (1 << 15), 0)], {
            [Use::Fresh, Use::Used, Use::Used]
        });
        assert_eq!(numbers.take(header(Content::Copy, 10, 5)), Use::Used);
        assert_eq!(numbers.take(header(Content::Message, 10, 5)), Use::Fresh);
        assert_eq!(numbers.take(header(Content::Message, 11, 5)), Use::Used);
    }

    #[test]
    fn wrapped_number_is_accepted_once() {
        let mut numbers = OpenedNumbers::new();
        let mut take = |session, number| {
            let header = header(Content::Data, session, number);
            numbers.is_fresh(header).then(|| numbers.mark(header))
        };
        assert_eq!([take(9, u32::MAX), take(9, u32::MAX)], [Some(true), None]);
        assert_eq!([take(9, u32::MAX - 3), take(9, 1), take(9, 0)], {
            [Some(false), Some(true), Some(false)]
        });
        assert_eq!([take(9, 1), take(9, u32::MAX), take(9, u32::MAX - 9_000)], [None; 3]);
        assert_eq!([take(10, 0), take(9, 2), take(10, 0)], [Some(true), None, None]);
    }
}

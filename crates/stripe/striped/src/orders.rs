//! Orders from the monitor to the tunnel process, and their replies, over a second socket pair.
//!
//! ```text
//!   order    | kind 1 | text |     a descriptor is attached to some orders
//!   reply    | kind 1 | text |
//! ```
//!
//! Invariants: neither process blocks on this socket; the reply to a reload repeats the number in
//! the reload order.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::line;

/// Maximum message length in bytes, more than any order and most rejected reloads need.
const MESSAGE_BYTES: usize = 8 << 10;

#[derive(Debug)]
pub(crate) enum Order {
    Status(OwnedFd),
    Ping,
    /// Apply the checked configuration in this memfd ([`crate::handover`]). The number counts
    /// reloads.
    Reload(u64, OwnedFd),
    /// Retry lost links and probe unused channels.
    NetworkChanged,
    /// The local address of this [`ChannelNumber`](crate::config::ChannelNumber) has changed.
    Moved(usize),
    Lost(IpAddr),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// The process is ready; true if the seccomp filter is active.
    Ready(bool),
    Alive,
    Reloaded(u64),
    /// The configuration is applied, except for the listed parts.
    Refused(u64, String),
}

#[derive(Debug)]
pub(crate) struct OrderLine(OwnedFd);

impl OrderLine {
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (one, other) = line::pair()?;
        Ok((Self(one), other))
    }

    pub(crate) const fn of(end: OwnedFd) -> Self {
        Self(end)
    }

    pub(crate) fn order(&self, order: &Order) -> io::Result<()> {
        let (kind, text, descriptor) = match order {
            Order::Status(descriptor) => (b's', String::new(), Some(descriptor.as_fd())),
            Order::Ping => (b'p', String::new(), None),
            Order::Reload(number, descriptor) => {
                (b'r', number.to_string(), Some(descriptor.as_fd()))
            }
            Order::NetworkChanged => (b'l', String::new(), None),
            Order::Moved(channel) => (b'm', channel.to_string(), None),
            Order::Lost(address) => (b'x', address.to_string(), None),
        };
        self.send(kind, &text, descriptor)
    }

    pub(crate) fn next_order(&self) -> io::Result<Option<Order>> {
        while let Some((kind, text, descriptor)) = self.next()? {
            let order = match (kind, descriptor) {
                (b's', Some(descriptor)) => Some(Order::Status(descriptor)),
                (b'p', _) => Some(Order::Ping),
                (b'r', Some(descriptor)) => {
                    text.parse().ok().map(|number| Order::Reload(number, descriptor))
                }
                (b'l', _) => Some(Order::NetworkChanged),
                (b'm', _) => text.parse().ok().map(Order::Moved),
                (b'x', _) => text.parse().ok().map(Order::Lost),
                _ => None,
            };
            if order.is_some() {
                return Ok(order);
            }
        }
        Ok(None)
    }

    pub(crate) fn reply(&self, reply: &Reply) -> io::Result<()> {
        match reply {
            Reply::Ready(is_filtered) => self.send(b'R', if *is_filtered { "1" } else { "" }, None),
            Reply::Alive => self.send(b'A', "", None),
            Reply::Reloaded(number) => self.send(b'N', &number.to_string(), None),
            Reply::Refused(number, message) => {
                self.send(b'E', &format!("{number} {message}"), None)
            }
        }
    }

    pub(crate) fn next_reply(&self) -> io::Result<Option<Reply>> {
        let Some((kind, text, _)) = self.next()? else { return Ok(None) };
        let reply = match kind {
            b'R' => Some(Reply::Ready(!text.is_empty())),
            b'A' => Some(Reply::Alive),
            b'N' => text.parse().ok().map(Reply::Reloaded),
            b'E' => text.split_once(' ').and_then(|(number, message)| {
                Some(Reply::Refused(number.parse().ok()?, message.to_owned()))
            }),
            _ => None,
        };
        reply.map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn send(&self, kind: u8, text: &str, descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let bytes = [&[kind], text.as_bytes()].concat();
        line::send(&self.0, &bytes, descriptor, SendFlags::DONTWAIT)
    }

    fn next(&self) -> io::Result<Option<(u8, String, Option<OwnedFd>)>> {
        let mut bytes = vec![0; MESSAGE_BYTES];
        let (count, descriptor) = match line::receive(&self.0, &mut bytes, RecvFlags::DONTWAIT) {
            Ok(came) => came,
            Err(error) => match error.raw_os_error().map(Errno::from_raw) {
                Some(Errno::EAGAIN) => return Ok(None),
                _ => return Err(error),
            },
        };
        let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (kind, text) = bytes[..count].split_first().ok_or_else(gone)?;
        Ok(Some((*kind, String::from_utf8_lossy(text).into_owned(), descriptor)))
    }
}

impl AsFd for OrderLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_replies_round_trip() -> io::Result<()> {
        let (monitor, other) = OrderLine::pair()?;
        let carrier = OrderLine::of(other);
        let lost = "10.0.0.1".parse().expect("an address");
        for order in [Order::Ping, Order::NetworkChanged, Order::Moved(7), Order::Lost(lost)] {
            monitor.order(&order)?;
        }
        let next = || carrier.next_order();
        assert!(matches!(next()?, Some(Order::Ping)));
        assert!(matches!(next()?, Some(Order::NetworkChanged)));
        assert!(matches!(next()?, Some(Order::Moved(7))));
        assert!(matches!(next()?, Some(Order::Lost(came)) if came == lost));
        assert!(next()?.is_none());
        let refused = Reply::Refused(8, "x ".repeat(MESSAGE_BYTES / 2 - 2));
        for reply in [Reply::Ready(true), Reply::Alive, Reply::Reloaded(7), refused] {
            carrier.reply(&reply)?;
            assert_eq!(monitor.next_reply()?, Some(reply));
        }
        assert_eq!(monitor.next_reply()?, None);
        for nonsense in [(b'Z', ""), (b'N', "x"), (b'E', "7")] {
            carrier.send(nonsense.0, nonsense.1, None)?;
            let error = monitor.next_reply().expect_err("it is no reply");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        drop(carrier);
        let error = monitor.next_reply().expect_err("nobody is there");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        Ok(())
    }

    #[test]
    fn status_order_carries_a_descriptor_for_the_reply() -> io::Result<()> {
        let ((monitor, other), (asking, reader)) = (OrderLine::pair()?, line::pair()?);
        monitor.order(&Order::Status(reader))?;
        let order = OrderLine::of(other).next_order()?;
        let Some(Order::Status(to)) = order else { panic!("{order:?}") };
        rustix::io::write(&to, b"{}")?;
        assert_eq!(rustix::io::read(&asking, &mut [0; 8])?, 2);
        Ok(())
    }
}

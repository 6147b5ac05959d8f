//! Status replies, sent without blocking, as fast as the reader accepts them.
//!
//! Invariant: unfinished replies are bounded in number and lifetime.

use std::os::fd::OwnedFd;
use std::time::Duration;

use gingham_stripe::Instant;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// Maximum number of readers; an additional reader closes the oldest connection.
const READERS_MAX: usize = 16;
const WAIT: Duration = Duration::from_secs(5);
/// Delay before another attempt if the socket buffer is full.
const AGAIN: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
pub(super) struct StatusReplies(Vec<StatusReply>);

#[derive(Debug)]
struct StatusReply {
    to: OwnedFd,
    text: Vec<u8>,
    sent_bytes: usize,
    until: Instant,
}

impl StatusReplies {
    pub(super) fn reply(&mut self, now: Instant, to: OwnedFd, text: Vec<u8>) {
        if self.0.len() == READERS_MAX {
            self.0.remove(0);
        }
        self.0.push(StatusReply { to, text, sent_bytes: 0, until: now.after(WAIT) });
        self.go_on(now);
    }

    pub(super) fn go_on(&mut self, now: Instant) {
        self.0.retain_mut(|one| now < one.until && one.goes_on());
    }

    pub(super) fn next_at(&self, now: Instant) -> Option<Instant> {
        (!self.0.is_empty()).then(|| now.after(AGAIN))
    }
}

impl StatusReply {
    fn goes_on(&mut self) -> bool {
        while self.sent_bytes < self.text.len() {
            let left = &self.text[self.sent_bytes..];
            match send(&self.to, left, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => self.sent_bytes += count,
                Err(error) => return error == Errno::AGAIN,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    fn long() -> Vec<u8> {
        (0..3_000_000_u32).map(|byte| byte.to_le_bytes()[0] ^ byte.to_le_bytes()[1]).collect()
    }

    #[test]
    fn status_longer_than_the_socket_buffer_arrives_whole() -> io::Result<()> {
        let (to, mut reader) = UnixStream::pair()?;
        let (mut status_replies, mut come) = (StatusReplies::default(), Vec::new());
        status_replies.reply(at(0), to.into(), long());
        let mut some = vec![0; 100_000];
        while let count @ 1.. = reader.read(&mut some)? {
            come.extend_from_slice(&some[..count]);
            status_replies.go_on(at(1));
        }
        assert!(come == long(), "{} bytes came", come.len());
        assert_eq!(status_replies.next_at(at(1)), None);
        Ok(())
    }

    #[test]
    fn slow_reader_is_dropped_after_timeout() -> io::Result<()> {
        let (to, _reader) = UnixStream::pair()?;
        let mut status_replies = StatusReplies::default();
        status_replies.reply(at(0), to.into(), long());
        status_replies.go_on(at(4_999));
        assert_eq!(status_replies.next_at(at(4_999)), Some(at(5_004)));
        status_replies.go_on(at(5_000));
        assert_eq!(status_replies.next_at(at(5_000)), None);
        Ok(())
    }

    #[test]
    fn closed_or_finished_readers_are_dropped() -> io::Result<()> {
        let mut status_replies = StatusReplies::default();
        let (to, _) = UnixStream::pair()?;
        status_replies.reply(at(0), to.into(), long());
        let (to, mut reader) = UnixStream::pair()?;
        status_replies.reply(at(0), to.into(), b"{}".to_vec());
        assert_eq!(status_replies.next_at(at(0)), None);
        let mut text = String::new();
        reader.read_to_string(&mut text)?;
        assert_eq!(text, "{}");
        Ok(())
    }

    #[test]
    fn oldest_of_too_many_readers_is_dropped() -> io::Result<()> {
        let mut status_replies = StatusReplies::default();
        let mut readers = Vec::new();
        for _ in 0..=READERS_MAX {
            let (to, reader) = UnixStream::pair()?;
            status_replies.reply(at(0), to.into(), long());
            readers.push(reader);
        }
        assert_eq!(status_replies.0.len(), READERS_MAX);
        let mut cut = Vec::new();
        readers[0].read_to_end(&mut cut)?;
        assert!(!cut.is_empty() && cut.len() < long().len());
        Ok(())
    }
}

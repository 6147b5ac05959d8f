//! Requests from the tunnel process to the monitor, and their replies, over a socket pair.
//!
//! ```text
//!   request  | kind 1 | number 4 |
//!   reply    | errno 4, or 0 |         with a descriptor if one was requested
//! ```

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

const REQUEST_BYTES: usize = 5;
const REPLY_BYTES: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// Install the routes of the interface with this index.
    Route(u32),
    SetMtu(u32),
    /// Open a socket for this [`ChannelNumber`](crate::config::ChannelNumber).
    Open(u32),
    Orders,
}

impl Request {
    const fn to_bytes(self) -> [u8; REQUEST_BYTES] {
        let (kind, number) = match self {
            Self::Route(number) => (0, number),
            Self::SetMtu(number) => (1, number),
            Self::Open(number) => (2, number),
            Self::Orders => (3, 0),
        };
        let [a, b, c, d] = number.to_be_bytes();
        [kind, a, b, c, d]
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let [kind, number @ ..] = <[u8; REQUEST_BYTES]>::try_from(bytes).ok()?;
        let number = u32::from_be_bytes(number);
        match kind {
            0 => Some(Self::Route(number)),
            1 => Some(Self::SetMtu(number)),
            2 => Some(Self::Open(number)),
            3 => Some(Self::Orders),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct HalfLine(OwnedFd);

impl HalfLine {
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (one, other) = pair()?;
        Ok((Self(one), other))
    }

    pub(crate) const fn of(end: OwnedFd) -> Self {
        Self(end)
    }

    pub(crate) fn send_request(&self, request: Request) -> io::Result<()> {
        self.send(&request.to_bytes(), None)
    }

    pub(crate) fn next_reply(&self) -> io::Result<Option<OwnedFd>> {
        let mut bytes = [0; REPLY_BYTES];
        let (count, descriptor) = self.receive(&mut bytes)?;
        match (count, i32::from_be_bytes(bytes)) {
            (REPLY_BYTES, 0) => Ok(descriptor),
            (REPLY_BYTES, error) => Err(io::Error::from_raw_os_error(error)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    pub(crate) fn next_request(&self) -> io::Result<Option<Request>> {
        let mut bytes = [0; REQUEST_BYTES];
        match self.receive(&mut bytes) {
            Ok((0, _)) => Ok(None),
            Ok((count, _)) => {
                let request = Request::of_bytes(&bytes[..count]);
                request.map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
            }
            // The other process has ended without reading a reply.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn reply(&self, result: io::Result<Option<OwnedFd>>) -> io::Result<()> {
        let error_of = |error: io::Error| {
            error.raw_os_error().unwrap_or(nix::errno::Errno::EIO as i32).to_be_bytes()
        };
        match result {
            Ok(descriptor) => self.send(&[0; REPLY_BYTES], descriptor.as_ref().map(AsFd::as_fd)),
            Err(error) => self.send(&error_of(error), None),
        }
    }

    fn send(&self, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
        send(&self.0, bytes, descriptor, SendFlags::DONTWAIT)
    }

    fn receive(&self, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
        receive(&self.0, bytes, RecvFlags::empty())
    }
}

/// Creates a socket pair. Child processes inherit an end only if it is passed explicitly.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

pub(crate) fn send(
    line: &OwnedFd,
    bytes: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
    flags: SendFlags,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = descriptor.as_slice();
    if !descriptors.is_empty() {
        let fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
        assert!(fits, "there is room for one");
    }
    sendmsg(line, &[IoSlice::new(bytes)], &mut control, flags | SendFlags::NOSIGNAL)?;
    Ok(())
}

pub(crate) fn receive(
    line: &OwnedFd,
    bytes: &mut [u8],
    flags: RecvFlags,
) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(bytes)];
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let came = rustix::io::retry_on_intr(|| recvmsg(line, &mut parts, &mut control, flags))?;
    let descriptors = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((came.bytes, descriptors))
}

impl AsFd for HalfLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn request_round_trips() {
        let requests = [Request::SetMtu(1_400), Request::Open(u32::MAX), Request::Orders];
        for request in requests.into_iter().chain([Request::Route(7)]) {
            assert_eq!(Request::of_bytes(&request.to_bytes()), Some(request));
        }
        for bytes in [&[4, 0, 0, 0, 0][..], &[0; 4], &[]] {
            assert_eq!(Request::of_bytes(bytes), None);
        }
    }

    #[test]
    fn reply_is_an_error_or_carries_a_descriptor() -> io::Result<()> {
        let (monitor, other) = HalfLine::pair()?;
        let confined = HalfLine::of(other);
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut peer = TcpStream::connect(listener.local_addr()?)?;
        confined.send_request(Request::Open(3))?;
        assert_eq!(monitor.next_request()?, Some(Request::Open(3)));
        monitor.reply(Ok(Some(listener.accept()?.0.into())))?;
        let given = confined.next_reply()?.expect("a descriptor");
        peer.write_all(b"x")?;
        assert_eq!(rustix::io::read(&given, &mut [0; 4])?, 1);
        monitor.reply(Err(io::Error::from_raw_os_error(19)))?;
        let refused = confined.next_reply().expect_err("an error");
        assert_eq!(refused.raw_os_error(), Some(19));
        confined.send(b"nonsense", None)?;
        let error = monitor.next_request().expect_err("it is no request");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        drop(confined);
        assert_eq!(monitor.next_request()?, None);
        Ok(())
    }
}

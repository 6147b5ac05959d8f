//! Polling of connections.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

#[derive(Clone, Copy)]
pub(crate) enum For {
    Reading,
    Writing,
}

/// Waits until a connection is ready or the timeout expires. Returns a bit mask of connection
/// indices; a failed connection counts as ready, because its next read or write returns the error.
pub(crate) fn ready<'a>(
    connections: impl Iterator<Item = (usize, BorrowedFd<'a>)>,
    for_what: For,
    timeout: PollTimeout,
) -> io::Result<u64> {
    let events = match for_what {
        For::Reading => PollFlags::POLLIN,
        For::Writing => PollFlags::POLLOUT,
    };
    let (places, mut asked): (Vec<_>, Vec<_>) =
        connections.map(|(place, fd)| (place, PollFd::new(fd, events))).unzip();
    loop {
        match poll(&mut asked, timeout) {
            Ok(_) => break,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let is_ready = |one: &PollFd<'_>| one.any().unwrap_or(true);
    let ready = places.iter().zip(&asked).filter(|(_, one)| is_ready(one));
    Ok(ready.fold(0, |set, (place, _)| set | 1 << place))
}

pub(crate) fn read_all<S: Read + AsFd>(
    connection: &mut S,
    mut buffer: &mut [u8],
) -> io::Result<()> {
    while !buffer.is_empty() {
        match connection.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                ready([(0, connection.as_fd())].into_iter(), For::Reading, PollTimeout::NONE)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

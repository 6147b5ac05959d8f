//! Reading end of a striped stream.

use std::io::{self, Read};
use std::os::fd::AsFd;

use gingham_fairq::Causal;
use nix::poll::PollTimeout;
use socket2::SockRef;

use crate::chunk::{ChunkHeader, HEADER_BYTES_MAX};
use crate::error::{GreetingError, StreamError};
use crate::greeting::Greeting;
use crate::plan::Scheduler;
use crate::readiness::{For, ready};

/// Reader of one stream over several connections.
///
/// A read returns the available bytes of the next chunk, or blocks. If a connection ends early, the
/// bytes received in order are returned before the error. A [`StreamError`] is permanent.
#[derive(Debug)]
pub struct StripedReader<S> {
    inlets: Vec<Inlet<S>>,
    scheduler: Option<Scheduler>,
    chunk_bytes: u32,
    number: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    Within { place: usize, left_bytes: usize },
    Ended,
    Failed(StreamError),
}

#[derive(Debug)]
struct Inlet<S> {
    connection: S,
    header: [u8; HEADER_BYTES_MAX],
    filled: usize,
    has_ended: bool,
}

impl<S: Read + AsFd> StripedReader<S> {
    /// Creates a reader of connections in any order; blocks until all greetings have arrived, and
    /// then makes the connections non-blocking.
    pub fn new(connections: Vec<S>) -> Result<Self, GreetingError> {
        let greet = |mut connection: S| Ok((Greeting::read_from(&mut connection)?, connection));
        Self::greeted(connections.into_iter().map(greet).collect::<Result<_, GreetingError>>()?)
    }

    /// Creates a reader of connections whose greetings have been read; all greetings must belong to
    /// one [`Greeting::stream`].
    pub fn greeted(mut connections: Vec<(Greeting, S)>) -> Result<Self, GreetingError> {
        connections.sort_by_key(|(greeting, _)| greeting.place);
        let Some((first, _)) = connections.first() else {
            return Err(GreetingError::Count { expected: 1, given: 0 });
        };
        let first = first.clone();
        for pair in connections.windows(2) {
            let [(one, _), (next, _)] = pair else { unreachable!("windows of two") };
            if next.stream != first.stream || next.plan != first.plan {
                return Err(GreetingError::Streams(first.stream, next.stream));
            }
            if one.place == next.place {
                return Err(GreetingError::Twice(one.place));
            }
        }
        if first.connections != connections.len() {
            let (expected, given) = (first.connections, connections.len());
            return Err(GreetingError::Count { expected, given });
        }
        let inlet = |(_, connection)| {
            SockRef::from(&connection).set_nonblocking(true)?;
            Ok(Inlet { connection, header: [0; HEADER_BYTES_MAX], filled: 0, has_ended: false })
        };
        let inlets = connections.into_iter().map(inlet).collect::<io::Result<_>>()?;
        let (chunk_bytes, scheduler) = (first.plan.chunk_bytes, first.plan.scheduler()?);
        Ok(Self { inlets, scheduler, chunk_bytes, number: 0, state: State::Between })
    }

    const fn header_bytes(&self) -> usize {
        ChunkHeader::bytes(self.scheduler.is_some())
    }

    fn find(&mut self) -> io::Result<()> {
        loop {
            if let Some((place, header)) = self.head()? {
                if header.length_bytes == 0 {
                    self.read_ends(header)?;
                    self.state = State::Ended;
                    return Ok(());
                }
                self.inlets[place].filled = 0;
                let left_bytes = header.length_bytes as usize;
                self.state = State::Within { place, left_bytes };
                if let Some(scheduler) = &mut self.scheduler {
                    scheduler.charge(header.length_bytes);
                }
                self.number += 1;
                return Ok(());
            }
            let in_turn = self.scheduler.as_ref().map(Causal::current);
            self.read_headers(|place| in_turn.is_none_or(|in_turn| in_turn == place))?;
        }
    }

    /// Waits for the end of every connection, because an early close would cause an error at the
    /// writer.
    fn read_ends(&mut self, end: ChunkHeader) -> io::Result<()> {
        let bytes = self.header_bytes();
        while self.inlets.iter().any(|inlet| inlet.filled < bytes) {
            self.read_headers(|_| true)?;
        }
        let is_end = |inlet: &Inlet<S>| ChunkHeader::parse(&inlet.header[..bytes]) == end;
        match self.inlets.iter().position(|inlet| !is_end(inlet)) {
            Some(place) => Err(StreamError::OutOfTurn(place).into()),
            None => Ok(()),
        }
    }

    fn head(&self) -> Result<Option<(usize, ChunkHeader)>, StreamError> {
        let bytes = self.header_bytes();
        let header = |place: usize| {
            let inlet = &self.inlets[place];
            (inlet.filled == bytes).then(|| ChunkHeader::parse(&inlet.header[..bytes]))
        };
        if let Some(scheduler) = &self.scheduler {
            let place = scheduler.current();
            return header(place).map(|header| self.checked(place, header)).transpose();
        }
        let mut are_all_later = true;
        for place in 0..self.inlets.len() {
            let Some(header) = header(place) else {
                are_all_later = false;
                continue;
            };
            let (place, header) = self.checked(place, header)?;
            if header.number == Some(self.number) {
                return Ok(Some((place, header)));
            }
        }
        if are_all_later { Err(StreamError::Missing(self.number)) } else { Ok(None) }
    }

    fn checked(
        &self,
        place: usize,
        header: ChunkHeader,
    ) -> Result<(usize, ChunkHeader), StreamError> {
        if header.number.is_some_and(|number| number < self.number) {
            return Err(StreamError::OutOfTurn(place));
        }
        if header.length_bytes > self.chunk_bytes {
            return Err(StreamError::Long(place));
        }
        Ok((place, header))
    }

    fn read_headers(&mut self, is_asked: impl Fn(usize) -> bool) -> io::Result<()> {
        let bytes = self.header_bytes();
        let mut has_come = false;
        for (_, inlet) in self.inlets.iter_mut().enumerate().filter(|(place, _)| is_asked(*place)) {
            has_come |= inlet.fill(bytes)?;
        }
        if !has_come {
            if let Some(place) = self.inlets.iter().position(|inlet| inlet.has_ended) {
                return Err(StreamError::Ended(place).into());
            }
            let inlets = self.inlets.iter().enumerate();
            let short = inlets.filter(|(place, one)| is_asked(*place) && one.filled < bytes);
            let fds = short.map(|(place, inlet)| (place, inlet.connection.as_fd()));
            ready(fds, For::Reading, PollTimeout::NONE)?;
        }
        Ok(())
    }

    fn read_within(&mut self, place: usize, buffer: &mut [u8]) -> io::Result<usize> {
        let connection = &mut self.inlets[place].connection;
        loop {
            match connection.read(buffer) {
                Ok(0) => return Err(StreamError::Ended(place).into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let fd = [(place, connection.as_fd())];
                    ready(fd.into_iter(), For::Reading, PollTimeout::NONE)?;
                }
                other => return other,
            }
        }
    }

    fn read_next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state {
                State::Between => self.find()?,
                State::Within { place, left_bytes } => {
                    let wanted = left_bytes.min(buffer.len());
                    let count = self.read_within(place, &mut buffer[..wanted])?;
                    self.state = match left_bytes - count {
                        0 => State::Between,
                        left_bytes => State::Within { place, left_bytes },
                    };
                    return Ok(count);
                }
                State::Ended => return Ok(0),
                State::Failed(error) => return Err(error.into()),
            }
        }
    }
}

impl<S: Read + AsFd> Read for StripedReader<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let result = self.read_next(buffer);
        if let Err(error) = &result
            && let Some(error) = error.get_ref().and_then(|error| error.downcast_ref())
        {
            self.state = State::Failed(*error);
        }
        result
    }
}

impl<S: Read> Inlet<S> {
    fn fill(&mut self, bytes: usize) -> io::Result<bool> {
        let before = self.filled;
        while self.filled < bytes && !self.has_ended {
            match self.connection.read(&mut self.header[self.filled..bytes]) {
                Ok(0) => self.has_ended = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.filled > before)
    }
}

//! Writing end of a striped stream.

use std::io::{self, Write};
use std::os::fd::AsFd;

use gingham_fairq::Causal;
use nix::poll::PollTimeout;
use socket2::SockRef;

use crate::chunk::{ChunkHeader, HEADER_BYTES_MAX};
use crate::error::PlanError;
use crate::greeting::Greeting;
use crate::plan::{Scheduler, StreamPlan};
use crate::readiness::{For, ready};

/// Unsent chunks per TCP connection: one in transmission and one behind it. With a longer queue,
/// chunks would be assigned before the connection's rate is known.
const UNSENT_CHUNKS: u32 = 2;

/// Writer of one stream over several connections.
///
/// A call of `write` creates one chunk of at most [`StreamPlan::chunk_bytes`], so small writes
/// should use a [`std::io::BufWriter`]. It may return before the kernel has accepted the whole
/// chunk.
#[derive(Debug)]
pub struct StripedWriter<S> {
    outlets: Vec<Outlet<S>>,
    scheduler: Option<Scheduler>,
    chunk_bytes: usize,
    number: u64,
    last: usize,
}

#[derive(Debug)]
struct Outlet<S> {
    connection: S,
    chunk: Vec<u8>,
    gone: usize,
}

impl<S: Write + AsFd> StripedWriter<S> {
    /// Creates a writer: sends the greetings and makes the connections non-blocking.
    pub fn new(connections: Vec<S>, plan: &StreamPlan) -> io::Result<Self> {
        let invalid = |error: PlanError| io::Error::new(io::ErrorKind::InvalidInput, error);
        plan.check(connections.len()).map_err(invalid)?;
        let scheduler = plan.scheduler().map_err(invalid)?;
        let greetings = Greeting::of_all(connections.len(), plan);
        let outlets = connections
            .into_iter()
            .zip(greetings)
            .map(|(connection, greeting)| Outlet::open(connection, &greeting, plan.chunk_bytes))
            .collect::<io::Result<_>>()?;
        let chunk_bytes = plan.chunk_bytes as usize;
        Ok(Self { outlets, scheduler, chunk_bytes, number: 0, last: 0 })
    }

    /// Ends the stream, waits until the kernel has accepted all data, and returns the connections.
    pub fn finish(mut self) -> io::Result<Vec<S>> {
        self.flush()?;
        let header = self.header(0);
        for outlet in &mut self.outlets {
            outlet.begin(header, &[]);
        }
        self.flush()?;
        Ok(self.outlets.into_iter().map(|outlet| outlet.connection).collect())
    }

    fn header(&self, length_bytes: u32) -> ChunkHeader {
        let number = self.scheduler.is_none().then_some(self.number);
        ChunkHeader { number, length_bytes }
    }

    fn choose(&mut self) -> io::Result<usize> {
        if let Some(place) = self.scheduler.as_ref().map(Causal::current) {
            while !self.outlets[place].is_empty() {
                self.push(|outlet| !outlet.is_empty())?;
            }
            return Ok(place);
        }
        loop {
            match self.with_room()? {
                Some(place) => return Ok(place),
                None => self.push(|_| true)?,
            }
        }
    }

    fn with_room(&self) -> io::Result<Option<usize>> {
        let empty = self.outlets.iter().enumerate().filter(|(_, outlet)| outlet.is_empty());
        let fds = empty.map(|(place, outlet)| (place, outlet.connection.as_fd()));
        let room = ready(fds, For::Writing, PollTimeout::ZERO)?;
        let count = self.outlets.len();
        let in_turn = (1..=count).map(|step| (self.last + step) % count);
        Ok(in_turn.into_iter().find(|place| room >> place & 1 == 1))
    }

    fn push(&mut self, is_waited_for: impl Fn(&Outlet<S>) -> bool) -> io::Result<()> {
        let waiting = self.outlets.iter().enumerate().filter(|(_, outlet)| is_waited_for(outlet));
        let fds = waiting.map(|(place, outlet)| (place, outlet.connection.as_fd()));
        let takes = ready(fds, For::Writing, PollTimeout::NONE)?;
        let outlets = self.outlets.iter_mut().enumerate();
        let mut taking = outlets.filter(|(place, _)| takes >> place & 1 == 1);
        taking.try_for_each(|(_, outlet)| outlet.push())
    }
}

impl<S: Write + AsFd> Write for StripedWriter<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(self.chunk_bytes)];
        if bytes.is_empty() {
            return Ok(0);
        }
        let place = self.choose()?;
        let length_bytes = u32::try_from(bytes.len()).expect("a chunk is short");
        let header = self.header(length_bytes);
        self.outlets[place].begin(header, bytes);
        self.outlets[place].push()?;
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.charge(length_bytes);
        }
        (self.number, self.last) = (self.number + 1, place);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.outlets.iter().any(|outlet| !outlet.is_empty()) {
            self.push(|outlet| !outlet.is_empty())?;
        }
        self.outlets.iter_mut().try_for_each(|outlet| outlet.connection.flush())
    }
}

impl<S: Write + AsFd> Outlet<S> {
    fn open(connection: S, greeting: &Greeting, chunk_bytes: u32) -> io::Result<Self> {
        let socket = SockRef::from(&connection);
        socket.set_nonblocking(true)?;
        // Only TCP supports this option; Unix sockets are limited by their buffer.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = socket.set_tcp_notsent_lowat(UNSENT_CHUNKS.saturating_mul(chunk_bytes));
        let mut chunk = Vec::with_capacity(HEADER_BYTES_MAX + chunk_bytes as usize);
        chunk.extend(greeting.to_bytes());
        let mut outlet = Self { connection, chunk, gone: 0 };
        outlet.push()?;
        Ok(outlet)
    }

    const fn is_empty(&self) -> bool {
        self.gone == self.chunk.len()
    }

    fn begin(&mut self, header: ChunkHeader, bytes: &[u8]) {
        debug_assert!(self.is_empty(), "a chunk begins where the last has gone");
        (self.gone, self.chunk) = (0, std::mem::take(&mut self.chunk));
        self.chunk.clear();
        header.write_to(&mut self.chunk);
        self.chunk.extend_from_slice(bytes);
    }

    fn push(&mut self) -> io::Result<()> {
        while !self.is_empty() {
            match self.connection.write(&self.chunk[self.gone..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.gone += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

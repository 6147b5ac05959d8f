//! A TCP relay that breaks connections.

use std::io::{ErrorKind, Read, Write};
use std::mem::take;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};

use socket2::SockRef;

pub(crate) struct Relay {
    listener: TcpListener,
    to: SocketAddr,
    lines: Vec<Line>,
    left: Vec<Line>,
    record: Option<Vec<u8>>,
    is_held: bool,
    is_swallowing: bool,
}

/// Incoming and outgoing, with the bytes not yet passed on from each.
struct Line {
    ends: [TcpStream; 2],
    waiting: [Vec<u8>; 2],
}

impl Relay {
    pub(crate) fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        listener.set_nonblocking(true).expect("a socket");
        // Keeps little in flight when nothing is read; accepted connections inherit it.
        SockRef::from(&listener).set_recv_buffer_size(4_096).expect("a socket");
        Self {
            listener,
            to,
            lines: Vec::new(),
            left: Vec::new(),
            record: None,
            is_held: false,
            is_swallowing: false,
        }
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.listener.local_addr().expect("an address")
    }

    /// Records the forward direction only.
    pub(crate) fn record(&mut self) {
        self.record = Some(Vec::new());
    }

    pub(crate) fn recorded(&self) -> Vec<u8> {
        self.record.clone().expect("it was asked for")
    }

    /// At both ends; bytes in flight are lost.
    pub(crate) fn cut(&mut self) {
        self.lines.clear();
    }

    /// Closes this end only.
    pub(crate) fn leave(&mut self) {
        for line in take(&mut self.lines) {
            line.ends[0].shutdown(Shutdown::Both).expect("it is open");
            self.left.push(line);
        }
    }

    pub(crate) fn insert(&mut self, bytes: &[u8]) {
        self.lines.iter_mut().for_each(|line| line.waiting[0].extend(bytes));
    }

    pub(crate) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Discards the forward direction, or passes it on again.
    pub(crate) fn swallow(&mut self, is_swallowing: bool) {
        self.is_swallowing = is_swallowing;
    }

    pub(crate) fn pass(&mut self) {
        if self.is_held {
            return;
        }
        while let Ok((from, _)) = self.listener.accept() {
            let Ok(there) = TcpStream::connect(self.to) else { continue };
            let ends = [from, there];
            for end in &ends {
                end.set_nonblocking(true).expect("a socket");
                end.set_nodelay(true).expect("a socket");
            }
            self.lines.push(Line { ends, waiting: [Vec::new(), Vec::new()] });
        }
        let (record, is_swallowing) = (&mut self.record, self.is_swallowing);
        self.lines
            .retain_mut(|line| (0..2).all(|way| line.pass(way, record, is_swallowing && way == 0)));
    }
}

impl Line {
    fn pass(&mut self, way: usize, record: &mut Option<Vec<u8>>, is_swallowed: bool) -> bool {
        let Self { ends, waiting } = self;
        let (waiting, mut room) = (&mut waiting[way], [0; 1 << 13]);
        while waiting.len() < room.len() {
            match (&ends[way]).read(&mut room) {
                Ok(0) => return false,
                Ok(count) => {
                    waiting.extend(&room[..count]);
                    if let (0, Some(record)) = (way, &mut *record) {
                        record.extend(&room[..count]);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        if is_swallowed {
            waiting.clear();
        }
        while !waiting.is_empty() {
            match (&ends[1 - way]).write(waiting) {
                Ok(count) => drop(waiting.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        true
    }
}

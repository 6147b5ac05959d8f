//! A UDP port, used by one or more channels.

use std::cell::RefCell;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Duration;

use gingham_stripe::Instant;
use quinn_udp::RecvMeta;

use crate::link::{Arrival, Batches, Payload};
use crate::memory::MemoryPort;
use crate::run::Run;
use crate::socket::{BATCHES, BufferPlan, ChannelPlan, ChannelSocket, Opener, Opening, SOON};

const AGAIN: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(crate) enum PortPlan {
    Socket(ChannelPlan),
    Memory(MemoryPort),
}

impl PortPlan {
    fn open(
        &self,
        buffers: &BufferPlan,
        (opener, opening): (Option<&Opener>, Opening),
    ) -> io::Result<Open> {
        Ok(match self {
            Self::Socket(plan) => {
                let socket = opener.map_or_else(
                    || plan.open(buffers),
                    |one| one.open(opening).map(UdpSocket::from),
                )?;
                Open::Socket(ChannelSocket::new(socket)?)
            }
            Self::Memory(port) => {
                port.open()?;
                Open::Memory(port.clone())
            }
        })
    }

    const fn batches(&self) -> Batches {
        match self {
            Self::Socket(_) => BATCHES,
            Self::Memory(_) => Batches { count: 64, bytes: 2_048 },
        }
    }

    fn is_one(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Socket(one), Self::Socket(other)) => {
                let place = |plan: &ChannelPlan| (plan.local, plan.interface.clone(), plan.mark);
                place(one) == place(other)
            }
            (Self::Memory(one), Self::Memory(other)) => one == other,
            _ => false,
        }
    }
}

#[derive(Debug)]
enum Open {
    Socket(ChannelSocket),
    Memory(MemoryPort),
}

impl Open {
    const fn socket(&self) -> Option<&ChannelSocket> {
        if let Self::Socket(socket) = self { Some(socket) } else { None }
    }
}

#[derive(Debug)]
pub(crate) struct Port {
    plan: PortPlan,
    buffers: BufferPlan,
    opener: Option<Opener>,
    open: Option<Open>,
    again_at: Instant,
    pub(crate) id: u64,
}

pub(crate) type SharedPort = Rc<RefCell<Port>>;

impl Port {
    fn open(
        mut plan: PortPlan,
        buffers: BufferPlan,
        opener: Option<Opener>,
        id: u64,
    ) -> io::Result<Self> {
        let open = plan.open(&buffers, (opener.as_ref(), Opening::Waits))?;
        // A reopened socket must keep the port number chosen by the kernel, because the other end
        // accepts no other source.
        if let (PortPlan::Socket(plan), Open::Socket(socket)) = (&mut plan, &open) {
            plan.local.set_port(socket.local()?.port());
        }
        let again_at = Instant::ORIGIN;
        Ok(Self { plan, buffers, opener, open: Some(open), again_at, id })
    }

    pub(crate) fn reopen(&mut self, now: Instant) -> io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        if now < self.again_at {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let opened = self.plan.open(&self.buffers, (self.opener.as_ref(), Opening::Asks));
        let is_asked =
            opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        self.again_at = now.after(if is_asked { SOON } else { AGAIN });
        self.open = Some(opened?);
        Ok(())
    }

    fn on_network_change(&mut self) {
        self.again_at = Instant::ORIGIN;
    }

    pub(crate) fn close(&mut self) {
        self.open = None;
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(crate) const fn batches(&self) -> Batches {
        self.plan.batches()
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.open.as_ref().and_then(Open::socket).map(ChannelSocket::fd)
    }

    fn local(&self) -> Option<SocketAddr> {
        self.open.as_ref()?.socket()?.local().ok()
    }

    fn segments_max(&self) -> usize {
        match &self.open {
            None => 1,
            Some(Open::Socket(socket)) => socket.segments_max(),
            Some(Open::Memory(_)) => self.batches().count,
        }
    }

    fn send(&mut self, to: (SocketAddr, u8), bytes: &[u8], segment_bytes: usize) -> io::Result<()> {
        match self.open.as_mut().ok_or(io::ErrorKind::NotConnected)? {
            Open::Socket(socket) => socket.send(to, bytes, segment_bytes),
            Open::Memory(port) => port.send(to.0, bytes, segment_bytes),
        }
    }

    pub(crate) fn send_one(&mut self, to: (SocketAddr, u8), message: &[u8]) -> io::Result<()> {
        self.send(to, message, message.len())
    }

    pub(crate) fn receive(&self, bytes: &mut [u8], arrivals: &mut [Arrival]) -> io::Result<usize> {
        let open = match self.open.as_ref().ok_or(io::ErrorKind::NotConnected)? {
            Open::Socket(socket) => socket,
            Open::Memory(port) => return port.receive(bytes, self.batches().bytes, arrivals),
        };
        let mut chunks = bytes.chunks_mut(BATCHES.bytes);
        let mut buffers: [_; BATCHES.count] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        let mut metas = [RecvMeta::default(); BATCHES.count];
        let count = open.receive(&mut buffers, &mut metas)?;
        for (arrival, meta) in arrivals.iter_mut().zip(&metas[..count]) {
            *arrival = Arrival {
                stamp: meta.timestamp,
                bytes: meta.len,
                stride: meta.stride.max(1),
                payload: Payload::Packets,
                is_ours: false,
                from: Some(meta.addr),
                ecn: meta.ecn.map_or(0, |ecn| ecn as u8),
            };
        }
        Ok(count)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ports(Option<Rc<RefCell<Known>>>);

#[derive(Debug, Default)]
struct Known {
    ports: Vec<SharedPort>,
    count: u64,
}

impl Ports {
    pub(crate) fn in_common() -> Self {
        Self(Some(Rc::default()))
    }

    pub(crate) fn list(&self) -> Vec<SharedPort> {
        let Some(known) = &self.0 else { return Vec::new() };
        let mut known = known.borrow_mut();
        known.ports.retain(|port| Rc::strong_count(port) > 1);
        known.ports.clone()
    }

    fn hold(
        &self,
        plan: PortPlan,
        buffers: BufferPlan,
        opener: Option<Opener>,
    ) -> io::Result<Held> {
        let Some(known) = &self.0 else {
            return Ok(Held::Own(Box::new(Port::open(plan, buffers, opener, 0)?)));
        };
        let mut known = known.borrow_mut();
        let same = known.ports.iter().find(|port| port.borrow().plan.is_one(&plan));
        if let Some(port) = same {
            return Ok(Held::Shared(Rc::clone(port)));
        }
        known.count += 1;
        let port = Rc::new(RefCell::new(Port::open(plan, buffers, opener, known.count)?));
        known.ports.push(Rc::clone(&port));
        Ok(Held::Shared(port))
    }
}

#[derive(Debug)]
enum Held {
    Own(Box<Port>),
    Shared(SharedPort),
}

#[derive(Debug)]
pub(crate) struct UdpLink {
    held: Held,
    remote: SocketAddr,
}

impl UdpLink {
    pub(crate) fn open(
        (plan, remote): (PortPlan, SocketAddr),
        (buffers, ports): (BufferPlan, &Ports),
        opener: Option<Opener>,
    ) -> io::Result<Self> {
        if let PortPlan::Socket(plan) = &plan {
            plan.check()?;
        }
        Ok(Self { held: ports.hold(plan, buffers, opener)?, remote })
    }

    pub(crate) fn on_network_change(&mut self) {
        self.with_mut(Port::on_network_change);
    }

    fn with<R>(&self, of: impl FnOnce(&Port) -> R) -> R {
        match &self.held {
            Held::Own(port) => of(port),
            Held::Shared(port) => of(&port.borrow()),
        }
    }

    fn with_mut<R>(&mut self, of: impl FnOnce(&mut Port) -> R) -> R {
        match &mut self.held {
            Held::Own(port) => of(port),
            Held::Shared(port) => of(&mut port.borrow_mut()),
        }
    }

    pub(crate) fn reopen(&mut self, now: Instant) -> io::Result<()> {
        self.with_mut(|port| port.reopen(now))
    }

    pub(crate) fn close(&mut self) {
        self.with_mut(Port::close);
    }

    pub(crate) fn release(&mut self) {
        if let Held::Own(port) = &mut self.held {
            port.close();
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.with(Port::is_open)
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.held {
            Held::Own(port) => port.fd(),
            Held::Shared(_) => None,
        }
    }

    /// Returns the size of receive batches; zero on a shared port, whose owner receives.
    pub(crate) fn batches(&self) -> Batches {
        match &self.held {
            Held::Own(port) => port.batches(),
            Held::Shared(_) => Batches { count: 0, bytes: 0 },
        }
    }

    pub(crate) const fn shared(&self) -> Option<&SharedPort> {
        match &self.held {
            Held::Own(_) => None,
            Held::Shared(port) => Some(port),
        }
    }

    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.with(Port::local)
    }

    pub(crate) const fn set_remote(&mut self, remote: SocketAddr) {
        self.remote = remote;
    }

    pub(crate) fn segments_max(&self) -> usize {
        self.with(Port::segments_max)
    }

    pub(crate) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        let remote = self.remote().ok_or(io::ErrorKind::NotConnected)?;
        let rest = &run.bytes[from * run.segment_bytes..];
        self.with_mut(|port| port.send((remote, run.class), rest, run.segment_bytes))?;
        Ok(run.datagrams - from)
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        Some(self.remote).filter(|remote| !remote.ip().is_unspecified())
    }

    pub(crate) fn send_one(&mut self, to: SocketAddr, message: &[u8], class: u8) -> io::Result<()> {
        self.with_mut(|port| port.send_one((to, class), message))
    }

    pub(crate) fn receive(&self, bytes: &mut [u8], arrivals: &mut [Arrival]) -> io::Result<usize> {
        let count = self.with(|port| port.receive(bytes, arrivals))?;
        for arrival in &mut arrivals[..count] {
            arrival.is_ours = arrival.from.is_some_and(|from| is_same(from, self.remote));
        }
        Ok(count)
    }
}

pub(crate) fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    plain(one) == plain(other)
}

pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(port: u16) -> (PortPlan, SocketAddr) {
        let any = SocketAddr::from(([127, 0, 0, 1], port));
        let plan = ChannelPlan { local: any, interface: None, mark: None, remote: any };
        (PortPlan::Socket(plan), any)
    }

    #[test]
    fn reopened_socket_keeps_its_port() {
        let mut link = UdpLink::open(plan(0), (BufferPlan::default(), &Ports::default()), None);
        let link = link.as_mut().expect("a socket");
        let before = link.local();
        link.close();
        assert_eq!(link.local(), None);
        link.reopen(Instant::ORIGIN).expect("a socket");
        assert_eq!((link.local(), before.is_some()), (before, true));
    }

    #[test]
    fn channels_of_one_address_share_a_socket_until_the_last_closes() {
        let ports = Ports::in_common();
        let open = |port| {
            UdpLink::open(plan(port), (BufferPlan::default(), &ports), None).expect("a socket")
        };
        let mut first = open(0);
        let number = first.local().expect("an address").port();
        let second = open(number);
        assert_eq!((ports.list().len(), second.local()), (1, first.local()));
        first.close();
        assert!(!second.is_open());
        first.reopen(Instant::ORIGIN).expect("a socket");
        assert!(second.is_open());
        first.close();
        assert!(first.reopen(Instant::ORIGIN.after(AGAIN / 2)).is_err());
        first.reopen(Instant::ORIGIN.after(AGAIN)).expect("a socket");
        drop(first);
        assert_eq!(ports.list().len(), 1);
        drop(second);
        assert!(ports.list().is_empty() && UdpSocket::bind(plan(number).1).is_ok());
    }
}

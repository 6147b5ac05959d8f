//! Synchronous rtnetlink requests.
//!
//! Source: RFC 3549; rtnetlink(7).

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Message alignment in bytes (`NLMSG_ALIGNTO`).
const ALIGNED_BYTES: usize = 4;

pub(crate) struct Netlink(Socket);

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    pub(crate) fn create(&self, message: RouteNetlinkMessage) -> io::Result<()> {
        self.ask(message, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL).map(drop)
    }

    pub(crate) fn change(&self, message: RouteNetlinkMessage) -> io::Result<()> {
        self.ask(message, NLM_F_ACK).map(drop)
    }

    pub(crate) fn dump(
        &self,
        message: RouteNetlinkMessage,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.ask(message, NLM_F_DUMP)
    }

    fn ask(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let mut replies = Vec::new();
        loop {
            let (bytes, _) = self.0.recv_from_full()?;
            if take(&bytes, &mut replies)? {
                return Ok(replies);
            }
        }
    }
}

fn take(mut bytes: &[u8], replies: &mut Vec<RouteNetlinkMessage>) -> io::Result<bool> {
    while !bytes.is_empty() {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        let length = (message.header.length as usize).next_multiple_of(ALIGNED_BYTES);
        bytes = bytes.get(length..).unwrap_or_default();
        match message.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
            NetlinkPayload::Done(_) | NetlinkPayload::Error(_) => return Ok(true),
            NetlinkPayload::InnerMessage(reply) => replies.push(reply),
            _ => {}
        }
    }
    Ok(false)
}

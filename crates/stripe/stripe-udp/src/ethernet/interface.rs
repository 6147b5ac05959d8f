//! Local Ethernet interfaces, and the EtherTypes in use on them.

use std::io;
use std::os::fd::AsRawFd;

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{LinkAddr, bind};
use socket2::{Domain, Socket, Type};

use super::MacAddress;

const PROTOCOLS: &str = "/proc/net/ptype";
const SOCKETS: &str = "/proc/net/packet";

/// Local Ethernet interface.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    address: LinkAddr,
    /// MAC address.
    pub mac: MacAddress,
}

/// Type of an existing user of an EtherType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtherTypeUse {
    /// Kernel protocol.
    Kernel,
    /// Packet socket.
    Socket,
}

impl Interface {
    /// Finds an Ethernet interface by name.
    pub fn named(name: &str) -> io::Result<Self> {
        let mut links = getifaddrs()?.filter(|one| one.interface_name == name);
        let address = links
            .find_map(|one| one.address?.as_link_addr().copied())
            .ok_or_else(|| io::Error::from_raw_os_error(nix::libc::ENODEV))?;
        let mac = address.addr().filter(|mac| address.halen() == 6 && *mac != [0; 6]);
        let mac = MacAddress(mac.ok_or(io::ErrorKind::Unsupported)?);
        Ok(Self { address, mac })
    }

    /// Checks that this process may open a packet socket.
    pub fn open(&self) -> io::Result<()> {
        // Without a protocol, the socket receives nothing.
        self.bind(&Socket::new(Domain::PACKET, Type::RAW, None)?)
    }

    /// Returns the MTU in bytes, if known.
    pub fn mtu(&self, name: &str) -> Option<u32> {
        std::fs::read_to_string(format!("/sys/class/net/{name}/mtu")).ok()?.trim().parse().ok()
    }

    /// Returns the existing user of an EtherType, if any.
    pub fn used(&self, ether_type: u16) -> io::Result<Option<EtherTypeUse>> {
        let protocols = std::fs::read_to_string(PROTOCOLS)?;
        if of_kernel(&protocols, ether_type) {
            return Ok(Some(EtherTypeUse::Kernel));
        }
        let sockets = std::fs::read_to_string(SOCKETS)?;
        let is_of_one = of_sockets(&sockets, ether_type, self.address.ifindex());
        Ok(is_of_one.then_some(EtherTypeUse::Socket))
    }

    pub(super) fn bind(&self, socket: &Socket) -> io::Result<()> {
        Ok(bind(socket.as_raw_fd(), &self.address)?)
    }
}

fn of_kernel(protocols: &str, ether_type: u16) -> bool {
    let mut types = protocols.lines().filter_map(|line| line.split_whitespace().next());
    types.any(|one| u16::from_str_radix(one, 16) == Ok(ether_type))
}

/// Returns whether a packet socket uses the EtherType. In `sockets`, column 4 is the EtherType and
/// column 5 the interface index; index 0 means all interfaces.
fn of_sockets(sockets: &str, ether_type: u16, interface: usize) -> bool {
    sockets.lines().any(|line| {
        let mut columns = line.split_whitespace().skip(3);
        let of = columns.next().map(|one| u16::from_str_radix(one, 16));
        let on = columns.next().map(str::parse::<usize>);
        of == Some(Ok(ether_type)) && (on == Some(Ok(interface)) || on == Some(Ok(0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_an_ethertype_are_read_from_the_kernel() {
        let protocols =
            "Type Device      Function\nALL  vb       packet_rcv\n0800          ip_rcv\n";
        assert!(of_kernel(protocols, 0x800) && !of_kernel(protocols, 0x88b5));
        let sockets = "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n\
                       0000000009a69103 3      3    88b5   2     1 0      0      1031787\n\
                       0000000009a69104 3      3    88b6   0     1 0      0      1031788\n";
        assert!(of_sockets(sockets, 0x88b5, 2) && !of_sockets(sockets, 0x88b5, 3));
        assert!(of_sockets(sockets, 0x88b6, 3) && !of_sockets(sockets, 3, 2));
    }

    #[test]
    fn non_ethernet_interface_is_an_error() {
        let error = |name| Interface::named(name).expect_err("it is none").raw_os_error();
        assert_eq!(error("no-such-one"), Some(nix::libc::ENODEV));
        assert_eq!(error("lo"), None);
    }
}

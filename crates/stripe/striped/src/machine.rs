//! Interfaces and addresses of this machine, against which configurations are checked.

use std::fs::File;
use std::io;
use std::net::IpAddr;

use caps::{CapSet, Capability};
use nix::ifaddrs::getifaddrs;

const TUN: &str = "/dev/net/tun";

#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) interfaces: Vec<String>,
    pub(crate) addresses: Vec<IpAddr>,
}

impl Machine {
    pub(crate) fn read(without: &[&str]) -> io::Result<Self> {
        let mut machine = Self::default();
        for one in getifaddrs()? {
            if without.contains(&one.interface_name.as_str()) {
                continue;
            }
            machine.interfaces.push(one.interface_name);
            let address = one.address.and_then(|address| {
                let v4 = address.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
                v4.or_else(|| address.as_sockaddr_in6().map(|v6| v6.ip().into()))
            });
            machine.addresses.extend(address);
        }
        machine.interfaces.sort();
        machine.interfaces.dedup();
        Ok(machine)
    }

    pub(crate) fn has_interface(&self, name: &str) -> bool {
        self.interfaces.iter().any(|one| one == name)
    }
}

pub(crate) fn lacks_tun() -> Option<String> {
    let opened = File::options().read(true).write(true).open(TUN);
    let Err(error) = opened else {
        let may = caps::has_cap(None, CapSet::Effective, Capability::CAP_NET_ADMIN);
        let message = "no interface can be made: it takes root or CAP_NET_ADMIN";
        return may.is_ok_and(|may| !may).then(|| message.into());
    };
    let cure = match error.kind() {
        io::ErrorKind::PermissionDenied => "it takes root",
        _ => "modprobe tun, or mknod /dev/net/tun c 10 200",
    };
    Some(format!("no interface can be made: {TUN}: {error}; {cure}"))
}

//! End of the link: a TAP interface in a network namespace.
//!
//! A TAP interface belongs to the namespace of the process that opens `/dev/net/tun`. This process
//! therefore enters the namespace, opens the device and returns. An open TAP keeps its namespace
//! alive, even if the namespace's name or path is deleted.

use crate::problem::Problem;
use gingham_input::nearest;
use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

const NAMED: &str = "/run/netns";
const NAME_BYTES: usize = 16;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(crate) namespace: String,
    pub(crate) interface: String,
}

impl FromStr for End {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, interface) = text.rsplit_once(':').unwrap_or((text, "tap0"));
        let is_name =
            |name: &str| !name.is_empty() && name.len() < NAME_BYTES && !name.contains(['/', ' ']);
        if namespace.is_empty() || !is_name(interface) {
            return Err(
                "expected NAMESPACE or NAMESPACE:INTERFACE, such as left or left:wan0".into()
            );
        }
        Ok(Self { namespace: namespace.into(), interface: interface.into() })
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.namespace, self.interface)
    }
}

struct Namespace {
    path: PathBuf,
    file: File,
    identity: (u64, u64),
}

impl Namespace {
    fn open(name: &str) -> Result<Self, Problem> {
        let path = if name.contains('/') { name.into() } else { Path::new(NAMED).join(name) };
        let missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Problem::Input(unknown(name)),
            _ => Problem::Environment(format!("{}: {error}", path.display())),
        };
        let file = File::open(&path).map_err(missing)?;
        let identity = identity(&file.metadata().map_err(missing)?);
        Ok(Self { path, file, identity })
    }

    fn is_there(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| identity(&metadata) == self.identity)
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn unknown(name: &str) -> String {
    if name.contains('/') {
        return format!("{name}: no such network namespace");
    }
    let entries = fs::read_dir(NAMED).into_iter().flatten().flatten();
    let mut known: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    known.sort();
    match nearest(name, &known) {
        Some(near) => format!("no network namespace \"{name}\"; did you mean \"{near}\"?"),
        None => {
            format!("no network namespace \"{name}\"\n  to make it: ip netns add {name}")
        }
    }
}

pub(crate) struct Tap {
    pub(crate) end: End,
    pub(crate) device: SyncDevice,
    namespace: Namespace,
}

impl Tap {
    /// Creates the interface, sets it up, and assigns no address. Panics if this process cannot
    /// return to its original namespace.
    pub(crate) fn new(end: &End, mtu: u16) -> Result<Self, Problem> {
        let namespace = Namespace::open(&end.namespace)?;
        let refused = |error: io::Error| Problem::Environment(refusal(end, &error));
        let home = File::open("/proc/thread-self/ns/net").map_err(refused)?;
        setns(&namespace.file, CloneFlags::CLONE_NEWNET).map_err(|errno| refused(errno.into()))?;
        let made = DeviceBuilder::new()
            .name(end.interface.as_str())
            .layer(Layer::L2)
            .mtu(mtu)
            .enable(true)
            .build_sync();
        setns(&home, CloneFlags::CLONE_NEWNET).expect("the way back to our own namespace is open");
        let device = made.map_err(refused)?;
        device.set_nonblocking(true).map_err(refused)?;
        Ok(Self { end: end.clone(), device, namespace })
    }

    pub(crate) fn is_there(&self) -> bool {
        self.namespace.is_there()
    }
}

fn refusal(end: &End, error: &io::Error) -> String {
    let cure = match error.raw_os_error().map(nix::errno::Errno::from_raw) {
        Some(nix::errno::Errno::EPERM | nix::errno::Errno::EACCES) => "it takes root",
        Some(nix::errno::Errno::EBUSY | nix::errno::Errno::EINVAL) => {
            "is there an interface of this name already?"
        }
        Some(nix::errno::Errno::ENOENT | nix::errno::Errno::ENODEV) => {
            "is /dev/net/tun there? modprobe tun"
        }
        _ => "a TAP interface could not be made",
    };
    format!("{end}: {error}\n  {cure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_a_namespace_and_an_interface() {
        let end = |text: &str| text.parse::<End>().map(|end| (end.namespace, end.interface));
        let made = |namespace: &str, interface: &str| Ok((namespace.into(), interface.into()));
        assert_eq!(end("left"), made("left", "tap0"));
        assert_eq!(end("left:wan0"), made("left", "wan0"));
        assert_eq!(end("/proc/12/ns/net:wan0"), made("/proc/12/ns/net", "wan0"));
        for wrong in ["", ":", ":tap0", "left:", "left:a b", "left:sixteen_letters_"] {
            assert!(end(wrong).is_err(), "{wrong}");
        }
    }
}

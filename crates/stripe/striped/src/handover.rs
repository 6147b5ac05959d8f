//! Transfer of a checked configuration from the monitor, which may read files, to the tunnel
//! process, in a shared memory file (memfd), so that keys never pass through a socket.
//!
//! ```text
//!   0123...ef      preshared key of peer[0]
//!   -              no preshared key for peer[1]
//!                  an empty line
//!   name = ...     the configuration file
//! ```
//!
//! Invariant: memory that contains a key is zeroed before it is freed, by the receiver or, if the
//! transfer failed, the sender.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use gingham_stripe_crypt::{PeerPlan, PresharedKey};
use rustix::fs::{MemfdFlags, memfd_create};
use zeroize::Zeroizing;

const ZEROS: [u8; 4 << 10] = [0; 4 << 10];

const NONE: &str = "-";

#[derive(Debug)]
pub(crate) struct Handed {
    pub(crate) preshared: Vec<Option<PresharedKey>>,
    pub(crate) text: String,
}

pub(crate) fn pass(text: &str, peers: &[PeerPlan]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("striped", MemfdFlags::CLOEXEC)?);
    for peer in peers {
        let key = peer.preshared.as_ref().map(PresharedKey::to_hex);
        file.write_all(key.as_ref().map_or(NONE, |key| key).as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.write_all(b"\n")?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

pub(crate) fn forget(passed: OwnedFd) -> io::Result<()> {
    let file = File::from(passed);
    write_over(&file, file.metadata()?.len())
}

fn write_over(file: &File, bytes: u64) -> io::Result<()> {
    for begin in (0..bytes).step_by(ZEROS.len()) {
        let count =
            usize::try_from(bytes - begin).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
        file.write_all_at(&ZEROS[..count], begin)?;
    }
    Ok(())
}

pub(crate) fn take(from: OwnedFd) -> io::Result<Handed> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let mut bytes = Zeroizing::new(Vec::new());
    let mut file = File::from(from);
    let read = file.read_to_end(&mut bytes);
    write_over(&file, bytes.len() as u64)?;
    read?;
    let mut text = str::from_utf8(&bytes).map_err(|_| wrong())?;
    let mut preshared = Vec::new();
    loop {
        let (line, rest) = text.split_once('\n').ok_or_else(wrong)?;
        text = rest;
        preshared.push(match line {
            "" => return Ok(Handed { preshared, text: text.to_owned() }),
            NONE => None,
            key => Some(key.parse().map_err(|_| wrong())?),
        });
    }
}

#[cfg(test)]
mod tests {
    use gingham_stripe_crypt::PrivateKey;

    use super::*;
    use crate::peer::peer_plan;

    #[test]
    fn handover_round_trips() -> io::Result<()> {
        let private: PrivateKey = "07".repeat(32).parse().expect("a key");
        let key = |digits: &str| digits.repeat(32).parse::<PresharedKey>().expect("a key");
        for keys in [vec![], vec![None], vec![Some(key("0a")), None, Some(key("ff"))]] {
            let peer = |key: &Option<_>| peer_plan(&private, private.public(), key.clone());
            let peers: Vec<_> = keys.iter().map(peer).collect();
            for text in ["", "\n\nname = \"b\"\n", &"x".repeat(1 << 20)] {
                let passed = pass(text, &peers)?;
                let mut left = File::from(passed.try_clone()?);
                let handed = take(passed)?;
                let mut rest = Vec::new();
                left.rewind()?;
                left.read_to_end(&mut rest)?;
                assert!(rest.len() > text.len() && rest.iter().all(|byte| *byte == 0));
                let passed = pass(text, &peers)?;
                let mut left = File::from(passed.try_clone()?);
                forget(passed)?;
                left.read_to_end(&mut rest)?;
                assert!(rest.len() > 2 * text.len() && rest.iter().all(|byte| *byte == 0));
                assert!(handed.text == text && handed.preshared == keys);
            }
        }
        for wrong in [&b""[..], b"-\n", b"0a\n\nname", b"-\n\n\xff"] {
            let mut file = File::from(memfd_create("striped", MemfdFlags::CLOEXEC)?);
            file.write_all(wrong)?;
            file.rewind()?;
            let mut left = file.try_clone()?;
            assert!(take(file.into()).is_err(), "{wrong:?}");
            let mut rest = Vec::new();
            left.rewind()?;
            left.read_to_end(&mut rest)?;
            assert_eq!(rest, vec![0; wrong.len()]);
        }
        Ok(())
    }
}

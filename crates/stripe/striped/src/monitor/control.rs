//! Control socket of a bundle, used by `striped status`, `reload` and `down`.
//!
//! ```text
//!   RUNTIME/NAME.sock, mode 0600, owned by the user configured for the tunnel process
//!
//!   request   's'  status: the connection is passed to the tunnel process, which writes JSON
//!             'r'  reload: the reply is a digit, the exit code of `striped reload`, and a message
//!             'd'  down: no reply; the connection closes when the daemon ends
//! ```
//!
//! Invariant: connections are bounded in number and lifetime.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::{Acceptor, close_oldest};
use rustix::net::{RecvFlags, recv};

use super::bundle::owner;
use crate::check::Loaded;
use crate::problem::Problem;

/// Maximum number of clients; an additional client closes the oldest connection.
const CLIENTS_MAX: usize = 16;
const WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    Status,
    Reload,
    Down,
}

impl Asked {
    pub(crate) const fn to_byte(self) -> u8 {
        match self {
            Self::Status => b's',
            Self::Reload => b'r',
            Self::Down => b'd',
        }
    }

    const fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            b's' => Some(Self::Status),
            b'r' => Some(Self::Reload),
            b'd' => Some(Self::Down),
            _ => None,
        }
    }
}

pub(crate) fn path_of(runtime: &Path, name: &str) -> PathBuf {
    runtime.join(format!("{name}.sock"))
}

pub(super) struct Control {
    listener: UnixListener,
    acceptor: Acceptor,
    path: PathBuf,
}

impl Drop for Control {
    fn drop(&mut self) {
        let _: io::Result<()> = fs::remove_file(&self.path);
    }
}

impl Control {
    pub(super) fn open(runtime: &Path, loaded: &Loaded) -> Result<Self, Problem> {
        let config = &loaded.checked.config;
        let path = path_of(runtime, &config.name);
        let refused = |error: io::Error| Problem::environment(&path.display().to_string(), error);
        fs::create_dir_all(runtime).map_err(refused)?;
        if UnixStream::connect(&path).is_ok() {
            let message = format!(
                "a daemon of `{}` is asked at {} already: another name, or up \
                 --runtime-directory with another folder",
                config.name,
                path.display()
            );
            return Err(loaded.source.refuse("name", message).into());
        }
        let _: io::Result<()> = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(refused)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(refused)?;
        if let Some(user) = owner(config) {
            chown(&path, Some(user.uid.as_raw()), None).map_err(refused)?;
        }
        listener.set_nonblocking(true).map_err(refused)?;
        Ok(Self { listener, acceptor: Acceptor::default(), path })
    }
}

impl Control {
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        (!self.acceptor.rests()).then(|| self.listener.as_fd())
    }

    pub(super) const fn due_at(&self) -> Option<Instant> {
        self.acceptor.next_at()
    }
}

#[derive(Default)]
pub(super) struct Clients {
    waiting: Vec<(usize, Instant, UnixStream)>,
    reloading: Vec<OwnedFd>,
    staying: Vec<OwnedFd>,
}

impl Clients {
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.waiting.iter().map(|(_, _, stream)| stream.as_fd())
    }

    pub(super) fn due_at(&self) -> Option<Instant> {
        self.waiting.iter().map(|(_, until, _)| *until).min()
    }

    pub(super) fn take<'a>(
        &mut self,
        now: Instant,
        controls: impl Iterator<Item = &'a mut Control>,
    ) -> Vec<(usize, Asked, OwnedFd)> {
        let waiting = &mut self.waiting;
        for (number, Control { listener, acceptor, .. }) in controls.enumerate() {
            acceptor.begin(now);
            let accept = || listener.accept();
            while let Some((stream, _)) = acceptor.next(now, accept, || close_oldest(waiting)) {
                if waiting.len() == CLIENTS_MAX {
                    close_oldest(waiting);
                }
                waiting.push((number, now.after(WAIT), stream));
            }
        }
        let mut asked = Vec::new();
        for (number, until, stream) in std::mem::take(&mut self.waiting) {
            let mut byte = [0];
            match recv(&stream, &mut byte, RecvFlags::DONTWAIT) {
                Ok((1, _)) => {
                    asked.extend(Asked::of_byte(byte[0]).map(|one| (number, one, stream.into())));
                }
                Err(rustix::io::Errno::AGAIN) if now < until => {
                    self.waiting.push((number, until, stream));
                }
                _ => {}
            }
        }
        asked
    }

    pub(super) fn reloads(&mut self, client: OwnedFd) {
        self.reloading.push(client);
    }

    pub(super) fn reloaded(&mut self, result: &Result<(), Problem>) {
        for client in self.reloading.drain(..) {
            reply(&client, result);
        }
    }

    pub(super) fn stays(&mut self, client: OwnedFd) {
        self.staying.push(client);
    }
}

pub(super) fn reply(client: &OwnedFd, result: &Result<(), Problem>) {
    let text = match result {
        Ok(()) => "0".to_owned(),
        Err(problem) => format!("{}{problem}", problem.code()),
    };
    if let Ok(client) = client.try_clone() {
        let mut stream = UnixStream::from(client);
        let _: io::Result<()> =
            stream.set_nonblocking(true).and_then(|()| stream.write_all(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use gingham_stripe_udp::{ACCEPTED_A_TURN, now};

    use super::*;

    #[test]
    fn accepts_per_turn_are_bounded() -> io::Result<()> {
        let path = std::env::temp_dir().join(format!("striped-control-{}", std::process::id()));
        let _: io::Result<()> = fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let acceptor = Acceptor::default();
        let mut control = Control { listener, acceptor, path: path.clone() };
        let mut streams = (0..=ACCEPTED_A_TURN)
            .map(|_| UnixStream::connect(&path))
            .collect::<io::Result<Vec<_>>>()?;
        let last = streams.last_mut().expect("there are some");
        last.write_all(&[Asked::Down.to_byte()])?;
        let (mut clients, now) = (Clients::default(), now());
        assert!(clients.take(now, [&mut control].into_iter()).is_empty());
        assert_eq!(clients.waiting.len(), CLIENTS_MAX);
        let asked = clients.take(now, [&mut control].into_iter());
        assert!(matches!(asked[..], [(0, Asked::Down, _)]));
        assert!(control.fd().is_some());
        drop(clients);
        control.acceptor.begin(now);
        let refuse = || -> io::Result<()> { Err(nix::errno::Errno::ENFILE.into()) };
        assert_eq!(control.acceptor.next(now, refuse, || false), None);
        assert!(control.fd().is_none() && control.due_at().is_some_and(|at| now < at));
        Ok(())
    }
}

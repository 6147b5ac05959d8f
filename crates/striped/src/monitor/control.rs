//! The control socket of a bundle, where `striped status`, `reload` and `down` ask.
//!
//! ```text
//!   RUNTIME/NAME.sock, mode 0600, of the user that carries packets, if the file names one
//!
//!   asked     's'  the connection is given to the half that carries packets, which writes JSON
//!             'r'  a digit, the code with which `striped reload` ends, and a message
//!             'd'  nothing: the connection ends with the daemon
//! ```
//!
//! Invariant: what is asked is one byte, and connections are bounded in number and time.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::now;
use rustix::net::{RecvFlags, recv};

use super::bundle::owner;
use crate::check::Loaded;
use crate::problem::Problem;

/// So many may be about to ask; then the oldest is closed.
const CLIENTS_MAX: usize = 16;
/// And for so long.
const WAIT: Duration = Duration::from_secs(2);

/// What is asked.
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

/// Where the socket of a bundle is.
pub(crate) fn path_of(runtime: &Path, name: &str) -> PathBuf {
    runtime.join(format!("{name}.sock"))
}

/// A socket that listens, whose file goes with it.
pub(super) struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for Control {
    fn drop(&mut self) {
        let _: io::Result<()> = fs::remove_file(&self.path);
    }
}

impl Control {
    /// Opens the socket of a bundle, in place of one that a daemon has left.
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
        Ok(Self { listener, path })
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Those who ask.
#[derive(Default)]
pub(super) struct Clients {
    /// Of which bundle, until when, and who.
    waiting: Vec<(usize, Instant, UnixStream)>,
    /// Who waits for the end of a reload.
    reloading: Vec<OwnedFd>,
    /// Who waits for the end.
    staying: Vec<OwnedFd>,
}

impl Clients {
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.waiting.iter().map(|(_, _, stream)| stream.as_fd())
    }

    pub(super) fn due_at(&self) -> Option<Instant> {
        self.waiting.iter().map(|(_, until, _)| *until).min()
    }

    /// Those of whom it is known what they ask.
    pub(super) fn take(&mut self, controls: &[&Control]) -> Vec<(usize, Asked, OwnedFd)> {
        let now = now();
        for (number, control) in controls.iter().enumerate() {
            while let Ok((stream, _)) = control.listener.accept() {
                if self.waiting.len() == CLIENTS_MAX {
                    self.waiting.remove(0);
                }
                self.waiting.push((number, now.after(WAIT), stream));
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

    /// Somebody is told how a reload ended.
    pub(super) fn reloads(&mut self, client: OwnedFd) {
        self.reloading.push(client);
    }

    pub(super) fn reloaded(&mut self, result: &Result<(), Problem>) {
        for client in self.reloading.drain(..) {
            answer(&client, result);
        }
    }

    /// Somebody waits for the end.
    pub(super) fn stays(&mut self, client: OwnedFd) {
        self.staying.push(client);
    }
}

/// Says how something ended; who does not listen is not told.
pub(super) fn answer(client: &OwnedFd, result: &Result<(), Problem>) {
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

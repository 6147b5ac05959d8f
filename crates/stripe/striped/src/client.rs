//! Client commands: requests to a daemon, and `check`, which examines the machine.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::arguments::Bundles;
use crate::check::{load, read};
use crate::config::Config;
use crate::monitor::control::{Asked, path_of};
use crate::problem::Problem;
use crate::status::Status;
use crate::table;

const WAIT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: u64 = 4 << 20;
const CLEAR: &str = "\x1b[H\x1b[2J";

pub(crate) fn check(configs: &[PathBuf]) -> Result<(), Problem> {
    for loaded in load(configs)? {
        print(&would_do(&loaded.path, &loaded.checked.config));
    }
    Ok(())
}

fn would_do(path: &Path, config: &Config) -> String {
    let list = |all: &[crate::config::Prefix]| -> String {
        all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let mut lines = vec![
        format!("{}: nothing is wrong", path.display()),
        format!(
            "  makes interface {} with {}, packets of at most {} bytes",
            config.name,
            list(&config.addresses),
            config.mtu
        ),
    ];
    if !config.routes.is_empty() {
        lines.push(format!(
            "  routes {} through it, by table {} and rules from priority {} on",
            list(&config.routes),
            config.table,
            config.priority
        ));
    }
    let several = config.peers.list.len() > 1;
    for (number, peer) in config.peers.list.iter().enumerate().filter(|_| several) {
        lines.push(format!("  peer {}", peer.name()));
        let channels = config.channels_of(number).enumerate();
        lines.extend(
            channels.map(|(id, at)| format!("    channel {id} over {}", at.channel.in_words())),
        );
    }
    let channels = config.channels_of(0).enumerate().filter(|_| !several);
    lines.extend(channels.map(|(id, at)| format!("  channel {id} over {}", at.channel.in_words())));
    if let Some(metrics) = config.metrics {
        lines.push(format!("  serves metrics at http://{}/metrics", metrics.0));
    }
    lines.join("\n")
}

pub(crate) fn status(
    bundles: &Bundles,
    runtime: &Path,
    is_json: bool,
    watches: bool,
) -> Result<(), Problem> {
    loop {
        let mut statuses = Vec::new();
        each(bundles, runtime, |path, stream| {
            statuses.push(status_of(path, stream)?);
            Ok(())
        })?;
        let text = if is_json {
            serde_json::to_string(&statuses).expect("numbers and names")
        } else {
            statuses.iter().map(table::of).collect::<Vec<_>>().join("\n\n")
        };
        print(&if watches && !is_json { format!("{CLEAR}{text}") } else { text });
        if !watches {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn status_of(path: &Path, stream: UnixStream) -> Result<Status, Problem> {
    let text = ask(path, stream, Asked::Status)?;
    serde_json::from_str(&text).map_err(|error| not_understood(path, &error))
}

fn not_understood(path: &Path, error: &impl std::fmt::Display) -> Problem {
    let message = format!("{}: the daemon's answer is not understood: {error}", path.display());
    Problem::Environment(message)
}

pub(crate) fn reload(bundles: &Bundles, runtime: &Path) -> Result<(), Problem> {
    each(bundles, runtime, |path, stream| {
        let reply = ask(path, stream, Asked::Reload)?;
        match reply.split_at_checked(1) {
            Some(("0", _)) => Ok(()),
            Some((code, message)) => {
                // The default is the exit code of `up` for an invalid file.
                let code = code.parse().unwrap_or(6);
                Err(Problem::Asked(code, message.to_owned()))
            }
            None => Err(not_understood(path, &"nothing")),
        }
    })
}

pub(crate) fn down(bundles: &Bundles, runtime: &Path) -> Result<(), Problem> {
    each(bundles, runtime, |path, stream| match ask(path, stream, Asked::Down) {
        Ok(_) => Ok(()),
        Err(_) if bundles.names.is_empty() && !path.exists() => Ok(()),
        Err(problem) => Err(problem),
    })
}

fn each(
    bundles: &Bundles,
    runtime: &Path,
    mut what: impl FnMut(&Path, UnixStream) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let are_named = !bundles.names.is_empty();
    let mut is_any_there = are_named;
    for path in sockets(bundles, runtime)? {
        match UnixStream::connect(&path) {
            Ok(stream) => {
                is_any_there = true;
                what(&path, stream)?;
            }
            // The socket remains from a daemon that was killed, or has just ended.
            Err(error) if !are_named && is_nobody(&error) => {}
            Err(error) => return Err(refused(&path, &error)),
        }
    }
    if is_any_there {
        return Ok(());
    }
    let why = "no daemon runs: striped up, or --runtime-directory";
    Err(Problem::environment(&runtime.display().to_string(), why))
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn refused(path: &Path, error: &io::Error) -> Problem {
    let why = match error.kind() {
        _ if is_nobody(error) => {
            "no daemon of this bundle runs: striped up, or --runtime-directory".to_owned()
        }
        io::ErrorKind::PermissionDenied => "it takes root, or the daemon's user".to_owned(),
        _ => error.to_string(),
    };
    Problem::environment(&path.display().to_string(), why)
}

fn ask(path: &Path, mut stream: UnixStream, asked: Asked) -> Result<String, Problem> {
    let refused = |error: io::Error| refused(path, &error);
    stream.set_read_timeout(Some(WAIT)).map_err(refused)?;
    stream.write_all(&[asked.to_byte()]).map_err(refused)?;
    let mut text = String::new();
    match stream.take(ANSWER_BYTES_MAX).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(refused(io::Error::other("the daemon has not answered for 10 s")))
        }
        Err(error) => Err(refused(error)),
    }
}

fn sockets(bundles: &Bundles, runtime: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !bundles.names.is_empty() {
        let name = |one: &String| {
            if !one.contains('/') && Path::new(one).extension().is_none_or(|end| end != "toml") {
                return Ok(path_of(runtime, one));
            }
            read(Path::new(one)).map(|checked| path_of(runtime, &checked.config.name))
        };
        return bundles.names.iter().map(name).collect();
    }
    let is_socket = |path: &PathBuf| path.extension().is_some_and(|end| end == "sock");
    let entries = fs::read_dir(runtime).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).filter(is_socket).collect();
    found.sort();
    Ok(found)
}

fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _: io::Result<()> = writeln!(out, "{text}").and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn daemon_is_connected_to_once_per_request() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("striped-client-{}", std::process::id()));
        let all = Bundles { names: Vec::new() };
        fs::create_dir_all(&folder)?;
        drop(UnixListener::bind(folder.join("left.sock"))?);
        let there = folder.join("there.sock");
        let listener = UnixListener::bind(&there)?;
        listener.set_nonblocking(true)?;
        let mut asked = Vec::new();
        let mut ask = || {
            each(&all, &folder, |path, _| {
                asked.push(path.to_owned());
                Ok(())
            })
        };
        let done = ask();
        let came = std::iter::from_fn(|| listener.accept().ok()).count();
        drop(listener);
        let error = ask().expect_err("nobody listens any more").to_string();
        fs::remove_dir_all(&folder)?;
        assert!(done.is_ok() && error.contains("no daemon runs"), "{error}");
        assert_eq!((asked, came), (vec![there], 1));
        Ok(())
    }
}

//! The commands that ask a daemon, and `check`, which asks the machine.

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

/// A daemon that says nothing for so long is not well.
const WAIT: Duration = Duration::from_secs(10);
/// What is told of a daemon is no longer than that.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// The screen is cleared, and written from its first line on (ECMA-48).
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Says what each file would do.
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

/// Shows what daemons say of themselves.
pub(crate) fn status(
    bundles: &Bundles,
    runtime: &Path,
    is_json: bool,
    watches: bool,
) -> Result<(), Problem> {
    loop {
        let told = sockets(bundles, runtime)?
            .iter()
            .map(|path| status_of(path))
            .collect::<Result<Vec<_>, _>>()?;
        let text = if is_json {
            serde_json::to_string(&told).expect("numbers and names")
        } else {
            told.iter().map(table::of).collect::<Vec<_>>().join("\n\n")
        };
        print(&if watches && !is_json { format!("{CLEAR}{text}") } else { text });
        if !watches {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn status_of(path: &Path) -> Result<Status, Problem> {
    let text = ask(path, Asked::Status)?;
    serde_json::from_str(&text).map_err(|error| not_understood(path, &error))
}

fn not_understood(path: &Path, error: &impl std::fmt::Display) -> Problem {
    let message = format!("{}: the daemon's answer is not understood: {error}", path.display());
    Problem::Environment(message)
}

/// Daemons read their files anew.
pub(crate) fn reload(bundles: &Bundles, runtime: &Path) -> Result<(), Problem> {
    for path in sockets(bundles, runtime)? {
        let answer = ask(&path, Asked::Reload)?;
        match answer.split_at_checked(1) {
            Some(("0", _)) => {}
            Some((code, message)) => {
                // What a file is refused for ends this as it ends `up`.
                let code = code.parse().unwrap_or(6);
                return Err(Problem::Asked(code, message.to_owned()));
            }
            None => return Err(not_understood(&path, &"nothing")),
        }
    }
    Ok(())
}

/// Daemons end.
pub(crate) fn down(bundles: &Bundles, runtime: &Path) -> Result<(), Problem> {
    for path in sockets(bundles, runtime)? {
        match ask(&path, Asked::Down) {
            Ok(_) => {}
            // It was the daemon of a bundle before.
            Err(_) if bundles.names.is_empty() && !path.exists() => {}
            Err(problem) => return Err(problem),
        }
    }
    Ok(())
}

/// Asks a daemon, and waits for all that it says.
fn ask(path: &Path, asked: Asked) -> Result<String, Problem> {
    let refused = |error: io::Error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                "no daemon of this bundle runs: striped up, or --runtime-directory".to_owned()
            }
            io::ErrorKind::PermissionDenied => "it takes root, or the daemon's user".to_owned(),
            _ => error.to_string(),
        };
        Problem::environment(&path.display().to_string(), why)
    };
    let mut stream = UnixStream::connect(path).map_err(refused)?;
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

/// Where the bundles that are meant are asked.
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
    let is_socket = |path: &PathBuf| {
        // One that a daemon has left, which was killed, is in nobody's way.
        let is_left = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        path.extension().is_some_and(|end| end == "sock")
            && !UnixStream::connect(path).is_err_and(is_left)
    };
    let entries = fs::read_dir(runtime).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).filter(is_socket).collect();
    found.sort();
    if found.is_empty() {
        let why = "no daemon runs: striped up, or --runtime-directory";
        return Err(Problem::environment(&runtime.display().to_string(), why));
    }
    Ok(found)
}

/// A reader that has gone away is no reason to end.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _: io::Result<()> = writeln!(out, "{text}").and_then(|()| out.flush());
}

//! What the programs of the bench have in common: one line of JSON a run, and the clock.

use serde_json::{Value, json};
use std::fmt::Display;
use std::process::ExitCode;

/// Prints what a program measured, or why it measured nothing, which is a mistake of its caller.
pub fn report(measured: Result<impl Display, String>) -> ExitCode {
    match measured {
        Ok(line) => {
            print(&line.to_string());
            ExitCode::SUCCESS
        }
        Err(message) => {
            print(&message);
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stdout, reason = "the one line that the driver reads")]
fn print(line: &str) {
    println!("{line}");
}

/// What work results in, and the seconds that it takes.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// The steps of some work as they end, each with its seconds, and the peak of memory after it.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
#[derive(Debug)]
pub struct Steps {
    since: std::time::Instant,
    ended: Vec<Value>,
}

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
impl Steps {
    /// The first step begins.
    pub fn begin() -> Self {
        Self { since: std::time::Instant::now(), ended: Vec::new() }
    }

    /// The step of this name ends, and the next one begins.
    pub fn end(&mut self, step: &str) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.ended.push(json!({ "step": step, "seconds": seconds, "peak_mib": peak_mib() }));
        self.since = std::time::Instant::now();
    }

    /// All of them, as objects.
    pub fn into_json(self) -> Value {
        self.ended.into()
    }
}

/// The peak of memory of this process so far, in MiB; `None` where the system does not tell.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

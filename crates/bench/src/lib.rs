//! Shared parts of the benchmark programs.

use serde_json::{Value, json};
use std::fmt::Display;
use std::process::ExitCode;

/// Prints the measurement, or the error with exit code 2.
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

/// Runs `work`; returns its result and duration in seconds.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Durations of successive steps in seconds, and the peak memory in MiB at the end of each step.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
#[derive(Debug)]
pub struct Steps {
    since: std::time::Instant,
    ended: Vec<Value>,
}

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
impl Steps {
    /// Starts the first step.
    pub fn begin() -> Self {
        Self { since: std::time::Instant::now(), ended: Vec::new() }
    }

    /// Ends the current step, which gets the name `step`, and starts the next step.
    pub fn end(&mut self, step: &str) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.ended.push(json!({ "step": step, "seconds": seconds, "peak_mib": peak_mib() }));
        self.since = std::time::Instant::now();
    }

    /// Returns the steps as a JSON array.
    pub fn into_json(self) -> Value {
        self.ended.into()
    }
}

fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

//! What the programs of the bench have in common: one line of JSON a run, and the clock.

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

/// The seconds that work takes.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
pub fn seconds_of(work: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

//! Long computations that Ctrl-C can interrupt.
//!
//! ```text
//!   Python's thread   wait ─ 50 ms ─► signals? ─► wait ... ─► the result, or KeyboardInterrupt
//!   a worker          ═══════════ work ═════════════════════╝
//! ```
//!
//! Python runs signal handlers only on its main thread, between bytecode instructions. The work
//! therefore runs on a worker thread without access to Python, while the calling thread polls for
//! signals. After an interrupt, the work continues in the background, and its result is dropped.

use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{panic, thread};

/// Interval between polls for signals, too short for users to notice.
const MOMENT: Duration = Duration::from_millis(50);

/// Returns the result of `work`, or the exception of a signal handler. Panics if `work` panics.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Python side, which must go on meanwhile"
    )]
    let worker = thread::spawn(move || {
        // Sending fails only if the caller was interrupted.
        let _ = sender.send(work());
    });
    loop {
        let (answer, back) = py.detach(move || (receiver.recv_timeout(MOMENT), receiver));
        receiver = back;
        match answer {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => panic::resume_unwind(
                worker.join().expect_err("a worker without a result has panicked"),
            ),
        }
    }
}

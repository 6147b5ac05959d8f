//! Long work that Ctrl-C may end.
//!
//! ```text
//!   Python's thread   wait ─ a moment ─► signals? ─► wait ... ─► the answer, or KeyboardInterrupt
//!   a worker          ═══════════ work ═════════════════════╝
//! ```
//!
//! Python's own handlers run only on its thread and only between two of its instructions. So the
//! work is done by a thread that knows nothing of Python, while the caller waits and asks for
//! signals. Work that was given up goes on until it is done, unseen; what it made is dropped.

use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{panic, thread};

/// Time between two looks at the signals: far below what a person notices.
const MOMENT: Duration = Duration::from_millis(50);

/// What `work` returns, or the exception of a signal's handler. Panics as `work` does.
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
        // Nobody listens any more if the caller was interrupted.
        let _ = sender.send(work());
    });
    loop {
        let (answer, back) = py.detach(move || (receiver.recv_timeout(MOMENT), receiver));
        receiver = back;
        match answer {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                panic::resume_unwind(worker.join().expect_err("work that ends well says so"))
            }
        }
    }
}

//! Traces of frames.
//!
//! ```text
//!   # size in bytes                    # display index, time, type, size
//!   23105                              0  0.0    I  52311
//!   8123                               3  100.0  P  16200
//!   ...                                1  33.3   B  5020        sent after frame 3, which it needs
//! ```
//!
//! Fields are separated by blanks, tabs, commas or semicolons. Empty lines, lines that start with
//! `#` and fields after the fourth are skipped. Lines are in order of transmission: `I` and `P`
//! frames in their order of display, and each `B` frame after the two `I` or `P` frames that
//! surround it in display order. Times are ignored, because streams define them.

use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::payload;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::Trace;
use gingham_input::{FileRead, InputError, unpack};
use gingham_kernel::{Bytes, FileName};
use gingham_net::traffic::{FirstFrame, FrameSizes};
use std::collections::BTreeSet;
use std::sync::Arc;

const KEY: &str = "streams.data.trace.file";

pub(super) fn trace_sizes(
    context: &ClassContext<'_>,
    trace: &Trace,
    gathered: &mut Gathered,
) -> Result<FrameSizes, LabError> {
    let bytes = read_trace(context, &trace.file, gathered)?;
    let Some(first) = trace.first else {
        return Ok(FrameSizes::Trace { bytes, first: FirstFrame::Drawn });
    };
    let place = usize::try_from(first).ok().filter(|place| *place < bytes.len());
    let place = place.ok_or_else(|| {
        let last = bytes.len() - 1;
        let message = format!(
            "the trace has frames 0 to {last}, and streams are to begin with {first}; leave the key out to draw one \
             for each"
        );
        context.error("streams.data.trace.first", message)
    })?;
    Ok(FrameSizes::Trace { bytes, first: FirstFrame::At(place) })
}

fn read_trace(
    context: &ClassContext<'_>,
    name: &FileName,
    gathered: &mut Gathered,
) -> Result<Arc<[u32]>, LabError> {
    let path = context.source.path_of(name);
    let (read, bytes) = FileRead::open(&context.path(KEY), &path).map_err(|error| {
        context.error(KEY, format!("{} cannot be read: {error}", path.display()))
    })?;
    let unpacked = unpack(&read.path, &bytes)?;
    let shown = format!("traffic[{}].{KEY}", context.index);
    let sizes = sizes(&String::from_utf8_lossy(&unpacked)).map_err(|fault| {
        let message = format!("in `{shown}`: {}", fault.message);
        InputError::from_parts(&read.path, fault.line, None, Some(shown.clone()), message, [], None)
    })?;
    gathered.files.push(read);
    Ok(sizes.into())
}

#[derive(Debug)]
struct Fault {
    line: Option<u32>,
    message: String,
}

#[derive(Default)]
struct Order {
    seen: BTreeSet<u64>,
    /// Display indices of the last two reference frames.
    anchors: [Option<u64>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Sizes,
    Frames,
}

impl Format {
    const fn columns(self) -> &'static str {
        match self {
            Self::Sizes => "a size in bytes",
            Self::Frames => "index, time, type and size",
        }
    }
}

fn sizes(text: &str) -> Result<Vec<u32>, Fault> {
    let mut sizes = Vec::new();
    let (mut order, mut format) = (Order::default(), None);
    for (line, text) in (1..).zip(text.lines()) {
        let fault = |message: String| Fault { line: Some(line), message };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let is_between = |character: char| character.is_whitespace() || ",;".contains(character);
        let fields: Vec<&str> = text.split(is_between).filter(|field| !field.is_empty()).collect();
        let size = match (format_of(&fields), &fields[..]) {
            (Some(found), _) if format.is_some_and(|format| format != found) => {
                let format: Format = format.expect("there is one");
                let message = format!(
                    "this line has {}, and those before it have {}; all lines of a trace have the same",
                    found.columns(),
                    format.columns()
                );
                return Err(fault(message));
            }
            (Some(Format::Sizes), [size]) => {
                format = Some(Format::Sizes);
                size
            }
            (Some(Format::Frames), [index, _, kind, size, ..]) => {
                format = Some(Format::Frames);
                order.next(index, kind).map_err(fault)?;
                size
            }
            _ => {
                let message = format!(
                    "found `{text}`, expected a size in bytes, or index, time, type and size of a frame"
                );
                return Err(fault(message));
            }
        };
        sizes.push(frame_size(size).map_err(fault)?);
    }
    if sizes.is_empty() {
        let message = "the trace has no frames: it needs a line for each, at least one".to_owned();
        return Err(Fault { line: None, message });
    }
    Ok(sizes)
}

fn format_of(fields: &[&str]) -> Option<Format> {
    match fields.len() {
        1 => Some(Format::Sizes),
        4.. => Some(Format::Frames),
        _ => None,
    }
}

fn frame_size(text: &str) -> Result<u32, String> {
    let bytes: u64 = text.parse().map_err(|_| {
        format!("found `{text}` as the size of a frame, expected a whole number of bytes")
    })?;
    payload(bytes).ok_or_else(|| format!("a frame has from 1 B to 1024 MiB, not {}", Bytes(bytes)))
}

impl Order {
    fn next(&mut self, index: &str, kind: &str) -> Result<(), String> {
        let found: u64 = index.parse().map_err(|_| {
            format!("found `{index}` as the index of a frame, expected a whole number")
        })?;
        if !self.seen.insert(found) {
            return Err(format!("frame {found} is there twice"));
        }
        let [before, last] = self.anchors;
        let cure = "lines stand in order of transmission, a frame behind those that it needs";
        match kind {
            "I" | "P" => {
                if let Some(last) = last.filter(|last| *last > found) {
                    return Err(format!(
                        "frame {found} ({kind}) stands behind frame {last}, which others need as well and which is shown later: {cure}"
                    ));
                }
                self.anchors = [last, Some(found)];
                Ok(())
            }
            "B" => {
                let is_between = last.is_some_and(|last| found < last)
                    && before.is_none_or(|before| before < found);
                if is_between {
                    return Ok(());
                }
                let needed = match [before, last] {
                    [_, None] => "and no I or P before it".to_owned(),
                    [Some(before), Some(last)] => format!("not between frames {before} and {last}"),
                    [None, Some(last)] => format!("not before frame {last}"),
                };
                Err(format!("frame {found} (B) stands here, {needed}: {cure}"))
            }
            _ => Err(format!("found `{kind}` as the type of a frame, expected I, P or B")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_lists_sizes_or_frames_in_transmission_order() {
        assert_eq!(sizes("# a film\n10\n\n  7\r\n1").unwrap(), [10, 7, 1]);
        let frames =
            "0 0.0 I 50\n3, 100, P, 20\n1\t33.3\tB\t5\t98.1\n2;66;B;6\n5 166 P 21\n4 133 B 7";
        assert_eq!(sizes(frames).unwrap(), [50, 20, 5, 6, 21, 7]);
    }

    #[test]
    fn trace_errors_give_their_line() {
        for (text, line, expected) in [
            ("", None, "has no frames"),
            ("# nothing\n\n", None, "has no frames"),
            ("10\nten\n", Some(2), "found `ten` as the size"),
            ("10\n0\n", Some(2), "from 1 B"),
            ("10\n-3\n", Some(2), "found `-3`"),
            ("10 11\n", Some(1), "found `10 11`, expected a size"),
            ("10\n0 0.0 I 50", Some(2), "all lines of a trace have the same"),
            ("0 0.0 I 50\n1 33 B 5\n2 66 B 5\n3 100 P 20", Some(2), "not before frame 0"),
            ("1 33 B 5\n", Some(1), "and no I or P before it"),
            ("0 0 I 5\n6 0 P 5\n9 0 P 5\n4 0 B 5", Some(4), "not between frames 6 and 9"),
            ("3 0 I 5\n\n0 0 I 5", Some(3), "frame 0 (I) stands behind frame 3"),
            ("0 0 I 5\n3 0 P 5\n1 0 B 5\n1 0 B 5", Some(4), "frame 1 is there twice"),
            ("0 0 X 5", Some(1), "found `X` as the type"),
            ("a 0 I 5", Some(1), "found `a` as the index"),
        ] {
            let fault = sizes(text).unwrap_err();
            assert_eq!(fault.line, line, "{text}");
            assert!(fault.message.contains(expected), "{text}: {}", fault.message);
        }
    }
}

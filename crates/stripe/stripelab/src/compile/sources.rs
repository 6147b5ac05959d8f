//! Compiles sources: packet lengths, rates and files.

use crate::plan::{Lengths, SourceKind, SourcePlan, WindowRule};
use crate::scenario::{
    Frames, List, Packets, ScenarioSource, Send, Source, SourceKind as Wanted, Transport,
};
use gingham_input::{FileRead, InputError};
use gingham_kernel::{Bytes, FileName, Span, Time};
use gingham_stripe::Class;

const WINDOW_BYTES: u64 = 4_000_000;

const FRAME_PACKETS_MAX: u64 = 100_000;

struct Place<'a> {
    source: &'a ScenarioSource,
    index: usize,
    longest_bytes: u32,
    files: &'a mut Vec<FileRead>,
}

impl Place<'_> {
    fn key(&self, key: &str) -> String {
        format!("source.{}.{key}", self.index)
    }

    fn refuse(&self, key: &str, message: impl std::fmt::Display) -> InputError {
        self.source.refuse(&self.key(key), message)
    }

    fn length(&self, key: &str, length: Bytes) -> Result<u32, InputError> {
        let longest = self.longest_bytes;
        let fits = u32::try_from(length.0).ok().filter(|bytes| (1..=longest).contains(bytes));
        let message = || {
            format!("a packet of {length}: expected 1 B to {longest} B (`stripe.longest_packet`)")
        };
        fits.ok_or_else(|| self.refuse(key, message()))
    }

    fn lengths(&self, key: &str, lengths: &[Bytes]) -> Result<Vec<u32>, InputError> {
        if lengths.is_empty() {
            return Err(self.refuse(key, "expected at least one length"));
        }
        let each =
            |(index, length): (usize, &Bytes)| self.length(&format!("{key}.{index}"), *length);
        lengths.iter().enumerate().map(each).collect()
    }
}

pub(super) fn sources(
    source: &ScenarioSource,
    longest_bytes: u32,
) -> Result<(Vec<SourcePlan>, Vec<FileRead>), InputError> {
    let wanted = &source.scenario.source;
    if wanted.is_empty() || wanted.len() > usize::from(u16::MAX) {
        return Err(source.refuse("source", "expected 1 to 65,535 sources"));
    }
    let mut files = Vec::new();
    let mut plans = Vec::new();
    for (index, one) in wanted.iter().enumerate() {
        if wanted[..index].iter().any(|other| other.name == one.name) {
            let message = "another source has this name already";
            return Err(source.refuse(&format!("source.{index}.name"), message));
        }
        let mut place = Place { source, index, longest_bytes, files: &mut files };
        plans.push(source_plan(&mut place, one)?);
    }
    Ok((plans, files))
}

fn source_plan(place: &mut Place<'_>, one: &Source) -> Result<SourcePlan, InputError> {
    let kind = kind(place, &one.kind)?;
    let lengths = match &one.kind {
        Wanted::List(List { lengths, .. }) => {
            Lengths::InTurn(place.lengths("kind.list.lengths", lengths)?)
        }
        _ => packet_lengths(place, &one.packets)?,
    };
    let instant = |span: Option<Span>| span.map(|span| Time::ZERO + span);
    let start = instant(one.start).unwrap_or(Time::ZERO);
    let stop = instant(one.stop).unwrap_or(Time::MAX);
    if stop <= start {
        return Err(place.refuse("stop", "expected a later instant than its start"));
    }
    let name = one.name.clone().expect("filled in where scenarios are read");
    let class = match one.send {
        Send::Spread => Class::Spread,
        Send::Fastest => Class::Fastest,
        Send::Redundant => Class::Redundant,
    };
    Ok(SourcePlan { name, kind, lengths, class, start, stop })
}

fn kind(place: &mut Place<'_>, wanted: &Wanted) -> Result<SourceKind, InputError> {
    Ok(match wanted {
        Wanted::Backlogged => SourceKind::Backlogged,
        Wanted::Constant(given) => SourceKind::Constant(given.rate),
        Wanted::Poisson(given) => SourceKind::Poisson(given.rate),
        Wanted::OnOff(given) => {
            for (key, span) in [("on", given.on), ("off", given.off)] {
                if span == Span::ZERO {
                    let message = "expected a period longer than 0 s";
                    return Err(place.refuse(&format!("kind.on-off.{key}"), message));
                }
            }
            SourceKind::OnOff { rate: given.rate, on: given.on, off: given.off }
        }
        Wanted::Reno(given) => transport(place, WindowRule::Reno, "reno", given)?,
        Wanted::Cubic(given) => transport(place, WindowRule::Cubic, "cubic", given)?,
        Wanted::Frames(given) => frames(place, given)?,
        Wanted::List(given) => SourceKind::List { interval: given.interval },
    })
}

fn transport(
    place: &Place<'_>,
    rule: WindowRule,
    name: &str,
    given: &Transport,
) -> Result<SourceKind, InputError> {
    let channels = &place.source.scenario.channel;
    let nearest = channels.iter().map(|channel| channel.delay).min().unwrap_or_default();
    let window_bytes = given.window.map_or(WINDOW_BYTES, |window| window.0);
    if window_bytes < u64::from(place.longest_bytes) {
        let key = format!("kind.{name}.window");
        return Err(place.refuse(&key, "expected at least the longest packet"));
    }
    let ack_delay = given.ack_delay.unwrap_or(nearest);
    Ok(SourceKind::Transport { rule, ack_delay, window_bytes, ecn: given.ecn })
}

fn frames(place: &mut Place<'_>, given: &Frames) -> Result<SourceKind, InputError> {
    let lengths = match (&given.file, &*given.lengths) {
        (Some(file), []) => read_frames(place, file)?,
        (None, [_, ..]) => given.lengths.iter().map(|length| length.0).collect(),
        _ => {
            let message = "expected a `file` of frame lengths, or the `lengths` themselves";
            return Err(place.refuse("kind.frames", message));
        }
    };
    if lengths.iter().any(|length| *length == 0 || *length > 1 << 40) {
        return Err(place.refuse("kind.frames.lengths", "expected frames of 1 B to 1 TiB"));
    }
    if given.interval == Span::ZERO {
        return Err(place.refuse("kind.frames.interval", "expected a span longer than 0 s"));
    }
    let packet_bytes = place.length("kind.frames.packet", given.packet)?;
    if lengths.iter().any(|length| length.div_ceil(packet_bytes.into()) > FRAME_PACKETS_MAX) {
        let message = format!("cuts a frame into more than {FRAME_PACKETS_MAX} packets");
        return Err(place.refuse("kind.frames.packet", message));
    }
    Ok(SourceKind::Frames { lengths, interval: given.interval, packet_bytes, again: given.again })
}

fn read_frames(place: &mut Place<'_>, file: &FileName) -> Result<Vec<u64>, InputError> {
    let (key, path) = (place.key("kind.frames.file"), place.source.path_of(file));
    let (read, bytes) = FileRead::open(&key, &path).map_err(|error| {
        place.refuse("kind.frames.file", format!("{}: {error}", path.display()))
    })?;
    let lengths = frame_lengths(&read.path, &String::from_utf8_lossy(&bytes))?;
    if lengths.is_empty() {
        let message = format!("{}: has no frame", read.path);
        return Err(place.refuse("kind.frames.file", message));
    }
    place.files.push(read);
    Ok(lengths)
}

/// Returns the last number of each line, ignoring empty lines and comments.
fn frame_lengths(file: &str, text: &str) -> Result<Vec<u64>, InputError> {
    let mut lengths = Vec::new();
    for (line, content) in (1_u32..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let last = content.split_whitespace().next_back().unwrap_or_default();
        let length = last.parse().ok().filter(|length| (1..=1 << 40).contains(length));
        lengths.push(length.ok_or_else(|| {
            let message = "the last word of the line is not a frame length".to_owned();
            let expected = ["a whole number of bytes, at least 1".to_owned()];
            InputError::from_parts(file, Some(line), None, None, message, expected, None)
        })?);
    }
    Ok(lengths)
}

fn packet_lengths(place: &Place<'_>, packets: &Packets) -> Result<Lengths, InputError> {
    match packets {
        Packets::Fixed(length) => {
            Ok(Lengths::InTurn(vec![place.length("packets.fixed", *length)?]))
        }
        Packets::InTurn(lengths) => Ok(Lengths::InTurn(place.lengths("packets.in_turn", lengths)?)),
        Packets::Uniform(range) => {
            let from = place.length("packets.uniform.from", range.from)?;
            let to = place.length("packets.uniform.to", range.to)?;
            if to < from {
                let message = format!("expected at least the {from} B of `from`");
                return Err(place.refuse("packets.uniform.to", message));
            }
            Ok(Lengths::Uniform(from, to))
        }
        Packets::Mixture(parts) => {
            let key = |index, key| format!("packets.mixture.{index}.{key}");
            let whole: f64 = parts.iter().map(|part| part.weight).sum();
            let bad = parts.iter().position(|part| !(part.weight > 0.0 && part.weight < 1e12));
            if let Some(index) = bad {
                return Err(place.refuse(&key(index, "weight"), "expected a weight above 0"));
            }
            let mut share = 0.0;
            let part = |(index, part): (usize, &crate::scenario::Mixed)| {
                share += part.weight / whole;
                Ok((place.length(&key(index, "length"), part.length)?, share))
            };
            let parts: Vec<_> = parts.iter().enumerate().map(part).collect::<Result<_, _>>()?;
            let none = || place.refuse("packets.mixture", "expected at least one length");
            if parts.is_empty() { Err(none()) } else { Ok(Lengths::Mixture(parts)) }
        }
    }
}

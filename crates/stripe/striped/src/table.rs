//! Status table, with lines of at most 100 characters.
//!
//! ```text
//! bundle0  up 1d01h, packets of at most 1400 bytes
//! peer 8f40c5ad  open, 7 wait, 120 were sent again, 0 never came
//! ch  state     out Mb/s  in Mb/s  share  loss  rtt/min ms  queue kB  flight/win kB  waits
//!  0  in 1h05m       9.2      0.1    33%  0.0%   21.3/20.1       1.2      23.0/30.0  pacing
//! ```

use std::fmt::Write;

use crate::status::{ChannelState, ChannelStatus, PeerStatus, Status};

const KEY_DIGITS: usize = 64;

type Column = (&'static str, bool, fn(&ChannelStatus) -> String);

const COLUMNS: [Column; 10] = [
    ("ch", false, |one| one.id.to_string()),
    ("state", true, state),
    ("out Mb/s", false, |one| mega(one.sending_bits_per_second)),
    ("in Mb/s", false, |one| mega(one.receiving_bits_per_second)),
    ("share", false, |one| format!("{:.0}%", one.share * 100.0)),
    ("loss", false, |one| format!("{:.1}%", one.loss * 100.0)),
    ("rtt/min ms", false, |one| match (one.round_trip_us, one.round_trip_us_min) {
        (Some(smoothed), Some(least)) => format!("{}/{}", milli(smoothed), milli(least)),
        _ => "-".into(),
    }),
    ("queue kB", false, |one| kilo(one.queue_bytes)),
    ("flight/win kB", false, |one| {
        format!("{}/{}", kilo(one.in_flight_bytes), kilo(one.window_bytes))
    }),
    ("waits", true, |one| one.waits.map_or("", super::status::WaitName::words).into()),
];

pub(crate) fn of(status: &Status) -> String {
    let mut lines = vec![format!(
        "{}  up {}, packets of at most {} bytes",
        status.name,
        span(status.up_seconds),
        status.mtu,
    )];
    for peer in &status.peers {
        lines.extend(peer_lines(peer));
    }
    lines.join("\n")
}

fn peer_lines(peer: &PeerStatus) -> Vec<String> {
    let state = if peer.is_open { "open" } else { "has not answered" };
    let discards: u64 = peer.handshakes.as_ref().map_or(0, |counts| counts.discards.values().sum());
    let mut line = format!(
        "peer {}  {state}, {} wait, {} were sent again, {} never came",
        short(&peer.name),
        peer.entry.waiting,
        peer.repairs,
        peer.given_up
    );
    if discards > 0 {
        let _: std::fmt::Result = write!(line, ", {discards} datagrams not taken");
    }
    let mut lines = vec![line];
    lines.extend(rows(&peer.channels));
    for one in &peer.channels {
        if let Some(error) = &one.link_error {
            lines.push(format!("    channel {}: {error}", one.id));
        }
    }
    lines
}

fn short(name: &str) -> &str {
    let is_key = name.len() == KEY_DIGITS && name.bytes().all(|one| one.is_ascii_hexdigit());
    if is_key { &name[..8] } else { name }
}

fn rows(channels: &[ChannelStatus]) -> Vec<String> {
    let mut cells: Vec<Vec<String>> = vec![COLUMNS.iter().map(|column| column.0.into()).collect()];
    cells.extend(channels.iter().map(|one| COLUMNS.iter().map(|(.., text)| text(one)).collect()));
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| cells.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).zip(COLUMNS).map(|((cell, width), (_, is_left, _))| {
            if is_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    cells.iter().map(line).collect()
}

fn state(one: &ChannelStatus) -> String {
    let since = span(one.state_seconds);
    match (one.state, one.size.as_str()) {
        (ChannelState::In, "searching") => "in, sizing".into(),
        (ChannelState::In, _) => format!("in {since}"),
        (ChannelState::Out, _) => format!("out {since}"),
    }
}

fn span(seconds: f64) -> String {
    let seconds = std::time::Duration::from_secs_f64(seconds.clamp(0.0, 1e12)).as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", seconds % 60),
        (0, ..) => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

fn mega(bits: u64) -> String {
    tenths(bits / 100_000)
}

fn milli(microseconds: u64) -> String {
    tenths(microseconds / 100)
}

fn kilo(bytes: u64) -> String {
    // Values this large mean "unlimited".
    if bytes > 1 << 50 { "-".into() } else { tenths(bytes / 100) }
}

fn tenths(count: u64) -> String {
    if count >= 10_000 {
        (count / 10).to_string()
    } else {
        format!("{}.{}", count / 10, count % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{EntryStatus, WaitName};

    fn status() -> Status {
        let inside = ChannelStatus {
            id: 0,
            state: ChannelState::In,
            state_seconds: 3_905.0,
            size: "found".into(),
            waits: Some(WaitName::Pacing),
            sending_bits_per_second: 9_240_000,
            receiving_bits_per_second: 112_000,
            share: 0.334,
            round_trip_us: Some(21_340),
            round_trip_us_min: Some(20_100),
            queue_bytes: 1_234,
            in_flight_bytes: 23_000,
            window_bytes: 30_050,
            ..ChannelStatus::default()
        };
        let outside = ChannelStatus {
            id: 1,
            state_seconds: 12.0,
            waits: Some(WaitName::NoLink),
            link_error: Some("No such device (os error 19)".into()),
            loss: 0.0213,
            window_bytes: u64::MAX,
            ..ChannelStatus::default()
        };
        let peer = PeerStatus {
            name: "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f".into(),
            is_open: true,
            entry: EntryStatus { waiting: 7, ..EntryStatus::default() },
            repairs: 120,
            channels: vec![inside, outside],
            ..PeerStatus::default()
        };
        Status {
            name: "bundle0".into(),
            up_seconds: 90_000.0,
            mtu: 1_400,
            peers: vec![peer],
            ..Status::default()
        }
    }

    #[test]
    fn status_is_rendered_as_a_table() {
        let expected = "\
bundle0  up 1d01h, packets of at most 1400 bytes
peer 8f40c5ad  open, 7 wait, 120 were sent again, 0 never came
ch  state     out Mb/s  in Mb/s  share  loss  rtt/min ms  queue kB  flight/win kB  waits
 0  in 1h05m       9.2      0.1    33%  0.0%   21.3/20.1       1.2      23.0/30.0  pacing
 1  out 12s        0.0      0.0     0%  2.1%           -       0.0          0.0/-  link gone
    channel 1: No such device (os error 19)";
        assert_eq!(of(&status()), expected);
    }

    #[test]
    fn lines_have_at_most_100_characters() {
        let mut status = status();
        for one in &mut status.peers[0].channels {
            for wait in WaitName::ALL {
                one.waits = Some(*wait);
                one.id = 63;
                one.state_seconds = 86_400.0 * 999.0;
                (one.sending_bits_per_second, one.receiving_bits_per_second) = (1 << 34, 1 << 34);
                (one.round_trip_us, one.round_trip_us_min) = (Some(999_900), Some(999_900));
                (one.queue_bytes, one.in_flight_bytes, one.window_bytes) =
                    (99_999_000, 99_999_000, 99_999_000);
                (one.share, one.loss) = (1.0, 1.0);
            }
        }
        for line in of(&status).lines() {
            assert!(line.len() <= 100, "{}: {line}", line.len());
        }
    }

    #[test]
    fn spans_have_two_units() {
        for (seconds, text) in
            [(0.4, "0s"), (59.9, "59s"), (61.0, "1m01s"), (3_600.0, "1h00m"), (90_000.0, "1d01h")]
        {
            assert_eq!(span(seconds), text);
        }
    }
}

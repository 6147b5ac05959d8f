use gingham_fairq::{Change, Number, Round, Standing};

use super::error::{WireError, check_channel};
use crate::{Departure, Instant, Kind, Marker, Nack, Report};

pub(super) const BODY_BYTES_MAX: usize = 60;

/// Flag: the "coming" fields (a pending quantum change) are present.
const COMING: u16 = 1;

/// Flag: the credit limit has fallen an odd number of times.
const LOWERED: u16 = 2;

pub(super) const fn length(code: u8) -> Result<usize, WireError> {
    match code {
        1 => Ok(52),
        7 => Ok(BODY_BYTES_MAX),
        2 => Ok(4),
        3 | 4 => Ok(0),
        5 | 6 => Ok(16),
        8 => Ok(12),
        kind => Err(WireError::BadKind { kind }),
    }
}

pub(super) fn write(kind: &Kind, to: &mut [u8]) -> (u8, u16, usize) {
    let mut fields = Writer { to, at: 0 };
    let (code, flags) = match *kind {
        Kind::Marker(marker) => (1, fields.marker(&marker)),
        Kind::Reset { quantum } => {
            fields.word(quantum);
            (2, 0)
        }
        Kind::Acknowledged => (3, 0),
        Kind::ResetRequested => (4, 0),
        Kind::Left(departure) => (5, fields.departure(departure)),
        Kind::LeftAcknowledged(departure) => (6, fields.departure(departure)),
        Kind::Report(report) => (7, fields.report(&report)),
        Kind::Nack(nack) => (8, fields.nack(nack)),
    };
    (code, flags, fields.at)
}

pub(super) fn parse(code: u8, flags: u16, channels: u8, from: &[u8]) -> Result<Kind, WireError> {
    if flags & !(COMING | LOWERED) != 0 || (flags != 0 && !matches!(code, 1 | 7)) {
        return Err(WireError::NotZero);
    }
    let mut fields = Reader { from };
    match code {
        1 => fields.marker(flags).map(Kind::Marker),
        2 => Ok(Kind::Reset { quantum: fields.word() }),
        3 => Ok(Kind::Acknowledged),
        4 => Ok(Kind::ResetRequested),
        5 => fields.departure(channels).map(Kind::Left),
        6 => fields.departure(channels).map(Kind::LeftAcknowledged),
        7 => fields.report(flags).map(Kind::Report),
        8 => fields.nack(channels).map(Kind::Nack),
        kind => Err(WireError::BadKind { kind }),
    }
}

struct Writer<'a> {
    to: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.to[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn word(&mut self, word: u32) {
        self.bytes(&word.to_be_bytes());
    }

    fn long(&mut self, long: u64) {
        self.bytes(&long.to_be_bytes());
    }

    fn marker(&mut self, marker: &Marker) -> u16 {
        let Standing { next, quantum_bytes, coming } = marker.standing;
        let change = coming.unwrap_or_default();
        self.word(next.round.get());
        self.word(next.deficit_bytes);
        self.word(quantum_bytes);
        self.word(change.from.get());
        self.word(change.quantum_bytes);
        self.word(marker.sent_packets);
        self.long(marker.sent_bytes);
        self.word(marker.next_sequence);
        self.long(marker.sent_at.nanoseconds());
        self.word(marker.round_trip_ns);
        self.word(marker.out_after_ns);
        flags(coming.is_some(), marker.lowered)
    }

    fn departure(&mut self, departure: Departure) -> u16 {
        self.bytes(&[departure.channel, 0, 0, 0]);
        self.word(departure.since.get());
        self.word(departure.sent_packets);
        self.word(departure.next_sequence);
        0
    }

    fn nack(&mut self, nack: Nack) -> u16 {
        self.word(nack.first);
        let [high, low] = nack.count.to_be_bytes();
        self.bytes(&[high, low, nack.channel, 0]);
        self.word(nack.left_ns);
        0
    }

    fn report(&mut self, report: &Report) -> u16 {
        self.word(report.limit_bytes);
        self.word(report.accounted_packets);
        self.long(report.accounted_bytes);
        self.word(report.received_packets);
        self.long(report.received_bytes);
        self.long(report.received_at.nanoseconds());
        self.word(report.coming_from.unwrap_or_default().get());
        self.long(report.echo.nanoseconds());
        self.word(report.held_ns);
        self.word(report.received_ago_ns);
        self.word(report.longest_bytes);
        flags(report.coming_from.is_some(), report.lowered)
    }
}

struct Reader<'a> {
    from: &'a [u8],
}

impl Reader<'_> {
    fn bytes<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        let (bytes, rest) = self.from.split_first_chunk().expect("the body has its length");
        self.from = rest;
        *bytes
    }

    fn word(&mut self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }

    fn long(&mut self) -> u64 {
        u64::from_be_bytes(self.bytes())
    }

    fn marker(&mut self, flags: u16) -> Result<Marker, WireError> {
        let next = Number { round: Round::new(self.word()), deficit_bytes: self.word() };
        let quantum_bytes = self.word();
        let change = Change { from: Round::new(self.word()), quantum_bytes: self.word() };
        let (deficit_bytes, is_out) = (next.deficit_bytes, quantum_bytes == 0);
        if deficit_bytes > quantum_bytes || (deficit_bytes == 0) != is_out {
            return Err(WireError::BadDeficit { deficit_bytes, quantum_bytes });
        }
        let coming = if_there(flags, change)?;
        Ok(Marker {
            standing: Standing { next, quantum_bytes, coming },
            sent_packets: self.word(),
            sent_bytes: self.long(),
            next_sequence: self.word(),
            sent_at: Instant::from_nanoseconds(self.long()),
            round_trip_ns: self.word(),
            out_after_ns: self.word(),
            lowered: flags & LOWERED != 0,
        })
    }

    fn departure(&mut self, channels: u8) -> Result<Departure, WireError> {
        let [channel, zero @ ..] = self.bytes::<4>();
        check_channel(channel, channels)?;
        if zero != [0; 3] {
            return Err(WireError::NotZero);
        }
        Ok(Departure {
            channel,
            since: Round::new(self.word()),
            sent_packets: self.word(),
            next_sequence: self.word(),
        })
    }

    fn report(&mut self, flags: u16) -> Result<Report, WireError> {
        Ok(Report {
            limit_bytes: self.word(),
            accounted_packets: self.word(),
            accounted_bytes: self.long(),
            received_packets: self.word(),
            received_bytes: self.long(),
            received_at: Instant::from_nanoseconds(self.long()),
            coming_from: if_there(flags, Round::new(self.word()))?,
            echo: Instant::from_nanoseconds(self.long()),
            held_ns: self.word(),
            received_ago_ns: self.word(),
            longest_bytes: self.word(),
            lowered: flags & LOWERED != 0,
        })
    }

    fn nack(&mut self, channels: u8) -> Result<Nack, WireError> {
        let first = self.word();
        let [high, low, channel, zero] = self.bytes();
        check_channel(channel, channels)?;
        match u16::from_be_bytes([high, low]) {
            _ if zero != 0 => Err(WireError::NotZero),
            0 => Err(WireError::EmptyNack),
            count => Ok(Nack { channel, first, count, left_ns: self.word() }),
        }
    }
}

fn flags(is_coming: bool, lowered: bool) -> u16 {
    (u16::from(is_coming) * COMING) | (u16::from(lowered) * LOWERED)
}

/// Returns the field if the "coming" flag is set; otherwise the field must be zero.
fn if_there<T: Default + PartialEq>(flags: u16, field: T) -> Result<Option<T>, WireError> {
    if flags & COMING != 0 {
        Ok(Some(field))
    } else if field == T::default() {
        Ok(None)
    } else {
        Err(WireError::NotZero)
    }
}

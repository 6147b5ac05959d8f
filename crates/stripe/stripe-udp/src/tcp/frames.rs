//! Datagrams in a byte stream, each preceded by its length.
//!
//! Invariants: an invalid length ends the stream; the buffer contains less than a datagram plus one
//! read.

use std::io::{self, IoSlice, Read, Write};
use std::ops::Range;

use crate::run::Run;

pub(super) const LENGTH_BYTES: usize = 2;
pub(super) const FRAMES: usize = 64;
/// Maximum bytes of queued priority datagrams: a handshake and its retries of 166 bytes each.
const PRIORITY_BYTES_MAX: usize = 1_024;

pub(super) struct Reading {
    bytes: Vec<u8>,
    held: Range<usize>,
    longest_bytes: usize,
}

impl Reading {
    pub(super) fn new(longest_bytes: usize) -> Self {
        Self { bytes: vec![0; LENGTH_BYTES + longest_bytes], held: 0..0, longest_bytes }
    }

    pub(super) fn expand(&mut self, bytes: usize) {
        self.bytes.resize(self.bytes.len().max(bytes), 0);
    }

    /// Reads once. Returns the number of bytes, 0 at the end of the stream, and whether more may be
    /// available.
    pub(super) fn fill(&mut self, source: &mut impl Read) -> io::Result<(usize, bool)> {
        self.bytes.copy_within(self.held.clone(), 0);
        self.held = 0..self.held.len();
        let room = &mut self.bytes[self.held.end..];
        let read = source.read(room)?;
        let was_full = read == room.len();
        self.held.end += read;
        Ok((read, was_full))
    }

    pub(super) fn take(&mut self) -> Option<&mut [u8]> {
        let datagram = self.next().ok()??;
        self.held.start = datagram.end;
        Some(&mut self.bytes[datagram])
    }

    pub(super) fn has_next(&self) -> io::Result<bool> {
        Ok(self.next()?.is_some())
    }

    pub(super) fn holds_more(&self) -> bool {
        !matches!(self.next(), Ok(None))
    }

    fn next(&self) -> io::Result<Option<Range<usize>>> {
        let Some(length) = self.bytes[self.held.clone()].first_chunk() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 || length > self.longest_bytes {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let start = self.held.start + LENGTH_BYTES;
        let end = start + length;
        Ok((end <= self.held.end).then_some(start..end))
    }
}

/// Queue for the rest of a partly sent datagram, and for priority datagrams.
#[derive(Debug, Default)]
pub(super) struct Writing {
    rest: Vec<u8>,
    gone: usize,
    priority_bytes: usize,
}

impl Writing {
    pub(super) const fn holds_rest(&self) -> bool {
        !self.rest.is_empty()
    }

    pub(super) fn flush(&mut self, sink: &mut impl Write) -> io::Result<()> {
        while self.gone < self.rest.len() {
            match sink.write(&self.rest[self.gone..])? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => self.gone += written,
            }
        }
        self.rest.clear();
        (self.gone, self.priority_bytes) = (0, 0);
        Ok(())
    }

    /// Sends a datagram; the unsent rest is queued ahead of later data. Fails if too much is
    /// already queued.
    pub(super) fn send_one(&mut self, sink: &mut impl Write, datagram: &[u8]) -> io::Result<()> {
        let bytes = LENGTH_BYTES + datagram.len();
        if self.priority_bytes + bytes > PRIORITY_BYTES_MAX {
            self.flush(sink)?;
        }
        self.priority_bytes += bytes;
        self.rest.extend(length_of(datagram));
        self.rest.extend(datagram);
        match self.flush(sink) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            flushed => flushed,
        }
    }

    /// Sends datagrams from index `from` on. Returns the number of datagrams started, at least one;
    /// the last may be incomplete.
    pub(super) fn send(
        &mut self,
        sink: &mut impl Write,
        run: &Run,
        from: usize,
    ) -> io::Result<usize> {
        self.flush(sink)?;
        let mut lengths = [[0; LENGTH_BYTES]; FRAMES];
        let mut slices = [IoSlice::new(&[]); 2 * FRAMES];
        let datagrams = || run.bytes.chunks(run.segment_bytes).skip(from).take(FRAMES);
        let mut count = 0;
        for ((datagram, length), slice) in
            datagrams().zip(&mut lengths).zip(slices.chunks_exact_mut(2))
        {
            *length = length_of(datagram);
            (slice[0], slice[1]) = (IoSlice::new(length), IoSlice::new(datagram));
            count += 2;
        }
        let mut written = sink.write_vectored(&slices[..count])?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let mut begun = 0;
        for datagram in datagrams() {
            if written == 0 {
                break;
            }
            begun += 1;
            let bytes = LENGTH_BYTES + datagram.len();
            if written < bytes {
                let parts = [&length_of(datagram)[..], datagram];
                self.rest.extend(parts.into_iter().flatten().skip(written));
            }
            written = written.saturating_sub(bytes);
        }
        Ok(begun)
    }
}

fn length_of(datagram: &[u8]) -> [u8; LENGTH_BYTES] {
    u16::try_from(datagram.len()).expect("a run is no longer than a datagram of IP").to_be_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const LONGEST_BYTES: usize = 40;

    #[derive(Default)]
    struct Wire {
        bytes: VecDeque<u8>,
        steps: VecDeque<usize>,
    }

    impl Wire {
        fn step(&mut self, most: usize) -> io::Result<usize> {
            match self.steps.pop_front() {
                Some(0) => Err(io::ErrorKind::WouldBlock.into()),
                Some(step) => Ok(step.min(most)),
                None => Ok(most),
            }
        }
    }

    impl Write for Wire {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = self.step(bytes.len())?;
            self.bytes.extend(&bytes[..count]);
            Ok(count)
        }

        fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            self.write(&bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for Wire {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            if self.bytes.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = self.step(room.len())?;
            self.bytes.read(&mut room[..count])
        }
    }

    fn run(number: u8, segment_bytes: usize, datagrams: usize, last_bytes: usize) -> Run {
        let mut run = Run::default();
        for place in 0..datagrams {
            let is_last = place + 1 == datagrams;
            let length = if is_last { last_bytes.min(segment_bytes) } else { segment_bytes };
            run.begin(0, length.max(segment_bytes * usize::from(place == 0)));
            run.segment_bytes = segment_bytes;
            run.bytes
                .extend((0..=u8::MAX).cycle().take(length).map(|at| number.wrapping_mul(31) ^ at));
        }
        run
    }

    fn taken(reading: &mut Reading, wire: &mut Wire) -> io::Result<Vec<Vec<u8>>> {
        let mut datagrams = Vec::new();
        loop {
            while reading.has_next()? {
                datagrams.extend(reading.take().map(|one| one.to_vec()));
            }
            match reading.fill(wire) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(datagrams),
                Err(error) => return Err(error),
            }
        }
    }

    proptest! {
        #[test]
        fn frames_round_trip_for_any_split(
            runs in prop::collection::vec((1..=LONGEST_BYTES, 1..100_usize, 1..=LONGEST_BYTES), 1..6),
            writes in prop::collection::vec(0..90_usize, 0..400),
            reads in prop::collection::vec(0..90_usize, 0..400),
            at_once in 0..300_usize,
        ) {
            let mut wire = Wire { steps: writes.into(), ..Wire::default() };
            let (mut writing, mut expected) = (Writing::default(), Vec::new());
            for (number, (segment, datagrams, last)) in (0..).zip(runs) {
                let run = run(number, segment, datagrams, last);
                expected.extend(run.bytes.chunks(run.segment_bytes).map(<[u8]>::to_vec));
                let mut from = 0;
                while from < run.datagrams {
                    match writing.send(&mut wire, &run, from) {
                        Ok(begun) => from += begun,
                        Err(error) => prop_assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                    }
                }
            }
            while writing.flush(&mut wire).is_err() {}
            prop_assert!(!writing.holds_rest());
            let mut reading = Reading::new(LONGEST_BYTES);
            reading.expand(at_once);
            wire.steps = reads.into();
            let mut came = Vec::new();
            while !wire.bytes.is_empty() {
                came.extend(taken(&mut reading, &mut wire).expect("all are sound"));
            }
            prop_assert_eq!(came, expected);
            prop_assert!(!reading.holds_more());
        }

        #[test]
        fn garbage_yields_datagrams_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut wire = Wire { bytes: bytes.clone().into(), ..Wire::default() };
            let mut reading = Reading::new(LONGEST_BYTES);
            if let Ok(datagrams) = taken(&mut reading, &mut wire) {
                let rest = reading.held.len();
                let whole: usize = datagrams.iter().map(|one| LENGTH_BYTES + one.len()).sum();
                prop_assert_eq!(whole + rest, bytes.len());
            } else {
                prop_assert!(reading.holds_more());
            }
        }
    }

    #[test]
    fn priority_datagrams_go_first_on_a_full_connection() {
        let mut wire = Wire { steps: [5, 0, 0].into(), ..Wire::default() };
        let (mut writing, run) = (Writing::default(), run(1, 10, 2, 10));
        assert_eq!(writing.send(&mut wire, &run, 0).expect("it begins"), 1);
        for datagram in [[7; 20], [8; 20]] {
            writing.send_one(&mut wire, &datagram).expect("it waits");
        }
        writing.send(&mut wire, &run, 1).expect("all goes");
        let mut reading = Reading::new(LONGEST_BYTES);
        let came = taken(&mut reading, &mut wire).expect("all are sound");
        let sent = &run.bytes;
        assert_eq!(came, [&sent[..10], &[7; 20], &[8; 20], &sent[10..]]);
    }

    #[test]
    fn queued_priority_datagrams_are_bounded() {
        let mut wire = Wire { steps: vec![0; 1_000].into(), ..Wire::default() };
        let mut writing = Writing::default();
        let count =
            (0..1_000).take_while(|_| writing.send_one(&mut wire, &[7; 166]).is_ok()).count();
        assert_eq!(count, PRIORITY_BYTES_MAX / (LENGTH_BYTES + 166));
        wire.steps.clear();
        writing.send_one(&mut wire, &[8; 166]).expect("there is room again");
        assert_eq!(wire.bytes.len(), (count + 1) * (LENGTH_BYTES + 166));
    }

    #[test]
    fn invalid_length_ends_the_stream_after_earlier_datagrams() {
        for wrong in [[0, 0], [0, 41], [0x17, 3]] {
            let mut wire = Wire { bytes: [0, 1, 7].into(), ..Wire::default() };
            wire.bytes.extend(wrong);
            let mut reading = Reading::new(LONGEST_BYTES);
            reading.fill(&mut wire).expect("bytes");
            assert_eq!(reading.take().map(|one| one.to_vec()), Some(vec![7]));
            let error = reading.has_next().expect_err("nothing begins there");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert!(reading.holds_more());
        }
    }
}

//! Tests that bytes are read as written, however the kernel splits them.

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "a writer waits for its reader, so that each needs a thread"
)]

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use gingham_stripe_stream::{
    Greeting, GreetingError, Order, PlanError, StreamError, StreamPlan, StripedReader,
    StripedWriter,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn pairs(count: usize) -> (Vec<UnixStream>, Vec<UnixStream>) {
    (0..count).map(|_| UnixStream::pair().expect("a pair of sockets")).unzip()
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|place| u8::try_from(place * 31 % 251).expect("below 251")).collect()
}

fn plan(order: Order, chunk_bytes: u32) -> StreamPlan {
    StreamPlan { order, chunk_bytes }
}

fn write(connections: Vec<UnixStream>, plan: &StreamPlan, parts: &[&[u8]]) -> io::Result<()> {
    let mut writer = StripedWriter::new(connections, plan)?;
    parts.iter().try_for_each(|bytes| writer.write_all(bytes))?;
    writer.finish().map(drop)
}

/// Bytes on each connection after its greeting, if all data is written before any is read.
fn on_the_wire(order: &Order, parts: &[&[u8]]) -> Vec<Vec<u8>> {
    let greeting_bytes = 24 + if *order == Order::Free { 0 } else { 8 };
    let (near, far) = pairs(2);
    let mut writer = StripedWriter::new(near, &plan(order.clone(), 100)).expect("a writer");
    for bytes in parts {
        writer.write_all(bytes).expect("it is written");
    }
    drop(writer.finish().expect("the end is written"));
    let rest = |mut one: UnixStream| {
        let mut bytes = Vec::new();
        one.read_to_end(&mut bytes).expect("it is read");
        bytes.split_off(greeting_bytes)
    };
    far.into_iter().map(rest).collect()
}

#[test]
fn free_order_chunks_are_numbered() {
    let wire = on_the_wire(&Order::Free, &[b"ab", b"c", b"d"]);
    let chunk = |number: u8, bytes: &[u8]| {
        let length = u8::try_from(bytes.len()).expect("short");
        [&[0, 0, 0, 0, 0, 0, 0, number, 0, 0, 0, length], bytes].concat()
    };
    // The first chunk goes to the connection after the last one, which is initially 0.
    assert_eq!(wire[1], [chunk(0, b"ab"), chunk(2, b"d"), chunk(3, b"")].concat());
    assert_eq!(wire[0], [chunk(1, b"c"), chunk(3, b"")].concat());
}

#[test]
fn strict_order_follows_the_scheduler() {
    // A deficit is subtracted from the next quantum.
    let chunks: Vec<Vec<u8>> = (0..9).map(|chunk| vec![chunk; 80]).collect();
    let parts: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
    let wire = on_the_wire(&Order::Strict { quanta_bytes: vec![100, 200] }, &parts);
    let whose = |wire: &[u8]| {
        let chunks = wire.chunks_exact(84).map(|chunk| chunk[4]).collect::<Vec<_>>();
        assert_eq!((&wire[..4], &wire[wire.len() - 4..]), (&[0, 0, 0, 80][..], &[0; 4][..]));
        chunks
    };
    // Round 1: 100 - 160 = -60; 200 - 240 = -40. Round 2: 40 - 80; 160 - 160 = 0. Round 3: 60 - 80.
    assert_eq!((whose(&wire[0]), whose(&wire[1])), (vec![0, 1, 5, 8], vec![2, 3, 4, 6, 7]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn written_bytes_are_read_back(
        lengths in vec(1..5_000_usize, 0..60),
        quanta in vec(300..3_000_u32, 1..7),
        is_strict in any::<bool>(),
        chunk_bytes in 1..300_u32,
        read_bytes in 1..700_usize,
        turned in 0..7_usize,
    ) {
        let (near, mut far) = pairs(quanta.len());
        far.rotate_left(turned % quanta.len());
        let order = if is_strict { Order::Strict { quanta_bytes: quanta } } else { Order::Free };
        let all = numbered(lengths.iter().sum());
        let mut rest = &all[..];
        let parts: Vec<_> = lengths
            .iter()
            .map(|length| rest.split_off(..*length).expect("it is as long as all together"))
            .collect();
        let plan = plan(order, chunk_bytes);
        let read = thread::scope(|scope| {
            let writing = scope.spawn(|| write(near, &plan, &parts));
            let mut reader = StripedReader::new(far).expect("a stream");
            let (mut read, mut buffer) = (Vec::new(), vec![0; read_bytes]);
            loop {
                let count = reader.read(&mut buffer).expect("it is read");
                if count == 0 {
                    break;
                }
                read.extend_from_slice(&buffer[..count]);
            }
            writing.join().expect("no panic").expect("it is written");
            read
        });
        prop_assert_eq!(read, all);
    }

    #[test]
    fn arbitrary_input_is_an_error(
        streams in vec(vec(any::<u8>(), 0..200), 1..4),
        is_strict in any::<bool>(),
    ) {
        let order = order(is_strict, streams.len());
        let (read, error) = read_of(&order, &streams);
        prop_assert!(read.len() <= streams.iter().map(Vec::len).sum());
        prop_assert!(error.is_some() || read.is_empty(), "no end was written but by chance");
    }

    #[test]
    fn corrupted_byte_is_an_error_or_changes_payload_only(
        at in 0..300_usize,
        to in any::<u8>(),
        is_strict in any::<bool>(),
    ) {
        let order = order(is_strict, 2);
        let mut wire = on_the_wire(&order, &[&numbered(90), &numbered(40), &numbered(60)]);
        let place = at % wire.len();
        let at = at % wire[place].len();
        wire[place][at] = to;
        let (read, error) = read_of(&order, &wire);
        prop_assert!(read.len() == 190 || error.is_some());
    }
}

fn order(is_strict: bool, connections: usize) -> Order {
    if is_strict { Order::Strict { quanta_bytes: vec![100; connections] } } else { Order::Free }
}

fn read_of(order: &Order, wire: &[Vec<u8>]) -> (Vec<u8>, Option<StreamError>) {
    let (near, far) = pairs(wire.len());
    let clones: Vec<_> = near.iter().map(|one| one.try_clone().expect("a clone")).collect();
    drop(StripedWriter::new(near, &plan(order.clone(), 100)).expect("a writer"));
    for (mut near, bytes) in clones.into_iter().zip(wire) {
        near.write_all(bytes).expect("there is room");
    }
    let mut reader = StripedReader::new(far).expect("a stream");
    let mut read = Vec::new();
    let error = reader.read_to_end(&mut read).err().map(|error| {
        let again = reader.read(&mut [0]).map_err(|error| error.to_string());
        assert_eq!(again, Err(error.to_string()), "an error stays");
        *error.get_ref().and_then(|error| error.downcast_ref()).expect("an error of the stream")
    });
    (read, error)
}

#[test]
fn missing_end_of_stream_is_an_error() {
    let two = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    let within = read_of(&Order::Free, &[[&two[..], b"a"].concat(), Vec::new()]);
    assert_eq!(within, (b"a".to_vec(), Some(StreamError::Ended(0))));
    let between = read_of(&order(true, 2), &[vec![0, 0, 0, 1, b'a'], Vec::new()]);
    assert_eq!(between, (b"a".to_vec(), Some(StreamError::Ended(0))));
}

#[test]
fn invalid_chunk_numbers_and_lengths_are_errors() {
    let chunk = |number: u8, length: u8| vec![0, 0, 0, 0, 0, 0, 0, number, 0, 0, 0, length];
    let later = read_of(&Order::Free, &[chunk(2, 5), chunk(1, 5)]);
    assert_eq!(later, (Vec::new(), Some(StreamError::Missing(0))));
    let long = read_of(&Order::Free, &[chunk(0, 101), chunk(1, 5)]);
    assert_eq!(long, (Vec::new(), Some(StreamError::Long(0))));
    let again = [[chunk(0, 1), vec![b'a'], chunk(0, 1)].concat(), chunk(5, 1)];
    assert_eq!(read_of(&Order::Free, &again), (b"a".to_vec(), Some(StreamError::OutOfTurn(0))));
}

#[test]
fn dropped_writer_leaves_an_incomplete_stream() {
    let (near, far) = pairs(2);
    let mut writer = StripedWriter::new(near, &StreamPlan::default()).expect("a writer");
    writer.write_all(b"a part").expect("it is written");
    drop(writer);
    let mut read = Vec::new();
    let error = StripedReader::new(far).expect("a stream").read_to_end(&mut read);
    assert_eq!(error.map_err(|error| error.kind()), Err(io::ErrorKind::UnexpectedEof));
    assert_eq!(read, b"a part");
}

#[test]
fn writer_blocks_without_a_reader() {
    let (near, far) = pairs(3);
    let mut writer = StripedWriter::new(near, &StreamPlan::default()).expect("a writer");
    // Without a reader, each connection accepts one chunk.
    let chunk = vec![7; 1 << 16];
    (0..3).for_each(|_| assert_eq!(writer.write(&chunk).ok(), Some(chunk.len())));
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            (0..30).try_for_each(|_| writer.write_all(&chunk))?;
            writer.finish().map(drop)
        });
        let mut read = Vec::new();
        StripedReader::new(far).expect("a stream").read_to_end(&mut read).expect("all of it");
        writing.join().expect("no panic").expect("it is written");
        assert_eq!(read.len(), 33 << 16);
    });
}

#[test]
fn invalid_plans_are_rejected() {
    let refused = |count: usize, plan: &StreamPlan| {
        let error = StripedWriter::new(pairs(count).0, plan).expect_err("no plan");
        error.into_inner().and_then(|error| error.downcast::<PlanError>().ok()).map(|error| *error)
    };
    let none = PlanError::Connections { connections: 0, most: 64 };
    assert_eq!(refused(0, &StreamPlan::default()), Some(none));
    let empty = PlanError::Chunk { chunk_bytes: 0, most: 1 << 24 };
    assert_eq!(refused(1, &plan(Order::Free, 0)), Some(empty));
    let quanta = PlanError::Quanta { quanta: 2, connections: 3 };
    assert_eq!(refused(3, &plan(order(true, 2), 10)), Some(quanta));
    assert!(matches!(refused(2, &plan(order(true, 2), 101)), Some(PlanError::Scheduler(_))));
}

#[test]
fn mismatched_connections_are_rejected() {
    let stream = |count| {
        let (near, far) = pairs(count);
        drop(StripedWriter::new(near, &StreamPlan::default()).expect("a writer"));
        far
    };
    let refused = |far: Vec<UnixStream>| StripedReader::new(far).expect_err("no stream");
    let mut three = stream(3);
    let one = three.pop().expect("three");
    assert!(matches!(refused(three), GreetingError::Count { expected: 3, given: 2 }));
    assert!(matches!(refused(Vec::new()), GreetingError::Count { expected: 1, given: 0 }));
    assert!(matches!(
        refused(stream(3).into_iter().take(2).chain([one]).collect()),
        GreetingError::Streams(..)
    ));
    assert!(matches!(
        refused(vec![connection_of(b"GET / HTTP/1.1\r\nHost: example")]),
        GreetingError::NotGreeting
    ));
    assert!(matches!(refused(vec![connection_of(b"gst")]), GreetingError::Connection(_)));
    let greeting = |version: u8, place: u8| {
        [&b"gstripe\0"[..], &[version, place, 2, 0], &[0, 1, 0, 0], &[9; 8]].concat()
    };
    assert!(matches!(refused(vec![connection_of(&greeting(2, 0))]), GreetingError::Version(2)));
    assert!(matches!(refused(vec![connection_of(&greeting(1, 2))]), GreetingError::NotGreeting));
    let twice = vec![connection_of(&greeting(1, 1)), connection_of(&greeting(1, 1))];
    assert!(matches!(refused(twice), GreetingError::Twice(1)));
    let read = Greeting::read_from(&mut connection_of(&greeting(1, 1))).expect("a greeting");
    assert_eq!((read.place, read.connections, read.plan.chunk_bytes), (1, 2, 1 << 16));
}

fn connection_of(bytes: &[u8]) -> UnixStream {
    let (mut near, far) = UnixStream::pair().expect("a pair of sockets");
    near.write_all(bytes).expect("there is room");
    far
}

//! Greeting at the start of each connection.
//!
//! ```text
//!   byte 0              8         9       10      11       12            16             24
//!   "gstripe" and zero | version | place | count | strict | chunk (u32) | stream (u64) | quanta (u32 each)
//! ```
//!
//! Integers are big-endian.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read;
use std::os::fd::AsFd;

use crate::error::GreetingError;
use crate::plan::{Order, StreamPlan};
use crate::readiness::read_all;

const MAGIC: [u8; 8] = *b"gstripe\0";
pub(crate) const VERSION: u8 = 1;
const GREETING_BYTES: usize = 24;

/// Greeting that identifies a connection and its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Random stream identifier.
    pub stream: u64,
    /// Index of this connection in the stream, from 0.
    pub place: usize,
    /// Number of connections of the stream.
    pub connections: usize,
    /// Plan of the writer.
    pub plan: StreamPlan,
}

impl Greeting {
    pub(crate) fn of_all(connections: usize, plan: &StreamPlan) -> impl Iterator<Item = Self> {
        // The keys of hash maps are the only random numbers in the standard library.
        let stream = RandomState::new().build_hasher().finish();
        (0..connections).map(move |place| Self { stream, place, connections, plan: plan.clone() })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let byte = |count: usize| u8::try_from(count).expect("a plan has at most 64 connections");
        let quanta = match &self.plan.order {
            Order::Free => &[][..],
            Order::Strict { quanta_bytes } => quanta_bytes,
        };
        let mut bytes = MAGIC.to_vec();
        let is_strict = u8::from(!quanta.is_empty());
        bytes.extend([VERSION, byte(self.place), byte(self.connections), is_strict]);
        bytes.extend(self.plan.chunk_bytes.to_be_bytes());
        bytes.extend(self.stream.to_be_bytes());
        bytes.extend(quanta.iter().flat_map(|quantum| quantum.to_be_bytes()));
        bytes
    }

    /// Reads a greeting, blocking. A server for unauthenticated clients should use a thread per
    /// connection, and shut down silent connections.
    pub fn read_from<S: Read + AsFd>(connection: &mut S) -> Result<Self, GreetingError> {
        let mut bytes = [0; GREETING_BYTES];
        read_all(connection, &mut bytes)?;
        let [version, place, connections, is_strict] = *field::<4>(&bytes, MAGIC.len());
        if !bytes.starts_with(&MAGIC) {
            return Err(GreetingError::NotGreeting);
        }
        if version != VERSION {
            return Err(GreetingError::Version(version));
        }
        let chunk_bytes = u32::from_be_bytes(*field(&bytes, 12));
        let stream = u64::from_be_bytes(*field(&bytes, 16));
        let (place, connections) = (usize::from(place), usize::from(connections));
        let order = match is_strict {
            0 => Order::Free,
            1 => Order::Strict { quanta_bytes: read_quanta(connection, connections)? },
            _ => return Err(GreetingError::NotGreeting),
        };
        let plan = StreamPlan { order, chunk_bytes };
        plan.check(connections)?;
        if place >= connections {
            return Err(GreetingError::NotGreeting);
        }
        Ok(Self { stream, place, connections, plan })
    }
}

fn read_quanta<S: Read + AsFd>(
    connection: &mut S,
    count: usize,
) -> Result<Vec<u32>, GreetingError> {
    let mut bytes = vec![0; 4 * count];
    read_all(connection, &mut bytes)?;
    let quanta = bytes.as_chunks().0;
    Ok(quanta.iter().map(|quantum| u32::from_be_bytes(*quantum)).collect())
}

fn field<const LENGTH: usize>(bytes: &[u8], at: usize) -> &[u8; LENGTH] {
    bytes[at..].first_chunk().expect("a greeting has all its fields")
}

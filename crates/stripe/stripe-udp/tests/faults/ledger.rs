//! Checks that each packet sent is received once, unchanged and in order.

use gingham_stripe_udp::Source;

/// Head of a packet: end, process and number.
const HEAD_BYTES: usize = 7;
/// Passed by any channel: path MTU discovery starts at 1,200 with headers.
const LONGEST_BYTES: usize = 1_100;
/// Packets waiting to be sent.
const WAITING_MAX: u64 = 40;

#[derive(Debug, Default)]
struct Sent {
    taken: u32,
    came: Vec<bool>,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    end: u8,
    processes: Vec<Sent>,
    waiting: u64,
    /// Process of the receiver, and its last packet: process of the sender and number.
    last: Option<(u16, (u16, u32))>,
    pub(crate) delivered: u64,
}

impl Ledger {
    pub(crate) fn new(end: usize) -> Self {
        let end = u8::try_from(end).expect("few ends");
        Self { end, processes: Vec::new(), waiting: 0, last: None, delivered: 0 }
    }

    pub(crate) fn begin(&mut self) {
        self.processes.push(Sent::default());
        self.waiting = 0;
    }

    pub(crate) fn offer(&mut self) {
        self.waiting = (self.waiting + 1).min(WAITING_MAX);
    }

    pub(crate) const fn waits(&self) -> bool {
        self.waiting > 0
    }

    pub(crate) fn taken(&self) -> u32 {
        self.processes.last().map_or(0, |sent| sent.taken)
    }

    fn process(&self) -> u16 {
        u16::try_from(self.processes.len()).expect("few processes") - 1
    }

    pub(crate) fn take(&mut self, receiver: u16, packet: &[u8]) -> Result<(), String> {
        let place = packet.get(..HEAD_BYTES).ok_or("a packet without a head")?;
        let process = u16::from_be_bytes([place[1], place[2]]);
        let number = u32::from_be_bytes([place[3], place[4], place[5], place[6]]);
        let name = format!("packet {number} of process {process} of end {}", place[0]);
        if place[0] != self.end || packet != made(self.end, process, number) {
            return Err(format!("{name} was never sent: {} bytes", packet.len()));
        }
        let sent =
            self.processes.get_mut(usize::from(process)).ok_or(format!("{name}: from nobody"))?;
        if number >= sent.taken {
            return Err(format!("{name} of {} was not sent yet", sent.taken));
        }
        sent.came.resize(sent.taken as usize, false);
        if std::mem::replace(&mut sent.came[number as usize], true) {
            return Err(format!("{name} came twice"));
        }
        let last = self.last.replace((receiver, (process, number)));
        if last.is_some_and(|(before, last)| before == receiver && last > (process, number)) {
            return Err(format!("{name} came behind {last:?}"));
        }
        self.delivered += 1;
        Ok(())
    }

    pub(crate) fn missing(&self, from: u32, to: u32) -> Vec<u32> {
        let Some(sent) = self.processes.last() else { return Vec::new() };
        let has_come = |number: u32| sent.came.get(number as usize).copied().unwrap_or(false);
        (from..to).filter(|number| !has_come(*number)).collect()
    }
}

impl Source for Ledger {
    fn next_bytes(&mut self) -> Option<usize> {
        (self.waiting > 0).then(|| length(self.taken()))
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        let process = self.process();
        let sent = self.processes.last_mut().expect("somebody sends");
        buffer.extend(made(self.end, process, sent.taken));
        sent.taken += 1;
        self.waiting -= 1;
    }
}

fn made(end: u8, process: u16, number: u32) -> Vec<u8> {
    let mut packet = vec![end];
    packet.extend(process.to_be_bytes());
    packet.extend(number.to_be_bytes());
    let (first, step) = (number.wrapping_mul(0x9e37_79b9), u32::from(process) + 1);
    let fill = (0..length(number) - HEAD_BYTES).zip(0_u32..);
    packet.extend(fill.map(|(_, place)| first.wrapping_add(place * step).to_be_bytes()[3]));
    packet
}

fn length(number: u32) -> usize {
    HEAD_BYTES + (number.wrapping_mul(0x85eb_ca6b) >> 8) as usize % (LONGEST_BYTES - HEAD_BYTES + 1)
}

#[test]
fn unsent_or_duplicate_packets_are_reported() {
    let mut ledger = Ledger::new(1);
    ledger.begin();
    (0..3).for_each(|_| ledger.offer());
    let mut sent = [0; 3].map(|_| {
        let (length, mut buffer) = (ledger.next_bytes().expect("it waits"), Vec::new());
        Source::take(&mut ledger, &mut buffer);
        assert_eq!(buffer.len(), length);
        buffer
    });
    assert!(ledger.next_bytes().is_none());
    let mut refusal = |packet: &[u8]| ledger.take(0, packet).err().unwrap_or_default();
    assert_eq!(refusal(&sent[1]), "");
    assert!(refusal(&sent[1]).ends_with("came twice"));
    assert!(refusal(&sent[0]).contains("came behind"));
    assert!(refusal(&made(1, 0, 3)).contains("not sent yet"));
    assert!(refusal(&made(1, 1, 0)).contains("from nobody"));
    assert!(refusal(&made(0, 0, 2)).contains("never sent"));
    let last = sent[2].last_mut().expect("it has bytes");
    *last ^= 1;
    assert!(refusal(&sent[2]).contains("never sent"));
    assert_eq!(ledger.missing(0, 3), [2]);
}

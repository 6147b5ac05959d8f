//! Packets sent and delivered, and the checks on them.

use super::line::Packet;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    sent: Vec<Sent>,
    /// One more than the highest number delivered.
    highest: usize,
    pub(crate) delivered: u64,
    pub(crate) overtaken: u64,
    /// Departure of the last packet that was overtaken.
    overtaken_sent_ns: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Uptake {
    offered: u32,
    taken: u32,
    /// Time when the sender first had accepted nine tenths of `IN_A_ROW` packets.
    pub(crate) resumed_ns: Option<u64>,
}

impl Uptake {
    const IN_A_ROW: u32 = 32;

    pub(crate) fn offer(&mut self, now_ns: u64, is_taken: bool) {
        self.offered += 1;
        self.taken += u32::from(is_taken);
        if self.offered == Self::IN_A_ROW {
            if self.taken * 10 >= self.offered * 9 {
                self.resumed_ns.get_or_insert(now_ns);
            }
            (self.offered, self.taken) = (0, 0);
        }
    }
}

#[derive(Debug)]
struct Sent {
    at_ns: u64,
    length_bytes: u32,
    delivered: bool,
}

impl Ledger {
    pub(crate) fn next(&self, length_bytes: u32) -> Packet {
        Packet { number: u32::try_from(self.sent.len()).expect("a short run"), length_bytes }
    }

    pub(crate) fn send(&mut self, at_ns: u64, length_bytes: u32) {
        self.sent.push(Sent { at_ns, length_bytes, delivered: false });
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent.len() as u64
    }

    pub(crate) fn deliver(&mut self, packet: Packet) -> Result<(), String> {
        let number = packet.number as usize;
        let Some(sent) = self.sent.get_mut(number) else {
            return Err(format!("packet {number} was delivered and never sent"));
        };
        if sent.length_bytes != packet.length_bytes {
            return Err(format!("packet {number} was delivered with another length"));
        }
        if std::mem::replace(&mut sent.delivered, true) {
            return Err(format!("packet {number} was delivered twice"));
        }
        self.delivered += 1;
        if number < self.highest {
            self.overtaken += 1;
            self.overtaken_sent_ns = self.overtaken_sent_ns.max(sent.at_ns);
        }
        self.highest = self.highest.max(number + 1);
        Ok(())
    }

    /// A receiver without state: later deliveries are in order among themselves.
    pub(crate) fn forget_order(&mut self) {
        self.highest = 0;
    }

    /// Departure of the last packet that was lost or out of order.
    pub(crate) fn last_wrong_ns(&self) -> u64 {
        let lost = self.sent.iter().rev().find(|sent| !sent.delivered);
        lost.map_or(0, |sent| sent.at_ns).max(self.overtaken_sent_ns)
    }

    pub(crate) fn sent_since(&self, at_ns: u64) -> usize {
        self.sent.iter().rev().take_while(|sent| sent.at_ns >= at_ns).count()
    }

    pub(crate) fn last_lost(&self) -> Option<usize> {
        self.sent.iter().rposition(|sent| !sent.delivered)
    }
}

//! Flow queues and their round-robin order.
//!
//! Source: RFC 8290, sections 4.1 and 4.2: deficit round robin (Shreedhar and Varghese 1995) with
//! new flows before old ones.
//!
//! Invariant: a flow is in a list if and only if one of its packets was enqueued after the flow was
//! last found empty.

use crate::codel::CoDel;
use crate::slab::{List, NONE};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listed {
    Nowhere,
    New,
    Old,
}

#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) queue: List,
    pub(crate) bytes: u64,
    pub(crate) packets: u32,
    credits: i64,
    pub(crate) codel: CoDel,
    listed: Listed,
    next: u32,
}

impl Flow {
    const IDLE: Self = Self {
        queue: List::EMPTY,
        bytes: 0,
        packets: 0,
        credits: 0,
        codel: CoDel::NEW,
        listed: Listed::Nowhere,
        next: NONE,
    };
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    first: u32,
    last: u32,
}

#[derive(Debug)]
pub(crate) struct Flows {
    all: Vec<Flow>,
    quantum_bytes: i64,
    new: Turn,
    old: Turn,
}

impl Flows {
    pub(crate) fn new(flows: u32, quantum_bytes: u32) -> Self {
        let empty = Turn { first: NONE, last: NONE };
        let all = vec![Flow::IDLE; flows as usize];
        Self { all, quantum_bytes: i64::from(quantum_bytes), new: empty, old: empty }
    }

    pub(crate) fn flow(&mut self, flow: u32) -> &mut Flow {
        &mut self.all[flow as usize]
    }

    pub(crate) fn activate(&mut self, flow: u32) {
        if self.flow(flow).listed == Listed::Nowhere {
            self.flow(flow).credits = self.quantum_bytes;
            self.append(flow, Listed::New);
        }
    }

    /// Returns the first flow with credits, new flows first. A flow without credits gets a quantum
    /// and moves to the end of the old flows.
    pub(crate) fn current(&mut self) -> Option<u32> {
        loop {
            let flow = if self.new.first == NONE { self.old.first } else { self.new.first };
            if flow == NONE {
                return None;
            }
            if self.flow(flow).credits > 0 {
                return Some(flow);
            }
            self.flow(flow).credits += self.quantum_bytes;
            self.remove_first(flow);
            self.append(flow, Listed::Old);
        }
    }

    pub(crate) fn charge(&mut self, flow: u32, bytes: u32) {
        self.flow(flow).credits -= i64::from(bytes);
    }

    /// Removes an empty flow from its list. A new flow moves to the end of the old flows instead,
    /// because recurring new flows would otherwise starve the old flows.
    pub(crate) fn retire(&mut self, flow: u32) {
        let was_new = self.flow(flow).listed == Listed::New;
        self.remove_first(flow);
        if was_new {
            self.append(flow, Listed::Old);
        }
    }

    pub(crate) fn fattest(&self) -> Option<u32> {
        let most = (0..).zip(&self.all).max_by_key(|(_, flow)| (flow.bytes, flow.packets))?;
        (most.1.packets > 0).then_some(most.0)
    }

    fn append(&mut self, flow: u32, listed: Listed) {
        let turn = if listed == Listed::New { &mut self.new } else { &mut self.old };
        let last = turn.last;
        turn.last = flow;
        if turn.first == NONE {
            turn.first = flow;
        } else {
            self.all[last as usize].next = flow;
        }
        let flow = self.flow(flow);
        (flow.listed, flow.next) = (listed, NONE);
    }

    fn remove_first(&mut self, flow: u32) {
        let next = self.flow(flow).next;
        let is_new = self.flow(flow).listed == Listed::New;
        let turn = if is_new { &mut self.new } else { &mut self.old };
        assert_eq!(turn.first, flow, "the turn is the first one's");
        turn.first = next;
        if next == NONE {
            turn.last = NONE;
        }
        self.flow(flow).listed = Listed::Nowhere;
    }
}

//! The sending half of a host's adapter: a source queue, first in, first out.

use crate::Message;
use std::collections::VecDeque;

/// Messages that wait at one endpoint, in order of creation.
#[derive(Clone, Debug, Default)]
pub struct Adapter {
    waiting: VecDeque<Message>,
}

impl Adapter {
    /// An adapter with nothing to send.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a message behind those that wait.
    pub fn offer(&mut self, message: Message) {
        self.waiting.push_back(message);
    }

    /// The message whose turn it is, to be sent now.
    pub fn take(&mut self) -> Option<Message> {
        self.waiting.pop_front()
    }
}

//! Sets of ports as bits in words.

/// A set of ports: those with something to do in a stage.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    pub(crate) words: Vec<u64>,
}

impl Bits {
    /// An empty set of so many ports at the most.
    pub(crate) fn new(ports: usize) -> Self {
        Self { words: vec![0; ports.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn insert(&mut self, port: usize) {
        self.words[port / 64] |= 1 << (port % 64);
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Takes out what is in a word.
    #[inline]
    pub(crate) fn take(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.words[word])
    }
}

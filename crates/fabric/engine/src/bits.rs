//! Bit sets of ports or channels.

#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    pub(crate) words: Vec<u64>,
}

impl Bits {
    pub(crate) fn new(ports: usize) -> Self {
        Self { words: vec![0; ports.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn insert(&mut self, port: usize) {
        self.words[port / 64] |= 1 << (port % 64);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(number, word)| members(*word).map(move |bit| number * 64 + bit))
    }

    /// Keeps only the members that `stays` accepts, and visits them in ascending order.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(usize) -> bool) {
        for (number, word) in self.words.iter_mut().enumerate() {
            for bit in members(*word) {
                if !stays(number * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.words[word])
    }
}

#[inline]
pub(crate) fn members(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}

//! Operations encoded as bytes; zeros follow the end.

pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl Script<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_be_bytes([0; 4].map(|_: u8| self.byte()))
    }

    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let count = self.byte();
        let (taken, rest) = self.0.split_at(usize::from(count).min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }
}

//! Postponed work of one endpoint.

use gingham_kernel::Time;
use std::collections::BTreeMap;

/// Work ordered by due time, then by order of insertion.
#[derive(Clone, Debug)]
pub(crate) struct Postponed<T> {
    due: BTreeMap<(Time, u64), T>,
    number: u64,
}

impl<T> Default for Postponed<T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), number: 0 }
    }
}

impl<T> Postponed<T> {
    pub(crate) fn put(&mut self, at: Time, work: T) {
        self.due.insert((at, self.number), work);
        self.number += 1;
    }

    pub(crate) fn take(&mut self, now: Time) -> Option<T> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_one_instant_keeps_its_order() {
        let mut postponed = Postponed::default();
        for (at, work) in [(20, 'a'), (10, 'b'), (20, 'c'), (30, 'd')] {
            postponed.put(Time::from_ps(at), work);
        }
        let mut taken = |now| std::iter::from_fn(|| postponed.take(Time::from_ps(now))).collect();
        let taken: [String; 4] = [9, 10, 25, 30].map(&mut taken);
        assert_eq!(taken, ["", "b", "ac", "d"]);
    }
}

//! Counts of active channels in one section.
//!
//! Memory and time are proportional to the number of active channels.
//!
//! Invariant: channels are in ascending order.

use super::ChannelCount;
use super::columns::Columns;
use gingham_topology::ChannelId;
use std::cmp::Ordering;

pub(super) type Row = (ChannelId, ChannelCount);

#[derive(Clone, Debug)]
pub(super) struct Section {
    channels: Box<[ChannelId]>,
    counts: Columns,
}

impl Section {
    pub(super) fn new(rows: &[Row]) -> Self {
        debug_assert!(rows.is_sorted_by_key(|row| row.0), "channels ascend");
        let channels = rows.iter().map(|row| row.0).collect();
        Self { channels, counts: Columns::new(rows.iter().map(|row| &row.1)) }
    }

    pub(super) fn sum(&self, other: &Self) -> Self {
        if self.channels == other.channels {
            return Self {
                channels: self.channels.clone(),
                counts: self.counts.sum(&other.counts),
            };
        }
        let [mut first, mut second] = [self.rows().peekable(), other.rows().peekable()];
        let mut rows = Vec::with_capacity(self.channels.len().max(other.channels.len()));
        while let (Some((channel, count)), Some((other_channel, other_count))) =
            (first.peek(), second.peek())
        {
            match channel.cmp(other_channel) {
                Ordering::Less => rows.extend(first.next()),
                Ordering::Greater => rows.extend(second.next()),
                Ordering::Equal => {
                    rows.push((*channel, *count + *other_count));
                    first.next();
                    second.next();
                }
            }
        }
        rows.extend(first);
        rows.extend(second);
        Self::new(&rows)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.channels.iter().enumerate().map(|(row, channel)| (*channel, self.counts.count(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(flits: &[(usize, u64)]) -> Section {
        let row = |&(channel, data_flits): &(usize, u64)| {
            (ChannelId::new(channel), ChannelCount { data_flits, ..ChannelCount::default() })
        };
        Section::new(&flits.iter().map(row).collect::<Vec<_>>())
    }

    fn flits(section: &Section) -> Vec<(usize, u64)> {
        section.rows().map(|(channel, count)| (channel.index(), count.data_flits)).collect()
    }

    #[test]
    fn sections_add_channel_by_channel() {
        let first = section(&[(1, 5), (4, 6), (7, 8)]);
        let second = section(&[(0, 1), (4, 10), (9, 3)]);
        assert_eq!(flits(&first.sum(&second)), [(0, 1), (1, 5), (4, 16), (7, 8), (9, 3)]);
        assert_eq!(flits(&first.sum(&first)), [(1, 10), (4, 12), (7, 16)]);
        assert_eq!(flits(&section(&[]).sum(&second)), [(0, 1), (4, 10), (9, 3)]);
    }
}

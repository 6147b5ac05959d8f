//! Conversion of byte offsets to lines and columns.
//!
//! Columns count characters, not bytes. Character counts are stored per block, because a line may
//! be a megabyte long.

const BLOCK_BYTES: usize = 256;
const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Debug)]
pub(crate) struct Positions<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    characters_before: Vec<usize>,
}

impl<'a> Positions<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let blocks = text.as_bytes().chunks(BLOCK_BYTES).scan(0, |total, block| {
            *total += characters(block);
            Some(*total)
        });
        let characters_before = std::iter::once(0).chain(blocks).collect();
        Self { text, line_starts, characters_before }
    }

    /// Returns the line and column of a byte offset, both 1-based.
    pub(crate) fn at(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = if line == 1 { self.mark_bytes() } else { self.line_starts[line - 1] };
        let column = self.characters_to(offset.max(start)) - self.characters_to(start);
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (small(line), small(column + 1))
    }

    pub(crate) fn line(&self, offset: usize) -> &'a str {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let text = &self.text[self.line_starts[line - 1]..];
        text.trim_start_matches(BYTE_ORDER_MARK).lines().next().unwrap_or("")
    }

    fn mark_bytes(&self) -> usize {
        if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
    }

    fn characters_to(&self, offset: usize) -> usize {
        let block = offset / BLOCK_BYTES;
        let rest = &self.text.as_bytes()[block * BLOCK_BYTES..offset];
        self.characters_before[block] + characters(rest)
    }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| *byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_on_short_and_long_lines() {
        let text = format!("a = 1\nä = \"{}\" # end\n", "é".repeat(1_000));
        let positions = Positions::of(&text);
        assert_eq!(positions.at(0), (1, 1));
        assert_eq!(positions.at(5), (1, 6));
        assert_eq!(positions.at(6), (2, 1));
        assert_eq!(positions.at(8), (2, 2));
        // The comment follows 5 characters, 1,000 characters, the closing quote and a space.
        assert_eq!(positions.at(text.find('#').unwrap()), (2, 5 + 1_000 + 2 + 1));
        assert_eq!(positions.at(text.len()), (3, 1));
        assert_eq!(positions.at(text.len() + 9), (3, 1));
        assert_eq!(positions.line(3), "a = 1");
        assert_eq!(positions.line(text.len()), "");
    }

    #[test]
    fn byte_order_mark_takes_no_column() {
        let positions = Positions::of("\u{feff}a = 1\nb = 2");
        assert_eq!([0, 3, 7].map(|offset| positions.at(offset)), [(1, 1), (1, 1), (1, 5)]);
        assert_eq!(positions.at(9), (2, 1));
        assert_eq!(positions.line(3), "a = 1");
    }
}

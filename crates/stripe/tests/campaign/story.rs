//! What befalls the ends while errors last.

use super::case::Draw;

/// Something that befalls an end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// The sender starts anew, and knows the epoch that it had, or one so many away from it.
    SenderCrashes { epochs_off: u32 },
    /// The receiver starts anew and knows nothing.
    ReceiverCrashes,
    /// The sender is told to start both ends anew.
    Reset,
}

/// None to three of them, in the order of time.
pub(crate) fn draw(draw: &mut Draw, until_ns: u64) -> Vec<(u64, Happening)> {
    let count = if draw.one_in(2) { 0 } else { draw.between(1, 3) };
    let mut story: Vec<_> =
        (0..count).map(|_| (draw.between(0, until_ns), happening(draw))).collect();
    story.sort_by_key(|(at_ns, _)| *at_ns);
    story
}

fn happening(draw: &mut Draw) -> Happening {
    match draw.between(0, 6) {
        0..=2 => Happening::ReceiverCrashes,
        3 => Happening::SenderCrashes { epochs_off: 1 },
        4 => Happening::SenderCrashes { epochs_off: draw.bytes(0, 3).wrapping_sub(3) },
        5 => Happening::SenderCrashes { epochs_off: draw.bytes(0, u32::MAX) },
        _ => Happening::Reset,
    }
}

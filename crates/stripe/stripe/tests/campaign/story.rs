//! What befalls the ends while errors last, and what they are told to do, then and later.

use super::case::{Draw, LONGEST_BYTES};

/// Something that befalls an end.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// The sender starts anew, and knows the epoch that it had, or one so many away from it.
    SenderCrashes { epochs_off: u32 },
    /// The receiver starts anew and knows nothing.
    ReceiverCrashes,
    /// The sender is told to start both ends anew.
    Reset,
    /// The sender is told other quanta, 0 for channels that are to go out.
    Quanta(Vec<u32>),
    /// A channel is added where it is not there, and removed where it is.
    Toggles(usize),
    /// A channel has another address.
    Moves(usize),
    /// Every channel is there again.
    AllThere,
}

/// None to three of them before the healing, and changes of quanta by up to a quarter afterwards,
/// in the order of time.
pub(crate) fn draw(
    draw: &mut Draw,
    seed: u64,
    quanta: &[u32],
    heal_ns: u64,
    end_ns: u64,
) -> Vec<(u64, Happening)> {
    let count = if draw.one_in(2) { 0 } else { draw.between(1, 3) };
    let mut story: Vec<_> =
        (0..count).map(|_| (draw.between(0, heal_ns - 1), happening(draw))).collect();
    if draw.one_in(3) {
        for _ in 0..draw.between(1, 4) {
            story.push((draw.between(0, heal_ns - 1), Happening::Quanta(any_quanta(draw, quanta))));
        }
        story.push((heal_ns, Happening::Quanta(quanta.to_vec())));
        for _ in 0..draw.between(0, 2) {
            let other = quanta.iter().map(|quantum| draw.bytes(*quantum, quantum + quantum / 4));
            let other = other.collect();
            story.push((draw.between(heal_ns, end_ns), Happening::Quanta(other)));
        }
    }
    story.extend(channels(seed, quanta.len(), heal_ns));
    story.sort_by_key(|(at_ns, _)| *at_ns);
    story
}

/// In one run of three up to twenty channels come, go or move before the healing; then all are there.
/// Drawn apart, so that it leaves all other draws as they are.
fn channels(seed: u64, count: usize, heal_ns: u64) -> Vec<(u64, Happening)> {
    let mut draw = Draw::of(seed, "channels");
    if !draw.one_in(3) {
        return Vec::new();
    }
    let mut story: Vec<_> = (0..draw.between(1, 20))
        .map(|_| {
            let at_ns = draw.between(0, heal_ns - 1);
            let channel = usize::try_from(draw.between(0, count as u64 - 1)).expect("small");
            let moves = draw.one_in(4);
            let happening =
                if moves { Happening::Moves(channel) } else { Happening::Toggles(channel) };
            (at_ns, happening)
        })
        .collect();
    story.push((heal_ns, Happening::AllThere));
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

/// Quanta up to a half more or less, some of them 0, at least one of them not.
fn any_quanta(draw: &mut Draw, quanta: &[u32]) -> Vec<u32> {
    let stays = usize::try_from(draw.between(0, quanta.len() as u64 - 1)).expect("small");
    let other = |(channel, quantum): (usize, &u32)| {
        let goes = draw.one_in(8) && channel != stays;
        let any = draw.bytes((quantum / 2).max(LONGEST_BYTES), quantum + quantum / 2);
        if goes { 0 } else { any }
    };
    quanta.iter().enumerate().map(other).collect()
}

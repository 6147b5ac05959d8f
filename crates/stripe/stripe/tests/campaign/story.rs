//! Crashes while errors last, and commands at any time.

use super::case::{Draw, LONGEST_BYTES};

#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// In an epoch `epochs_off` from its last one.
    SenderCrashes { epochs_off: u32 },
    /// Without state.
    ReceiverCrashes,
    /// Requested at the sender.
    Reset,
    /// 0 for channels that are to go out.
    Quanta(Vec<u32>),
    /// Added if absent, removed if present.
    Toggles(usize),
    /// Another address.
    Moves(usize),
    /// Absent channels are added.
    AllThere,
}

/// Up to three events before the healing, and changes of quanta by up to a quarter afterwards.
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

/// In one of three runs, up to twenty events before the healing; then all channels are present.
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

/// Up to a half larger or smaller, some of them 0, at least one not.
fn any_quanta(draw: &mut Draw, quanta: &[u32]) -> Vec<u32> {
    let stays = usize::try_from(draw.between(0, quanta.len() as u64 - 1)).expect("small");
    let other = |(channel, quantum): (usize, &u32)| {
        let goes = draw.one_in(8) && channel != stays;
        let any = draw.bytes((quantum / 2).max(LONGEST_BYTES), quantum + quantum / 2);
        if goes { 0 } else { any }
    };
    quanta.iter().enumerate().map(other).collect()
}

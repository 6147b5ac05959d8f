//! Checks of `network.packets`.

use crate::check::{Check, Sentence, Subject, refuse, when, within};
use crate::compile::lanes::{Laned, wrong_values};
use crate::scenario::{PacketsParameters, PerLane};
use gingham_kernel::Bytes;
use gingham_net::{BLOCK_BYTES, LaneBlocks};
use std::ops::RangeInclusive;

/// Largest buffer of a lane; the total of 16 lanes then fits into 32 bits.
const BUFFER_MAX: Bytes = Bytes(128 << 20);
const OVERTAKEN: RangeInclusive<i64> = 0..=1_000_000;

type Buffers<'a> = Laned<'a, PacketsParameters>;

pub(super) fn of_buffers<'a>() -> [Check<Buffers<'a>>; 4] {
    [
        refuse("buffer", |it| wrong_buffer(it, &it.switch.buffer)),
        refuse("read", |it| beside_outputs(it, "network.packets.read")),
        refuse("overtaking", |it| beside_outputs(it, "network.packets.overtaking")),
        refuse("output_buffer", |it| wrong_buffer(it, it.switch.output_buffer.as_ref()?)),
    ]
}

fn wrong_buffer(it: &Subject<'_, Buffers<'_>>, written: &PerLane<Bytes>) -> Option<Sentence> {
    wrong_values(it, written, |bytes| {
        within!(
            bytes,
            Bytes(BLOCK_BYTES.into())..=BUFFER_MAX,
            "the buffer of a lane holds whole blocks of {BLOCK_BYTES} B, from one to {BUFFER_MAX}"
        )
    })
}

fn beside_outputs(it: &Subject<'_, Buffers<'_>>, key: &str) -> Option<Sentence> {
    when!(
        it.switch.output_buffer.is_some() && it.source.tree.get(key).is_some(),
        "packets cross to the buffers of outputs as soon as there is space, so that no input is read by \
         one output at a time, and none is overtaken: leave it out, or network.packets.output_buffer"
    )
}

pub(super) fn of_overtaking<'a>() -> [Check<&'a PacketsParameters>; 1] {
    [refuse("overtaking.at_most", |it| {
        let rule = "a packet may be overtaken from 0 to 1,000,000 times";
        within!(it.overtaking.at_most, OVERTAKEN, "{rule}")
    })]
}

pub(super) fn blocks(written: &PerLane<Bytes>, count: u8) -> LaneBlocks {
    let mut blocks = LaneBlocks::default();
    let values = written.by_lane(count.into()).expect("a check refuses other lists");
    for (blocks, Bytes(bytes)) in blocks.iter_mut().zip(values) {
        let whole = bytes / u64::from(BLOCK_BYTES);
        *blocks = u32::try_from(whole).expect("a check refuses larger buffers");
    }
    blocks
}

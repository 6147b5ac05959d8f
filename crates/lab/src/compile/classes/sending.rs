//! How hosts send the messages of a class: priority and segmentation.

use super::context::ClassContext;
use super::lengths::payload;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_kernel::Bytes;
use gingham_model::{Priority, Segmentation, SegmentationPlan};

/// A priority, or why it is none.
pub(in crate::compile) fn priority_of(written: i64) -> Result<Priority, String> {
    u8::try_from(written).ok().and_then(Priority::new).ok_or_else(|| {
        let highest = Priority::LEVELS - 1;
        format!("a priority lies from 0, the lowest, to {highest}, not {written}")
    })
}

impl ClassContext<'_> {
    /// The priority that is written under a key.
    pub(super) fn level(&self, key: &str, written: i64) -> Result<Priority, LabError> {
        priority_of(written).map_err(|message| self.error(key, message).into())
    }

    pub(super) fn segmentation(
        &self,
        gathered: &mut Gathered,
    ) -> Result<SegmentationPlan, LabError> {
        let Some(segmentation) = &self.class.segmentation else {
            return Ok(SegmentationPlan::None);
        };
        match segmentation {
            Segmentation::None => Ok(SegmentationPlan::None),
            Segmentation::Fixed(bytes) => {
                Ok(SegmentationPlan::Fixed(self.segment("segmentation.fixed", *bytes)?))
            }
            Segmentation::Adaptive(adaptive) => {
                let bytes = match adaptive.per_switch {
                    Some(bytes) => bytes,
                    None => self.buffer(gathered),
                };
                Ok(SegmentationPlan::PerSwitch(self.segment("segmentation.adaptive", bytes)?))
            }
            Segmentation::ByHops(list) => self.segments_by_hops(list),
        }
    }

    /// What one switch holds of a packet: its slack buffer, or the shallowest of the class's lanes.
    fn buffer(&self, gathered: &mut Gathered) -> Bytes {
        let held_bytes = self.links.kind.held_bytes[self.index];
        self.note_grown_buffers(held_bytes, gathered);
        Bytes(held_bytes)
    }

    /// Where cables need more than the network's buffer there is more than one capacity to choose
    /// from.
    fn note_grown_buffers(&self, counted: u64, gathered: &mut Gathered) {
        let largest = self.links.largest_buffer_bytes();
        let Some(largest) = largest.filter(|largest| *largest > counted) else { return };
        self.note(
            gathered,
            format!(
                "adaptive segments count {counted} B a switch, the buffer of the network; long or fast cables made \
                 some grow up to {largest} B, which segmentation = {{ adaptive = \"{largest} B\" }} would count"
            ),
        );
    }

    fn segments_by_hops(&self, list: &[Bytes]) -> Result<SegmentationPlan, LabError> {
        if list.is_empty() {
            let message =
                "a list by hops begins with the longest segment over one switch; none is given";
            return Err(self.error("segmentation.by-hops", message).into());
        }
        let segment = |(index, bytes): (usize, &Bytes)| {
            self.segment(&format!("segmentation.by-hops.{index}"), *bytes)
        };
        let list = list.iter().enumerate().map(segment).collect::<Result<_, _>>()?;
        Ok(SegmentationPlan::ByHops(list))
    }

    fn segment(&self, key: &str, bytes: Bytes) -> Result<u32, LabError> {
        payload(bytes.0).ok_or_else(|| {
            let message = format!("a segment carries from 1 B to 1024 MiB of payload, not {bytes}");
            self.error(key, message).into()
        })
    }
}

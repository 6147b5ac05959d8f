//! The numbers of `network.packets`, and the errors about them.

use crate::compile::lanes::value_by_lane;
use crate::error::LabError;
use crate::scenario::{OvertakingParameters, PerLane, ScenarioSource};
use gingham_kernel::Bytes;
use gingham_net::{BLOCK_BYTES, LaneBlocks, OvertakingPlan};

/// Largest buffer of a lane: buffers of 16 lanes still count in 32 bits.
const BUFFER_MAX: Bytes = Bytes(128 << 20);
/// Limit on `overtaking.at_most`, far above practical values.
const OVERTAKEN_MAX: i64 = 1_000_000;

/// The section `network.packets`, and the errors about it.
pub(crate) struct Section<'a> {
    pub(crate) source: &'a ScenarioSource,
}

impl Section<'_> {
    pub(crate) fn refuse(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        self.source.refuse(&format!("network.packets.{key}"), message).into()
    }

    /// Returns buffers by lane, in whole blocks; 0 for lanes that do not exist.
    pub(crate) fn buffer_blocks(
        &self,
        key: &str,
        written: &PerLane<Bytes>,
        count: u8,
    ) -> Result<LaneBlocks, LabError> {
        let mut blocks = LaneBlocks::default();
        let values =
            value_by_lane(self.source, written, count).map_err(|why| self.refuse(key, why))?;
        for (lane, value) in values.into_iter().enumerate() {
            let bytes =
                Some(value).filter(|it| (u64::from(BLOCK_BYTES)..=BUFFER_MAX.0).contains(&it.0));
            let bytes = bytes.ok_or_else(|| {
                let key = match written {
                    PerLane::All(_) => key.to_owned(),
                    PerLane::Each(_) => format!("{key}.{lane}"),
                };
                let message = format!(
                    "the buffer of a lane holds whole blocks of {BLOCK_BYTES} B, from one to {BUFFER_MAX}, not {value}"
                );
                self.refuse(&key, message)
            })?;
            blocks[lane] = u32::try_from(bytes.0 / u64::from(BLOCK_BYTES)).expect("checked");
        }
        Ok(blocks)
    }

    /// Returns the output buffers in blocks, if there are any; refuses `read` and `overtaking`
    /// beside them.
    pub(crate) fn output_blocks(
        &self,
        written: Option<&PerLane<Bytes>>,
        count: u8,
    ) -> Result<Option<LaneBlocks>, LabError> {
        let Some(written) = written else { return Ok(None) };
        let is_written =
            |key: &&str| self.source.tree.get(&format!("network.packets.{key}")).is_some();
        if let Some(key) = ["read", "overtaking"].into_iter().find(is_written) {
            let message = "packets cross to the buffers of outputs as soon as there is space, so that no input is read by \
                           one output at a time, and none is overtaken: leave it out, or network.packets.output_buffer";
            return Err(self.refuse(key, message));
        }
        self.buffer_blocks("output_buffer", written, count).map(Some)
    }

    pub(crate) fn overtaking(
        &self,
        written: OvertakingParameters,
    ) -> Result<OvertakingPlan, LabError> {
        let OvertakingParameters { at_most, among } = written;
        let allowed = Some(at_most).filter(|times| (0..=OVERTAKEN_MAX).contains(times));
        let at_most = allowed.and_then(|times| u32::try_from(times).ok()).ok_or_else(|| {
            let message =
                format!("a packet may be overtaken from 0 to 1,000,000 times, not {at_most}");
            self.refuse("overtaking.at_most", message)
        })?;
        Ok(OvertakingPlan { at_most, among })
    }
}

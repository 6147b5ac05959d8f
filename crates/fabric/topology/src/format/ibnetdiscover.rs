//! Dumps: output of `ibnetdiscover`, and network files of the simulator `ibsim`.
//!
//! ```text
//!   vendid=0x8f1                                     identity of the next node
//!   devid=0x5a5a
//!   sysimgguid=0x8f10500200b51                       [\t\t# Chassis 1 (name) slot 3]
//!   switchguid=0x8f10500200b50(8f10500200b50)        also caguid=, rtguid=
//!   Switch  36 "S-0008f10500200b50"  # "description" enhanced port 0 lid 9 lmc 0
//!   [1]     "S-0008f10500108c5c"[15]  # "description" lid 16 4xQDR
//!   [4]     "H-003048c749cd0000"[1](3048c749cd0001)   # "description" lid 72 4xDDR
//!
//!   caguid=0x3048c749cd0000
//!   Ca      2 "H-003048c749cd0000"  # "description"
//!   [1](3048c749cd0001)  "S-0008f10500200b50"[4]  # lid 72 lmc 0 "description" lid 9 4xDDR
//! ```
//!
//! Cables are listed at both ends; [`join`] merges the two lines.
//!
//! Sources: rdma-core, `infiniband-diags/ibnetdiscover.c` (output, with the options for full
//! information and for grouping by chassis); ibsim, `ibsim/sim_net.c` (input).
//!
//! Descriptions may contain quotation marks: a description extends to the last quotation mark of
//! the line.
//!
//! Lines that are clearly not part of a dump ([`noise`]) are skipped; lines that may be damaged are
//! faults, and reading continues.
//!
//! The writer assigns locally administered EUI-64 identifiers to nodes without a GUID, from
//! 0x0200_0000_0000_0000 upwards in canonical order.

mod comment;
mod cursor;
mod join;
mod line;
mod noise;
mod project;
mod records;
mod write;

pub(super) use project::Dialect;
pub(super) use records::refine;
pub(super) use write::write;

use super::Faults;
use super::error::{FaultCode, FormatError, count};
use super::faults::Collected;
use super::{Format, foreign};
use crate::format::text::Parsed;
use records::Records;

pub(super) fn read(text: &str) -> Result<Parsed, Faults> {
    let mut records = Records::default();
    let mut faults = Collected::default();
    let mut lines = text.split('\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let number = count(index + 1);
        let line = records.bare(number, line);
        let is_cut = lines.peek().is_none() && !line.is_empty();
        let taken = if is_cut {
            records.add_last_line(number, line)
        } else {
            records.add_line(number, line)
        };
        faults.keep(taken);
    }
    if records.nodes.is_empty() {
        foreign::named(text).map_or(Ok(()), Err)?;
    }
    faults.finish()?;
    refuse_noise(&records)?;
    Ok(join::join(records))
}

fn refuse_noise(records: &Records<'_>) -> Result<(), FormatError> {
    let Some(noise) = records.noise.as_ref().filter(|_| records.nodes.is_empty()) else {
        return Ok(());
    };
    let message = format!("the file names no node; {}", noise.stated());
    let error = FormatError::at(noise.line, None, message, Format::Ibnetdiscover.cure());
    Err(error.coded(FaultCode::Nothing))
}

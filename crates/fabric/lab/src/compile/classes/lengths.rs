//! Message lengths of a class.

use super::context::ClassContext;
use super::sheet::Sheet;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_kernel::Bytes;
use gingham_net::traffic::{Bimodal, LengthPlan, Lengths, Uniform, Weighted};
use std::ops::RangeInclusive;
use std::sync::Arc;

pub(crate) const PAYLOAD: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1 << 30);

pub(crate) fn payload(bytes: u64) -> Option<u32> {
    u32::try_from(bytes).ok().filter(|_| PAYLOAD.contains(&Bytes(bytes)))
}

pub(crate) fn checked_payload(bytes: Bytes) -> u32 {
    payload(bytes.0).expect("a check refuses payloads that no message has")
}

pub(crate) fn longest_said(payload_bytes: u32) -> String {
    match payload_bytes {
        u32::MAX => "may be of any length".to_owned(),
        _ => format!("may have {} of payload", Bytes(payload_bytes.into())),
    }
}

pub(crate) fn payload_message(bytes: u64) -> String {
    format!("a message has from 1 B to 1024 MiB of payload, not {}", Bytes(bytes))
}

pub(crate) fn lengths(
    context: &ClassContext<'_>,
    gathered: &mut Gathered,
) -> Result<LengthPlan, LabError> {
    let Some(lengths) = &context.class.length else {
        let message =
            "a class needs the length of its messages, such as length = { fixed = \"512 B\" }";
        return Err(context.error("length", message).into());
    };
    match lengths {
        Lengths::Fixed(bytes) => Ok(LengthPlan::Fixed(payload_of(context, "length", *bytes)?)),
        Lengths::Exponential(mean) => {
            Ok(LengthPlan::Exponential(f64::from(payload_of(context, "length", *mean)?)))
        }
        Lengths::Uniform(uniform) => uniform_lengths(context, uniform),
        Lengths::Bimodal(bimodal) => bimodal_lengths(context, bimodal),
        Lengths::Empirical(file) => {
            let sheet = super::sheet::open_sheet(context, "length.empirical", file, gathered)?;
            Ok(LengthPlan::Empirical(Arc::new(read_lengths(sheet)?)))
        }
    }
}

fn uniform_lengths(context: &ClassContext<'_>, uniform: &Uniform) -> Result<LengthPlan, LabError> {
    let from = payload_of(context, "length.uniform.from", uniform.from)?;
    let to = payload_of(context, "length.uniform.to", uniform.to)?;
    if from > to {
        let message = format!(
            "no length lies between {} and {}; `from` is the shorter one",
            uniform.from, uniform.to
        );
        return Err(context.error("length.uniform", message).into());
    }
    Ok(LengthPlan::Uniform { from, to })
}

fn bimodal_lengths(context: &ClassContext<'_>, bimodal: &Bimodal) -> Result<LengthPlan, LabError> {
    let long_share = bimodal.long_share;
    if !(0.0..=1.0).contains(&long_share) {
        let message =
            format!("the share of long messages lies from 0 to 1, and is not {long_share}");
        return Err(context.error("length.bimodal.long_share", message).into());
    }
    let short = payload_of(context, "length.bimodal.short", bimodal.short)?;
    let long = payload_of(context, "length.bimodal.long", bimodal.long)?;
    Ok(LengthPlan::Bimodal { short, long, long_share })
}

fn payload_of(context: &ClassContext<'_>, key: &str, bytes: Bytes) -> Result<u32, LabError> {
    payload(bytes.0).ok_or_else(|| context.error(key, payload_message(bytes.0)).into())
}

fn read_lengths(mut sheet: Sheet) -> Result<Weighted<u32>, LabError> {
    let (length, weight) = (sheet.column("payload_bytes")?, sheet.column("weight")?);
    let mut lengths = Vec::new();
    while sheet.advance()? {
        let bytes = sheet.whole(length)?;
        let bytes = payload(bytes).ok_or_else(|| sheet.error(payload_message(bytes)))?;
        lengths.push((bytes, sheet.weight(weight)?));
    }
    Weighted::new(lengths).ok_or_else(|| sheet.all_zero().into())
}

//! Congestion responses of a flow, as formulas over the starts and acknowledgements of its packets
//! (`congestion.md`, "How flows respond to marks").
//!
//! Each new event causes a recomputation from all events. Floating-point operations are in the
//! order of the formulas in `gingham_net`'s documentation.

mod becn;
mod dcqcn;
mod rates;
mod swift;
mod timely;

use gingham_kernel::{Span, Time};
use gingham_net::{REFILL_BYTES, Response};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Limits {
    pub(super) window_packets: u32,
    /// Time to start [`REFILL_BYTES`] bytes at the rate limit; `None` if the rate is unlimited.
    pub(super) refill: Option<Span>,
    /// Minimum time between packet starts, regardless of packet length.
    pub(super) gap: Span,
}

pub(super) trait Law {
    fn marked(&mut self, _limits: &mut Limits, _now: Time) {}

    fn unmarked(&mut self, _limits: &mut Limits, _now: Time) {}

    fn round_trip(&mut self, _trip: Span, _packets: u32, _limits: &mut Limits, _now: Time) {}

    fn starts(&mut self, _payload_bytes: u32, _limits: &mut Limits, _now: Time) {}
}

struct Constant;

impl Law for Constant {}

pub(super) fn law(response: &Response, limits: &Limits) -> Box<dyn Law> {
    match response {
        Response::Fixed(_) => Box::new(Constant),
        Response::Lipd(of) => Box::new(rates::Lipd(of.lowest, Rate::highest(of.lowest, limits))),
        Response::Fimd(of) => Box::new(rates::Fimd(*of, Rate::highest(of.lowest, limits))),
        Response::Aimd(of) => Box::new(rates::Aimd(*of, Rate::highest(of.lowest, limits))),
        Response::Becn(of) => Box::new(becn::Becn::new(of, limits)),
        Response::Dcqcn(of) => Box::new(dcqcn::Dcqcn::new(*of, limits)),
        Response::Timely(of) => Box::new(timely::Timely::new(*of, limits)),
        Response::Swift(of) => Box::new(swift::Swift::new(*of, limits)),
    }
}

/// Rate as a share of the highest rate, never below the lowest share.
struct Rate {
    share: f64,
    lowest: f64,
    /// Time to start [`REFILL_BYTES`] bytes at the highest rate.
    refill: Span,
}

impl Rate {
    fn highest(lowest: f64, limits: &Limits) -> Self {
        let refill = limits.refill.expect("a flow with a rate has a rate limit");
        Self { share: 1.0, lowest, refill }
    }

    /// Sets the rate within its limits, and the refill time, rounded to a picosecond.
    fn set(&mut self, share: f64, limits: &mut Limits) {
        self.share = share.max(self.lowest).min(1.0);
        limits.refill = Some(rounded(as_f64(self.refill) / self.share));
    }

    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    fn bytes_per_second(&self) -> f64 {
        REFILL_BYTES as f64 / as_f64(self.refill) * 1e12
    }

    /// Returns `rate` as a share of the highest rate, or `default` if no rate is configured.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn share_of(&self, rate: Option<gingham_kernel::Rate>, default: f64) -> f64 {
        rate.map_or(default, |rate| rate.bytes_per_second() as f64 / self.bytes_per_second())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time of a run")]
fn as_f64(span: Span) -> f64 {
    span.as_ps() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time of a run"
)]
fn rounded(ps: f64) -> Span {
    Span::from_ps(ps.round() as u64)
}

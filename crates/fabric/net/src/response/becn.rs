//! InfiniBand's congestion control annex at a channel adapter: backward notifications raise a
//! flow's index into a table of delays, and a timer lowers the index again.
//!
//! ```text
//!   marked            index := min(index + increase, limit)          the timer runs from the first mark on
//!   timer expires     index := max(index - 1, min)                   it stops at min
//!   a packet starts   gap to the next packet: (t >> shift) * multiplier of table[index]; t: packet time
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, annex A10; field names and units as in
//! OpenSM, delay as in Linux's hfi1 driver. Ours: a flow's timer starts with the mark that raises
//! its index. Real adapters have one timer per service level, with an unknown phase.

use super::{Adapt, Limits, Rate, Respond};
use gingham_kernel::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const TIMER_UNIT: Span = Span::from_ps(1_024_000);
const SHIFT_MAX: u8 = 3;
const MULTIPLIER_MAX: u16 = (1 << 14) - 1;

/// Parameters of `becn`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Becn {
    /// `ccti_increase`: increment of the index per marked acknowledgement. Default: 1.
    #[schemars(range(min = 1, max = 255))]
    pub increase: u8,
    /// `ccti_timer`: time until the index falls by one, in units of 1.024 us. Default: 150.
    #[schemars(range(min = 1, max = 65_535))]
    pub timer: u16,
    /// `ccti_min`: lowest index. Default: 0.
    pub min: u16,
    /// `ccti_limit`: highest index. Default: 127.
    pub limit: u16,
    /// `cc_cct`: delays by index, as `shift:multiplier`. The delay after a packet is `multiplier`
    /// times its transmission time, divided by 2 to the `shift`. Default: index times the
    /// transmission time.
    pub table: Vec<Delay>,
}

/// Entry of a congestion control table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Delay {
    shift: u8,
    multiplier: u16,
}

impl Default for Becn {
    /// Returns the parameters of Gran et al. for hardware, quoted from memory, with a linear table
    /// (ours).
    fn default() -> Self {
        Self { increase: 1, timer: 150, min: 0, limit: 127, table: Vec::new() }
    }
}

/// Returns the rate at an index as a fraction of the highest rate. An empty table means the default
/// table.
fn share(table: &[Delay], index: u16) -> f64 {
    let linear = Delay { shift: 0, multiplier: index };
    let delay = table.get(usize::from(index)).copied().unwrap_or(linear);
    1.0 / (1.0 + f64::from(delay.multiplier) / f64::from(1_u8 << delay.shift))
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(shift, multiplier)| {
            let shift = shift.trim().parse().ok().filter(|shift| *shift <= SHIFT_MAX)?;
            let multiplier = multiplier.trim().parse().ok();
            Some(Self { shift, multiplier: multiplier.filter(|of| *of <= MULTIPLIER_MAX)? })
        });
        parsed.ok_or_else(|| {
            format!(
                "an entry of a congestion control table is `shift:multiplier`, with a shift from 0 to {SHIFT_MAX} and a multiplier from \
                 0 to {MULTIPLIER_MAX}, such as \"0:12\", not {text:?}"
            )
        })
    }
}

impl TryFrom<String> for Delay {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Delay> for String {
    fn from(delay: Delay) -> Self {
        delay.to_string()
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.shift, self.multiplier)
    }
}

impl Respond for Becn {
    type Memory = Table;

    fn marking(&self) -> Option<&'static str> {
        Some("fecn")
    }

    fn lowest(&self) -> Option<f64> {
        (self.min..=self.limit.max(self.min))
            .map(|index| share(&self.table, index))
            .reduce(f64::min)
    }

    fn settling(&self, _limits: &Limits) -> Option<Span> {
        let expirations = u64::from(self.limit.saturating_sub(self.min));
        Some(Span::from_ps(TIMER_UNIT.as_ps() * u64::from(self.timer) * expirations))
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let Self { increase, timer, min, limit, ref table } = *self;
        if increase == 0 {
            return Err(("increase", "a mark adds from 1 to 255 to the index, not 0".to_owned()));
        }
        if timer == 0 {
            let message = "a timer of 0 never expires, so that no flow recovers from a mark: from 1 to 65,535 times \
                           1.024 us";
            return Err(("timer", message.to_owned()));
        }
        if min > limit {
            let message =
                format!("the lowest index, {min}, is above the highest, {limit} (`limit`)");
            return Err(("min", message));
        }
        if !table.is_empty() && usize::from(limit) >= table.len() {
            let message = format!(
                "the index goes up to {limit}, and the table has {} entries, from 0 on: lower it, or add entries",
                table.len()
            );
            return Err(("limit", message));
        }
        if table.is_empty() && limit > MULTIPLIER_MAX {
            let message = format!(
                "a table has up to {} entries, from 0 on, not up to {limit}",
                MULTIPLIER_MAX + 1
            );
            return Err(("limit", message));
        }
        Ok(())
    }

    fn start(&self, limits: &Limits) -> Table {
        let lowest = self.lowest().expect("a table has a lowest rate");
        Table {
            rate: Rate::new(lowest, limits),
            delays: self.table.clone().into(),
            limit: self.limit,
            index: self.min,
            min: self.min,
            increase: self.increase.into(),
            timer: Span::from_ps(TIMER_UNIT.as_ps() * u64::from(self.timer)),
            counted: Time::ZERO,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    rate: Rate,
    delays: Box<[Delay]>,
    limit: u16,
    index: u16,
    min: u16,
    increase: u16,
    timer: Span,
    /// Time of the timer's start or of its last evaluated expiration.
    counted: Time,
}

impl Table {
    fn go_to(&mut self, now: Time) {
        if now <= self.counted {
            return;
        }
        let expired = now.since(self.counted).as_ps() / self.timer.as_ps();
        let above = u64::from(self.index - self.min);
        self.index -= u16::try_from(expired.min(above)).expect("no more than the index");
        self.counted += Span::from_ps(expired * self.timer.as_ps());
    }

    fn set(&mut self, limits: &mut Limits) {
        self.rate.set(share(&self.delays, self.index), limits);
    }
}

impl Adapt for Table {
    fn down(&mut self, limits: &mut Limits, now: Time) {
        self.go_to(now);
        if self.index == self.min {
            self.counted = self.counted.max(now);
        }
        self.index = self.index.saturating_add(self.increase).min(self.limit);
        self.set(limits);
    }

    fn sends(&mut self, _payload_bytes: u32, limits: &mut Limits, now: Time) {
        self.go_to(now);
        self.set(limits);
    }
}

//! DCQCN at a reaction point: congestion notifications cut the rate of a flow; a timer and a byte
//! counter raise the rate again.
//!
//! ```text
//!   notified          target := rate      rate := rate (1 - alpha / 2)      alpha := (1 - g) alpha + g
//!   alpha timer       alpha := (1 - g) alpha                           after a period without notification
//!   timer, bytes      the target rises, then rate := (rate + target) / 2
//!                       both counts below F        by 0            (fast recovery)
//!                       both counts above F        by `hyper`
//!                       otherwise                  by `additive`
//! ```
//!
//! The timers and the byte counter restart with each notification. The counter runs only while the
//! rate or its target is below the highest rate.
//!
//! Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, sections
//! 3 and 5, and figure 7; counting a packet's bytes at its start is ours.

use super::rate::{Highest, scaled};
use super::{Adapt, Limits, Rate, Respond};
use gingham_kernel::{Bytes, Rate as DataRate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `dcqcn`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dcqcn {
    /// Weight of the new value in `alpha`, above 0 and at most 1 (NVIDIA's `dce_tcp_g` is 1024
    /// times `1 - g`). Default: 1/256.
    pub g: f64,
    /// Time without a notification after which `alpha` falls (NVIDIA: `dce_tcp_rtt`). Default: 55 us.
    pub alpha_timer: Span,
    /// Time between increases of the rate (NVIDIA: `rpg_time_reset`). Default: 55 us.
    pub timer: Span,
    /// Byte counter: number of bytes after which the rate also rises (NVIDIA: `rpg_byte_reset`).
    /// Default: the bytes sent at the highest rate in 2 ms, 10 MB at 40 Gbit/s.
    pub byte_counter: Option<Bytes>,
    /// `F`: number of increases by timer or byte counter before the target rises (NVIDIA:
    /// `rpg_threshold`). Default: 5.
    #[schemars(range(min = 1, max = 1_000))]
    pub fast_recovery: u32,
    /// `R_AI`: increase of the target (NVIDIA: `rpg_ai_rate`). Default: 1/1000 of the highest rate,
    /// 40 Mbit/s at 40 Gbit/s.
    pub additive: Option<DataRate>,
    /// `R_HAI`: increase of the target after both counters exceed `F` (NVIDIA: `rpg_hai_rate`).
    /// Default: 1/100 of the highest rate, 400 Mbit/s at 40 Gbit/s.
    pub hyper: Option<DataRate>,
    /// Lowest rate (NVIDIA: `rpg_min_rate`), above 0 and at most 1, as a fraction of the highest
    /// rate (the class's rate limit, or the full link rate). Default: 1/400.
    pub lowest: f64,
}

const ADDITIVE: f64 = 1.0 / 1_000.0;
const HYPER: f64 = 1.0 / 100.0;
const BYTE_COUNTER_TIME: Span = Span::from_ps(2_000_000_000);

impl Dcqcn {
    fn steps(&self, highest: Highest) -> [f64; 2] {
        [(self.additive, ADDITIVE), (self.hyper, HYPER)]
            .map(|(rate, share)| rate.map_or(share, |rate| highest.share(rate)))
    }
}

impl Default for Dcqcn {
    /// Returns the values of Zhu et al. 2015 (table of section 5) for 40 Gb/s, quoted from memory.
    /// `hyper` is ten times `additive`, the lowest rate is 100 Mb/s, and both increases scale with
    /// the adapter rate, as in the simulator of Li et al. 2019 (HPCC, `simulation/run.py`). Scaling
    /// the byte counter is ours.
    fn default() -> Self {
        Self {
            g: 1.0 / 256.0,
            alpha_timer: Span::from_ps(55_000_000),
            timer: Span::from_ps(55_000_000),
            byte_counter: None,
            fast_recovery: 5,
            additive: None,
            hyper: None,
            lowest: 1.0 / 400.0,
        }
    }
}

impl Respond for Dcqcn {
    // Boxed, because every flow reserves space for the largest response state.
    type Memory = Box<Reaction>;

    fn marking(&self) -> Option<&'static str> {
        Some("red")
    }

    fn lowest(&self) -> Option<f64> {
        Some(self.lowest)
    }

    /// Returns the longer of two times: `alpha_timer / g`, the time constant of `alpha`, and the
    /// time that the timer alone needs to raise a target from half the highest rate to the highest:
    /// `F - 1` expirations without an increase and `1 / (2 additive)` with an increase.
    fn settling(&self, limits: &Limits) -> Option<Span> {
        let [additive, _] = self.steps(Highest::new(limits));
        let expirations = f64::from(self.fast_recovery.saturating_sub(1)) + (0.5 / additive).ceil();
        Some(scaled(self.alpha_timer, 1.0 / self.g).max(scaled(self.timer, expirations)))
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        if !(self.g > 0.0 && self.g <= 1.0) {
            return Err(("g", format!("a weight is above 0 and at most 1, not {}", self.g)));
        }
        for (key, span) in [("alpha_timer", self.alpha_timer), ("timer", self.timer)] {
            if span == Span::ZERO {
                return Err((key, "a timer takes some time, not 0 ps".to_owned()));
            }
        }
        if self.byte_counter == Some(Bytes(0)) {
            return Err((
                "byte_counter",
                "a counter counts to 1 B and more, not to 0 B".to_owned(),
            ));
        }
        if self.fast_recovery == 0 {
            return Err((
                "fast_recovery",
                "the rate rises at least once before the target does, not 0 times".to_owned(),
            ));
        }
        Ok(())
    }

    fn start(&self, limits: &Limits) -> Box<Reaction> {
        let highest = Highest::new(limits);
        let byte_counter = self.byte_counter.unwrap_or_else(|| highest.bytes_in(BYTE_COUNTER_TIME));
        Box::new(Reaction {
            steps: self.steps(highest),
            byte_counter,
            parameters: *self,
            rate: Rate::new(self.lowest, limits),
            target: 1.0,
            alpha: 1.0,
            timers: None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Timers {
    alpha: Time,
    rate: Time,
    bytes_left: u64,
    by_time: u32,
    by_bytes: u32,
}

/// State of one flow. No timer runs before the first notification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    parameters: Dcqcn,
    steps: [f64; 2],
    byte_counter: Bytes,
    rate: Rate,
    target: f64,
    alpha: f64,
    timers: Option<Timers>,
}

/// Threshold below which `alpha` has no effect on the rate, and its timer is ignored.
const ALPHA_MIN: f64 = 1e-12;

impl Reaction {
    fn go_to(&mut self, now: Time, limits: &mut Limits) {
        let Some(mut timers) = self.timers else { return };
        while timers.alpha <= now && self.alpha > ALPHA_MIN {
            self.alpha *= 1.0 - self.parameters.g;
            timers.alpha += self.parameters.alpha_timer;
        }
        while timers.rate <= now && self.is_below() {
            timers.rate += self.parameters.timer;
            timers.by_time += 1;
            self.raise(&timers, limits);
        }
        self.timers = Some(timers);
    }

    fn is_below(&self) -> bool {
        self.rate.share() < 1.0 || self.target < 1.0
    }

    fn raise(&mut self, timers: &Timers, limits: &mut Limits) {
        let fast = self.parameters.fast_recovery;
        let [more, fewer] = if timers.by_time > timers.by_bytes {
            [timers.by_time, timers.by_bytes]
        } else {
            [timers.by_bytes, timers.by_time]
        };
        let [additive, hyper] = self.steps;
        let step = if more < fast {
            0.0
        } else if fewer > fast {
            hyper
        } else {
            additive
        };
        self.target = (self.target + step).min(1.0);
        self.rate.set(f64::midpoint(self.rate.share(), self.target), limits);
    }
}

impl Adapt for Box<Reaction> {
    fn down(&mut self, limits: &mut Limits, now: Time) {
        self.go_to(now, limits);
        let g = self.parameters.g;
        self.target = self.rate.share();
        self.rate.set(self.rate.share() * (1.0 - self.alpha / 2.0), limits);
        self.alpha = (1.0 - g) * self.alpha + g;
        self.timers = Some(Timers {
            alpha: now + self.parameters.alpha_timer,
            rate: now + self.parameters.timer,
            bytes_left: self.byte_counter.0,
            by_time: 0,
            by_bytes: 0,
        });
    }

    fn sends(&mut self, payload_bytes: u32, limits: &mut Limits, now: Time) {
        self.go_to(now, limits);
        let Some(mut timers) = self.timers.filter(|_| self.is_below()) else { return };
        let mut bytes = u64::from(payload_bytes);
        while bytes >= timers.bytes_left {
            bytes -= timers.bytes_left;
            timers.bytes_left = self.byte_counter.0;
            timers.by_bytes += 1;
            self.raise(&timers, limits);
        }
        timers.bytes_left -= bytes;
        self.timers = Some(timers);
    }
}

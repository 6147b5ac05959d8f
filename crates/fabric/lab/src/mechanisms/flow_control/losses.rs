//! Updates of credits that are lost.

use crate::compile::cables::DELAY_MAX;
use crate::compile::packets::section::Section;
use crate::compile::written::whose;
use crate::error::LabError;
use crate::scenario::{CreditLoss, FlowControl};
use gingham_kernel::{Span, Time};
use gingham_net::CreditLossPlan;

/// A count that was lost is not said again sooner.
const PERIOD_MIN: Span = Span::from_ns(1);

impl Section<'_> {
    pub(crate) fn credit_loss(
        &self,
        written: Option<&CreditLoss>,
        flow_control: &FlowControl,
    ) -> Result<Option<CreditLossPlan>, LabError> {
        let Some(loss) = written else { return Ok(None) };
        if *flow_control != FlowControl::Credits {
            let of_control = whose(self.source, "network.packets.flow_control");
            let message = format!(
                "there are no credits with flow_control = \"pfc\"{of_control}: leave it out, or say \
                 network.packets.flow_control = \"credits\""
            );
            return Err(self.refuse("credit_loss", message));
        }
        if !(0.0..=100.0).contains(&loss.percent) {
            let message = format!("updates out of a hundred, from 0 to 100, not {}", loss.percent);
            return Err(self.refuse("credit_loss.percent", message));
        }
        let allowed = |period: &Span| (PERIOD_MIN..=DELAY_MAX).contains(period);
        if let Some(period) = loss.period.filter(|period| !allowed(period)) {
            let message = format!("a period takes from {PERIOD_MIN} to {DELAY_MAX}, not {period}");
            return Err(self.refuse("credit_loss.period", message));
        }
        let start = Time::ZERO + loss.start;
        let stop = loss.stop.map_or(Time::MAX, |stop| Time::ZERO + stop);
        if stop <= start {
            let message =
                "updates are lost from `start` on and no more from `stop` on, which must be later";
            return Err(self.refuse("credit_loss.stop", message));
        }
        let probability = loss.percent / 100.0;
        Ok(Some(CreditLossPlan { probability, sent: start..stop, period: loss.period }))
    }
}

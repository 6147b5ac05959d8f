//! LIPD, FIMD and AIMD: each acknowledgement changes the rate `r` by a formula.

use super::{Law, Limits, Rate};
use gingham_kernel::Time;

/// Lowest rate `R_min`, and current rate `r`.
pub(super) struct Lipd(pub(super) f64, pub(super) Rate);

impl Law for Lipd {
    fn marked(&mut self, limits: &mut Limits, _now: Time) {
        let r = self.1.share;
        self.1.set(r / (1.0 + r), limits);
    }

    fn unmarked(&mut self, limits: &mut Limits, _now: Time) {
        let r = self.1.share;
        self.1.set(r / (1.0 - self.0), limits);
    }
}

pub(super) struct Fimd(pub(super) gingham_net::Fimd, pub(super) Rate);

impl Law for Fimd {
    fn marked(&mut self, limits: &mut Limits, _now: Time) {
        let r = self.1.share;
        self.1.set(r / self.0.factor, limits);
    }

    fn unmarked(&mut self, limits: &mut Limits, _now: Time) {
        let (r, m) = (self.1.share, self.0.factor);
        self.1.set(r * libm::pow(m, 1.0 / (r / self.0.lowest)), limits);
    }
}

pub(super) struct Aimd(pub(super) gingham_net::Aimd, pub(super) Rate);

impl Law for Aimd {
    fn marked(&mut self, limits: &mut Limits, _now: Time) {
        let r = self.1.share;
        self.1.set(r / self.0.factor, limits);
    }

    fn unmarked(&mut self, limits: &mut Limits, _now: Time) {
        let (r, m, lowest) = (self.1.share, self.0.factor, self.0.lowest);
        self.1.set(r + (m - 1.0) * lowest / (r / lowest), limits);
    }
}

//! Size search of a channel (RFC 8899, section 5).

use super::evidence::{Evidence, LOST_MIN};
use super::plan::{SizePlan, SizeState};
use crate::Instant;

/// Maximum number of probes per size (`MAX_PROBES`, RFC 8899, section 5.1.2).
const PROBES_MAX: u8 = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) state: SizeState,
    pub(super) frame_bytes: u32,
    /// Smallest size known not to pass; initially above the maximum.
    pub(super) too_long_bytes: u32,
    pub(super) probe_bytes: u32,
    /// Time stamp of the probe in flight, if any.
    pub(super) sent_at: Option<Instant>,
    pub(super) until: Instant,
    pub(super) is_passed: bool,
    pub(super) lost: u8,
    pub(super) raise_at: Instant,
    /// Whether only the base size is known to pass.
    pub(super) is_unknown: bool,
    pub(super) evidence: Evidence,
}

impl Search {
    pub(super) fn forget(&mut self) {
        (self.sent_at, self.is_passed, self.lost) = (None, false, 0);
        self.evidence = Evidence::default();
    }

    pub(super) fn confirm(&mut self, frame_bytes: u32, too_long_bytes: u32) {
        self.forget();
        (self.state, self.is_unknown) = (SizeState::Base, false);
        (self.frame_bytes, self.probe_bytes) = (frame_bytes, frame_bytes);
        self.too_long_bytes = too_long_bytes;
    }

    pub(super) fn go_on(&mut self, now: Instant, plan: &SizePlan) {
        if self.too_long_bytes <= self.frame_bytes {
            self.too_long_bytes = plan.beyond();
        }
        if let Some(bytes) = plan.next_probe(self.frame_bytes, self.too_long_bytes) {
            (self.state, self.probe_bytes) = (SizeState::Searching, bytes);
        } else {
            (self.state, self.probe_bytes) = (SizeState::SearchComplete, 0);
            self.raise_at = now.after(plan.raise);
            self.is_unknown = false;
        }
    }

    pub(super) fn refuse(&mut self, now: Instant, frame_bytes: u32, plan: &SizePlan) {
        self.is_unknown = false;
        if frame_bytes > self.frame_bytes {
            self.too_long_bytes = self.too_long_bytes.min(frame_bytes);
            if self.probe_bytes >= frame_bytes {
                (self.sent_at, self.lost) = (None, 0);
                self.go_on(now, plan);
            }
        } else if frame_bytes > plan.base {
            self.confirm(plan.base, frame_bytes);
        } else {
            // The present probe stays in flight; its timer delays the next probe.
            (self.state, self.frame_bytes, self.probe_bytes) =
                (SizeState::Error, plan.base, plan.base);
        }
    }

    pub(super) fn acknowledge(&mut self, now: Instant, plan: &SizePlan) {
        self.forget();
        self.frame_bytes = self.frame_bytes.max(self.probe_bytes);
        if self.state == SizeState::Error {
            // The path may have changed since the larger sizes failed.
            self.too_long_bytes = plan.beyond();
        }
        if self.state == SizeState::SearchComplete {
            self.probe_bytes = 0;
        } else {
            self.go_on(now, plan);
        }
    }

    /// Handles the failure of a size: after three lost probes, or one lost probe in a black hole.
    pub(super) fn fail(&mut self, now: Instant, plan: &SizePlan) {
        self.is_unknown = false;
        let is_of_present = self.probe_bytes <= self.frame_bytes;
        if !is_of_present {
            self.too_long_bytes = self.probe_bytes;
            self.lost = 0;
            self.go_on(now, plan);
        } else if matches!(self.state, SizeState::Base | SizeState::Error) {
            if self.probe_bytes > plan.base {
                self.confirm(plan.base, self.probe_bytes);
            } else {
                (self.state, self.lost) = (SizeState::Error, 0);
            }
        } else if self.is_in_black_hole() {
            self.confirm(plan.base, self.frame_bytes);
        } else if self.evidence.lost == 0 {
            // A frame of that length has arrived after all.
            self.lost = 0;
            self.go_on(now, plan);
        }
    }

    /// Returns whether consecutive packet losses, together with a lost probe of the present size,
    /// rule out chance.
    pub(super) fn is_in_black_hole(&self) -> bool {
        let is_confirmed = matches!(self.state, SizeState::Searching | SizeState::SearchComplete);
        is_confirmed && self.probe_bytes == self.frame_bytes && self.evidence.lost >= LOST_MIN
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        let has_passed = matches!(self.state, SizeState::Searching | SizeState::SearchComplete);
        has_passed && self.evidence.lost > 0 && self.probe_bytes != self.frame_bytes
    }

    pub(super) fn advance(&mut self, now: Instant, plan: &SizePlan) {
        if self.is_in_doubt() {
            (self.sent_at, self.lost, self.probe_bytes) = (None, 0, self.frame_bytes);
        }
        if self.sent_at.is_some() && self.until <= now && self.is_passed {
            self.sent_at = None;
            self.lost = self.lost.saturating_add(1).min(PROBES_MAX);
            if self.lost == PROBES_MAX || (self.lost > 0 && self.is_in_black_hole()) {
                self.fail(now, plan);
            }
        }
        if self.state == SizeState::SearchComplete && self.raise_at <= now {
            self.too_long_bytes = plan.beyond();
            self.go_on(now, plan);
        }
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        match self.sent_at {
            Some(_) => Some(self.until),
            None if self.state == SizeState::SearchComplete => Some(self.raise_at),
            None => None,
        }
    }
}

#[cfg(test)]
crate::corruption::corrupt!(
    Search: state, frame_bytes, too_long_bytes, probe_bytes, sent_at, until, is_passed, lost,
    raise_at, is_unknown, evidence
);

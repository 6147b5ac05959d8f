//! Notifications to systemd: ready, reloading, stopping, status text, and watchdog.
//!
//! Source: sd_notify(3), systemd.service(5) (`Type=notify`, `WatchdogSec=`).
//!
//! Invariant: the watchdog is notified only if every tunnel process has just replied.

use std::io;
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::now;
use sd_notify::NotifyState;

use super::bundle::Bundle;

pub(super) struct Service {
    every: Option<Duration>,
    next_at: Instant,
}

impl Default for Service {
    fn default() -> Self {
        let every = sd_notify::watchdog_enabled().map(|span| span / 2);
        Self { every, next_at: now() }
    }
}

impl Service {
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.every.map(|_| self.next_at)
    }

    pub(super) fn is_due(&mut self, now: Instant, is_alive: bool) -> bool {
        let Some(every) = self.every.filter(|_| self.next_at <= now) else { return false };
        self.next_at = now.after(every);
        if is_alive {
            notify(&[NotifyState::Watchdog]);
        }
        true
    }
}

pub(super) fn ready(bundles: &[Bundle]) {
    let names: Vec<_> = bundles.iter().map(|one| one.config().name.as_str()).collect();
    let status = format!("carries {}", names.join(", "));
    notify(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

pub(super) fn reloading() {
    if let Ok(time) = NotifyState::monotonic_usec_now() {
        notify(&[NotifyState::Reloading, time]);
    }
}

pub(super) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

fn notify(state: &[NotifyState<'_>]) {
    let _: io::Result<()> = sd_notify::notify(state);
}

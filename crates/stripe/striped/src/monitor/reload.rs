//! Reload of configuration files while bundles are up.
//!
//! ```text
//!   all files read and checked ── an error ──► the old configuration remains; the client gets the error
//!        │
//!        ▼
//!   new routes and rules added ──► tunnel processes apply the files ──► old routes and rules removed
//! ```
//!
//! Invariants: nothing is changed before everything is checked; a reload always ends, even if a
//! tunnel process does not reply.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::now;
use tracing::{error, info};

use super::{Monitor, service};
use crate::changes;
use crate::check::{Loaded, load_again};
use crate::handover;
use crate::orders::Order;
use crate::problem::Problem;
use crate::routes::RoutePlan;

/// Time limit of a reload; an iteration of the loop normally suffices. `striped reload` waits twice
/// as long.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(5);

pub(super) struct Reloading {
    number: u64,
    awaited: BTreeMap<usize, String>,
    by: Instant,
    refused: Vec<String>,
}

impl Reloading {
    fn begin(number: u64, now: Instant) -> Self {
        let (awaited, refused) = (BTreeMap::new(), Vec::new());
        Self { number, awaited, by: now.after(FOLLOWS_WITHIN), refused }
    }

    pub(super) const fn due_at(&self) -> Instant {
        self.by
    }

    fn follow(&mut self, bundle: usize, number: u64, refused: Option<&str>) {
        // A late reply belongs to a reload that has timed out.
        if number == self.number
            && let Some(name) = self.awaited.remove(&bundle)
        {
            self.refused.extend(refused.map(|message| format!("{name}: {message}")));
        }
    }

    fn give_up(&mut self, now: Instant) {
        if self.by <= now {
            let late = std::mem::take(&mut self.awaited).into_values();
            self.refused.extend(late.map(|name| {
                let seconds = FOLLOWS_WITHIN.as_secs();
                format!("{name}: its half has not followed within {seconds} s: reload again")
            }));
        }
    }

    fn outcome(&self) -> Option<Result<(), Problem>> {
        if !self.awaited.is_empty() {
            return None;
        }
        let refused = &self.refused;
        let why = || Problem::Environment(refused.join("; "));
        Some(if refused.is_empty() { Ok(()) } else { Err(why()) })
    }
}

impl Monitor {
    pub(super) fn reload(&mut self) -> Result<(), Problem> {
        let busy = |what: &str| Err(Problem::Environment(what.to_owned()));
        if self.reloading.is_some() {
            return busy("a reload is under way: ask again");
        }
        if self.is_ending {
            return busy("the daemon is about to end");
        }
        if self.bundles.iter().any(|one| one.index.is_none()) {
            return busy("the daemon is about to start: ask again");
        }
        if let Some(one) = self.bundles.iter().find(|one| !one.half.takes_orders()) {
            let name = &one.config().name;
            return busy(&format!("{name}: its half accepts no orders: ask again"));
        }
        service::reloading();
        let done = self.begin_reload();
        if done.is_err() {
            service::ready(&self.bundles);
        }
        done
    }

    fn begin_reload(&mut self) -> Result<(), Problem> {
        let running: Vec<_> = self.bundles.iter().map(|one| &one.loaded).collect();
        let loaded = load_again(&running)?;
        for (old, new) in running.iter().zip(&loaded) {
            changes::check(old, new)?;
        }
        let pass = |one: &Loaded| handover::pass(&one.text, &one.checked.peers);
        let passed = loaded.iter().map(pass).collect::<io::Result<Vec<_>>>();
        let passed = passed.map_err(|error| Problem::environment("memory", error))?;
        self.reloads += 1;
        let mut reloading = Reloading::begin(self.reloads, now());
        let bundles = self.bundles.iter_mut().zip(loaded).zip(passed).enumerate();
        for (number, ((bundle, mut new), passed)) in bundles {
            new.mtu_max = bundle.loaded.mtu_max;
            bundle.loaded = new;
            let plan = RoutePlan::of(bundle.config());
            let index = bundle.index.unwrap_or(0);
            if let Err(error) = bundle.routing.follow(plan, index) {
                reloading.refused.push(format!("routes: {error}"));
            }
            let name = bundle.config().name.clone();
            let order = Order::Reload(self.reloads, passed);
            match (bundle.half.order(&order), order) {
                (Err(error), Order::Reload(_, passed)) => {
                    reloading.refused.push(format!("{name}: {error}: reload again"));
                    reloading
                        .refused
                        .extend(handover::forget(passed).err().map(|error| error.to_string()));
                }
                _ => drop(reloading.awaited.insert(number, name)),
            }
        }
        self.reloading = Some(reloading);
        Ok(())
    }

    pub(super) fn follow_reload(&mut self, bundle: usize, number: u64, refused: Option<&str>) {
        if let Some(reloading) = &mut self.reloading {
            reloading.follow(bundle, number, refused);
        }
    }

    pub(super) fn finish_reload(&mut self, now: Instant) {
        let Some(reloading) = &mut self.reloading else { return };
        reloading.give_up(now);
        let Some(done) = reloading.outcome() else { return };
        self.reloading = None;
        match &done {
            Ok(()) => info!("all files were reloaded"),
            Err(problem) => error!("{problem}"),
        }
        self.clients.reloaded(&done);
        service::ready(&self.bundles);
        self.announce_changes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn reloading(now: Instant) -> Reloading {
        let mut reloading = Reloading::begin(7, now);
        reloading.awaited.extend([(0, "a".to_owned()), (1, "b".to_owned())]);
        reloading
    }

    fn reply_of(reloading: &Reloading) -> Option<String> {
        Some(reloading.outcome()?.map_or_else(|problem| problem.to_string(), |()| "done".into()))
    }

    #[test]
    fn reload_ends_once_each_half_has_confirmed_it() {
        let mut reloading = reloading(now());
        for (bundle, number) in [(0, 7), (0, 7), (1, 6), (2, 7)] {
            reloading.follow(bundle, number, None);
            assert_eq!(reply_of(&reloading), None);
        }
        reloading.follow(1, 7, None);
        assert_eq!(reply_of(&reloading).as_deref(), Some("done"));
    }

    #[test]
    fn unconfirmed_half_is_named_after_the_timeout() {
        let now = now();
        let mut reloading = reloading(now);
        reloading.follow(1, 7, Some("no socket"));
        reloading.give_up(now.after(FOLLOWS_WITHIN.saturating_sub(NANOSECOND)));
        assert_eq!(reply_of(&reloading), None);
        reloading.give_up(reloading.due_at());
        let reply = reply_of(&reloading).expect("it has ended");
        assert_eq!(reply, "b: no socket; a: its half has not followed within 5 s: reload again");
    }
}

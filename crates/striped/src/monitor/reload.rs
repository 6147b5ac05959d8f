//! Files that are read anew while bundles are up.
//!
//! ```text
//!   all files read and checked ── an error ──► the old stays, and who asked hears of it
//!        │
//!        ▼
//!   routes and rules that are new ──► the halves that carry packets follow ──► the old ones go
//! ```
//!
//! Invariant: nothing is touched before all is checked.

use std::io;

use tracing::{error, info};

use super::{Monitor, service};
use crate::changes;
use crate::check::{Loaded, load_again};
use crate::handover;
use crate::orders::Order;
use crate::problem::Problem;
use crate::routes::RoutePlan;

/// A reload that is under way.
pub(super) struct Reloading {
    /// So many halves are yet to say that they have followed.
    awaited: usize,
    refused: Vec<String>,
}

impl Monitor {
    /// Reads all files anew, and does what they say.
    pub(super) fn reload(&mut self) -> Result<(), Problem> {
        if self.reloading.is_some() {
            return Err(Problem::Environment("a reload is under way: ask again".into()));
        }
        if self.bundles.iter().any(|one| one.index.is_none()) {
            return Err(Problem::Environment("the daemon is about to start: ask again".into()));
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
        let mut reloading = Reloading { awaited: self.bundles.len(), refused: Vec::new() };
        for ((bundle, mut new), passed) in self.bundles.iter_mut().zip(loaded).zip(passed) {
            new.mtu_max = bundle.loaded.mtu_max;
            bundle.loaded = new;
            let plan = RoutePlan::of(bundle.config());
            let index = bundle.index.unwrap_or(0);
            if let Err(error) = bundle.routing.follow(plan, index) {
                reloading.refused.push(format!("routes: {error}"));
            }
            bundle.order(&Order::Reload(passed));
        }
        self.reloading = Some(reloading);
        Ok(())
    }

    /// The half of a bundle has followed, but for what is said.
    pub(super) fn follow_reload(&mut self, number: usize, refused: Option<String>) {
        let name = &self.bundles[number].config().name;
        let Some(reloading) = &mut self.reloading else { return };
        reloading.refused.extend(refused.map(|message| format!("{name}: {message}")));
        reloading.awaited = reloading.awaited.saturating_sub(1);
        if reloading.awaited > 0 {
            return;
        }
        let refused = self.reloading.take().map(|one| one.refused).unwrap_or_default();
        let done = if refused.is_empty() {
            info!("all files were reloaded");
            Ok(())
        } else {
            let problem = Problem::Environment(refused.join("; "));
            error!("{problem}");
            Err(problem)
        };
        self.clients.reloaded(&done);
        service::ready(&self.bundles);
        self.look();
    }
}

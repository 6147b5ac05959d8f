//! Staggered starts of the hosts of a class.
//!
//! ```text
//!   start        + every         + 2 every
//!   │ host 0 ·   │ host 1    ·   │  host 2 ·       · = less than `jitter` later, drawn from the seed
//! ```
//!
//! In Santos et al. 2002, section III, flows start one after the other, every 100 us. The jitter is
//! ours: without another random draw, all runs of a scenario would be identical, and their results
//! would have no confidence interval. The numbering follows the fabric order and includes silent
//! hosts, so a change of senders does not affect the starts of other hosts.

use super::context::ClassContext;
use crate::check::{Check, refuse, when};
use crate::error::LabError;
use crate::scenario::Stagger;
use gingham_kernel::Span;
use gingham_net::traffic::{Arrivals, LaterPlan};

pub(super) fn of_arrivals<'a>() -> [Check<&'a ClassContext<'a>>; 1] {
    [refuse("stagger", |it| {
        let what = match &it.class.arrivals {
            Arrivals::Schedule(_) => "a schedule already sets when each host sends",
            Arrivals::Reply(_) => "replies are sent when messages arrive",
            _ => return None,
        };
        when!(it.class.stagger.is_some(), "{what}: leave out `stagger`")
    })]
}

pub(super) fn later(context: &ClassContext<'_>, hosts: usize) -> Result<Vec<LaterPlan>, LabError> {
    let Some(stagger) = &context.class.stagger else {
        return Ok(vec![LaterPlan::default(); hosts]);
    };
    let Stagger { every, jitter } = *stagger;
    let start = context.class.start.unwrap_or(Span::ZERO);
    let end = context.source.scenario.stop.time;
    let left = context.class.stop.map_or(end, |stop| stop.min(end)) - start;
    let turn = |host: usize| every.as_ps().checked_mul(host as u64).map(Span::from_ps);
    let fits = |later: &LaterPlan| {
        let ps = later.turn.as_ps().checked_add(jitter.as_ps());
        ps.is_some_and(|ps| ps < left.as_ps())
    };
    let later: Option<Vec<LaterPlan>> =
        (0..hosts).map(|host| Some(LaterPlan { turn: turn(host)?, jitter }).filter(fits)).collect();
    later.ok_or_else(|| {
        let message = format!(
            "{hosts} hosts, one every {every} and each up to {jitter} later, have not all started when the class or \
             the run ends, {left} after the start of the class: shorten `every` or `jitter`, or let it last longer"
        );
        context.error("stagger.every", message).into()
    })
}

//! Recent rates, times of state changes, and log events, obtained by polling an end.

use std::mem::replace;
use std::time::Duration;

use gingham_stripe::{Instant, SizeState};
use gingham_stripe_crypt::Discard;
use gingham_stripe_udp::{End, UnauthenticatedCounts};
use tracing::{debug, info, warn};

use crate::logging::Limit;
use crate::status::{WaitName, part};

const SPAN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    sent: u64,
    came: u64,
    flight_sent: u64,
    flight_lost: u64,
}

impl Counted {
    fn of(end: &End, id: usize) -> Self {
        let (counts, flight) = (end.counts(id), end.flight(id).unwrap_or_default());
        Self {
            sent: counts.sent_bytes,
            came: counts.came_bytes,
            flight_sent: flight.sent_bytes,
            flight_lost: flight.lost_bytes,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct ChannelObserver {
    is_there: bool,
    is_in: bool,
    since: Instant,
    longest_bytes: u32,
    reopened: u64,
    moved: Growing,
    strange: Growing,
    came: Limit,
    went: Limit,
    found: Limit,
}

#[derive(Clone, Copy, Debug, Default)]
struct Growing {
    logged: u64,
    limit: Limit,
}

impl Growing {
    fn growth(&mut self, now: Instant, count: u64) -> Option<(u64, u64)> {
        if count <= self.logged {
            return None;
        }
        let suppressed = self.limit.pass(now)?;
        Some((count - replace(&mut self.logged, count), suppressed))
    }
}

/// Observed values of a channel; rates cover the last one to two seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) state_seconds: f64,
    pub(crate) sending_bits_per_second: u64,
    pub(crate) receiving_bits_per_second: u64,
    pub(crate) loss: f64,
}

#[derive(Debug)]
pub(crate) struct Observer {
    peer: usize,
    samples: [(Instant, Vec<Counted>); 2],
    channel_observers: Vec<ChannelObserver>,
    is_open: bool,
    sessions: Growing,
    discards: Growing,
    refused: Growing,
}

impl Observer {
    pub(crate) fn new(peer: usize, channels_max: usize, now: Instant) -> Self {
        let counted = vec![Counted::default(); channels_max];
        let channel_observers =
            vec![ChannelObserver { since: now, ..ChannelObserver::default() }; channels_max];
        Self {
            peer,
            samples: [(now, counted.clone()), (now, counted)],
            channel_observers,
            is_open: false,
            sessions: Growing::default(),
            discards: Growing::default(),
            refused: Growing::default(),
        }
    }

    pub(crate) const fn set_number(&mut self, peer: usize) {
        self.peer = peer;
    }

    pub(crate) fn seen(&self, end: &End, id: usize, now: Instant) -> Seen {
        let (since, before) = &self.samples[0];
        let (then, is) = (before.get(id).copied().unwrap_or_default(), Counted::of(end, id));
        let span_ms = elapsed(*since, now).as_millis().max(1);
        let rate = |then: u64, is: u64| {
            let bits = u128::from(is.saturating_sub(then)) * 8 * 1_000 / span_ms;
            u64::try_from(bits).unwrap_or(u64::MAX)
        };
        Seen {
            state_seconds: self
                .channel_observers
                .get(id)
                .map_or(0.0, |channel| seconds(channel.since, now)),
            sending_bits_per_second: rate(then.sent, is.sent),
            receiving_bits_per_second: rate(then.came, is.came),
            loss: part(
                is.flight_lost.saturating_sub(then.flight_lost),
                is.flight_sent.saturating_sub(then.flight_sent),
            )
            .min(1.0),
        }
    }

    pub(crate) fn poll(&mut self, now: Instant, end: &End, refused: u64) {
        if elapsed(self.samples[1].0, now) >= SPAN {
            self.samples.swap(0, 1);
            let (at, counted) = &mut self.samples[1];
            *at = now;
            for (id, one) in counted.iter_mut().enumerate() {
                *one = Counted::of(end, id);
            }
        }
        self.poll_peer(now, end, refused);
        for id in 0..self.channel_observers.len() {
            self.channel_observers[id].poll(now, end, (self.peer, id));
        }
    }

    fn poll_peer(&mut self, now: Instant, end: &End, refused: u64) {
        let (peer, is_open) = (self.peer, end.is_open());
        if let Some(counts) = end.handshakes() {
            let sessions = counts.sessions;
            if let Some((_, suppressed)) = self.sessions.growth(now, sessions) {
                info!(peer, sessions, suppressed, "the other end has shaken hands");
            }
            let discards = counts.discards.total();
            if let Some((datagrams, suppressed)) = self.discards.growth(now, discards) {
                let mostly = counts.discards.most().map(Discard::name);
                warn!(peer, datagrams, mostly, suppressed, "datagrams were not taken");
            }
        }
        if let Some((packets, suppressed)) = self.refused.growth(now, refused) {
            warn!(peer, packets, suppressed, "packets are from addresses that are not allowed");
        }
        if is_open != self.is_open {
            self.is_open = is_open;
            debug!(peer, is_open, "packets are taken");
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Crowd {
    discards: Growing,
    refused: Growing,
}

impl Crowd {
    pub(crate) fn poll(&mut self, now: Instant, counts: &UnauthenticatedCounts, refused: u64) {
        let discards = counts.discards.total() + counts.untried;
        if let Some((datagrams, suppressed)) = self.discards.growth(now, discards) {
            let mostly = counts.discards.most().map(Discard::name);
            warn!(datagrams, mostly, suppressed, "unauthenticated datagrams were discarded");
        }
        if let Some((packets, suppressed)) = self.refused.growth(now, refused) {
            warn!(packets, suppressed, "packets are to addresses that are nobody's");
        }
    }
}

impl ChannelObserver {
    fn poll(&mut self, now: Instant, end: &End, (peer, id): (usize, usize)) {
        let (is_there, is_in) = (end.is_there(id), end.is_carrying(id));
        if is_there != self.is_there {
            *self = Self { is_there, since: now, ..Self::default() };
        }
        if !is_there {
            return;
        }
        let (counts, size) = (end.counts(id), end.size(id));
        if is_in != self.is_in {
            (self.is_in, self.since) = (is_in, now);
            self.log_state(now, end, (peer, id));
        }
        let longest_bytes = size.longest_bytes;
        let is_found = size.state == SizeState::SearchComplete && is_in;
        if is_found && longest_bytes != self.longest_bytes {
            self.longest_bytes = longest_bytes;
            if let Some(suppressed) = self.found.pass(now) {
                info!(peer, channel = id, longest_bytes, suppressed, "the longest packet is found");
            }
        }
        if let Some((_, suppressed)) = self.moved.growth(now, counts.moved) {
            let remote = end.remote(id).map(tracing::field::display);
            info!(peer, channel = id, remote, suppressed, "the other end is at another address");
        }
        if let Some((datagrams, suppressed)) = self.strange.growth(now, counts.strange) {
            warn!(peer, channel = id, datagrams, suppressed, "strange datagrams came");
        }
        if counts.reopened > self.reopened {
            self.reopened = counts.reopened;
            debug!(peer, channel = id, "the link was opened again");
        }
    }

    fn log_state(&mut self, now: Instant, end: &End, (peer, id): (usize, usize)) {
        if self.is_in {
            if let Some(suppressed) = self.came.pass(now) {
                let remote = end.remote(id).map(tracing::field::display);
                info!(peer, channel = id, remote, suppressed, "the channel is in");
            }
        } else if let Some(suppressed) = self.went.pass(now) {
            let why = end.wait_of(id).map(|wait| WaitName::from(wait).words());
            let error = end.link_error(id).map(tracing::field::display);
            warn!(peer, channel = id, why, error, suppressed, "the channel is out");
        }
    }
}

fn elapsed(since: Instant, now: Instant) -> Duration {
    Duration::from_nanos(now.nanoseconds().saturating_sub(since.nanoseconds()))
}

fn seconds(since: Instant, now: Instant) -> f64 {
    elapsed(since, now).as_secs_f64()
}

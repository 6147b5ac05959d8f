//! Hand-calculated admission decisions, and property tests of ledgers.

use super::controller::{
    AdmissionController, Hop as Place, HostAction, Onward, Request, StreamState,
};
use super::*;
use crate::ClassId;
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, EndpointId};
use proptest::prelude::*;
use std::sync::Arc;

fn channel(number: usize) -> ChannelId {
    ChannelId::new(number)
}

fn stream(number: usize) -> StreamId {
    StreamId::new(number)
}

/// Returns a controller for streams with these rates in B/s, over channels with a limit of 100 B/s
/// each.
fn controller(rates: &[u64], channels: usize) -> AdmissionController {
    leased_controller(rates, channels, None)
}

fn leased_controller(rates: &[u64], channels: usize, lease: Option<Span>) -> AdmissionController {
    let plan = AdmissionPlan {
        classes: [true].into(),
        limits: vec![100; channels].into(),
        rates: vec![125; channels].into(),
        lease,
        others_min: 1,
        payload_bytes: 160,
        priority: Priority::default(),
        vc_class: None,
    };
    let request = |rate: &u64| Request {
        class: ClassId::new(0),
        source: EndpointId::new(0),
        destination: EndpointId::new(1),
        rate: *rate,
        state: StreamState::Silent,
        asked: None,
        responded: None,
        lapsed: None,
    };
    AdmissionController::of(Arc::new(plan), rates.iter().map(request).collect(), channels)
}

/// Channel from an in-transit host, unless it is the first or last channel of a path.
const HOST: usize = 4;

struct TimedPath<'a>(&'a [usize], Time);

const fn over(channels: &[usize]) -> TimedPath<'_> {
    TimedPath(channels, Time::ZERO)
}

impl TimedPath<'_> {
    fn then(&self, ps: u64) -> Self {
        Self(self.0, Time::from_ps(ps))
    }

    fn read(&self, controller: &mut AdmissionController, signal: Signal, place: usize) -> Onward {
        controller.read(signal, self.at(place), self.1)
    }

    /// Handles a signal at the receiving end of the path's channel with index `place`. Returns the
    /// resulting signal, and whether it ends at that node. In-transit hosts are never first, last
    /// or adjacent.
    fn reach(
        &self,
        controller: &mut AdmissionController,
        signal: Signal,
        place: usize,
    ) -> (Signal, bool) {
        let is_switch = place == 0 || place + 2 == self.0.len() || self.0[place + 1] != HOST;
        if !is_switch {
            return (controller.sent_on(signal, self.at(place), self.1), false);
        }
        match self.read(controller, signal, place) {
            Onward::Goes => (signal, false),
            Onward::Ends(signal) => (signal, true),
        }
    }

    fn at(&self, place: usize) -> Place {
        let [input, output] = [self.0[place], self.0[place + 1]].map(channel);
        Place { input, output, after: self.0.get(place + 2).copied().map(channel) }
    }

    fn respond(&self, controller: &mut AdmissionController, response: Signal) -> HostAction {
        let first = [self.0[0], self.0[1]].map(channel);
        controller.handle_response(response, first, self.1)
    }

    fn begin(&self, controller: &mut AdmissionController, of: StreamId) -> bool {
        controller.ask(of, channel(self.0[0]), self.1)
    }

    fn ask(&self, controller: &mut AdmissionController, of: StreamId) -> bool {
        if !controller.ask(of, channel(self.0[0]), Time::ZERO) {
            return false;
        }
        let response = self.go(controller, Signal::Probe(of));
        match self.respond(controller, response) {
            HostAction::Send => true,
            HostAction::Nothing => false,
            HostAction::Release(refused) => {
                self.go(controller, Signal::Release(of, refused));
                false
            }
        }
    }

    fn go(&self, controller: &mut AdmissionController, mut signal: Signal) -> Signal {
        for place in 0.. {
            let (now, ends) = self.reach(controller, signal, place);
            if ends {
                return now;
            }
            signal = now;
        }
        unreachable!("it ends at the last switch")
    }

    fn end(&self, controller: &mut AdmissionController, of: StreamId) {
        controller.pass(of, None, channel(self.0[0]));
        for pair in self.0.windows(2) {
            controller.pass(of, Some(channel(pair[0])), channel(pair[1]));
        }
    }
}

#[test]
fn refusal_midway_releases_earlier_reservations() {
    let mut controller = controller(&[60, 60, 40], 5);
    let (long, other) = (over(&[0, 1, 2, 3]), over(&[4, 2, 3]));
    assert!(other.ask(&mut controller, stream(0)));
    assert!(controller.ask(stream(1), channel(0), Time::ZERO));
    let probe = Signal::Probe(stream(1));
    assert_eq!(long.read(&mut controller, probe, 0), Onward::Goes);
    let reserved = |controller: &AdmissionController| {
        [0, 1, 2, 3].map(|of| controller.ledger().reserved(channel(of)))
    };
    assert_eq!(reserved(&controller), [60, 60, 60, 60]);
    let nack = Signal::Nack(stream(1), channel(2));
    assert_eq!(long.read(&mut controller, probe, 1), Onward::Ends(nack));
    assert_eq!(reserved(&controller), [60, 60, 60, 60], "a node that refuses reserves nothing");
    assert_eq!(long.respond(&mut controller, nack), HostAction::Release(channel(2)));
    assert_eq!(reserved(&controller), [0, 60, 60, 60], "the adapter itself");
    let release = Signal::Release(stream(1), channel(2));
    assert_eq!(long.read(&mut controller, release, 0), Onward::Ends(release), "s1 is next");
    assert_eq!(reserved(&controller), [0, 0, 60, 60]);
    assert_eq!(controller.requests()[1].state, StreamState::Refused(channel(2)));
    assert!(long.ask(&mut controller, stream(2)));
    assert_eq!(reserved(&controller), [40, 40, 100, 100]);
    long.end(&mut controller, stream(2));
    other.end(&mut controller, stream(0));
    assert!(controller.ledger().is_empty());
}

#[test]
fn refusals_by_adapter_or_first_switch_need_no_release() {
    let mut controller = controller(&[101, 80, 30], 3);
    let path = over(&[0, 1]);
    assert!(!path.ask(&mut controller, stream(0)));
    assert_eq!(controller.requests()[0].state, StreamState::Refused(channel(0)));
    assert!(controller.ledger().is_empty());
    assert!(over(&[2, 1]).ask(&mut controller, stream(1)));
    assert!(controller.ask(stream(2), channel(0), Time::ZERO));
    let nack = Signal::Nack(stream(2), channel(1));
    assert_eq!(path.read(&mut controller, Signal::Probe(stream(2)), 0), Onward::Ends(nack));
    assert_eq!(path.respond(&mut controller, nack), HostAction::Nothing);
    assert_eq!(controller.ledger().reserved(channel(0)), 0);
}

/// Path with a detour through a host: h0, s1, h2, s1 again, s4.
const OVER_A_HOST: TimedPath<'_> = over(&[0, 1, 2, 4, 5, 6]);

/// Checks that the NACK ends at the next switch, and that the release ends on its first visit to
/// that switch.
#[test]
fn in_transit_host_refuses_beyond_its_link_bandwidth() {
    let mut controller = controller(&[60, 60], 7);
    let (path, own) = (OVER_A_HOST, over(&[4, 6]));
    assert!(own.ask(&mut controller, stream(0)));
    assert!(controller.ask(stream(1), channel(0), Time::ZERO));
    let (probe, nack) = (Signal::Probe(stream(1)), Signal::Nack(stream(1), channel(4)));
    let reached = [0, 1, 2].map(|place| path.reach(&mut controller, probe, place));
    assert_eq!(reached, [(probe, false), (probe, false), (nack, false)]);
    assert_eq!(path.reach(&mut controller, nack, 3), (nack, true));
    let reserved = |controller: &AdmissionController| {
        [0, 1, 2, 4, 5].map(|of| controller.ledger().reserved(channel(of)))
    };
    assert_eq!(reserved(&controller), [60, 60, 60, 60, 0], "the host's own stream has the last");
    assert_eq!(path.respond(&mut controller, nack), HostAction::Release(channel(4)));
    let release = Signal::Release(stream(1), channel(4));
    assert_eq!(path.reach(&mut controller, release, 0), (release, false));
    assert_eq!(path.reach(&mut controller, release, 1), (release, true));
    assert_eq!(reserved(&controller), [0, 0, 0, 60, 0]);
    own.end(&mut controller, stream(0));
    assert!(controller.ledger().is_empty());
}

#[test]
fn switch_refuses_a_probe_returning_from_an_in_transit_host() {
    let mut controller = controller(&[60, 60, 40], 7);
    let (path, other) = (OVER_A_HOST, over(&[3, 5, 6]));
    assert!(other.ask(&mut controller, stream(0)));
    assert!(!path.ask(&mut controller, stream(1)));
    assert_eq!(controller.requests()[1].state, StreamState::Refused(channel(5)));
    assert_eq!([0, 1, 2, 4].map(|of| controller.ledger().reserved(channel(of))), [0; 4]);
    assert!(path.ask(&mut controller, stream(2)));
    assert_eq!(controller.ledger().reserved(channel(4)), 40);
    path.end(&mut controller, stream(2));
    other.end(&mut controller, stream(0));
    assert!(controller.ledger().is_empty());
}

#[test]
fn reservations_of_a_crashed_stream_expire_with_leases() {
    let at = Time::from_ps;
    let mut controller = leased_controller(&[60, 60, 60], 3, Some(Span::from_ps(10)));
    let (path, other) = (over(&[0, 1]), over(&[2, 1]));
    let probe = |of: usize| Signal::Probe(stream(of));
    assert!(path.begin(&mut controller, stream(0)));
    let ack = Onward::Ends(Signal::Ack(stream(0)));
    assert_eq!(path.then(1).read(&mut controller, probe(0), 0), ack);
    assert_eq!(path.then(2).respond(&mut controller, Signal::Ack(stream(0))), HostAction::Send);
    // The stream's only packet leaves at 5 ps and is read at 6 ps.
    controller.renew(stream(0), (None, channel(0)), at(5));
    controller.renew(stream(0), (Some(channel(0)), channel(1)), at(6));
    // The switch's lease ends at 16 ps, but has not expired at exactly that time.
    assert!(other.then(15).begin(&mut controller, stream(1)));
    let nack = Signal::Nack(stream(1), channel(1));
    assert_eq!(other.then(16).read(&mut controller, probe(1), 0), Onward::Ends(nack));
    assert_eq!(other.then(16).respond(&mut controller, nack), HostAction::Nothing);
    assert!(other.then(16).begin(&mut controller, stream(2)));
    let ack = Onward::Ends(Signal::Ack(stream(2)));
    assert_eq!(other.then(17).read(&mut controller, probe(2), 0), ack);
    assert_eq!(controller.requests()[0].lapsed, Some(at(16)));
    let reserved = |controller: &AdmissionController| {
        [0, 1, 2].map(|of| controller.ledger().reserved(channel(of)))
    };
    assert_eq!(reserved(&controller), [60, 60, 60], "nobody has asked the first adapter");
    controller.settle(at(17));
    assert_eq!(reserved(&controller), [0, 60, 60]);
    assert_eq!(controller.requests()[0].lapsed, Some(at(15)), "that of its adapter was over first");
    // A last packet after the end of its stream's lease does not release other reservations.
    path.end(&mut controller, stream(0));
    assert_eq!(reserved(&controller), [0, 60, 60]);
    other.end(&mut controller, stream(2));
    assert!(controller.ledger().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    /// Crashes either individual streams (applications) or all streams with the same first channel
    /// (adapters).
    #[test]
    fn ledgers_are_empty_after_all_streams_end(
        paths in prop::collection::vec((prop::sample::subsequence((0..8_usize).collect::<Vec<_>>(), 2..6), 1_u64..90), 1..12),
        turns in prop::collection::vec(0_usize..12, 0..200),
        crashes in prop::collection::vec((0_usize..200, 0_usize..12, any::<bool>()), 0..4),
        lease in 1_u64..40,
    ) {
        let rates: Vec<u64> = paths.iter().map(|(_, rate)| *rate).collect();
        let lease = (!crashes.is_empty()).then(|| Span::from_ps(lease));
        let mut controller = leased_controller(&rates, 8, lease);
        let mut stories: Vec<Story> = paths.iter().map(|_| Story::Begins).collect();
        let mut now = Time::ZERO;
        let mut step = |index: usize, stories: &mut Vec<Story>| {
            now += Span::from_ps(1);
            let path = TimedPath(&paths[index].0, now);
            stories[index] = stories[index].next(&mut controller, &path, stream(index));
            for of in 0..8 {
                prop_assert!(controller.ledger().reserved(channel(of)) <= 100);
            }
            Ok(())
        };
        for (number, turn) in turns.into_iter().enumerate() {
            for (_, index, is_adapter) in crashes.iter().filter(|(when, ..)| *when == number) {
                let dead = index % paths.len();
                let dies = |of: usize| of == dead || (*is_adapter && paths[of].0[0] == paths[dead].0[0]);
                for of in (0..paths.len()).filter(|of| dies(*of)) {
                    stories[of] = stories[of].crash();
                }
            }
            step(turn % paths.len(), &mut stories)?;
        }
        while let Some(index) = stories.iter().position(|story| *story != Story::Over) {
            step(index, &mut stories)?;
        }
        controller.settle(Time::from_ps(1_000_000));
        prop_assert!(controller.ledger().is_empty());
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Story {
    Begins,
    Signal(Signal, usize),
    Response(Signal),
    /// A packet other than the last passes the node with this index; the host has index 0.
    Sends(usize),
    Ends(usize),
    /// The signal of a crashed stream continues from this node, but the response will be lost.
    Crashed(Signal, usize),
    Over,
}

impl Story {
    fn crash(self) -> Self {
        match self {
            Self::Signal(signal @ (Signal::Probe(_) | Signal::Nack(..)), place) => {
                Self::Crashed(signal, place)
            }
            // Packets already sent are lost before they can release any reservation.
            _ => Self::Over,
        }
    }

    fn next(
        self,
        controller: &mut AdmissionController,
        path: &TimedPath<'_>,
        of: StreamId,
    ) -> Self {
        match self {
            Self::Begins => {
                let goes = path.begin(controller, of);
                if goes { Self::Signal(Signal::Probe(of), 0) } else { Self::Over }
            }
            Self::Signal(signal, place) => match path.reach(controller, signal, place) {
                (signal, false) => Self::Signal(signal, place + 1),
                (Signal::Release(..), true) => Self::Over,
                (response, true) => Self::Response(response),
            },
            Self::Response(response) => match path.respond(controller, response) {
                HostAction::Send => Self::Sends(0),
                HostAction::Release(by) => Self::Signal(Signal::Release(of, by), 0),
                HostAction::Nothing => Self::Over,
            },
            Self::Sends(place) => {
                controller.renew(of, hop(path, place), path.1);
                if place + 1 == path.0.len() { Self::Ends(0) } else { Self::Sends(place + 1) }
            }
            Self::Ends(place) => {
                let (input, output) = hop(path, place);
                controller.pass(of, input, output);
                if place + 1 == path.0.len() { Self::Over } else { Self::Ends(place + 1) }
            }
            Self::Crashed(signal, place) => match path.reach(controller, signal, place) {
                (signal, false) => Self::Crashed(signal, place + 1),
                (response, true) => {
                    controller.ignore_response(response, path.1);
                    Self::Over
                }
            },
            Self::Over => Self::Over,
        }
    }
}

fn hop(path: &TimedPath<'_>, place: usize) -> (Option<ChannelId>, ChannelId) {
    (place.checked_sub(1).map(|before| channel(path.0[before])), channel(path.0[place]))
}

//! Common clock of interdependent paths, whose probes reduce throughput only once if they coincide.
//!
//! ```text
//!   separate         \__/------------   together   \__/------------
//!                    ------\__/------              \__/------------
//!   limited by the   \__/--\__/------              \__/------------
//!   slowest
//! ```
//!
//! A path announces its next step and waits for the other paths. If one path refills its pipe or
//! probes the minimum RTT, all paths do so. A bandwidth probe starts when all pipes are refilled,
//! and ends when all paths have reached their limit or one path has excessive loss. During a probe,
//! the growth of the delivery rate is evaluated once per common round, because the scheduler may
//! increase a path's share from round to round.
//!
//! Source: ours; the steps are those of draft-ietf-ccwg-bbr.

use super::{Bbr, State};
use crate::{Acknowledged, Path};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Refill,
    Up,
    Down,
    ProbeRtt,
    ExitProbeRtt,
}

impl Bbr {
    /// Returns whether the acknowledged packet was queued for at least the delay that a probe would
    /// cause. Its delivery rate then equals the bandwidth of the path, even if other paths limit
    /// the sending rate.
    pub(super) fn is_behind_a_queue(&self, acknowledged: &Acknowledged) -> bool {
        let least_ns = self.probe_rtt.min_rtt_ns.unwrap_or(u64::MAX);
        let queued_ns = self.parameters.probe_up_pacing_gain.of(least_ns);
        self.parameters.shares_clock
            && acknowledged.round_trip_ns.is_some_and(|trip_ns| trip_ns >= queued_ns)
    }

    pub(super) fn step(&mut self, step: Step) {
        if self.parameters.shares_clock {
            self.announced_step = Some(step);
        } else {
            self.take(step);
        }
    }

    pub(super) fn go_on(&mut self) {
        self.announced_step = None;
    }

    pub(crate) fn pass_round(&mut self) {
        if self.state == State::ProbeBwUp {
            self.see_full_bw(self.max_bw_filter.get());
        }
    }

    fn take(&mut self, step: Step) {
        self.announced_step = None;
        match step {
            Step::Refill => self.start_probe_bw_refill(),
            Step::Up => {
                self.cycle.is_bw_probe_sample = true;
                self.start_probe_bw_up();
            }
            Step::Down => {
                self.cycle.previous.too_high = false;
                self.start_probe_bw_down();
            }
            Step::ProbeRtt => self.enter_probe_rtt(),
            Step::ExitProbeRtt => self.exit_probe_rtt(),
        }
    }

    const fn leads_on(&self, step: Step) -> bool {
        match step {
            Step::Refill => matches!(self.state, State::ProbeBwDown | State::ProbeBwCruise),
            Step::Up => matches!(self.state, State::ProbeBwRefill),
            Step::Down => matches!(self.state, State::ProbeBwUp),
            Step::ProbeRtt => !matches!(self.state, State::ProbeRtt),
            Step::ExitProbeRtt => matches!(self.state, State::ProbeRtt),
        }
    }
}

/// After an event on path `path_index`, takes the step that is due on all paths of a common clock,
/// without waiting for the paths that `is_in` excludes.
pub fn keep_time(
    now_ns: u64,
    path_index: usize,
    paths: &mut [Path],
    is_in: impl Fn(usize) -> bool,
) {
    let Some(first) = paths.get_mut(path_index).and_then(Path::bbr_mut) else { return };
    let (state, announced_step) = (first.state, first.announced_step);
    let step = match announced_step {
        Some(step @ (Step::Refill | Step::ProbeRtt)) => step,
        Some(step) => {
            let mut others = (0..).zip(paths.iter_mut()).filter(|(path, _)| is_in(*path));
            let is_due = others.all(|(_, path)| {
                path.bbr_mut()
                    .is_none_or(|bbr| bbr.state != state || bbr.announced_step == announced_step)
            });
            if !is_due {
                return;
            }
            step
        }
        None if state == State::ProbeBwDown => Step::Down,
        None => return,
    };
    for bbr in paths.iter_mut().filter_map(Path::bbr_mut).filter(|bbr| bbr.leads_on(step)) {
        bbr.seen.now_ns = now_ns;
        bbr.take(step);
        bbr.update_control_parameters();
    }
}

#[cfg(test)]
mod tests {
    use super::super::INFINITY;
    use super::*;
    use crate::{BbrParameters, Control, PathPlan};

    const LONGEST_BYTES: u64 = 1_000;

    fn paths(states: &[(State, Option<Step>)]) -> Vec<Path> {
        let parameters = BbrParameters { shares_clock: true, ..BbrParameters::default() };
        let path = |&(state, announced_step): &(State, Option<Step>)| {
            let control = Control::bbr(parameters, LONGEST_BYTES);
            let mut path = Path::new(PathPlan::new(LONGEST_BYTES), control);
            let bbr = path.bbr_mut().expect("BBR");
            (bbr.state, bbr.announced_step) = (state, announced_step);
            path
        };
        states.iter().map(path).collect()
    }

    fn states(paths: &mut [Path]) -> Vec<State> {
        paths.iter_mut().map(|path| path.bbr_mut().expect("BBR").state).collect()
    }

    fn after<const N: usize>(before: [(State, Option<Step>); N]) -> Vec<State> {
        let mut paths = paths(&before);
        keep_time(7, 0, &mut paths, |_| true);
        states(&mut paths)
    }

    const CRUISE: (State, Option<Step>) = (State::ProbeBwCruise, None);

    #[test]
    fn first_refill_starts_it_on_all_paths_past_startup() {
        assert_eq!(
            after([
                (State::ProbeBwCruise, Some(Step::Refill)),
                CRUISE,
                (State::ProbeBwDown, None),
                (State::Startup, None),
            ]),
            [State::ProbeBwRefill, State::ProbeBwRefill, State::ProbeBwRefill, State::Startup]
        );
        assert_eq!(after([CRUISE, CRUISE]), [State::ProbeBwCruise; 2]);
    }

    #[test]
    fn rtt_probe_is_shared_by_all_paths() {
        let announced_step = Some(Step::ProbeRtt);
        assert_eq!(
            after([(State::ProbeBwUp, announced_step), CRUISE, (State::Startup, None)]),
            [State::ProbeRtt; 3]
        );
    }

    #[test]
    fn probe_begins_and_ends_when_all_paths_are_ready() {
        for (state, step, then) in [
            (State::ProbeBwRefill, Step::Up, State::ProbeBwUp),
            (State::ProbeBwUp, Step::Down, State::ProbeBwDown),
        ] {
            assert_eq!(after([(state, Some(step)), (state, None)]), [state; 2]);
            assert_eq!(after([(state, Some(step)), (state, Some(step))]), [then; 2]);
            assert_eq!(after([(state, Some(step)), CRUISE]), [then, State::ProbeBwCruise]);
        }
    }

    #[test]
    fn inactive_path_is_not_waited_for() {
        let filled = (State::ProbeBwRefill, Some(Step::Up));
        let mut paths = paths(&[filled, (State::ProbeBwRefill, None)]);
        keep_time(7, 0, &mut paths, |path| path == 0);
        assert_eq!(states(&mut paths), [State::ProbeBwUp; 2]);
    }

    #[test]
    fn path_with_excessive_loss_ends_the_probe() {
        assert_eq!(
            after([(State::ProbeBwDown, None), (State::ProbeBwUp, None), CRUISE]),
            [State::ProbeBwDown, State::ProbeBwDown, State::ProbeBwCruise]
        );
    }

    #[test]
    fn path_without_growth_for_three_rounds_is_full() {
        let mut paths = paths(&[(State::ProbeBwUp, None)]);
        let is_full = |paths: &mut [Path], bytes_per_second| {
            let bbr = paths[0].bbr_mut().expect("BBR");
            bbr.max_bw_filter.take(bytes_per_second);
            bbr.pass_round();
            bbr.full_pipe.full_bw_now
        };
        for (bytes_per_second, full) in
            [(100, false), (125, false), (130, false), (150, false), (155, true)]
        {
            assert_eq!(is_full(&mut paths, bytes_per_second), full, "{bytes_per_second}");
        }
        let bbr = paths[0].bbr_mut().expect("BBR");
        assert_eq!(bbr.bounds.inflight_longterm, INFINITY);
    }
}

//! Verdicts on the quality of a run's numbers, each with a reason and advice.

use super::ClassSummary;
use super::advice::{self, percent};
use super::bottleneck::without_steady_state;
use super::finished;
use super::limit::Limit;
use super::served::Served;
use super::shortage::{shortage, too_short};
use super::view::RunView;
use crate::compile::nouns;
use crate::error::DeadlockReport;
use crate::mechanisms::admission::columns::refusals;
use crate::safe_routes;
use gingham_kernel::Time;
use gingham_net::measure::{ClassReport, Estimate};
use gingham_net::{ClassId, ClassPlan, Excess, Plan, Status};
use schemars::JsonSchema;
use serde::Serialize;

const CHANNELS_NAMED: usize = 3;

/// Quality of a result, from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The numbers describe a steady state, and each mean has a confidence interval.
    Ok,
    /// Like `ok`, but the run drew some values only once, such as phases, a permutation or the
    /// cables of its fabric (`draws`). The confidence intervals cover the means of a longer run
    /// with the same seed; other seeds may have other means. `gingham run --replications N`
    /// measures the means over seeds.
    OkOfDraw,
    /// The workload ended within the run, and every message that policing did not drop was
    /// delivered. The numbers describe the whole workload, not a steady state; `makespan_ps` is the
    /// time of the last delivery.
    Finished,
    /// The run did not measure a steady state for long enough. A confidence interval may be
    /// missing, or wider than a fifth of the mean latency or than `stop.relative_width`. The
    /// warm-up may not have ended in the first half of the run. Latencies or a backlog may have a
    /// trend over the window. Or the backlog may grow by more than 5 % of the created messages.
    NotConverged,
    /// A class offered more load than the network accepted, and its source queues grew. Or its
    /// routes load a channel beyond its capacity, or a destination or sender falls behind. The
    /// accepted load is valid only for this offered load; at a lower offered load the network may
    /// accept more. Latencies reflect only the length of the run.
    Saturated,
    /// The run was ended early, for example by Ctrl-C. The numbers describe the simulated part.
    Interrupted,
    /// A deadlock: packets wait for each other forever. The numbers describe no steady state.
    Deadlocked,
}

impl Verdict {
    /// Returns the name of the verdict in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::OkOfDraw => "ok-of-draw",
            Self::Finished => "finished",
            Self::NotConverged => "not-converged",
            Self::Saturated => "saturated",
            Self::Interrupted => "interrupted",
            Self::Deadlocked => "deadlocked",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) class: ClassId,
    pub(super) open_loop: bool,
    pub(super) offered_load: Option<f64>,
    pub(super) generated_load: f64,
    pub(super) accepted_load: f64,
}

pub(super) fn of_class(
    view: &RunView<'_>,
    asked: Asked,
    of: &ClassReport,
    served: &Served,
) -> (Verdict, String) {
    if let Some(reason) = finished::of_class(view, asked.class, of) {
        return (Verdict::Finished, reason);
    }
    let is_long_enough = too_short(view, asked, of).is_none();
    let why = without_steady_state(view, asked.class, served, is_long_enough);
    let why = why.filter(|_| asked.open_loop);
    let is_saturated = asked.open_loop && of.is_saturated() && is_long_enough;
    if let (true, Some(left)) = (is_saturated, of.left_behind) {
        let less = advice::less(view, asked);
        let limit = Limit::of(view, asked.class, of);
        return (Verdict::Saturated, saturated(asked, left, why.as_deref(), &less, limit));
    }
    if let Some(why) = why {
        let less = advice::less(view, asked);
        return (Verdict::Saturated, format!("{why}: {less}"));
    }
    match shortage(view, asked, of) {
        Some(reason) => {
            let refusals = refusals(view, asked.class).map(|refusals| format!("; {refusals}"));
            (Verdict::NotConverged, reason + &refusals.unwrap_or_default())
        }
        None => (steady(view), format!("{}{}", sound(view, asked, of), of_draw(view))),
    }
}

fn steady(view: &RunView<'_>) -> Verdict {
    if view.compiled.draws.is_empty() { Verdict::Ok } else { Verdict::OkOfDraw }
}

fn of_draw(view: &RunView<'_>) -> String {
    match nouns(&view.compiled.draws) {
        nouns if nouns.is_empty() => nouns,
        nouns => format!(
            "; intervals are for the {nouns} drawn with this seed: for the mean over seeds use \
             gingham run --replications"
        ),
    }
}

fn class_of<'a>(view: &'a RunView<'_>, asked: Asked) -> &'a ClassPlan {
    &view.plan().classes[asked.class.index()]
}

fn saturated(
    asked: Asked,
    left: Estimate,
    why: Option<&str>,
    less: &str,
    limit: Option<Limit>,
) -> String {
    let Asked { accepted_load, generated_load, .. } = asked;
    let behind = match limit {
        Some(Limit::Policing) => ", behind the policing of the class,",
        Some(Limit::FlowRate) => ", behind the rate limit of its flows,",
        Some(Limit::Window { .. }) | None => "",
    };
    let took = format!(
        "the network{behind} took a load of {accepted_load:.3} of {generated_load:.3}; source queues \
         grew by {} of what was created, so that latencies depend on the length of the run",
        advice::share(left)
    );
    let class = asked.class.index();
    let why = why.map_or_else(String::new, |why| format!("; {why}"));
    format!("{took}{why}: {less}{}", limit.map_or_else(String::new, |limit| or_raise(class, limit)))
}

fn or_raise(class: usize, limit: Limit) -> String {
    match limit {
        Limit::Policing => format!(", or let more pass with traffic.{class}.policing.rate"),
        Limit::FlowRate => format!(", or raise traffic.{class}.rate_limit"),
        Limit::Window { packets, held } => {
            let plural = if packets == 1 { "" } else { "s" };
            format!(
                "; the window of {packets} packet{plural} a flow held flows back for {} of the time: a larger \
                 traffic.{class}.window.packets may carry more, if the network can",
                percent(held)
            )
        }
    }
}

fn is_delayed(plan: &ClassPlan) -> bool {
    plan.policing.as_ref().is_some_and(|policing| policing.excess == Excess::Delay)
}

fn takers(plan: &ClassPlan) -> String {
    let own = [
        (is_delayed(plan), "policing"),
        (plan.window.is_some(), "window"),
        (plan.rate_limit.is_some(), "rate limit"),
    ];
    let own: Vec<&str> = own.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if own.is_empty() {
        "the network".to_owned()
    } else {
        format!("its {} and the network", own.join(", "))
    }
}

fn sound(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> String {
    let follows = match (asked.open_loop, of.dropped.messages) {
        (false, _) => format!("the class sent all that {} took", takers(class_of(view, asked))),
        (true, 0) => match refusals(view, asked.class) {
            None => "accepted load follows the offered load".to_owned(),
            Some(refusals) => {
                format!("accepted load follows that of the streams that were admitted; {refusals}")
            }
        },
        (true, dropped) => format!(
            "accepted load follows the offered load less {dropped} messages that policing dropped"
        ),
    };
    let known = of.latency_ps.and_then(|latency| latency.relative_width());
    let known = known.map_or_else(String::new, |width| {
        format!(", and the mean latency is known to {}", percent(width))
    });
    let censored = match of.censored_messages() {
        0 => String::new(),
        messages => format!(
            "; {messages} messages were not followed to their delivery, without which the mean is too \
             good: raise stop.follow beyond {}",
            view.plan().stop.follow
        ),
    };
    format!("{follows}{known}{censored}")
}

pub(super) fn of_run(view: &RunView<'_>, classes: &[ClassSummary]) -> (Verdict, String) {
    match view.simulation.status() {
        Status::Deadlocked(cycle) => {
            let report = DeadlockReport::of_run(view.plan(), cycle);
            (Verdict::Deadlocked, deadlocked(view, &report.channels))
        }
        Status::Running => (Verdict::Interrupted, interrupted(view, classes)),
        Status::Ended | Status::Finished => match view.report.makespan() {
            Some(makespan) => (Verdict::Finished, finished::of_run(view, makespan)),
            None => worst(view, classes),
        },
    }
}

fn deadlocked(view: &RunView<'_>, channels: &[String]) -> String {
    let named = channels[..channels.len().min(CHANNELS_NAMED)].join(", ");
    let rest = if channels.len() > CHANNELS_NAMED { ", ..." } else { "" };
    format!(
        "{} {} wait for each other in a cycle ({named}{rest}){}: choose routes that are proven \
         free of deadlock, such as {}",
        channels.len(),
        view.plan().switching.packets(),
        without_acks(view),
        safe_routes::advice(&view.plan().fabric, &view.plan().routing.paths[0])
    )
}

fn without_acks(view: &RunView<'_>) -> String {
    let classes = ClassId::first(view.plan().classes.len()).zip(&view.plan().classes);
    let with_windows = classes.filter(|(_, class)| class.window.is_some());
    match with_windows.map(|(id, _)| view.report.flows_in_flight(id)).sum() {
        0 => String::new(),
        1 => ", and 1 flow with a window is left with messages".to_owned(),
        flows => format!(", and {flows} flows with windows are left with messages"),
    }
}

fn interrupted(view: &RunView<'_>, classes: &[ClassSummary]) -> String {
    let [now, time] = [view.simulation.now(), view.plan().stop.time].map(Time::as_ps);
    let of = format!("ended at {} of {}", advice::short(now), advice::short(time));
    let window = view.report.window();
    let [start, end] = [window.start, window.end].map(|at| advice::short(at.as_ps()));
    match worst(view, classes) {
        _ if window.start == window.end => format!("{of}, before anything was measured"),
        (Verdict::Ok | Verdict::OkOfDraw, _) => {
            format!(
                "{of}; the numbers hold for the window from {start} to {end}, with their intervals"
            )
        }
        (_, reason) => format!("{of}; in the window from {start} to {end} {reason}"),
    }
}

fn worst(view: &RunView<'_>, classes: &[ClassSummary]) -> (Verdict, String) {
    let verdict = classes.iter().map(|class| class.verdict).max().unwrap_or(Verdict::Ok);
    let mut of = classes.iter().filter(|class| class.verdict == verdict);
    let Some(first) = of.next() else { return (verdict, "nothing was sent".to_owned()) };
    if verdict <= Verdict::OkOfDraw {
        let dropped = classes.iter().map(|class| class.messages_dropped).sum();
        let sent = sent(view.plan(), dropped);
        return (verdict, format!("{sent}, and every mean has its interval{}", of_draw(view)));
    }
    let others: Vec<_> = of.map(|class| format!("`{}`", class.name)).collect();
    let likewise = match others.len() {
        0 => String::new(),
        1..=4 => format!("; likewise {}", others.join(", ")),
        many => format!("; likewise {many} other classes"),
    };
    (verdict, format!("class `{}`: {}{likewise}", first.name, first.verdict_reason))
}

fn sent(plan: &Plan, dropped: u64) -> String {
    if plan.classes.iter().any(ClassPlan::is_open_loop) {
        let less = match dropped {
            0 => String::new(),
            _ => format!(" less {dropped} messages that policing dropped"),
        };
        return format!("accepted load follows the offered load{less}");
    }
    let mut takers: Vec<String> = plan.classes.iter().map(takers).collect();
    takers.dedup();
    let subject = if plan.classes.len() == 1 { "the class" } else { "every class" };
    match takers.as_slice() {
        [takers] => format!("{subject} sent all that {takers} took"),
        _ => format!("{subject} sent all that its limits and the network took"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::TrafficBound;
    use crate::compile::compile;
    use crate::record::Record;
    use crate::scenario::{Overrides, ScenarioSource};
    use gingham_kernel::Span;
    use gingham_net::{
        AckPlan, Acknowledged, FlowId, FlowKey, Message, MessageNumber, Priority, RateLimitPlan,
        Response, WindowPlan,
    };
    use gingham_topology::EndpointId;
    use std::path::Path;
    use std::sync::Arc;

    const RING: &str = r#"
        topology.generate.ring = { switches = 5, hosts_per_switch = 2 }
        routing.algorithm = "shortest-path"
        network.preset = "myrinet-1280"

        [[traffic]]
        name = "all"
        arrivals = "backlogged"
        length = { fixed = "512 B" }

        [stop]
        time = "10 ms"
    "#;

    fn compiled() -> crate::compile::Compiled {
        let overrides = Overrides::texts(Vec::new());
        let source = ScenarioSource::parse("ring.toml", RING, Path::new("."), &overrides).unwrap();
        compile(&source, true).unwrap()
    }

    fn window(packets: u32) -> WindowPlan {
        let ack = AckPlan { payload_bytes: 20, priority: Priority::default(), vc_class: None };
        WindowPlan { packets, acknowledged: Acknowledged::All, ack, response: Response::default() }
    }

    fn class(change: impl Fn(&mut ClassPlan)) -> ClassPlan {
        let mut class = compiled().plan.classes[0].clone();
        change(&mut class);
        class
    }

    fn reason(limit: Option<Limit>) -> String {
        let (offered_load, generated_load, accepted_load) = (Some(0.9), 0.89, 0.3);
        let class = ClassId::new(2);
        let open_loop = true;
        let asked = Asked { class, open_loop, offered_load, generated_load, accepted_load };
        let left = Estimate { mean: 0.666, half_width: Some(0.031) };
        saturated(asked, left, None, "offer less", limit)
    }

    #[test]
    fn saturated_verdict_names_the_limit_and_the_remedy() {
        let took = "took a load of 0.300 of 0.890; source queues grew by 66.6 ± 3.1 % of what was \
                    created, so that latencies depend on the length of the run: offer less";
        assert_eq!(reason(None), format!("the network {took}"));
        assert_eq!(
            reason(Some(Limit::Policing)),
            format!(
                "the network, behind the policing of the class, {took}, or let more pass with \
                 traffic.2.policing.rate"
            )
        );
        assert_eq!(
            reason(Some(Limit::FlowRate)),
            format!(
                "the network, behind the rate limit of its flows, {took}, or raise traffic.2.rate_limit"
            )
        );
        let larger = "a larger traffic.2.window.packets may carry more, if the network can";
        assert_eq!(
            reason(Some(Limit::Window { packets: 4, held: 0.83 })),
            format!(
                "the network {took}; the window of 4 packets a flow held flows back for 83 % of the \
                 time: {larger}"
            )
        );
        let one = reason(Some(Limit::Window { packets: 1, held: 0.5 }));
        assert!(one.contains("; the window of 1 packet a flow held flows back for 50 %"), "{one}");
    }

    #[test]
    fn takers_list_the_limits_of_the_class_and_the_network() {
        let windowed = class(|class| class.window = Some(window(4)));
        assert_eq!(takers(&class(|_| {})), "the network");
        assert_eq!(takers(&windowed), "its window and the network");
        let rate_limit = Some(RateLimitPlan { refill: [Span::from_ns(1)].into() });
        let both = ClassPlan { rate_limit, ..windowed };
        assert_eq!(takers(&both), "its window, rate limit and the network");
    }

    #[test]
    fn sent_reason_covers_limits_and_dropped_messages() {
        let described = |change: &dyn Fn(&mut Plan)| {
            let mut plan = (*compiled().plan).clone();
            change(&mut plan);
            sent(&plan, 3)
        };
        let another = |plan: &mut Plan| plan.classes.push(plan.classes[0].clone());
        assert_eq!(described(&|_| {}), "the class sent all that the network took");
        assert_eq!(described(&another), "every class sent all that the network took");
        let unlike = |plan: &mut Plan| {
            another(plan);
            plan.classes[0].window = Some(window(4));
        };
        assert_eq!(described(&unlike), "every class sent all that its limits and the network took");
        let open = |plan: &mut Plan| {
            another(plan);
            plan.classes[0].sources.clear();
        };
        let expected =
            "accepted load follows the offered load less 3 messages that policing dropped";
        assert_eq!(described(&open), expected);
    }

    #[test]
    fn deadlock_reason_counts_windowed_flows_left() {
        let reason = |flows: usize| {
            let mut compiled = compiled();
            let mut plan: Plan = (*compiled.plan).clone();
            let silent = class(|class| {
                class.window = Some(window(4));
                class.sources.clear();
            });
            plan.classes.push(silent);
            compiled.plan = Arc::new(plan);
            compiled.bound = Arc::new(TrafficBound::new(&compiled.plan));
            let mut simulation = gingham_engine::start(Arc::clone(&compiled.plan));
            let [source, destination] = [0, 1].map(EndpointId::new);
            let class = ClassId::new(1);
            for flow in 0..flows {
                let collector = simulation.endpoints_mut().collector_mut();
                collector.on_flow(
                    FlowId::new(flow),
                    FlowKey { class, source, destination, stream: None },
                );
                collector.on_created(&Message {
                    number: MessageNumber::new(flow),
                    class,
                    source,
                    destination,
                    payload_bytes: 1,
                    created: Time::ZERO,
                    flow: Some(FlowId::new(flow)),
                });
            }
            simulation.advance(u64::MAX);
            let record = Record::new(&compiled, &*simulation, false);
            assert_eq!(record.verdict, Verdict::Deadlocked);
            record.verdict_reason
        };
        let described = reason(2);
        assert!(
            described.contains("), and 2 flows with windows are left with messages: choose"),
            "{described}"
        );
        let described = reason(1);
        assert!(
            described.contains("), and 1 flow with a window is left with messages: choose"),
            "{described}"
        );
        let described = reason(0);
        assert!(described.contains("): choose"), "{described}");
    }
}

//! Random closed loops: windows, rate limits, replies, probe packets, marks.

use gingham_kernel::{Bytes, Purpose, Rate, Span, Stream, Time};
use gingham_net::traffic::{LengthPlan, MessagePlan, ReplyPlan, SourcePlan};
use gingham_net::{
    AckPlan, Acknowledged, Aimd, Becn, ClassId, ClassPlan, Dcqcn, Delay, Fimd, FlowKey, FollowPlan,
    Lipd, Marking, MeasurePlan, PathLength, Periodic, Plan, Priority, ProbePlan, REFILL_BYTES,
    RateLimitPlan, Response, Swift, Threshold, Timely, WhenFull, WindowPlan,
};
use gingham_topology::{ChannelId, EndpointId};
use std::num::NonZeroU64;

const ANSWER_MAX_BYTES: u32 = 3;

/// Adds closed loops with short acknowledgements and probe packets, so that they always fit.
pub(crate) fn with_closed_loops(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "closed", Purpose::Shuffle);
    let mut plan = plan.clone();
    if draw.below(3) > 0 {
        add_replies(&mut draw, &mut plan);
    }
    let vc_classes: Vec<_> = plan.classes.iter().map(|class| class.vc_class).collect();
    let byte_ps = byte_ps(&plan);
    for class in &mut plan.classes {
        let kind = draw.below(4);
        if kind == 0 || kind == 1 {
            let ack = AckPlan {
                payload_bytes: 1 + small(&mut draw, ANSWER_MAX_BYTES.into()),
                priority: Priority::new(u8::try_from(draw.below(4)).unwrap()).unwrap(),
                vc_class: vc_classes[usize::try_from(draw.below(vc_classes.len() as u64)).unwrap()],
            };
            let packets = 1 + small(&mut draw, 4);
            class.window = Some(WindowPlan {
                packets,
                acknowledged: Acknowledged::All,
                ack,
                response: Response::default(),
            });
        }
        if kind == 1 || kind == 2 {
            class.rate_limit = Some(random_rate_limit(&mut draw, &byte_ps));
        }
    }
    // Regression cases have none.
    if matches!(seed % 5, 2 | 4) {
        add_responses(&mut plan, seed);
    }
    let is_probed = draw.below(4) > 0;
    // From a copy, so that other draws do not change.
    let weigh_every = [0, 1, 2, 5][usize::try_from(draw.clone().below(4)).unwrap()];
    let probe = ProbePlan {
        control_every: [0, 2, 3, 7][usize::try_from(draw.below(4)).unwrap()],
        control_bytes: 1 + small(&mut draw, ANSWER_MAX_BYTES.into()),
        divert_every: 0,
        weigh_every,
    };
    make_room(&mut plan);
    plan.marking = match draw.below(6) {
        4 | 5 => Some(Marking::Threshold(Threshold { above: Bytes(draw.below(400)) })),
        every => NonZeroU64::new(every).map(|every| Marking::Periodic(Periodic { every })),
    };
    plan.probe = is_probed.then_some(probe);
    plan.measure = MeasurePlan { flows: draw.below(2) == 0, ..plan.measure };
    if draw.below(2) == 0 {
        plan.follow = random_follow(&mut draw, &plan);
    }
    plan
}

pub(crate) fn add_responses(plan: &mut Plan, seed: u64) {
    let byte_ps = byte_ps(plan);
    let mut draw = Stream::new(seed, "responses", Purpose::Shuffle);
    for class in &mut plan.classes {
        let Some(window) = &mut class.window else { continue };
        let lowest = [1.0, 0.5, 0.1, 1.0 / 256.0][usize::try_from(draw.below(4)).unwrap()];
        let factor = [1.1, 2.0, 8.0][usize::try_from(draw.below(3)).unwrap()];
        window.response = match draw.below(8) {
            0 => Response::Fimd(Fimd { lowest, factor }),
            1 => Response::Aimd(Aimd { lowest, factor }),
            2 => Response::Becn(Becn {
                increase: 1 + u8::try_from(draw.below(3)).unwrap(),
                timer: 1 + u16::try_from(draw.below(20)).unwrap(),
                min: u16::try_from(draw.below(2)).unwrap(),
                limit: 1 + u16::try_from(draw.below(40)).unwrap(),
                table: Vec::new(),
            }),
            3 => Response::Dcqcn(Dcqcn {
                g: [1.0, 0.5, 1.0 / 256.0][usize::try_from(draw.below(3)).unwrap()],
                alpha_timer: Span::from_ps(1_000 * (1 + draw.below(20_000))),
                timer: Span::from_ps(1_000 * (1 + draw.below(20_000))),
                byte_counter: Some(Bytes(1 + draw.below(10_000))),
                fast_recovery: 1 + u32::try_from(draw.below(5)).unwrap(),
                lowest,
                ..Dcqcn::default()
            }),
            4 => Response::Timely(Timely {
                alpha: [1.0, 0.5][usize::try_from(draw.below(2)).unwrap()],
                t_low: Span::from_ps(1_000 * draw.below(500)),
                t_high: Span::from_ps(1_000 * (500 + draw.below(5_000))),
                min_rtt: Span::from_ps(1_000 * (1 + draw.below(500))),
                lowest,
                ..Timely::default()
            }),
            5 => Response::Swift(Swift {
                base_target: Span::from_ps(1_000 * (1 + draw.below(1_000))),
                min_cwnd: lowest,
                ..Swift::default()
            }),
            _ => Response::Lipd(Lipd { lowest }),
        };
        // Regression cases have only the parameters above.
        if seed % 5 == 4 {
            vary(&mut window.response, &mut draw.clone());
        }
        let every = 1 + u32::try_from(draw.below(window.packets.into())).unwrap();
        window.acknowledged = match draw.below(5) {
            0 | 1 => Acknowledged::Every(every),
            2 => Acknowledged::Marked(Span::from_ps(1_000 * draw.below(50_000))),
            _ => Acknowledged::All,
        };
        let response = &window.response;
        let is_marked = matches!(window.acknowledged, Acknowledged::Marked(_));
        if response.changes_window() || (is_marked && response.needs_round_trips()) {
            window.acknowledged = Acknowledged::All;
        }
        if !window.acknowledged.is_of_all() {
            window.packets = u32::MAX;
        }
        if class.rate_limit.is_none() {
            class.rate_limit = Some(random_rate_limit(&mut draw, &byte_ps));
        }
    }
}

fn vary(response: &mut Response, draw: &mut Stream) {
    let rate = |draw: &mut Stream| Some(Rate::from_bytes_per_second(1 << (10 + draw.below(18))));
    match response {
        Response::Becn(of) => {
            let entry = |draw: &mut Stream| -> Delay {
                format!("{}:{}", draw.below(4), draw.below(50)).parse().unwrap()
            };
            of.table = (0..=of.limit).map(|_| entry(draw)).collect();
            of.min = small(draw, u64::from(of.limit) + 1).try_into().unwrap();
        }
        Response::Dcqcn(of) => {
            (of.additive, of.hyper) = (rate(draw), rate(draw));
            of.byte_counter = of.byte_counter.filter(|_| draw.below(4) > 0);
            if draw.below(2) == 0 {
                // Flows reach hyper increase: both counters exceed F soon after a notification.
                (of.fast_recovery, of.byte_counter) = (1, Some(Bytes(1 + draw.below(50))));
                (of.timer, of.lowest) = (Span::from_ps(1_000 * (1 + draw.below(200))), 1.0 / 256.0);
            }
        }
        Response::Timely(of) => {
            of.additive = rate(draw);
            of.beta = [0.1, 0.5, 1.0][usize::try_from(draw.below(3)).unwrap()];
            of.t_low = Span::ZERO;
        }
        Response::Swift(of) => {
            of.ai = [0.1, 1.0, 3.0][usize::try_from(draw.below(3)).unwrap()];
            of.beta = [0.1, 0.5, 1.0][usize::try_from(draw.below(3)).unwrap()];
            of.max_mdf = [0.1, 0.3, 0.9][usize::try_from(draw.below(3)).unwrap()];
            of.fs_range = Some(Span::from_ps(1_000 * draw.below(10_000)));
            (of.fs_min_cwnd, of.fs_max_cwnd) = (0.5, 4.0);
        }
        Response::Fixed(_) | Response::Lipd(_) | Response::Fimd(_) | Response::Aimd(_) => {}
    }
}

fn add_replies(draw: &mut Stream, plan: &mut Plan) {
    let to = ClassId::new(usize::try_from(draw.below(plan.classes.len() as u64)).unwrap());
    let think =
        Span::from_ps([0, 1, 999, 20_000, 300_000][usize::try_from(draw.below(5)).unwrap()]);
    let requests = &plan.classes[to.index()];
    let payload = requests.sources[0].payload_bytes();
    let lengths = LengthPlan::Uniform { from: *payload.start(), to: *payload.end() };
    let messages = MessagePlan::Replies(ReplyPlan { to, think, lengths });
    let source = |endpoint| SourcePlan { endpoint, messages: messages.clone() };
    let replies = ClassPlan {
        name: "replies".to_owned(),
        policing: None,
        active: Time::ZERO..plan.stop.time,
        sources: EndpointId::first(plan.fabric.endpoints().len()).map(source).collect(),
        ..requests.clone()
    };
    plan.classes.push(replies);
}

/// Enlarges pools of hosts that stop their senders for the longest packet on the way back, whose
/// path may visit more of them.
fn make_room(plan: &mut Plan) {
    let longest = |class: &ClassPlan| {
        let of = |source: &SourcePlan| {
            class.longest_packet_bytes(|| usize::MAX).min(*source.payload_bytes().end())
        };
        class.sources.iter().map(of).max().unwrap_or(0)
    };
    let longest = plan.classes.iter().map(longest).max().unwrap_or(0).max(ANSWER_MAX_BYTES);
    let length = PathLength { switches: 40, in_transit_hosts: 10 };
    let needed = plan.switching.bytes_at_host(longest, length, 0);
    if plan.in_transit.when_full == WhenFull::Stop && plan.in_transit.pool_bytes < needed {
        plan.in_transit.pool_bytes = needed;
    }
}

fn byte_ps(plan: &Plan) -> Vec<u64> {
    let of = |endpoint| {
        let channel = plan.channel(plan.fabric.endpoint_channel(endpoint));
        channel.flit.as_ps() / u64::from(plan.switching.flit_bytes()) + 1
    };
    EndpointId::first(plan.fabric.endpoints().len()).map(of).collect()
}

fn random_rate_limit(draw: &mut Stream, byte_ps: &[u64]) -> RateLimitPlan {
    let slowness = [1, 2, 3, 10][usize::try_from(draw.below(4)).unwrap()];
    let odd = draw.below(1_000);
    let refill = byte_ps.iter().map(|byte| Span::from_ps(byte * slowness * REFILL_BYTES + odd));
    RateLimitPlan { refill: refill.collect() }
}

fn random_follow(draw: &mut Stream, plan: &Plan) -> FollowPlan {
    let mut endpoint = || {
        EndpointId::new(usize::try_from(draw.below(plan.fabric.endpoints().len() as u64)).unwrap())
    };
    let flows = (0..3).map(|_| FlowKey {
        class: ClassId::new(0),
        source: endpoint(),
        destination: endpoint(),
        stream: None,
    });
    let flows = flows.collect();
    let channel = |draw: &mut Stream| {
        ChannelId::new(usize::try_from(draw.below(plan.channels.len() as u64)).unwrap())
    };
    let channels = (0..draw.below(4)).map(|_| channel(draw)).collect();
    let step = Span::from_ps(plan.stop.time.as_ps() / (1 + draw.below(200)));
    FollowPlan { flows, channels, step, window_steps: 3 }
}

fn small(draw: &mut Stream, bound: u64) -> u32 {
    u32::try_from(draw.below(bound)).unwrap()
}

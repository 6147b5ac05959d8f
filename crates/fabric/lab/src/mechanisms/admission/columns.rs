//! Results of admission control.
//!
//! The row of a refused stream names the refusing node and a link with too little unreserved
//! bandwidth: the most reserved of these links.

use crate::record::classes::{PS_PER_NS, half_width, mean};
use crate::record::links::of_channels;
use crate::record::messages::Names;
use crate::record::view::RunView;
use gingham_kernel::{Rate, Span, Time};
use gingham_net::measure::over_streams;
use gingham_net::{ClassId, Ends, Request, StreamState};
use gingham_results::{Builder, Ratio, Table, real};
use gingham_topology::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Outcomes of the class's streams that requested admission, over the whole run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct AdmissionSummary {
    /// Number of streams that requested admission.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams_requested: usize,
    /// Number of admitted streams.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams_admitted: usize,
    /// Number of streams refused by an adapter, either of the sending host or of an in-transit
    /// host.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams_refused_by_adapter: usize,
    /// Number of streams refused by a switch.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams_refused_by_switch: usize,
    /// Number of streams whose lease expired at a node.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams_lapsed: usize,
    /// Mean time from the request for admission to the response, over admitted streams, in
    /// nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub set_up_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `set_up_mean_ns`, in nanoseconds; each stream
    /// is one replication.
    #[schemars(extend("x-unit" = "ns"))]
    pub set_up_half_width_ns: Option<f64>,
    /// Longest time from the request for admission to the response, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub set_up_max_ns: Option<f64>,
}

impl AdmissionSummary {
    pub(crate) fn of(view: &RunView<'_>, id: ClassId) -> Self {
        let requests = view.simulation.endpoints().requests();
        let asked: Vec<&Request> =
            requests.iter().filter(|of| of.class == id && of.asked.is_some()).collect();
        let refused = |by_switch: bool| {
            let is_it = |of: &&&Request| match of.state {
                StreamState::Refused(link) => {
                    view.plan().is_switch(view.plan().ends(link).source.node) == by_switch
                }
                _ => false,
            };
            asked.iter().filter(is_it).count()
        };
        let set_up: Vec<f64> = asked
            .iter()
            .filter(|of| is_admitted(of))
            .filter_map(|of| of.set_up())
            .map(|span| real(u128::from(span.as_ps())) / PS_PER_NS)
            .collect();
        let of_each: Vec<Ratio> = set_up.iter().map(|ns| Ratio { sum: *ns, over: 1.0 }).collect();
        let over_all = over_streams(&of_each);
        Self {
            streams_requested: asked.len(),
            streams_admitted: asked.iter().filter(|of| is_admitted(of)).count(),
            streams_refused_by_adapter: refused(false),
            streams_refused_by_switch: refused(true),
            streams_lapsed: asked.iter().filter(|of| of.lapsed.is_some()).count(),
            set_up_mean_ns: mean(over_all),
            set_up_half_width_ns: half_width(over_all),
            set_up_max_ns: set_up.iter().copied().reduce(f64::max),
        }
    }
}

fn is_admitted(request: &Request) -> bool {
    matches!(request.state, StreamState::Admitted | StreamState::Ended)
}

pub(crate) fn refusals(view: &RunView<'_>, id: ClassId) -> Option<String> {
    let mut by_link: BTreeMap<ChannelId, usize> = BTreeMap::new();
    let (mut asked, mut refused) = (0, 0_usize);
    let of_class = |request: &&Request| request.class == id && request.asked.is_some();
    for request in view.simulation.endpoints().requests().iter().filter(of_class) {
        asked += 1;
        if let StreamState::Refused(link) = request.state {
            refused += 1;
            *by_link.entry(link).or_default() += 1;
        }
    }
    let (link, most) = by_link.into_iter().max_by_key(|(link, count)| (*count, Reverse(*link)))?;
    let plan = view.plan();
    let limit = plan.admission.as_ref()?.limits[link.index()];
    Some(format!(
        "{refused} of {asked} streams were refused, {most} of them for lack of bandwidth on {}, which streams may \
         use up to {}",
        plan.fabric.channel_name(link),
        Rate::from_bytes_per_second(limit)
    ))
}

const STANDINGS: [&str; 5] = ["silent", "asking", "admitted", "refused", "ended"];

fn state(request: &Request) -> usize {
    match request.state {
        StreamState::Silent => 0,
        StreamState::Asking => 1,
        StreamState::Admitted => 2,
        StreamState::Refused(_) => 3,
        StreamState::Ended => 4,
    }
}

pub(crate) fn tables(names: &Names, view: &RunView<'_>) -> [Table; 2] {
    let (plan, endpoints) = (view.plan(), view.simulation.endpoints());
    let refused_by = |request: &Request| match request.state {
        StreamState::Refused(link) => plan.fabric.node(plan.ends(link).source.node).name.clone(),
        _ => String::new(),
    };
    let no_room = |request: &Request| match request.state {
        StreamState::Refused(link) => plan.fabric.channel_name(link),
        _ => String::new(),
    };
    let rows: Vec<Row> = (0..)
        .zip(endpoints.requests())
        .filter(|(_, request)| request.asked.is_some())
        .map(|(number, request)| Row {
            number,
            request: *request,
            refused_by: refused_by(request),
            no_room: no_room(request),
        })
        .collect();
    let links: Vec<Link> = match (endpoints.ledger(), &plan.admission) {
        (Some(ledger), Some(admission)) => ChannelId::first(admission.limits.len())
            .map(|channel| Link {
                channel,
                limit: admission.limits[channel.index()],
                most: ledger.most(channel),
                reserved: ledger.reserved(channel),
            })
            .collect(),
        _ => Vec::new(),
    };
    let nodes = plan.fabric.nodes().iter().map(|node| node.name.clone()).collect();
    [requests(names, &rows), ledgers(nodes, &links, |channel| plan.ends(channel))]
}

pub(crate) fn no_tables(names: &Names, ends: impl Fn(ChannelId) -> Ends) -> [Table; 2] {
    [requests(names, &[]), ledgers(Vec::new(), &[], ends)]
}

struct Row {
    number: u64,
    request: Request,
    refused_by: String,
    no_room: String,
}

fn requests(names: &Names, rows: &[Row]) -> Table {
    let Names { classes, endpoints } = names.clone();
    let ps = |of: fn(&Request) -> Option<u64>| {
        move |row: &Row| of(&row.request).map(|ps| real(u128::from(ps)))
    };
    Builder::new(rows)
        .integers(("stream", ""), "running number of the stream in the run", |row| row.number)
        .words("class", "traffic class", classes, |row| row.request.class.index())
        .words("source", "sending host", endpoints.clone(), |row| row.request.source.index())
        .words("destination", "receiving host", endpoints, |row| row.request.destination.index())
        .integers(("solicited_bytes_per_s", "B/s"), "rate that it solicits", |row| row.request.rate)
        .words(
            "standing",
            "state at the end of the run",
            STANDINGS.map(str::to_owned).into(),
            |row| state(&row.request),
        )
        .texts("refused_by", "node that refused it, if any", |row| row.refused_by.clone())
        .texts("no_room_on", "link without enough free bandwidth, if it was refused", |row| {
            row.no_room.clone()
        })
        .known(("requested_ps", "ps"), "time of its request", ps(|of| of.asked.map(Time::as_ps)))
        .known(
            ("responded_ps", "ps"),
            "time of the response, if there was one",
            ps(|of| of.responded.map(Time::as_ps)),
        )
        .known(
            ("set_up_ps", "ps"),
            "time from the request to the response",
            ps(|of| of.set_up().map(Span::as_ps)),
        )
        .known(
            ("lapsed_ps", "ps"),
            "time of the first expiry of one of its leases, if any",
            ps(|of| of.lapsed.map(Time::as_ps)),
        )
        .build("requests", "one row per stream that requested admission")
}

struct Link {
    channel: ChannelId,
    limit: u64,
    most: u64,
    reserved: u64,
}

fn ledgers(nodes: Vec<String>, rows: &[Link], ends: impl Fn(ChannelId) -> Ends) -> Table {
    of_channels(nodes, rows, |row| ends(row.channel))
        .integers(("limit_bytes_per_s", "B/s"), "bandwidth that streams may reserve", |row| {
            row.limit
        })
        .integers(
            ("reserved_max_bytes_per_s", "B/s"),
            "largest bandwidth reserved at one time",
            |row| row.most,
        )
        .integers(
            ("reserved_bytes_per_s", "B/s"),
            "bandwidth reserved at the end of the run, at its sender",
            |row| row.reserved,
        )
        .build("ledgers", "one row per channel, if streams request admission")
}

//! Compiles channels: parameters, quanta and scheduled changes.

use super::spreading::quantum;
use crate::plan::{Change, LinkPlan, Spread};
use crate::scenario::{
    Back, Channel, OutageSpan, Quanta, Reception, ScenarioSource, Spacing as Wanted,
};
use gingham_input::InputError;
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{
    Competing, GilbertElliott, Loss, Outage, ParameterError, Parameters, Policer, Probability,
    QueueBound, Reordering, Spacing,
};
use gingham_stripe::{TAG_BYTES, TAG_BYTES_MAX};

struct Place<'a> {
    source: &'a ScenarioSource,
    index: usize,
}

impl Place<'_> {
    fn key(&self, key: &str) -> String {
        format!("channel.{}.{key}", self.index)
    }

    fn refuse(&self, key: &str, message: impl std::fmt::Display) -> InputError {
        self.source.refuse(&self.key(key), message)
    }

    fn probability(&self, key: &str, value: f64) -> Result<Probability, InputError> {
        Probability::new(value).map_err(|error| self.refuse(key, error))
    }
}

pub(super) fn links(
    source: &ScenarioSource,
    spread: &Spread,
    longest_bytes: u32,
) -> Result<Vec<LinkPlan>, InputError> {
    let channels = &source.scenario.channel;
    check_names(source)?;
    let slowest = channels.iter().map(|channel| channel.rate).min().expect("at least one channel");
    let link = |(index, channel)| {
        let place = Place { source, index };
        let quantum_bytes = quantum_of(&place, channel, spread, slowest, longest_bytes)?;
        link(&place, channel, quantum_bytes, longest_bytes)
    };
    channels.iter().enumerate().map(link).collect()
}

fn check_names(source: &ScenarioSource) -> Result<(), InputError> {
    let channels = &source.scenario.channel;
    for (index, channel) in channels.iter().enumerate() {
        if channels[..index].iter().any(|other| other.name == channel.name) {
            let message = "another channel has this name already";
            return Err(source.refuse(&format!("channel.{index}.name"), message));
        }
    }
    Ok(())
}

fn quantum_of(
    place: &Place<'_>,
    channel: &Channel,
    spread: &Spread,
    slowest: Rate,
    longest_bytes: u32,
) -> Result<u32, InputError> {
    let Some(given) = channel.quantum else {
        if place.source.scenario.stripe.quanta == Quanta::Follow {
            return Ok(longest_bytes);
        }
        let far = "is too many times as fast as the slowest: give the channels a quantum each";
        return quantum(channel.rate, slowest, longest_bytes)
            .ok_or_else(|| place.refuse("rate", far));
    };
    if *spread != Spread::Surplus {
        return Err(
            place.refuse("quantum", "only the scheduler \"surplus-round-robin\" has quanta")
        );
    }
    let quantum_bytes = bytes(place.source, &place.key("quantum"), given.0)?;
    if quantum_bytes < longest_bytes {
        let message = format!(
            "is below the longest packet of {longest_bytes} B (`stripe.longest_packet`): a turn \
             could not pay for a packet"
        );
        return Err(place.refuse("quantum", message));
    }
    Ok(quantum_bytes)
}

pub(super) fn bytes(source: &ScenarioSource, key: &str, bytes: u64) -> Result<u32, InputError> {
    let small = u32::try_from(bytes).ok().filter(|bytes| (1..=1 << 30).contains(bytes));
    small.ok_or_else(|| source.refuse(key, "expected 1 B to 1 GiB"))
}

fn link(
    place: &Place<'_>,
    channel: &Channel,
    quantum_bytes: u32,
    longest_bytes: u32,
) -> Result<LinkPlan, InputError> {
    let forth = forth(place, channel, longest_bytes)?;
    if channel.queue.0.is_too_short_for(u64::from(longest_bytes)) {
        let message = format!(
            "has no room for the longest packet of {longest_bytes} B (`stripe.longest_packet`): give it \
             at least that"
        );
        return Err(place.refuse("queue", message));
    }
    let sorted = |numbers: &[u64]| {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers
    };
    Ok(LinkPlan {
        name: channel.name.clone().expect("filled in where scenarios are read"),
        back: back(place, channel, &channel.back, &forth)?,
        changes: changes(place, channel, &forth, longest_bytes)?,
        lose: sorted(&channel.lose),
        lose_markers: sorted(&channel.lose_markers),
        forth,
        quantum_bytes,
        priority: channel.priority.get() - 1,
        cap: channel.cap,
    })
}

fn forth(
    place: &Place<'_>,
    channel: &Channel,
    longest_bytes: u32,
) -> Result<Parameters, InputError> {
    let reordering = match channel.reordering {
        None => Reordering { probability: Probability::NEVER, span: Span::ZERO },
        Some(given) => Reordering {
            probability: place.probability("reordering.probability", given.probability)?,
            span: given.span,
        },
    };
    let parameters = Parameters {
        jitter: channel.jitter,
        loss: loss(place, channel)?,
        mtu_bytes: channel
            .mtu
            .map(|mtu| bytes(place.source, &place.key("mtu"), mtu.0))
            .transpose()?,
        bit_errors: place.probability("bit_errors", channel.bit_errors)?,
        duplication: place.probability("duplication", channel.duplication)?,
        reordering,
        outages: outages(&channel.outages),
        policer: policer(place, channel, longest_bytes)?,
        competing: competing(place, channel)?,
        ..bounded(channel.rate, channel.queue.0, channel.delay)
    };
    parameters.check().map_err(|error| place.refuse(key_of(&error), error))?;
    Ok(parameters)
}

fn bounded(rate: Rate, queue: QueueBound, delay: Span) -> Parameters {
    Parameters { queue, ..Parameters::clean(rate, queue.bytes_at(rate), delay) }
}

fn policer(
    place: &Place<'_>,
    channel: &Channel,
    longest_bytes: u32,
) -> Result<Option<Policer>, InputError> {
    let Some(given) = channel.policer else { return Ok(None) };
    let scenario = &place.source.scenario;
    let has_header = scenario.has_tags() || scenario.stripe.reception == Reception::SequenceNumbers;
    let header_bytes = if has_header && scenario.repair().is_some() {
        TAG_BYTES_MAX
    } else if has_header {
        TAG_BYTES
    } else {
        0
    };
    let wire_bytes = u64::from(longest_bytes) + header_bytes as u64;
    if given.burst.0 < wire_bytes {
        let message = format!(
            "is below the {wire_bytes} B of the longest packet (`stripe.longest_packet`) with its headers, which \
             would never pass: give it at least that"
        );
        return Err(place.refuse("policer.burst", message));
    }
    Ok(Some(Policer { rate: given.rate, burst_bytes: given.burst.0 }))
}

fn competing(place: &Place<'_>, channel: &Channel) -> Result<Vec<Competing>, InputError> {
    let mut all = Vec::new();
    for (index, given) in channel.competing.iter().enumerate() {
        let key = |key: &str| format!("competing.{index}.{key}");
        let packet_bytes = bytes(place.source, &place.key(&key("packet")), given.packet.0)?;
        let (from, until) = (Time::ZERO + given.at, given.until.map(|until| Time::ZERO + until));
        if until.is_some_and(|until| until <= from) {
            let message = format!("expected a later instant than the {} of `at`", given.at);
            return Err(place.refuse(&key("until"), message));
        }
        let spacing = match given.spacing {
            Wanted::Even => Spacing::Even,
            Wanted::Poisson => Spacing::Poisson,
        };
        let until = until.unwrap_or(Time::MAX);
        all.push(Competing { rate: given.rate, packet_bytes, spacing, from, until });
    }
    Ok(all)
}

fn key_of(error: &ParameterError) -> &'static str {
    match error {
        ParameterError::NoQueue | ParameterError::NoWait | ParameterError::EndlessQueue { .. } => {
            "queue"
        }
        ParameterError::EndlessBurst => "bursts.to_good",
        ParameterError::NoSpan => "reordering.span",
        ParameterError::EmptyOutage { .. } | ParameterError::OutageOrder { .. } => "outages",
        _ => "rate",
    }
}

fn loss(place: &Place<'_>, channel: &Channel) -> Result<Loss, InputError> {
    let independent = place.probability("loss", channel.loss)?;
    let Some(bursts) = channel.bursts else {
        let some = independent.is_possible();
        return Ok(if some { Loss::Independent(independent) } else { Loss::None });
    };
    if independent.is_possible() {
        return Err(place.refuse("bursts", "a channel has either `loss` or `bursts`"));
    }
    Ok(Loss::Bursts(GilbertElliott {
        to_bad: place.probability("bursts.to_bad", bursts.to_bad)?,
        to_good: place.probability("bursts.to_good", bursts.to_good)?,
        loss_good: place.probability("bursts.loss_good", bursts.loss_good)?,
        loss_bad: place.probability("bursts.loss_bad", bursts.loss_bad)?,
    }))
}

fn outages(spans: &[OutageSpan]) -> Vec<Outage> {
    let instant = |span: Span| Time::ZERO + span;
    let outage =
        |span: &OutageSpan| Outage { from: instant(span.from), until: instant(span.until) };
    spans.iter().map(outage).collect()
}

fn back(
    place: &Place<'_>,
    channel: &Channel,
    back: &Back,
    forth: &Parameters,
) -> Result<Parameters, InputError> {
    let lost = place.probability("back.loss", back.loss)?;
    let (rate, delay) = (back.rate.unwrap_or(channel.rate), back.delay.unwrap_or(channel.delay));
    let parameters = Parameters {
        jitter: back.jitter,
        loss: if lost.is_possible() { Loss::Independent(lost) } else { Loss::None },
        outages: back.outages.as_deref().map_or_else(|| forth.outages.clone(), outages),
        ..bounded(rate, channel.queue.0, delay)
    };
    let key = |error: &ParameterError| format!("back.{}", key_of(error));
    parameters.check().map_err(|error| place.refuse(&key(&error), error))?;
    Ok(parameters)
}

/// Checks a rate change for every rate of the channel that may precede it.
fn check_step(
    forth: &Parameters,
    channel: &Channel,
    rate: Rate,
    longest_bytes: u32,
) -> Result<(), ParameterError> {
    let rates = channel.rates.iter().map(|step| step.rate);
    let fastest = rates.max().unwrap_or(channel.rate).max(channel.rate);
    let competing = forth.competing.iter().map(|competing| competing.packet_bytes).max();
    let longest_bytes = longest_bytes.max(competing.unwrap_or_default());
    forth.check_change(rate, fastest, longest_bytes.into())
}

fn changes(
    place: &Place<'_>,
    channel: &Channel,
    forth: &Parameters,
    longest_bytes: u32,
) -> Result<Vec<(Time, Change)>, InputError> {
    let mut changes = Vec::new();
    for (index, step) in channel.rates.iter().enumerate() {
        if index > 0 && step.at <= channel.rates[index - 1].at {
            let message = "expected a later instant than that of the step before";
            return Err(place.refuse(&format!("rates.{index}.at"), message));
        }
        check_step(forth, channel, step.rate, longest_bytes)
            .map_err(|error| place.refuse(&format!("rates.{index}.rate"), error))?;
        changes.push((Time::ZERO + step.at, Change::Rate(step.rate)));
    }
    for (index, step) in channel.mtus.iter().enumerate() {
        let key = place.key(&format!("mtus.{index}.mtu"));
        let mtu_bytes = bytes(place.source, &key, step.mtu.0)?;
        changes.push((Time::ZERO + step.at, Change::Mtu(mtu_bytes)));
    }
    for (index, step) in channel.quanta.iter().enumerate() {
        let small = u32::try_from(step.quantum.0).ok().filter(|quantum| *quantum <= 1 << 30);
        let fits = small.filter(|quantum| *quantum == 0 || *quantum >= longest_bytes);
        let quantum = fits.ok_or_else(|| {
            let message = format!(
                "expected 0 B, or at least the longest packet of {longest_bytes} B and 1 GiB at the most"
            );
            place.refuse(&format!("quanta.{index}.quantum"), message)
        })?;
        changes.push((Time::ZERO + step.at, Change::Quantum(quantum)));
    }
    if let Some(until) = channel.loss_until {
        changes.push((Time::ZERO + until, Change::Loss(Loss::None)));
    }
    changes.sort_by_key(|(at, _)| *at);
    Ok(changes)
}

impl LinkPlan {
    pub(super) fn is_lossless(&self) -> bool {
        self.forth.loss == Loss::None
            && self.lose.is_empty()
            && self.forth.outages.is_empty()
            && self.forth.mtu_bytes.is_none()
            && !self.changes.iter().any(|(_, change)| matches!(change, Change::Mtu(_)))
            && !self.forth.bit_errors.is_possible()
            && self.forth.policer.is_none()
            && self.forth.competing.is_empty()
    }
}

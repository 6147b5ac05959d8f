//! Checks of streams.

use super::plan::{interval_ps, sends_for};
use crate::check::{Check, Sentence, note, refuse, say, when, within};
use crate::compile::classes::arrivals::{SHAPES, wrong_periods};
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::PAYLOAD;
use crate::compile::measure::TIME_MAX;
use crate::scenario::{Mpeg2, OnOffData, Placement, StreamData, Streams};
use gingham_kernel::{Bytes, Span, Time};
use gingham_net::traffic::STREAM_BYTES;
use std::ops::{Bound, Range, RangeInclusive};

/// Maximum number of on-periods between two messages; further on-periods would only cost time.
const PERIODS_PER_MESSAGE_MAX: f64 = 1_000.0;
const WARM_UP_MAX: i64 = 1_000_000;
const COUNTS: RangeInclusive<i64> = 1..=1_000_000;
const LOAD_MAX: f64 = 100.0;

pub(super) struct Streaming<'a> {
    pub(super) context: &'a ClassContext<'a>,
    pub(super) streams: &'a Streams,
    pub(super) active: &'a Range<Time>,
}

impl<'a> Streaming<'a> {
    fn bursts(&self) -> Option<&'a OnOffData> {
        match &self.streams.data {
            StreamData::OnOff(bursts) => Some(bursts),
            StreamData::Trace(_) | StreamData::Mpeg2(_) => None,
        }
    }

    fn mpeg2(&self) -> Option<&'a Mpeg2> {
        match &self.streams.data {
            StreamData::Mpeg2(mpeg2) => Some(mpeg2),
            StreamData::Trace(_) | StreamData::OnOff(_) => None,
        }
    }

    fn interval(&self) -> Option<Span> {
        self.bursts().is_none().then(|| self.streams.interval())
    }

    fn pairs(&self) -> Option<&'a [String]> {
        match &self.streams.placement {
            Placement::Pairs(pairs) => Some(pairs),
            Placement::Even | Placement::Random => None,
        }
    }
}

pub(super) fn of_class<'a>() -> [Check<&'a Streaming<'a>>; 2] {
    [
        refuse("streams", |it| {
            let mut keys = ["arrivals", "length", "destinations", "stagger"].into_iter();
            let key = keys.find(|key| it.context.is_written(key))?;
            let sentence = say!("streams already set this; leave `{key}` out");
            Some(sentence?.at(it.context.path(key)))
        }),
        refuse("streams.message", |it| {
            within!(it.streams.message, PAYLOAD, "a message has from 1 B to 1024 MiB")
        }),
    ]
}

pub(super) fn of_data<'a>() -> [Check<&'a Streaming<'a>>; 9] {
    [
        refuse("streams.data.mpeg2.mean", |it| {
            within!(it.mpeg2()?.mean, PAYLOAD, "a mean frame has from 1 B to 1024 MiB")
        }),
        refuse("streams.data.mpeg2.deviation", |it| {
            within!(it.mpeg2()?.deviation, ..*PAYLOAD.end(), "a deviation is less than 1024 MiB")
        }),
        refuse("streams", |it| {
            it.bursts()?;
            let streams = it.streams;
            let written = [
                ("deadline", streams.deadline.is_some(), "a deadline is that of a frame"),
                ("interval", streams.interval.is_some(), "an interval lies between frames"),
                ("spread", streams.spread.is_some(), "only the messages of a frame are spread"),
            ];
            let (key, _, why) = written.into_iter().find(|(_, is_written, _)| *is_written)?;
            let sentence = say!(
                "{why}, and bursts (on-off) have no frames: leave `{key}` out, or send a trace or mpeg2"
            );
            Some(sentence?.under(key.to_owned()))
        }),
        refuse("streams.data", |it| {
            let OnOffData { on, off, .. } = *it.bursts()?;
            wrong_periods("on-off", on, off)
        }),
        refuse("streams.data.on-off.shape", |it| {
            let rule = "a tail index is above 1, from";
            within!(it.bursts()?.shape?, SHAPES, "{rule} {} on", SHAPES.start())
        }),
        refuse("streams.data.on-off.on", |it| {
            let bursts = it.bursts()?;
            let on = bursts.on;
            #[expect(clippy::cast_precision_loss, reason = "a ratio needs few digits")]
            let periods_per_message = interval_ps(bursts, it.streams.message) / on.as_ps() as f64;
            when!(
                periods_per_message > PERIODS_PER_MESSAGE_MAX,
                "{periods_per_message:.0} on periods of {on} pass between two messages of a stream; at most \
                 {PERIODS_PER_MESSAGE_MAX} may, so make the periods longer or the rate higher"
            )
        }),
        refuse("streams.interval", |it| {
            let allowed = Span::from_ps(1)..=TIME_MAX;
            within!(it.interval()?, allowed, "frames come from 1 ps to {TIME_MAX} after each other")
        }),
        refuse("streams.deadline.warm_up_frames", |it| {
            it.interval()?;
            within!(
                it.streams.deadline.as_ref()?.warm_up_frames,
                0..=WARM_UP_MAX,
                "from 0 to {WARM_UP_MAX} frames of a stream are not counted"
            )
        }),
        refuse("streams.deadline.slack", |it| {
            it.interval()?;
            let slack = it.streams.deadline.as_ref()?.slack;
            within!(slack, ..=TIME_MAX, "a slack is {TIME_MAX} at most")
        }),
    ]
}

pub(super) fn of_rest<'a>() -> [Check<&'a Streaming<'a>>; 7] {
    [
        refuse("streams.start", |it| {
            let (turn, left) = (it.streams.start?, sends_for(it.context, it.active));
            when!(turn >= left, "streams start {turn} after their class, which sends for {left}")
        }),
        refuse("streams.solicits", |it| {
            within!(
                it.streams.solicits,
                (Bound::Excluded(0.0), Bound::Included(f64::MAX)),
                "a stream solicits a multiple of its mean rate, above 0, such as 1"
            )
        }),
        refuse("streams.crashes", |it| {
            within!(it.streams.crashes, 0.0..=1.0, "a share of the streams crashes, from 0 to 1")
        }),
        refuse("streams.lifetime", |it| {
            let (lifetime, interval) = (it.streams.lifetime?, it.interval()?);
            when!(
                lifetime < interval,
                "a stream of {lifetime} is shorter than a frame of {interval}: let it last for at least one"
            )
        }),
        refuse("streams.placement.pairs", |it| {
            it.pairs()?;
            let class = it.context.class;
            let mut written =
                [("hosts", class.hosts.is_some()), ("load", class.load.is_some())].into_iter();
            let (key, _) = written.find(|(_, is_written)| *is_written)?;
            let sentence = say!(
                "streams.placement.pairs already sets this, with streams.count; leave `{key}` out"
            );
            Some(sentence?.at(it.context.path(key)))
        }),
        refuse("streams.placement.pairs", |it| {
            when!(
                it.pairs()?.is_empty(),
                "a class of streams needs at least one pair, such as \"h0 -> h1\""
            )
        }),
        refuse("streams.count", |it| {
            it.pairs()?;
            wrong_count(it.streams.count?)
        }),
    ]
}

pub(super) fn of_counts<'a>() -> [Check<&'a Streaming<'a>>; 4] {
    [
        refuse("streams.count", |it| {
            when!(
                it.streams.count.is_some() && it.context.class.load.is_some(),
                "count and the load of the class both set the number of streams of a host: leave one of them out"
            )
        }),
        refuse("streams", |it| {
            when!(
                it.streams.count.is_none() && it.context.class.load.is_none(),
                "say how many streams a host has, such as count = 4, or the load of the class that they make up, \
                 such as load = 0.6"
            )
        }),
        refuse("streams.count", |it| wrong_count(it.streams.count?)),
        refuse("load", |it| {
            let allowed = (Bound::Excluded(0.0), Bound::Included(LOAD_MAX));
            let rule = "the load of streams is a fraction of a host's link, above 0 and at most";
            within!(it.context.class.load?, allowed, "{rule} {LOAD_MAX}")
        }),
    ]
}

fn wrong_count(count: i64) -> Option<Sentence> {
    within!(count, COUNTS, "a host has from 1 to {} streams", COUNTS.end())
}

pub(super) struct Counted<'a> {
    pub(super) streaming: &'a Streaming<'a>,
    pub(super) count: u64,
}

pub(super) fn of_memory<'a>() -> [Check<Counted<'a>>; 1] {
    [refuse("streams.memory_max", |it| {
        let needed = it.count.saturating_mul(STREAM_BYTES);
        let most = it.streaming.streams.memory_max;
        when!(
            needed > most.0,
            "{} streams would take about {}, and may take {most}: let there be fewer, each of more, or allow more \
             (traffic.{}.streams.memory_max)",
            it.count,
            Bytes(needed / 1_000_000 * 1_000_000),
            it.streaming.context.index
        )
    })]
}

pub(super) fn of_frames<'a>() -> [Check<&'a Streaming<'a>>; 1] {
    [note(|it| {
        let (streams, interval) = (it.streams, it.interval()?);
        let turn = streams.start.unwrap_or(Span::ZERO);
        let left = sends_for(it.context, it.active).as_ps().saturating_sub(turn.as_ps());
        let lifetime = streams.lifetime.unwrap_or(TIME_MAX);
        let begun = left.min(lifetime.as_ps()).div_ceil(interval.as_ps());
        let warm_up = streams.deadline.clone().unwrap_or_default().warm_up_frames;
        when!(
            begun <= warm_up.unsigned_abs(),
            "a stream has at most {begun} frames in this run, and the first {warm_up} of each are not counted, so \
             deadlines are not measured; traffic.{}.streams.deadline.warm_up_frames counts fewer out, a longer run has more",
            it.context.index
        )
    })]
}

//! Run-time state of a traffic source: clock, packet lengths and counters.

use super::lengths::Drawn;
use super::{Packet, Transport};
use crate::plan::{SourceKind, SourcePlan};
use gingham_entry::Ecn;
use gingham_kernel::{Purpose, Rate, Span, Stream, Time};
use gingham_stripe::Class;

#[derive(Debug)]
pub(crate) struct Source {
    id: u16,
    kind: SourceKind,
    start: Time,
    stop: Time,
    lengths: Drawn,
    shortest_bytes: u32,
    class: Class,
    words: Stream,
    given: u64,
    given_bytes: u128,
    frames: u64,
    on_until: Time,
    pub(crate) transport: Option<Transport>,
    timer_at: Option<Time>,
}

impl Source {
    pub(crate) fn new(id: usize, plan: &SourcePlan, seed: u64, run_stop: Time) -> Self {
        let name = format!("source {}", plan.name);
        let stream = |purpose| Stream::new(seed, &name, purpose);
        let transport = match plan.kind {
            SourceKind::Transport { rule, ack_delay, window_bytes, .. } => {
                let segment_bytes = plan.lengths.longest_bytes();
                Some(Transport::new(rule, segment_bytes, window_bytes, ack_delay))
            }
            _ => None,
        };
        Self {
            id: u16::try_from(id).expect("sources are counted where scenarios are compiled"),
            kind: plan.kind.clone(),
            start: plan.start,
            stop: plan.stop.min(run_stop),
            shortest_bytes: plan.lengths.shortest_bytes(),
            lengths: Drawn::new(plan.lengths.clone(), stream(Purpose::Length)),
            class: plan.class,
            words: stream(Purpose::Arrival),
            given: 0,
            given_bytes: 0,
            frames: 0,
            on_until: plan.start,
            transport,
            timer_at: None,
        }
    }

    pub(crate) fn first(&self) -> Option<Time> {
        (self.start < self.stop).then_some(self.start)
    }

    pub(crate) fn is_sending(&self, now: Time) -> bool {
        (self.start..self.stop).contains(&now)
    }

    /// Returns the next packet of a backlogged source. After the first packet, returns `None` while
    /// even the shortest length is too long for all channels.
    pub(crate) fn pull(&mut self, now: Time, may_go: impl Fn(u32) -> bool) -> Option<Packet> {
        let may = self.kind == SourceKind::Backlogged
            && self.is_sending(now)
            && (self.given == 0 || may_go(self.shortest_bytes));
        may.then(|| self.next_packet(now))
    }

    pub(crate) fn tick(&mut self, now: Time, packets: &mut Vec<Packet>) -> Option<Time> {
        let next = match self.kind.clone() {
            SourceKind::Backlogged => None,
            SourceKind::Constant(rate) => {
                packets.push(self.next_packet(now));
                Some(self.start + span_of(rate, self.given_bytes))
            }
            SourceKind::Poisson(rate) => {
                packets.push(self.next_packet(now));
                let mean = span_of(rate, u128::from(packets.last().expect("just given").bytes));
                Some(now + self.exponential(mean))
            }
            SourceKind::OnOff { rate, on, off } => {
                Some(self.tick_on_off(now, rate, on, off, packets))
            }
            SourceKind::Transport { .. } => {
                self.fill(now, packets);
                None
            }
            SourceKind::Frames { lengths, interval, packet_bytes, again } => {
                let index = usize::try_from(self.frames).expect("frames fit the memory");
                self.give_frame(now, lengths[index % lengths.len()], packet_bytes, packets);
                let more = again || index + 1 < lengths.len();
                more.then(|| self.start + interval * self.frames)
            }
            SourceKind::List { interval } => self.tick_list(now, interval, packets),
        };
        next.filter(|next| *next < self.stop)
    }

    pub(crate) fn fill(&mut self, now: Time, packets: &mut Vec<Packet>) {
        let is_sending = self.is_sending(now);
        loop {
            let Some(transport) = &mut self.transport else { return };
            let Some((segment, bytes)) = transport.next(now, is_sending, || self.lengths.draw())
            else {
                return;
            };
            packets.push(Packet { of_source: segment, ..self.packet(now, bytes) });
        }
    }

    pub(crate) fn take_timer(&mut self, now: Time) -> Option<Time> {
        let at = self.transport.as_ref()?.timeout_at()?;
        let is_scheduled = self.timer_at.is_some_and(|due| due > now && due <= at);
        (!is_scheduled).then(|| {
            self.timer_at = Some(at);
            at
        })
    }

    fn tick_on_off(
        &mut self,
        now: Time,
        rate: Rate,
        on: Span,
        off: Span,
        packets: &mut Vec<Packet>,
    ) -> Time {
        if now >= self.on_until {
            let begins = if self.given == 0 { now } else { now + self.exponential(off) };
            self.on_until = begins + self.exponential(on);
            if begins > now {
                return begins;
            }
        }
        let packet = self.next_packet(now);
        packets.push(packet);
        (now + span_of(rate, u128::from(packet.bytes))).max(now + Span::from_ps(1))
    }

    fn tick_list(&mut self, now: Time, interval: Span, packets: &mut Vec<Packet>) -> Option<Time> {
        let all = self.lengths.in_turn() as u64;
        let count = if interval == Span::ZERO { all } else { 1 };
        for _ in 0..count {
            packets.push(self.next_packet(now));
        }
        (self.given < all).then(|| self.start + interval * self.given)
    }

    fn give_frame(&mut self, now: Time, bytes: u64, packet_bytes: u32, packets: &mut Vec<Packet>) {
        self.frames += 1;
        let frame = u32::try_from(self.frames).unwrap_or(u32::MAX);
        let mut left = bytes;
        while left > 0 {
            let bytes = u32::try_from(left).unwrap_or(u32::MAX).min(packet_bytes);
            left -= u64::from(bytes);
            packets.push(Packet { frame, ..self.packet(now, bytes) });
        }
    }

    fn next_packet(&mut self, now: Time) -> Packet {
        let bytes = self.lengths.draw();
        self.packet(now, bytes)
    }

    fn packet(&mut self, now: Time, bytes: u32) -> Packet {
        self.given += 1;
        self.given_bytes += u128::from(bytes);
        let (number, channel) = (0, 0);
        let (source, of_source) = (self.id, self.given);
        let (created, sent) = (now, now);
        let (frame, ecn, tag) = (0, self.ecn(), None);
        let class = self.class;
        Packet { number, source, channel, bytes, of_source, class, frame, ecn, created, sent, tag }
    }

    const fn ecn(&self) -> Ecn {
        match self.kind {
            SourceKind::Transport { ecn: true, .. } => Ecn::Ect0,
            _ => Ecn::NotEct,
        }
    }

    fn exponential(&mut self, mean: Span) -> Span {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw needs few digits, and an exponential one is positive and within days"
        )]
        let drawn = self.words.exponential(mean.as_ps() as f64) as u64;
        Span::from_ps(drawn.max(1))
    }
}

fn span_of(rate: Rate, bytes: u128) -> Span {
    let span_ps = (bytes * 1_000_000_000_000).div_ceil(u128::from(rate.bytes_per_second()));
    Span::from_ps(u64::try_from(span_ps).unwrap_or(u64::MAX / 4))
}

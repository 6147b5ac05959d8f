//! What somebody else says of sizes: the network, and our own sockets.
//!
//! | who | says | is it true | then |
//! |---|---|---|---|
//! | the network (ICMP) | nothing longer than that passes | perhaps: anybody can say it | that size is probed |
//! | our socket (`EMSGSIZE`) | this one is too long | yes | it is lost, without three probes |

use super::{Order, Sender, SizeState};
use crate::{Instant, Numbered, SizeError};

impl<S: Numbered> Sender<S> {
    /// The network says that frames longer than so many bytes do not pass a channel. It is heeded
    /// where that is below the channel's size or what is probed, and then probed (RFC 8899, section
    /// 4.6).
    pub fn handle_too_big(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<(), SizeError> {
        let one = self.sizes.channels.get_mut(channel).ok_or(SizeError::NoSuchChannel)?;
        let plan = self.sizes.plan.ok_or(SizeError::Told)?;
        let too_long_bytes = frame_bytes.saturating_add(1);
        if frame_bytes >= one.frame_bytes.max(one.probe_bytes) {
            return Err(SizeError::NotBelow { frame_bytes: one.frame_bytes });
        }
        self.sizes.next_at = Some(now);
        if frame_bytes >= one.frame_bytes {
            (one.sent_at, one.lost, one.too_long_bytes) = (None, 0, too_long_bytes);
            one.go_on(now, &plan);
            if frame_bytes > one.frame_bytes {
                (one.state, one.probe_bytes) = (SizeState::Searching, frame_bytes);
            }
            return Ok(());
        }
        if !self.shrink_out(now, channel) {
            self.sizes.channels[channel].confirm(frame_bytes.max(plan.base), too_long_bytes);
        }
        Ok(())
    }

    /// In strict order a channel that passes less than it did goes out, unless it is the last.
    fn shrink_out(&mut self, now: Instant, channel: usize) -> bool {
        let frame_bytes = self.sizes.channels[channel].frame_bytes;
        let is_out = self.options.order == Order::Strict && self.lose(channel, now);
        if is_out {
            self.sizes.lose(channel, frame_bytes);
        }
        is_out
    }

    /// A socket refuses a frame of so many bytes (`EMSGSIZE`): it is longer than the interface takes.
    /// That is known for sure: the search goes on below, from the base where such frames have
    /// passed.
    pub fn handle_refused(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<(), SizeError> {
        let one = self.sizes.channels.get_mut(channel).ok_or(SizeError::NoSuchChannel)?;
        let plan = self.sizes.plan.ok_or(SizeError::Told)?;
        self.sizes.next_at = Some(now);
        if frame_bytes > one.frame_bytes {
            one.refuse(now, frame_bytes, &plan);
            return Ok(());
        }
        // Where not even the base passes, the search says that the channel is out.
        if frame_bytes <= plan.base || !self.shrink_out(now, channel) {
            self.sizes.channels[channel].refuse(now, frame_bytes, &plan);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Epoch, Kind, Report, SenderOptions, SizePlan};

    type Ends = Sender<SurplusRoundRobin<2>>;

    fn sender() -> Ends {
        let scheduler = SurplusRoundRobin::new(1_500, &[1_500; 2]).expect("quanta");
        let options = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: 1_512, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options")
    }

    /// Lets an interface take frames of so many bytes from now on, and answers all that goes, a
    /// millisecond later: the lengths of the probes of the first channel.
    fn run(sender: &mut Ends, from_ms: u64, takes: u32) -> Vec<u32> {
        let mut probes = Vec::new();
        for milliseconds in from_ms..from_ms + 40 {
            let now = Instant::from_nanoseconds(milliseconds * 1_000_000);
            let mut answers = Vec::new();
            while let Some((channel, message)) = sender.poll_message(now) {
                let bytes = u32::try_from(sender.padded_bytes(channel)).expect("short");
                if bytes > 0 && channel == 0 {
                    probes.push(bytes);
                }
                if bytes > takes && channel == 0 {
                    sender.handle_refused(now, channel, bytes).expect("sizes are found");
                } else if let Kind::Marker(marker) = message.kind {
                    answers.push((channel, message, marker));
                }
            }
            for (channel, message, marker) in answers {
                let report = Report { echo: marker.sent_at, ..Report::default() };
                let message = crate::Message { kind: Kind::Report(report), ..message };
                sender.handle_message(now, channel, message).expect("a report");
            }
        }
        probes
    }

    /// What a socket refuses need not be refused three times; and what is as long as what went until
    /// now, and is refused, is no chance.
    #[test]
    fn what_a_socket_refuses_is_too_long_at_once() {
        let mut sender = sender();
        let probes = run(&mut sender, 0, 1_420);
        assert_eq!(probes, [1_200, 1_512, 1_500, 1_492, 1_420, 1_456, 1_438, 1_429, 1_424]);
        assert_eq!(sender.size(0).state, SizeState::SearchComplete);
        let now = Instant::from_nanoseconds(50_000_000);
        sender.handle_refused(now, 0, 1_420).expect("sizes are found");
        assert_eq!((sender.size(0).frame_bytes, sender.size(0).state), (1_200, SizeState::Base));
        let probes = run(&mut sender, 50, 1_280);
        assert_eq!(probes[..3], [1_200, 1_400, 1_280]);
        assert_eq!(sender.size(0).frame_bytes, 1_280);
    }

    /// A base that is refused is not tried again before its time: a refusal costs no time.
    #[test]
    fn a_base_that_is_refused_takes_the_channel_out() {
        let mut sender = sender();
        let probes = run(&mut sender, 0, 1_000);
        assert!(sender.is_dead(0) && probes.len() < 5, "{probes:?}");
        assert_eq!(sender.size(0).state, SizeState::Error);
        assert!(!sender.is_dead(1));
    }
}

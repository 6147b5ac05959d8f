//! Command line of the example.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use clap::Parser;
use gingham_kernel::{Rate, Span};
use gingham_stripe::{Controlled, Epoch};
use gingham_stripe_udp::{ChannelPlan, EndPlan};

/// One end of a pipe over UDP: sends synthetic packets, or receives them, and prints statistics as
/// JSON at the end
#[derive(Parser, Debug)]
pub(crate) struct Arguments {
    /// Channel: local address, remote address, and optionally the interface for all its traffic;
    /// repeat for each channel
    #[arg(long = "channel", required = true, value_name = "LOCAL,REMOTE[,INTERFACE]")]
    channels: Vec<Channel>,
    /// Traffic to send: 'all' for as much as possible, or a rate such as '20 Mbit/s'; none by
    /// default
    #[arg(long)]
    pub(crate) offer: Option<Offer>,
    /// Duration of the run
    #[arg(long, default_value = "10 s", value_parser = span)]
    pub(crate) time: Duration,
    /// Time after the first packet from which packets are counted
    #[arg(long, default_value = "2 s", value_parser = span)]
    pub(crate) from: Duration,
    /// Retransmit lost packets; set at both ends
    #[arg(long)]
    repair: bool,
    /// Packet length, as far as the channels pass it; set equally at both ends
    #[arg(long, default_value_t = 1_460, value_parser = clap::value_parser!(u32).range(16..=9_000))]
    pub(crate) packet_bytes: u32,
    /// Minimum time between two wake-ups
    #[arg(long, value_parser = span)]
    granule: Option<Duration>,
    /// Burst on a channel: time at its pacing rate whose packets are sent at once
    #[arg(long, value_parser = span)]
    burst: Option<Duration>,
    /// Seed of BBR's random waits
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Offer {
    All,
    BytesPerSecond(u64),
}

#[derive(Clone, Debug)]
struct Channel(ChannelPlan);

impl Arguments {
    pub(crate) fn plan(&self) -> EndPlan {
        let mut plan = EndPlan::free(self.packet_bytes);
        if self.repair {
            plan.striping = plan.striping.repaired();
        }
        plan.granule = self.granule.unwrap_or(plan.granule);
        if let Some(control) = &mut plan.striping.sender.control {
            control.burst = self.burst.unwrap_or(control.burst);
            if let Controlled::Bbr(bbr) = &mut control.by {
                bbr.seed = self.seed;
            }
        }
        plan
    }

    pub(crate) fn channels(&self) -> Vec<ChannelPlan> {
        self.channels.iter().map(|Channel(plan)| plan.clone()).collect()
    }
}

/// Uptime in milliseconds: later than at any earlier start on one machine.
pub(crate) fn epoch() -> Epoch {
    let milliseconds = gingham_stripe_udp::now().nanoseconds() / 1_000_000;
    Epoch::new(u32::try_from(milliseconds % (1 << 32)).expect("below 2^32"))
}

fn span(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    Ok(Duration::from_nanos(span.as_ps() / 1_000))
}

impl FromStr for Offer {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let rate: Rate = text.parse().map_err(|error| format!("{error}, or 'all'"))?;
        Ok(Self::BytesPerSecond(rate.bytes_per_second()))
    }
}

impl FromStr for Channel {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, ',');
        let mut address = || {
            let part = parts.next().ok_or("expected LOCAL,REMOTE[,INTERFACE]")?;
            part.parse::<SocketAddr>().map_err(|error| format!("{part}: {error}"))
        };
        let (local, remote) = (address()?, address()?);
        Ok(Self(ChannelPlan { local, mark: None, remote, interface: parts.next().map(Into::into) }))
    }
}

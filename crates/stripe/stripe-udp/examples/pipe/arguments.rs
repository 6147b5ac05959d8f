//! The command line.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use clap::Parser;
use gingham_kernel::{Rate, Span};
use gingham_stripe::{Controlled, Epoch};
use gingham_stripe_udp::{ChannelPlan, EndPlan};

/// One end of a pipe over UDP: sends synthetic packets, or receives them, and says at the end how
/// they came, as JSON
#[derive(Parser, Debug)]
pub(crate) struct Arguments {
    /// A channel: address here, address there, and the interface if all is to go through one; once
    /// for each
    #[arg(long = "channel", required = true, value_name = "LOCAL,REMOTE[,INTERFACE]")]
    channels: Vec<Channel>,
    /// What is sent: 'all' that goes, or a rate such as '20 Mbit/s'; nothing if not given
    #[arg(long)]
    pub(crate) offer: Option<Offer>,
    /// It ends after so long
    #[arg(long, default_value = "10 s", value_parser = span)]
    pub(crate) time: Duration,
    /// So long after the first packet what comes is counted
    #[arg(long, default_value = "2 s", value_parser = span)]
    pub(crate) from: Duration,
    /// What is lost is sent again, which both ends are to be told
    #[arg(long)]
    repair: bool,
    /// How long packets are, as far as the channels pass them: the same at both ends
    #[arg(long, default_value_t = 1_460, value_parser = clap::value_parser!(u32).range(16..=9_000))]
    pub(crate) packet_bytes: u32,
    /// Between two wake-ups there is so much time at least
    #[arg(long, value_parser = span)]
    granule: Option<Duration>,
    /// What goes at once on a channel: packets of so much time at its pace
    #[arg(long, value_parser = span)]
    burst: Option<Duration>,
    /// Of what the waits of BBR are drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What is sent.
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

/// The milliseconds that the machine has been running: later than any before, where both ends are of
/// one machine.
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

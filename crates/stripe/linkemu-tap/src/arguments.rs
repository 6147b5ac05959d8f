//! Command line: two ends, and the parameters of the link in each direction.

use crate::end::End;
use crate::problem::Problem;
use clap::Parser;
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{
    GilbertElliott, Loss, Outage, ParameterError, Parameters, Probability, QueueBound, Reordering,
};
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples, as root:

  ip netns add left; ip netns add right
  gingham-linkemu left right --rate '20 Mbit/s' --delay '10 ms'
      tap0 in left and tap0 in right, joined: ip -n left addr add 10.0.0.1/24 dev tap0
  gingham-linkemu left:wan0 right:wan0 --rate '20 Mbit/s' --delay '40 ms' --jitter '10 ms' --loss 0.005
  gingham-linkemu left right --rate '50 Mbit/s' --back-rate '5 Mbit/s' --delay '15 ms'
      as many home connections are
  gingham-linkemu left right --rate '20 Mbit/s' --rate-at '5 s=2 Mbit/s' --rate-at '9 s=20 Mbit/s' --outage '12 s..13 s'

Each event is a line of JSON on the standard output: \"ready\" when both ends are there, \"counters\" on SIGUSR1,
\"end\" on SIGINT, SIGTERM or when a namespace is gone. The interfaces go with the program.";

/// An emulated link between two network namespaces of this machine.
#[derive(Parser, Debug)]
#[command(name = "gingham-linkemu", version, about, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Arguments {
    /// One end, NAMESPACE[:INTERFACE]: a name from `ip netns`, or a path such as /proc/123/ns/net;
    /// default interface tap0
    pub(crate) left: End,
    /// The other end, in the same form
    pub(crate) right: End,

    /// Rate of the link in bytes or bits per second, such as '20 Mbit/s'
    #[arg(long)]
    rate: Rate,
    /// Delay from a frame's last byte leaving the queue to its arrival, such as '10 ms'
    #[arg(long, default_value = "0 ps")]
    delay: Span,
    /// Queue limit: bytes, or the longest wait, such as '20 ms'
    #[arg(long, default_value = "64 kB", value_name = "BYTES or TIME")]
    queue: QueueBound,
    /// Maximum random addition to the delay, uniformly distributed; frames stay in order
    #[arg(long, default_value = "0 ps")]
    jitter: Span,
    /// Probability that a frame is lost, independently of others
    #[arg(long, default_value = "0", value_name = "PROBABILITY", value_parser = probability)]
    loss: Probability,
    /// Burst loss in place of --loss: the probabilities that a frame starts and ends a burst; all
    /// frames of a burst are lost
    #[arg(long, value_parser = bursts, value_name = "BEGIN,END", conflicts_with = "loss")]
    bursts: Option<GilbertElliott>,
    /// Bit error rate
    #[arg(long, default_value = "0", value_name = "PROBABILITY", value_parser = probability)]
    bit_errors: Probability,
    /// Probability that a frame enters the queue twice
    #[arg(long, default_value = "0", value_name = "PROBABILITY", value_parser = probability)]
    duplication: Probability,
    /// Probability and length of an extra delay, which reorders frames: '0.01,5 ms'
    #[arg(long, value_parser = reordering, value_name = "PROBABILITY,TIME")]
    reordering: Option<Reordering>,
    /// Outage of both directions: '2 s..3 s'; may be repeated
    #[arg(long, value_parser = outage, value_name = "FROM..UNTIL")]
    outage: Vec<Outage>,
    /// Rate change at a given time: '5 s=2 Mbit/s'; may be repeated
    #[arg(long, value_parser = step, value_name = "TIME=RATE")]
    rate_at: Vec<Step>,

    /// Rate from right to left, if it differs; --rate-at then applies only from left to right
    #[arg(long, value_name = "RATE", help_heading = "From right to left")]
    back_rate: Option<Rate>,
    /// Delay from right to left
    #[arg(long, value_name = "TIME", help_heading = "From right to left")]
    back_delay: Option<Span>,
    /// Queue limit from right to left
    #[arg(long, value_name = "BYTES or TIME", help_heading = "From right to left")]
    back_queue: Option<QueueBound>,
    /// Jitter from right to left
    #[arg(long, value_name = "TIME", help_heading = "From right to left")]
    back_jitter: Option<Span>,
    /// Loss from right to left, in place of --loss or --bursts
    #[arg(long, value_name = "PROBABILITY", value_parser = probability, help_heading = "From right to left")]
    back_loss: Option<Probability>,
    /// Rate change from right to left at a given time, in place of --rate-at: '5 s=2 Mbit/s'; may be
    /// repeated
    #[arg(long, value_parser = step, value_name = "TIME=RATE", help_heading = "From right to left")]
    back_rate_at: Vec<Step>,

    /// Tolerance after the model's arrival time; frames delivered later are counted as late. If
    /// many frames are late, the machine is too slow for the link
    #[arg(long, default_value = "1 ms", value_name = "TIME")]
    pub(crate) late: Span,
    /// MTU of the interfaces: the longest packet, without Ethernet header
    #[arg(long, default_value_t = 1_500, value_parser = clap::value_parser!(u16).range(68..))]
    pub(crate) mtu: u16,
    /// Seed of all random numbers; runs with the same seed lose the same frame numbers
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DirectionPlan {
    pub(crate) parameters: Parameters,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) at: Time,
    pub(crate) rate: Rate,
}

impl Arguments {
    pub(crate) fn forth(&self) -> Result<DirectionPlan, Problem> {
        let none = Reordering { probability: Probability::NEVER, span: Span::ZERO };
        let parameters = Parameters {
            jitter: self.jitter,
            loss: self.bursts.map_or_else(|| independent(self.loss), Loss::Bursts),
            bit_errors: self.bit_errors,
            duplication: self.duplication,
            reordering: self.reordering.unwrap_or(none),
            outages: self.outage.clone(),
            queue: self.queue,
            ..Parameters::clean(self.rate, 1, self.delay)
        };
        self.checked(DirectionPlan { parameters, steps: self.rate_at.clone() }, "--")
    }

    pub(crate) fn back(&self) -> Result<DirectionPlan, Problem> {
        let forth = self.forth()?;
        let parameters = Parameters {
            rate: self.back_rate.unwrap_or(self.rate),
            queue: self.back_queue.unwrap_or(self.queue),
            delay: self.back_delay.unwrap_or(self.delay),
            jitter: self.back_jitter.unwrap_or(self.jitter),
            loss: self.back_loss.map_or(forth.parameters.loss, independent),
            ..forth.parameters
        };
        let own = self.back_rate.is_some() || !self.back_rate_at.is_empty();
        let steps = if own { self.back_rate_at.clone() } else { forth.steps };
        self.checked(DirectionPlan { parameters, steps }, "--back-")
    }

    fn checked(&self, plan: DirectionPlan, prefix: &str) -> Result<DirectionPlan, Problem> {
        let DirectionPlan { parameters, steps } = &plan;
        let refuse = |option: &str, why: &dyn std::fmt::Display| {
            Problem::Input(format!("{prefix}{option}: {why}"))
        };
        parameters.check().map_err(|error| refuse(option_of(&error), &error))?;
        let longest_bytes = u64::from(self.mtu) + ETHERNET_BYTES;
        if parameters.queue.is_too_short_for(longest_bytes) {
            let why =
                format!("a frame may have {longest_bytes} B, and the queue has no room for one");
            return Err(refuse("queue", &why));
        }
        if steps.windows(2).any(|steps| steps[1].at <= steps[0].at) {
            return Err(refuse("rate-at", &"give the changes in the order of time"));
        }
        let fastest = steps.iter().map(|step| step.rate).fold(parameters.rate, Rate::max);
        for step in steps {
            let changed = parameters.check_change(step.rate, fastest, longest_bytes);
            changed.map_err(|error| refuse("rate-at", &error))?;
        }
        Ok(plan)
    }
}

/// Length of an Ethernet header with a VLAN tag, in bytes.
const ETHERNET_BYTES: u64 = 18;

const fn option_of(error: &ParameterError) -> &'static str {
    match error {
        ParameterError::NoQueue | ParameterError::NoWait | ParameterError::EndlessQueue { .. } => {
            "queue"
        }
        ParameterError::EndlessBurst => "bursts",
        ParameterError::NoSpan => "reordering",
        ParameterError::EmptyOutage { .. } | ParameterError::OutageOrder { .. } => "outage",
        _ => "rate",
    }
}

fn independent(probability: Probability) -> Loss {
    if probability.is_possible() { Loss::Independent(probability) } else { Loss::None }
}

fn probability(text: &str) -> Result<Probability, String> {
    let value = text.trim().parse().map_err(|_| "expected a number from 0 to 1, such as 0.005")?;
    Probability::new(value).map_err(|error| error.to_string())
}

fn pair<'a>(text: &'a str, separator: &str, example: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once(separator).ok_or_else(|| format!("expected something like '{example}'"))
}

fn quantity<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn instant(text: &str) -> Result<Time, String> {
    Ok(Time::ZERO + quantity::<Span>(text)?)
}

fn step(text: &str) -> Result<Step, String> {
    let (at, rate) = pair(text, "=", "5 s=2 Mbit/s")?;
    Ok(Step { at: instant(at)?, rate: quantity(rate)? })
}

fn outage(text: &str) -> Result<Outage, String> {
    let (from, until) = pair(text, "..", "2 s..3 s")?;
    Ok(Outage { from: instant(from)?, until: instant(until)? })
}

fn bursts(text: &str) -> Result<GilbertElliott, String> {
    let (to_bad, to_good) = pair(text, ",", "0.001,0.2")?;
    Ok(GilbertElliott {
        to_bad: probability(to_bad)?,
        to_good: probability(to_good)?,
        loss_good: Probability::NEVER,
        loss_bad: Probability::ALWAYS,
    })
}

fn reordering(text: &str) -> Result<Reordering, String> {
    let (chance, span) = pair(text, ",", "0.01,5 ms")?;
    Ok(Reordering { probability: probability(chance)?, span: quantity(span)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(options: &str) -> Arguments {
        let words = options.split('|').filter(|word| !word.is_empty());
        let all = ["gingham-linkemu", "left", "right:wan0"].into_iter().chain(words);
        Arguments::try_parse_from(all).unwrap_or_else(|error| panic!("{error}"))
    }

    fn refusal(options: &str) -> String {
        let all = ["gingham-linkemu", "left", "right"].into_iter().chain(options.split('|'));
        match Arguments::try_parse_from(all) {
            Err(error) => error.to_string(),
            Ok(arguments) => match arguments.forth().and_then(|_| arguments.back()) {
                Err(Problem::Input(message)) => message,
                other => panic!("{other:?} was taken"),
            },
        }
    }

    #[test]
    fn both_directions_are_alike_by_default() {
        let arguments = given("--rate|8 Mbit/s|--delay|10 ms|--loss|0.25|--rate-at|5 s=1 MB/s");
        let forth = arguments.forth().expect("it makes sense");
        assert_eq!(forth, arguments.back().expect("it makes sense"));
        let clean = Parameters::clean(
            Rate::from_bytes_per_second(1_000_000),
            64_000,
            Span::from_ns(10_000_000),
        );
        let quarter = Loss::Independent(Probability::new(0.25).expect("a probability"));
        assert_eq!(forth.parameters, Parameters { loss: quarter, ..clean });
        let rate = Rate::from_bytes_per_second(1_000_000);
        assert_eq!(forth.steps, [Step { at: Time::from_ps(5_000_000_000_000), rate }]);
        assert_eq!(arguments.right.interface, "wan0");
        assert_eq!(arguments.left.interface, "tap0");
    }

    #[test]
    fn reverse_direction_uses_its_own_options() {
        let arguments = given(
            "--rate|8 Mbit/s|--rate-at|5 s=1 MB/s|--outage|1 s..2 s|--back-rate|1 Mbit/s|--back-loss|0|--loss|1",
        );
        let back = arguments.back().expect("it makes sense");
        assert_eq!(back.parameters.rate, Rate::from_bytes_per_second(125_000));
        assert_eq!((back.parameters.loss, back.steps), (Loss::None, vec![]));
        assert_eq!(back.parameters.outages.len(), 1);
    }

    #[test]
    fn queue_is_bounded_by_bytes_or_by_time() {
        let queues = |options| {
            let arguments = given(options);
            [arguments.forth(), arguments.back()]
                .map(|direction| direction.expect("it works").parameters.queue)
        };
        let time = QueueBound::Time(Span::from_ps(20_000_000_000));
        assert_eq!(queues("--rate|1 MB/s|--queue|20 ms"), [time, time]);
        let both = [QueueBound::Bytes(64_000), time];
        assert_eq!(queues("--rate|1 MB/s|--back-queue|20 ms"), both);
    }

    #[test]
    fn invalid_values_are_reported_with_their_option() {
        for (options, expected) in [
            ("--delay|10 ms", "--rate <RATE>"),
            ("--rate|20", "expected a rate with its unit"),
            ("--rate|1 MB/s|--los|0.1", "'--loss'"),
            ("--rate|1 MB/s|--loss|2", "a probability lies from 0 to 1"),
            ("--rate|1 MB/s|--loss|half", "such as 0.005"),
            ("--rate|1 MB/s|--queue|1 kB", "--queue: a frame may have 1518 B"),
            ("--rate|1 MB/s|--queue|1", "such as \"64 kB\" or \"20 ms\""),
            ("--rate|1 MB/s|--queue|0 s", "--queue: a queue of 0 s"),
            (
                "--rate|1 GB/s|--queue|1 s|--rate-at|2 s=1 B/s",
                "--rate-at: a packet could be on the way for 1000001518 s",
            ),
            ("--rate|1 MB/s|--outage|3 s..2 s", "--outage: the outage that begins at"),
            ("--rate|1 MB/s|--outage|3 s", "expected something like '2 s..3 s'"),
            ("--rate|1 MB/s|--bursts|0.1,0", "--bursts: to_good is 0"),
            ("--rate|1 MB/s|--bursts|0.1,0.2|--loss|0.1", "cannot be used with"),
            (
                "--rate|1 MB/s|--rate-at|2 s=1 MB/s|--rate-at|1 s=2 MB/s",
                "--rate-at: give the changes",
            ),
            (
                "--rate|1 MB/s|--back-rate|1 B/s|--queue|1 MB",
                "--back-rate: a packet could be on the way",
            ),
        ] {
            let found = refusal(options);
            assert!(found.contains(expected), "{options}: {found}");
        }
    }
}

//! Logging to standard error as text or JSON.
//!
//! | level | events |
//! |---|---|
//! | error | errors that end the daemon or a reload |
//! | warn | a channel is taken out of use; packets or datagrams are rejected |
//! | info | a channel is in use; a peer has connected or moved; changes of packet size or MTU; a reload |
//! | debug | reopened links, network changes |
//!
//! Invariant: the log rate is bounded, as a [`Limit`] guards each event that other machines can
//! cause.

use std::sync::OnceLock;
use std::time::Duration;

use clap::ValueEnum;
use gingham_stripe::Instant;
use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

use crate::config::Config;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct LogOptions {
    /// Minimum level of logged events; overrides the file
    #[arg(long)]
    pub(crate) log_level: Option<LogLevel>,
    /// Log format; overrides the file
    #[arg(long)]
    pub(crate) log_format: Option<LogFormat>,
}

impl LogOptions {
    pub(crate) fn arguments(self) -> Vec<String> {
        let name =
            |value: Option<clap::builder::PossibleValue>| value?.get_name().to_owned().into();
        let level: Option<String> = name(self.log_level.and_then(|one| one.to_possible_value()));
        let format: Option<String> = name(self.log_format.and_then(|one| one.to_possible_value()));
        let options = [("--log-level", level), ("--log-format", format)];
        let options =
            options.into_iter().filter_map(|(option, value)| Some([option.into(), value?]));
        options.flatten().collect()
    }

    pub(crate) fn begin(self, config: &Config) {
        begin(
            self.log_level.unwrap_or(config.log_level),
            self.log_format.unwrap_or(config.log_format),
        );
    }
}

static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

fn begin(level: LogLevel, format: LogFormat) {
    let (level, handle) = reload::Layer::new(LevelFilter::from(level));
    let layer = fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    let layer = match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    let subscriber = Registry::default().with(level).with(layer);
    let is_first = tracing::subscriber::set_global_default(subscriber).is_ok();
    debug_assert!(is_first);
    let _: Result<(), _> = LEVEL.set(handle);
}

pub(crate) fn set_level(level: LogLevel) {
    if let Some(handle) = LEVEL.get() {
        let _: Result<(), reload::Error> = handle.reload(LevelFilter::from(level));
    }
}

const BURST: u32 = 10;
/// Interval between tokens. A flood thus causes 8,640 lines a day, one or two megabytes; a link
/// that flaps once a minute is still logged completely.
const EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    tokens: u32,
    filled_at: Option<Instant>,
    suppressed: u64,
}

impl Default for Limit {
    fn default() -> Self {
        Self { tokens: BURST, filled_at: None, suppressed: 0 }
    }
}

impl Limit {
    pub(crate) fn pass(&mut self, now: Instant) -> Option<u64> {
        let mut filled_at = self.filled_at.unwrap_or(now);
        while filled_at.after(EVERY) <= now && self.tokens < BURST {
            filled_at = filled_at.after(EVERY);
            self.tokens += 1;
        }
        self.filled_at = Some(if self.tokens == BURST { now } else { filled_at });
        if self.tokens == 0 {
            self.suppressed += 1;
            return None;
        }
        self.tokens -= 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanoseconds(seconds * 1_000_000_000)
    }

    #[test]
    fn flood_of_events_is_rate_limited_and_counted() {
        let mut limit = Limit::default();
        let mut pass = |now| limit.pass(now);
        assert!((0..10).all(|_| pass(at(1)) == Some(0)));
        assert!((0..990).all(|_| pass(at(1)).is_none()));
        assert_eq!(pass(at(10)), None);
        assert_eq!(pass(at(11)), Some(991));
        assert_eq!(pass(at(12)), None);
        assert_eq!(pass(at(1_000_000)), Some(1));
        assert!((0..9).all(|_| pass(at(1_000_000)) == Some(0)));
        assert_eq!(pass(at(1_000_000)), None);
    }
}

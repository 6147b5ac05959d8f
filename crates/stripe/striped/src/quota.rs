//! Quotas: bytes that a channel may carry per period, counted across restarts.
//!
//! ```text
//!   40 datagrams to be sent    ──► write record ──► send           kill -9 at any point: the record
//!                                    │                             stays in the page cache
//!   /var/lib/striped/                ▼
//!     bundle0.wwan0:7001.quota   | slot 0 | slot 1 |               each with a serial and a checksum
//! ```
//!
//! The count covers all bytes of the sockets, including IP and UDP headers. Records are written in
//! place, which is possible on a full disk. If a record cannot be written, its channel sends
//! nothing. The monitor flushes the records every second; if the machine stops, the counts since
//! the last flush are lost. Each record therefore **reserves** additional bytes, which count as
//! used if an earlier boot did not close the record.
//!
//! Setting the clock back does not start a new period.
//!
//! Invariant: a datagram is sent only after the record counts it, within the quota.

mod calendar;
mod record;

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gingham_input::{InputError, Source};
use gingham_kernel::Bytes;
use gingham_stripe::Order;
use gingham_stripe_udp::{End, Meter};
use nix::time::{ClockId, clock_gettime};
use tracing::error;

use crate::config::{Channel, ChannelAt, Config};
use calendar::Calendar;
use record::{Ledger, Record};

/// Default directory for records, as with `StateDirectory=` (systemd.exec(5)).
const STATE: &str = "/var/lib/striped";

/// Divisor for the reserved bytes: a hundredth of the quota, at least 1 MB, at most four seconds of
/// traffic at 1 Gbit/s.
const RESERVED_SHARE: u64 = 100;
const RESERVED_BYTES: (u64, u64) = (1_000_000, 500_000_000);

#[derive(Debug)]
struct Quota {
    bytes: u64,
    calendar: Calendar,
    ledger: Ledger,
    ends_s: u64,
    is_used_up: bool,
}

impl Quota {
    fn new(bytes: u64, calendar: Calendar, ledger: Ledger) -> Self {
        let mut quota = Self { bytes, calendar, ledger, ends_s: 0, is_used_up: false };
        quota.ends_s = quota.calendar.ends_s(quota.ledger.record.begins_day);
        quota
    }

    fn advance(&mut self, now_s: u64) {
        if now_s >= self.ends_s {
            self.ledger.record.begins_day = self.calendar.begins_day(now_s);
            (self.ledger.record.used, self.is_used_up) = (0, false);
            self.ends_s = self.calendar.ends_s(self.ledger.record.begins_day);
        }
    }

    fn grant_at(&mut self, now_s: u64, datagrams: u64, bytes_each: u64) -> u64 {
        self.advance(now_s);
        let used = self.ledger.record.used;
        let left = if self.is_used_up { 0 } else { self.bytes.saturating_sub(used) };
        let granted = datagrams.min(left / bytes_each.max(1));
        self.is_used_up |= granted < datagrams;
        if granted == 0 {
            return 0;
        }
        if self.write(used + granted * bytes_each).is_err() {
            self.ledger.record.used = used;
            return 0;
        }
        granted
    }

    fn write(&mut self, used: u64) -> io::Result<()> {
        let (least, most) = RESERVED_BYTES;
        self.ledger.write(used, (self.bytes / RESERVED_SHARE).clamp(least, most))
    }
}

impl Meter for Quota {
    fn grant(&mut self, datagrams: u64, bytes_each: u64) -> u64 {
        self.grant_at(now_s(), datagrams, bytes_each)
    }

    fn came(&mut self, bytes: u64) {
        self.advance(now_s());
        // If this fails, the next grant writes the count.
        let _: io::Result<()> = self.write(self.ledger.record.used.saturating_add(bytes));
    }

    fn used(&self) -> u64 {
        self.ledger.record.used
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _: io::Result<()> = self.ledger.close();
    }
}

fn now_s() -> u64 {
    let since_1970 = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    u64::try_from(since_1970.tv_sec()).unwrap_or(0)
}

#[derive(Clone, Debug)]
struct Shared(Arc<Mutex<Quota>>);

impl Shared {
    /// Locks the quota, ignoring poisoning, as no lock holder panics.
    fn get(&self) -> MutexGuard<'_, Quota> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Meter for Shared {
    fn grant(&mut self, datagrams: u64, bytes_each: u64) -> u64 {
        self.get().grant(datagrams, bytes_each)
    }

    fn came(&mut self, bytes: u64) {
        self.get().came(bytes);
    }

    fn used(&self) -> u64 {
        self.get().used()
    }
}

#[derive(Debug)]
pub(crate) struct Quotas(BTreeMap<PathBuf, Shared>);

impl Quotas {
    pub(crate) fn open(config: &Config) -> Self {
        let mut all = BTreeMap::new();
        for at in config.channels_at() {
            let channel = at.channel;
            let (Some(Bytes(bytes)), file) = (channel.quota, path_of(config, channel)) else {
                continue;
            };
            all.entry(file).or_insert_with_key(|file| {
                let calendar = Calendar::of(channel);
                let ledger = Ledger::open(file, calendar.begins_day(now_s())).unwrap_or_else(|error| {
                    error!(channel = %at, file = %file.display(), %error, "no record of the quota can be had");
                    Ledger::lost()
                });
                Shared(Arc::new(Mutex::new(Quota::new(bytes, calendar, ledger))))
            });
        }
        Self(all)
    }

    pub(crate) fn count(&self, config: &Config, peer: usize, end: &mut End) {
        for (id, at) in config.channels_of(peer).enumerate() {
            let file = at.channel.quota.map(|_| path_of(config, at.channel));
            let quota = file.and_then(|file| self.0.get(&file));
            if let Some((quota, plan)) = quota.zip(at.channel.link(config)) {
                end.set_meter(id, &plan, Box::new(quota.clone()));
            }
        }
    }
}

pub(crate) fn files(config: &Config) -> Vec<File> {
    let with_quota = config.channels_at().filter(|at| at.channel.quota.is_some());
    with_quota.filter_map(|at| record::create(&path_of(config, at.channel)).ok()).collect()
}

fn settings(channel: &Channel) -> String {
    let Channel { quota, quota_period, quota_day, .. } = channel;
    format!("{quota:?} {quota_period:?} {quota_day:?}")
}

/// Returns the key of an added or changed quota, if any. A quota can only be removed with its
/// channel.
pub(crate) fn changed(was: &Config, is: &Config) -> Option<String> {
    let of = |at: &ChannelAt<'_>| (line_of(at.channel), settings(at.channel));
    let before: BTreeMap<_, _> = was.channels_at().map(|at| of(&at)).collect();
    is.channels_at().find_map(|at| {
        let (line, settings) = of(&at);
        let is_same = before.get(&line).map_or(at.channel.quota.is_none(), |one| *one == settings);
        (!is_same).then(|| at.key("quota"))
    })
}

fn line_of(channel: &Channel) -> String {
    // TCP and UDP may use the same port number.
    let kind = if channel.is_tcp() { "tcp:" } else { "" };
    format!("{kind}{}", channel.place())
}

fn path_of(config: &Config, channel: &Channel) -> PathBuf {
    let state = env::var_os("STATE_DIRECTORY").unwrap_or_else(|| STATE.into());
    PathBuf::from(state).join(format!("{}.{}.quota", config.name, line_of(channel)))
}

pub(crate) fn check(source: &Source<Config>) -> Result<(), InputError> {
    let config = &source.scenario;
    let is_strict = Order::from(config.order) == Order::Strict;
    let first = config.channels_at().next().and_then(|at| at.channel.priority);
    let mut lines = BTreeMap::new();
    for at in config.channels_at() {
        let channel = at.channel;
        let refuse = |key: &str, message: String| Err(source.refuse(&at.key(key), message));
        if is_strict && channel.priority != first {
            let message = "in strict order channels take turns: say order = \"free\"";
            return refuse("priority", message.into());
        }
        if channel.quota == Some(Bytes(0)) {
            return refuse("quota", "no packet would ever be sent: leave the channel out".into());
        }
        if channel.rate.is_some_and(|rate| rate.bytes_per_second() == 0) {
            return refuse("rate", "no packet would ever be sent: leave the channel out".into());
        }
        check_period(channel).or_else(|(key, message)| refuse(key, message))?;
        if let Some(other) = lines.insert(line_of(channel), at.clone())
            && settings(other.channel) != settings(channel)
        {
            let message = format!(
                "{other} has the same local address, and a line has one quota: give it in both"
            );
            return refuse("quota", message);
        }
        if channel.quota.is_none() {
            continue;
        }
        if channel.ethernet.is_some() {
            return refuse("quota", "quotas are supported only on UDP and TCP channels".into());
        }
        let path = path_of(config, channel);
        match Record::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let path = path.display();
                let message =
                    format!("{path} is not a record of a quota: remove it to count from zero");
                return refuse("quota", message);
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_period(channel: &Channel) -> Result<(), (&'static str, String)> {
    let Channel { quota, quota_period, quota_day, .. } = channel;
    if quota.is_none() {
        let key = match (quota_period, quota_day) {
            (Some(_), _) => "quota-period",
            (_, Some(_)) => "quota-day",
            _ => return Ok(()),
        };
        return Err((key, "there is no `quota`: quota = \"50 GB\"".into()));
    }
    let Some(day) = quota_day else { return Ok(()) };
    match quota_period.unwrap_or_default().days() {
        None => {
            Err(("quota-day", "each day is one: leave it out, or count by week or month".into()))
        }
        Some(days) if !days.contains(day) => {
            let message = format!("it is {} to {}, not {day}", days.start(), days.end());
            Err(("quota-day", message))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::QuotaPeriod;

    const DAY_S: u64 = 86_400;

    fn quota(path: &std::path::Path, bytes: u64) -> Quota {
        let calendar = Calendar::new(QuotaPeriod::Day, 1);
        Quota::new(bytes, calendar, Ledger::open(path, 100).expect("a file"))
    }

    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("striped-quota-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// Checks that a quota of 10,000 bytes permits nine datagrams of 1,000 bytes before a crash,
    /// and one after it.
    #[test]
    fn quota_is_exact_over_a_crash() {
        let folder = folder("crash");
        let path = folder.join("one.quota");
        let mut first = quota(&path, 10_000);
        assert_eq!(first.grant_at(100 * DAY_S, 9, 1_000), 9);
        std::mem::forget(first);
        let mut second = quota(&path, 10_000);
        assert_eq!((second.used(), second.grant_at(100 * DAY_S, 5, 1_000)), (9_000, 1));
        assert_eq!(second.grant_at(101 * DAY_S - 1, 1, 1), 0, "it is used up");
        assert_eq!(second.grant_at(101 * DAY_S, 20, 1_000), 10);
        assert_eq!(second.grant_at(0, 1, 1), 0, "a clock that goes back begins nothing");
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn received_bytes_count_towards_the_quota() {
        let folder = folder("came");
        let mut quota = quota(&folder.join("one.quota"), 10_000);
        quota.ends_s = u64::MAX;
        quota.came(9_500);
        assert_eq!((quota.grant_at(0, 2, 400), quota.used()), (1, 9_900));
        quota.came(1_000);
        assert_eq!((quota.grant_at(0, 1, 1), quota.used()), (0, 10_900));
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn unwritable_record_blocks_sending() {
        let full = File::options().write(true).open("/dev/full").expect("every Linux has it");
        let ledger = Ledger { file: Some(full), ..Ledger::lost() };
        let mut quota = Quota::new(10_000, Calendar::new(QuotaPeriod::Day, 1), ledger);
        quota.ends_s = u64::MAX;
        assert_eq!((quota.grant_at(0, 1, 100), quota.used()), (0, 0));
    }
}

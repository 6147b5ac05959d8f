//! Event loop: reads frames from the TAPs and writes them at their arrival times.
//!
//! One thread serves both directions, as most of the time is spent in the kernel's TAP driver. The
//! timer slack is 1 ns instead of the default of 50 us.

use crate::arguments::Arguments;
use crate::direction::Direction;
use crate::end::Tap;
use crate::problem::Problem;
use crate::report;
use gingham_kernel::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::AsFd;

const CHECK_INTERVAL: Span = Span::from_ns(200_000_000);
const FRAMES_A_TURN: usize = 64;
/// Receive buffer length in bytes, more than an MTU of 65,535 plus the Ethernet header.
const FRAME_BYTES_MAX: usize = 66_000;
type Reason = String;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Problem> {
    let direction = |plan, name: &str| {
        Direction::new(plan, arguments.seed, name, arguments.late)
            .map_err(|error| Problem::Input(error.to_string()))
    };
    let directions =
        [direction(arguments.forth()?, "forth")?, direction(arguments.back()?, "back")?];
    let signals = signals().map_err(|error| Problem::Environment(error.to_string()))?;
    let tap = |end| Tap::new(end, arguments.mtu);
    let taps = [tap(&arguments.left)?, tap(&arguments.right)?];
    report::print(&report::ready(&taps));
    let mut pump =
        Pump { taps, directions, signals, clock: Clock::new(), buffer: vec![0; FRAME_BYTES_MAX] };
    let reason = pump.run().map_err(|error| Problem::Environment(error.to_string()))?;
    let mut end = report::counters("end", pump.clock.seconds(), &pump.directions);
    end["because"] = reason.into();
    report::print(&end);
    Ok(())
}

fn signals() -> nix::Result<SignalFd> {
    let mut mask = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1] {
        mask.add(signal);
    }
    mask.thread_block()?;
    set_timerslack(1)?;
    SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
}

#[expect(clippy::disallowed_types, reason = "a link between real interfaces lives in real time")]
struct Clock {
    start: std::time::Instant,
}

#[expect(clippy::disallowed_types, reason = "a link between real interfaces lives in real time")]
impl Clock {
    fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }

    fn now(&self) -> Time {
        let nanoseconds = u64::try_from(self.start.elapsed().as_nanos());
        Time::ZERO + Span::from_ns(nanoseconds.expect("no process runs for centuries"))
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

struct Pump {
    taps: [Tap; 2],
    directions: [Direction; 2],
    signals: SignalFd,
    clock: Clock,
    buffer: Vec<u8>,
}

impl Pump {
    fn run(&mut self) -> io::Result<Reason> {
        let mut check_at = Time::ZERO + CHECK_INTERVAL;
        loop {
            for index in [0, 1] {
                if let Some(reason) = self.deliver(index) {
                    return Ok(reason);
                }
                if let Some(reason) = self.take(index)? {
                    return Ok(reason);
                }
            }
            if let Some(reason) = self.signalled()? {
                return Ok(reason);
            }
            let now = self.clock.now();
            if now >= check_at {
                check_at = now + CHECK_INTERVAL;
                if let Some(tap) = self.taps.iter().find(|tap| !tap.is_there()) {
                    return Ok(format!("the namespace {} is gone", tap.end.namespace));
                }
            }
            self.wait(check_at)?;
        }
    }

    fn deliver(&mut self, index: usize) -> Option<Reason> {
        let (direction, tap) = (&mut self.directions[index], &self.taps[1 - index]);
        let write = |frame: &[u8]| match tap.device.send(frame) {
            Ok(_) => Ok(true),
            Err(error) if is_gone(&error) => Err(error),
            // The interface is down, or the kernel has no buffer: the frame is lost, as on a cable.
            Err(_) => Ok(false),
        };
        while let Some(taken) = direction.deliver(self.clock.now(), write) {
            if taken.is_err() {
                return Some(format!("the interface {} is gone", tap.end));
            }
        }
        None
    }

    fn take(&mut self, index: usize) -> io::Result<Option<Reason>> {
        let tap = &self.taps[index];
        for _ in 0..FRAMES_A_TURN {
            match tap.device.recv(&mut self.buffer) {
                Ok(0) => {}
                Ok(bytes) => self.directions[index].offer(self.clock.now(), &self.buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_gone(&error) => {
                    return Ok(Some(format!("the interface {} is gone", tap.end)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn signalled(&self) -> io::Result<Option<Reason>> {
        while let Some(signal) = self.signals.read_signal()? {
            let number = i32::try_from(signal.ssi_signo).expect("signals have small numbers");
            let signal = Signal::try_from(number)?;
            if signal != Signal::SIGUSR1 {
                return Ok(Some(signal.to_string()));
            }
            report::print(&report::counters("counters", self.clock.seconds(), &self.directions));
        }
        Ok(None)
    }

    fn wait(&self, check_at: Time) -> io::Result<()> {
        let arrivals = self.directions.iter().filter_map(Direction::next_arrival);
        let until = arrivals.min().map_or(check_at, |at| at.min(check_at));
        let left_ps = until.as_ps().saturating_sub(self.clock.now().as_ps());
        let left = std::time::Duration::from_nanos(left_ps.div_ceil(1_000));
        let on = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let [left_tap, right_tap] = self.taps.each_ref().map(|tap| on(tap.device.as_fd()));
        let mut fds = [left_tap, right_tap, on(self.signals.as_fd())];
        match ppoll(&mut fds, Some(TimeSpec::from_duration(left)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EBADFD | Errno::ENODEV))
}

//! One end of a pipe over UDP: sends or receives synthetic packets, and prints statistics.
//!
//! ```text
//!   ip netns exec left  pipe --channel 10.0.0.1:7000,10.0.0.2:7000 --channel ... --offer all --time 10s
//!   ip netns exec right pipe --channel 10.0.0.2:7000,10.0.0.1:7000 --channel ... --time 11s
//! ```
//!
//! Nothing is encrypted. Packets carry a number and their sending time, by the clock of the
//! machine.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod packets;

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "what it measured is what it is for")]
fn main() -> std::process::ExitCode {
    use clap::Parser;

    match run(&arguments::Arguments::parse()) {
        Ok(summary) => {
            println!("{summary}");
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("pipe: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn run(arguments: &arguments::Arguments) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    use gingham_stripe_udp::{End, now};

    let started_at = now();
    let ends_at = started_at.after(arguments.time);
    let mut end = End::open(&arguments.plan(), arguments.channels(), arguments::epoch())?;
    let mut packets = packets::Packets::new(arguments, ends_at);
    let mut measured = measure::Measured::new(arguments.from, arguments.packet_bytes);
    loop {
        end.receive();
        while let Some(packet) = end.next_packet() {
            measured.take(now(), &packet.bytes);
        }
        packets.refill(now(), end.longest_bytes());
        end.transmit(&mut packets);
        if now() >= ends_at {
            return Ok(measured.summary(&end, packets.taken));
        }
        end.wait(Some(packets.next_at().unwrap_or(ends_at).min(ends_at)), &[])?;
    }
}

//! Many idle peers of one server, whose cost is measured there.
//!
//! ```sh
//! cargo run --example idle_peers -- --peers 256 --keys                  # their public keys, a line each
//! cargo run --example idle_peers -- --peers 256 --server KEY --address 127.0.0.1:7000 --time 60
//! ```
//!
//! Private keys are consecutive numbers, suitable only for measurements.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::io::{Write, stdout};
    use std::net::{Ipv4Addr, SocketAddr};
    use std::thread::spawn;
    use std::time::Duration;

    use clap::Parser;
    use gingham_stripe::Epoch;
    use gingham_stripe_crypt::{PeerPlan, PrivateKey, PublicKey, Times};
    use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Source, now};

    /// Default of the server (`channels-max`).
    const CHANNELS_MAX: usize = 8;
    /// Many idle peers
    #[derive(Parser)]
    struct Arguments {
        /// Number of peers
        #[arg(long)]
        peers: u64,
        /// Print their public keys and exit
        #[arg(long)]
        keys: bool,
        /// Public key of the server
        #[arg(long)]
        server: Option<String>,
        /// Address of the server
        #[arg(long, default_value = "127.0.0.1:7000")]
        address: SocketAddr,
        /// Channels per peer
        #[arg(long, default_value_t = 2)]
        channels: usize,
        /// Duration in seconds
        #[arg(long, default_value_t = 60)]
        time: u64,
    }

    struct Nothing;

    impl Source for Nothing {
        fn next_bytes(&mut self) -> Option<usize> {
            None
        }
        fn take(&mut self, _: &mut Vec<u8>) {}
    }

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let arguments = Arguments::parse();
        // The lowest three bits of a key are not used (RFC 7748, section 5).
        let key = |number: u64| format!("{:064x}", (number + 1) << 8).parse::<PrivateKey>();
        let keys = (0..arguments.peers).map(key).collect::<Result<Vec<_>, _>>()?;
        if arguments.keys {
            for key in &keys {
                writeln!(stdout(), "{}", key.public())?;
            }
            return Ok(());
        }
        let server: PublicKey = arguments.server.ok_or("whose peers are they?")?.parse()?;
        let local = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let channel = ChannelPlan { local, interface: None, mark: None, remote: arguments.address };
        let until = now().after(Duration::from_secs(arguments.time));
        let rest = move |private| {
            let peer = PeerPlan { private, peer: server, preshared: None, times: Times::default() };
            let channels_max = Some(CHANNELS_MAX);
            let plan = EndPlan { peer: Some(peer), channels_max, ..EndPlan::free(1_400) };
            let channels = vec![channel.clone(); arguments.channels];
            let mut end = End::open(&plan, channels, Epoch::new(1)).expect("sockets");
            while now() < until {
                end.receive();
                end.transmit(&mut Nothing);
                end.wait(Some(until), &[]).expect("it waits");
            }
        };
        #[expect(clippy::disallowed_methods, reason = "a program that stands for many")]
        let peers: Vec<_> = keys
            .into_iter()
            .map(|key| {
                let rest = rest.clone();
                spawn(move || rest(key))
            })
            .collect();
        for peer in peers {
            peer.join().map_err(|_| "a peer has ended")?;
        }
        Ok(())
    }
}

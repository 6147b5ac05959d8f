//! Copies a file over several TCP connections. Start it first at the receiver, then at the sender:
//!
//! ```text
//! striped_copy receive 0.0.0.0:7000 > copy
//! striped_copy send 192.0.2.1:7000 198.51.100.1:7000 < file      # one address per connection
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, copy};
use std::net::{TcpListener, TcpStream};

use gingham_stripe_stream::{Greeting, StreamPlan, StripedReader, StripedWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((what, to)) if what == "send" && !to.is_empty() => send(to),
        Some((what, [at])) if what == "receive" => receive(at),
        _ => Err("striped_copy send ADDRESS:PORT ... | striped_copy receive ADDRESS:PORT".into()),
    }
}

fn send(to: &[String]) -> Result<(), Box<dyn Error>> {
    let connections = to.iter().map(TcpStream::connect).collect::<Result<_, _>>()?;
    let mut writer = StripedWriter::new(connections, &StreamPlan::default())?;
    copy(&mut io::stdin().lock(), &mut writer)?;
    writer.finish()?;
    Ok(())
}

fn receive(at: &str) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(at)?;
    // Connections of several streams may be accepted in any order.
    let mut streams: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    let whole = loop {
        let (mut connection, _) = listener.accept()?;
        let greeting = Greeting::read_from(&mut connection)?;
        let (stream, count) = (greeting.stream, greeting.connections);
        let come = streams.entry(stream).or_default();
        come.push((greeting, connection));
        if come.len() == count {
            break streams.remove(&stream).unwrap_or_default();
        }
    };
    copy(&mut StripedReader::greeted(whole)?, &mut io::stdout().lock())?;
    Ok(())
}

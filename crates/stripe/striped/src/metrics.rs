//! Prometheus metrics over HTTP, served by the packet loop.
//!
//! Source: RFC 9112; openmetrics.io.
//!
//! Invariants: the loop never blocks on a client; connections are bounded in number, lifetime and
//! bytes.

mod families;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::{Acceptor, close_oldest};
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use crate::status::Status;

/// Maximum number of clients; an additional client closes the oldest connection.
const CLIENTS_MAX: usize = 4;
const HEAD_BYTES_MAX: usize = 4_096;
const HEADERS_MAX: usize = 32;
const WAIT: Duration = Duration::from_secs(5);
/// Send buffer size in bytes, enough for a complete reply with 64 channels.
const BUFFER_BYTES: usize = 256 << 10;

pub(crate) struct MetricsServer {
    listener: TcpListener,
    acceptor: Acceptor,
    clients: Vec<Client>,
}

struct Client {
    stream: TcpStream,
    until: Instant,
    head: Vec<u8>,
    response: Option<Vec<u8>>,
}

impl MetricsServer {
    pub(crate) fn open(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        sockopt::set_socket_send_buffer_size(&listener, BUFFER_BYTES)?;
        Ok(Self { listener, acceptor: Acceptor::default(), clients: Vec::new() })
    }

    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let reading = self.clients.iter().filter(|client| client.response.is_none());
        let listener = (!self.acceptor.rests()).then(|| self.listener.as_fd());
        listener.into_iter().chain(reading.map(|client| client.stream.as_fd()))
    }

    pub(crate) fn serve(&mut self, now: Instant, status: impl Fn() -> Status) {
        let Self { listener, acceptor, clients } = self;
        acceptor.begin(now);
        let accept = || listener.accept();
        while let Some((stream, _)) = acceptor.next(now, accept, || close_oldest(clients)) {
            if clients.len() == CLIENTS_MAX {
                close_oldest(clients);
            }
            let until = now.after(WAIT);
            clients.push(Client { stream, until, head: Vec::new(), response: None });
        }
        self.clients.retain_mut(|client| now < client.until && client.goes_on(&status));
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let is_due = |client: &Client| client.response.is_some() || client.until <= now;
        self.clients.iter().any(is_due) || self.acceptor.next_at().is_some_and(|at| at <= now)
    }
}

impl Client {
    fn goes_on(&mut self, status: &impl Fn() -> Status) -> bool {
        let mut bytes = [0; 1_024];
        while self.response.is_none() {
            match recv(&self.stream, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return false,
                Ok((count, _)) => self.head.extend_from_slice(&bytes[..count]),
                Err(error) => return error == rustix::io::Errno::AGAIN,
            }
            self.response = response(&self.head, status);
        }
        let response = self.response.get_or_insert_default();
        while !response.is_empty() {
            match send(&self.stream, response, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => drop(response.drain(..count)),
                Err(error) => return error == rustix::io::Errno::AGAIN,
            }
        }
        false
    }
}

fn response(head: &[u8], status: &impl Fn() -> Status) -> Option<Vec<u8>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let parsed = request.parse(head);
    let path = request.path.map(|path| path.split('?').next().unwrap_or_default());
    let (state, body) = match (parsed, request.method, path) {
        (Ok(httparse::Status::Partial), ..) if head.len() <= HEAD_BYTES_MAX => return None,
        (Ok(httparse::Status::Complete(_)), Some("GET"), Some("/metrics")) => {
            ("200 OK", families::text_of(status()))
        }
        (Ok(httparse::Status::Complete(_)), Some("GET"), _) => {
            ("404 Not Found", "metrics are at /metrics\n".into())
        }
        (Ok(httparse::Status::Complete(_)), ..) => {
            ("405 Method Not Allowed", "metrics are read by GET\n".into())
        }
        _ => ("400 Bad Request", String::new()),
    };
    let kind = match state {
        "200 OK" => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {state}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    Some([head, body].concat().into_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use gingham_stripe_udp::ACCEPTED_A_TURN;

    use super::*;

    fn asked(head: &str) -> Option<String> {
        let response = response(head.as_bytes(), &Status::default)?;
        Some(String::from_utf8(response).expect("text").lines().next().unwrap_or_default().into())
    }

    #[test]
    fn complete_requests_get_a_response() {
        assert_eq!(asked("GET /metrics HTTP/1.1\r\nHost: a\r\n"), None);
        let status_line = |head| asked(head).expect("an answer");
        assert_eq!(status_line("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200 OK");
        assert_eq!(status_line("GET /metrics?x=1 HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK");
        assert_eq!(status_line("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
        assert_eq!(
            status_line("POST /metrics HTTP/1.1\r\n\r\n"),
            "HTTP/1.1 405 Method Not Allowed"
        );
        assert_eq!(status_line("\u{1}\u{2}\r\n\r\n"), "HTTP/1.1 400 Bad Request");
        assert_eq!(status_line(&format!("GET /{}", "x".repeat(5_000))), "HTTP/1.1 400 Bad Request");
    }

    #[test]
    fn silent_client_is_closed_and_request_gets_a_response() -> io::Result<()> {
        let at = |seconds: u64| Instant::from_nanoseconds(seconds * 1_000_000_000);
        let mut server = MetricsServer::open("127.0.0.1:0".parse().expect("an address"))?;
        let address = server.listener.local_addr()?;
        let mut silent = TcpStream::connect(address)?;
        server.serve(at(1), Status::default);
        assert_eq!((server.clients.len(), server.fds().count()), (1, 2));
        let mut asking = TcpStream::connect(address)?;
        asking.write_all(b"GET /metrics HTTP/1.1\r\n\r\n")?;
        while server.clients.len() < 2 {
            server.serve(at(2), Status::default);
            if server.clients.len() == 1 {
                break;
            }
        }
        server.serve(at(2), Status::default);
        let mut text = String::new();
        asking.read_to_string(&mut text)?;
        assert!(text.ends_with("# EOF\n"), "{text}");
        assert!(!server.is_due(at(5)) && server.is_due(at(6)));
        server.serve(at(7), Status::default);
        assert!(server.clients.is_empty() && !server.is_due(at(7)));
        assert_eq!(silent.read(&mut [0; 1])?, 0);
        Ok(())
    }

    #[test]
    fn accepts_per_turn_are_bounded() -> io::Result<()> {
        let at = |seconds: u64| Instant::from_nanoseconds(seconds * 1_000_000_000);
        let mut server = MetricsServer::open("127.0.0.1:0".parse().expect("an address"))?;
        let address = server.listener.local_addr()?;
        let connect = |_| TcpStream::connect(address);
        let mut streams = (0..=ACCEPTED_A_TURN).map(connect).collect::<io::Result<Vec<_>>>()?;
        let last = streams.last_mut().expect("there are some").local_addr()?;
        let is_taken = |server: &MetricsServer| {
            server.clients.iter().any(|one| one.stream.peer_addr().is_ok_and(|at| at == last))
        };
        server.serve(at(1), Status::default);
        assert_eq!((server.clients.len(), is_taken(&server)), (CLIENTS_MAX, false));
        server.serve(at(1), Status::default);
        assert!(is_taken(&server));
        server.acceptor.begin(at(2));
        let refuse = || -> io::Result<()> { Err(nix::errno::Errno::EMFILE.into()) };
        assert_eq!(server.acceptor.next(at(2), refuse, || false), None);
        assert_eq!(server.fds().count(), CLIENTS_MAX);
        assert!(!server.is_due(at(2)) && server.is_due(at(3)));
        server.serve(at(3), Status::default);
        assert_eq!(server.fds().count(), 1 + CLIENTS_MAX);
        Ok(())
    }
}

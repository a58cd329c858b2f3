//! Serves one connection to the proxy.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::address::is_open_address;
use super::body;
use super::host::{Host, unmapped};
use super::request::{self, MAX_HEAD_BYTES, ProxyRequest, ProxyRequestKind};
use super::resolve::Resolver;
use super::rule::ParsedRule;
use super::socks;
use super::tunnel;
use crate::{DenialLog, DeniedAccess};

/// Time limit for a client to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for connecting to one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of a name's addresses that are tried.
const MAX_ADDRESSES: usize = 4;
/// Maximum number of concurrent connections; further ones are closed at once.
const MAX_CONNECTIONS: usize = 256;

/// The state shared by all connections.
pub(super) struct ProxyState {
    rules: Vec<ParsedRule>,
    resolve: Arc<dyn Resolver>,
    denials: DenialLog,
    live: Mutex<OpenConnections>,
}

/// The open streams, so that they can be closed.
struct OpenConnections {
    next: u64,
    open: HashMap<u64, Vec<TcpStream>>,
    is_ended: bool,
}

/// The reason that a host was not reached.
pub(super) enum HostUnreachable {
    /// The rules forbid it.
    Denied(String),
    /// The connection or the name resolution failed.
    Failed(String),
}

impl ProxyState {
    pub(super) fn new(
        rules: Vec<ParsedRule>,
        denials: DenialLog,
        resolve: Arc<dyn Resolver>,
    ) -> Self {
        Self {
            rules,
            resolve,
            denials,
            live: Mutex::new(OpenConnections {
                next: 0,
                open: HashMap::new(),
                is_ended: false,
            }),
        }
    }

    pub(super) fn deny(&self, host: impl Into<String>, port: u16) {
        let mut host: String = host.into();
        if let Some((end, _)) = host.char_indices().nth(255) {
            host.truncate(end);
        }
        self.denials.add(DeniedAccess::Host { host, port });
    }

    /// Closes all connections; later ones are closed at once.
    pub(super) fn cut_all(&self) {
        let mut live = self.live();
        live.is_ended = true;
        for stream in live.open.values().flatten() {
            shut(stream, Shutdown::Both);
        }
    }

    fn live(&self) -> MutexGuard<'_, OpenConnections> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a stream of a connection.
    fn track(&self, id: u64, stream: TcpStream) {
        let mut live = self.live();
        if live.is_ended {
            shut(&stream, Shutdown::Both);
        }
        live.open.entry(id).or_default().push(stream);
    }

    /// Connects to a host, or returns the reason. Refusals are recorded.
    fn reach(&self, id: u64, host: &Host, port: u16) -> Result<TcpStream, HostUnreachable> {
        let reached = self.connect(host, port);
        match &reached {
            Err(HostUnreachable::Denied(_)) => self.deny(host.to_string(), port),
            Err(HostUnreachable::Failed(_)) => {}
            Ok(stream) => match stream.try_clone() {
                Ok(twin) => self.track(id, twin),
                Err(error) => {
                    let why = format!("cannot keep the connection to {host}: {error}");
                    return Err(HostUnreachable::Failed(why));
                }
            },
        }
        reached
    }

    /// Connects to a host. `Denied` if no rule grants it, or if all its addresses are private and
    /// not listed themselves; `Failed` if it has no address or none of the first `MAX_ADDRESSES`
    /// can be reached.
    fn connect(&self, host: &Host, port: u16) -> Result<TcpStream, HostUnreachable> {
        if !self.rules.iter().any(|rule| rule.admits(host, port)) {
            let why = format!("{host}:{port} is not on the list of hosts this command may reach");
            return Err(HostUnreachable::Denied(why));
        }
        let addresses = self.addresses(host)?;
        let is_named = |address| self.rules.iter().any(|rule| rule.names(address, port));
        let mut may: Vec<IpAddr> = Vec::new();
        for address in addresses.iter().copied().map(unmapped) {
            if !may.contains(&address) && (is_named(address) || is_open_address(address)) {
                may.push(address);
            }
        }
        if may.is_empty() {
            let first = addresses.first().map(IpAddr::to_string).unwrap_or_default();
            let why = format!(
                "{host} leads to {first}, which is this machine, a neighbour of it or no place of \
                 the open internet; to reach it the list must name that address and port {port}"
            );
            return Err(HostUnreachable::Denied(why));
        }
        let mut why = String::new();
        for address in may.into_iter().take(MAX_ADDRESSES) {
            match TcpStream::connect_timeout(&SocketAddr::new(address, port), CONNECT_TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(error) => why = format!("cannot reach {host}:{port} at {address}: {error}"),
            }
        }
        Err(HostUnreachable::Failed(why))
    }

    /// Resolves a host; an address is returned as it is. Fails with `Failed` if there is none, so
    /// the result is not empty.
    fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, HostUnreachable> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let why = match self.resolve.addresses(name) {
            Ok(addresses) if !addresses.is_empty() => return Ok(addresses),
            Ok(_) => format!("{name} has no address"),
            Err(error) => format!("cannot resolve {name}: {error}"),
        };
        Err(HostUnreachable::Failed(why))
    }
}

/// Shuts down one or both directions; an error means that the stream was closed already.
pub(super) fn shut(stream: &TcpStream, how: Shutdown) {
    stream.shutdown(how).ok();
}

/// Serves a connection to the proxy on its own thread.
pub(super) fn serve_in_thread(stream: TcpStream, shared: &Arc<ProxyState>) {
    run_in_thread(stream, shared, serve);
}

/// Serves a connection to a forwarded port on its own thread.
pub(super) fn forward_in_thread(stream: TcpStream, shared: &Arc<ProxyState>) {
    run_in_thread(stream, shared, forward_loopback);
}

type Served = fn(&TcpStream, &ProxyState, u64) -> io::Result<()>;

fn run_in_thread(stream: TcpStream, shared: &Arc<ProxyState>, served: Served) {
    let id = {
        let mut live = shared.live();
        if live.is_ended || live.open.len() >= MAX_CONNECTIONS {
            return shut(&stream, Shutdown::Both);
        }
        live.next += 1;
        live.next
    };
    let twin = match stream
        .set_nonblocking(false)
        .and_then(|()| stream.try_clone())
    {
        Ok(twin) => twin,
        Err(error) => return log::debug!("cannot take a connection to the proxy: {error}"),
    };
    shared.track(id, twin);
    let theirs = Arc::clone(shared);
    let serving = thread::Builder::new()
        .name("sandbox connection".to_owned())
        .stack_size(256 << 10)
        .spawn(move || {
            if let Err(error) = served(&stream, &theirs, id) {
                log::debug!("a connection to the proxy ended: {error}");
            }
            shut(&stream, Shutdown::Both);
            theirs.live().open.remove(&id);
        });
    if let Err(error) = serving {
        log::warn!("cannot serve a connection to the proxy: {error}");
        shared.live().open.remove(&id);
    }
}

/// Forwards everything to the address and port that the client called, on the machine's own
/// loopback. If only the other address of `localhost` is served, that one is used, since the client
/// cannot try it itself.
fn forward_loopback(stream: &TcpStream, shared: &ProxyState, id: u64) -> io::Result<()> {
    let called = stream.local_addr()?;
    let (address, port) = (unmapped(called.ip()), called.port());
    let other: Option<IpAddr> = match address {
        IpAddr::V4(v4) if v4 == Ipv4Addr::LOCALHOST => Some(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V6(v6) if v6 == Ipv6Addr::LOCALHOST => Some(Ipv4Addr::LOCALHOST.into()),
        _ => None,
    };
    let host = Host::of_address(address);
    let why = match shared.reach(id, &host, port) {
        Ok(server) => return tunnel::join(stream, &server),
        Err(HostUnreachable::Denied(why) | HostUnreachable::Failed(why)) => why,
    };
    let is_given = |host: &Host| shared.rules.iter().any(|rule| rule.admits(host, port));
    let other = other.map(Host::of_address).filter(is_given);
    match other.map(|other| shared.reach(id, &other, port)) {
        Some(Ok(server)) => tunnel::join(stream, &server),
        // Closing the connection is the only possible answer without a proxy protocol.
        _ => Err(io::Error::other(why)),
    }
}

/// Serves a connection to the proxy: SOCKS 5 if its first byte is 5, otherwise HTTP. `Ok` if the
/// client closes it without sending anything.
fn serve(stream: &TcpStream, shared: &ProxyState, id: u64) -> io::Result<()> {
    stream.set_read_timeout(Some(HEAD_TIMEOUT))?;
    let mut client = BufReader::new(stream);
    let first = client.fill_buf()?.first().copied();
    match first {
        None => Ok(()),
        Some(5) => {
            client.consume(1);
            serve_socks(stream, client, shared, id)
        }
        Some(_) => serve_http(stream, client, shared, id),
    }
}

/// Serves one HTTP request, or the tunnel that it asks for. `Ok` even if a refusal was sent; fails
/// if the connection breaks.
fn serve_http(
    stream: &TcpStream,
    mut client: BufReader<&TcpStream>,
    shared: &ProxyState,
    id: u64,
) -> io::Result<()> {
    let head = head(&mut client)?;
    let ProxyRequest {
        kind: what,
        host,
        port,
    } = match request::parse(&head) {
        Ok(request) => request,
        Err(bad) => {
            shared.deny(requested_target(&head), 0);
            return respond(stream, "400 Bad Request", &bad.to_string());
        }
    };
    let server = match shared.reach(id, &host, port) {
        Ok(server) => server,
        Err(HostUnreachable::Denied(why)) => return respond(stream, "403 Forbidden", &why),
        Err(HostUnreachable::Failed(why)) => return respond(stream, "502 Bad Gateway", &why),
    };
    match what {
        ProxyRequestKind::Tunnel => {
            (&*stream).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            relay(
                stream,
                client,
                &server,
                &tunnel::TunnelTarget { host, port },
                shared,
            )
        }
        ProxyRequestKind::Forward { head, body } => {
            stream.set_read_timeout(None)?;
            thread::scope(|scope| {
                scope.spawn(|| tunnel::copy_back(&server, stream));
                let sent = (&server)
                    .write_all(&head)
                    .and_then(|()| body::copy_body(body, &mut client, &mut &server));
                if sent.is_err() {
                    // The client ended in the middle of a request.
                    shut(&server, Shutdown::Both);
                }
                sent
            })
        }
    }
}

/// Serves a SOCKS 5 request, after its first byte, and its tunnel. `Ok` even if a refusal was sent;
/// fails if the connection breaks.
fn serve_socks(
    stream: &TcpStream,
    mut client: BufReader<&TcpStream>,
    shared: &ProxyState,
    id: u64,
) -> io::Result<()> {
    let mut both = ReadWritePair(&mut client, stream);
    let Some(asked) = socks::read_request(&mut both)? else {
        return Ok(());
    };
    let answer = |answer| socks::reply(&mut &*stream, answer);
    let port = asked.port;
    let Ok(host) = asked.host else {
        shared.deny(asked.text, port);
        return answer(socks::SocksReply::NotAllowed);
    };
    let server = match shared.reach(id, &host, port) {
        Ok(server) => server,
        Err(HostUnreachable::Denied(_)) => return answer(socks::SocksReply::NotAllowed),
        Err(HostUnreachable::Failed(_)) => return answer(socks::SocksReply::Unreachable),
    };
    answer(socks::SocksReply::Done)?;
    relay(
        stream,
        client,
        &server,
        &tunnel::TunnelTarget { host, port },
        shared,
    )
}

/// Forwards the bytes already read, then everything that follows.
fn relay(
    stream: &TcpStream,
    client: BufReader<&TcpStream>,
    server: &TcpStream,
    named: &tunnel::TunnelTarget,
    shared: &ProxyState,
) -> io::Result<()> {
    let early = client.buffer().to_vec();
    drop(client);
    tunnel::relay(stream, &early, server, named, shared)
}

/// Reads from one stream and writes to the other.
struct ReadWritePair<'a, R, W>(&'a mut R, W);

impl<R: Read, W> Read for ReadWritePair<'_, R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R> Write for ReadWritePair<'_, R, &TcpStream> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the head of a request with its final empty line, or as much as exceeds the limit.
fn head(client: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < MAX_HEAD_BYTES {
        let rest = (MAX_HEAD_BYTES - head.len()) as u64;
        let before = head.len();
        if client.take(rest).read_until(b'\n', &mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if matches!(&head[before..], b"\r\n" | b"\n") {
            break;
        }
    }
    Ok(head)
}

/// Returns the target that an unparsable request seems to want, for the record.
fn requested_target(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let target = line.split(' ').nth(1).unwrap_or(&line);
    target.trim_end().escape_default().to_string()
}

/// Sends an error response with `why` as its text.
fn respond(mut stream: &TcpStream, status: &str, why: &str) -> io::Result<()> {
    let text = format!("burin: {why}\n");
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    )
}

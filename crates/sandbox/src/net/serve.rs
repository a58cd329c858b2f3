//! One connection to the proxy, from its first byte to its last.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::address::is_open;
use super::body;
use super::host::{Host, plain};
use super::request::{self, LONGEST_HEAD, Request, What};
use super::resolve::Resolve;
use super::rule::Rule;
use super::socks;
use super::tunnel;
use crate::{Denials, Denied};

/// How long a client may take for the head of its request.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one address may take to answer.
const CONNECT: Duration = Duration::from_secs(10);
/// At most so many addresses of a name are tried.
const MOST_TRIES: usize = 4;
/// More connections at once are cut at once.
const MOST_CONNECTIONS: usize = 256;

/// What all connections share.
pub(super) struct Shared {
    rules: Vec<Rule>,
    resolve: Arc<dyn Resolve>,
    denials: Denials,
    live: Mutex<Live>,
}

/// The streams that are open, so that they can be cut.
struct Live {
    next: u64,
    open: HashMap<u64, Vec<TcpStream>>,
    is_ended: bool,
}

/// Why a host is not reached.
pub(super) enum Unreached {
    /// It may not be.
    Denied(String),
    /// It cannot be.
    Failed(String),
}

impl Shared {
    pub(super) fn new(rules: Vec<Rule>, denials: Denials, resolve: Arc<dyn Resolve>) -> Self {
        Self {
            rules,
            resolve,
            denials,
            live: Mutex::new(Live {
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
        self.denials.add(Denied::Host { host, port });
    }

    /// Cuts everything; what begins later is cut at once.
    pub(super) fn cut_all(&self) {
        let mut live = self.live();
        live.is_ended = true;
        for stream in live.open.values().flatten() {
            shut(stream, Shutdown::Both);
        }
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a stream of a connection.
    fn keep(&self, id: u64, stream: TcpStream) {
        let mut live = self.live();
        if live.is_ended {
            shut(&stream, Shutdown::Both);
        }
        live.open.entry(id).or_default().push(stream);
    }

    /// Connects to a host, or says why not. What is refused is recorded.
    fn reach(&self, id: u64, host: &Host, port: u16) -> Result<TcpStream, Unreached> {
        let reached = self.connect(host, port);
        match &reached {
            Err(Unreached::Denied(_)) => self.deny(host.to_string(), port),
            Err(Unreached::Failed(_)) => {}
            Ok(stream) => match stream.try_clone() {
                Ok(twin) => self.keep(id, twin),
                Err(error) => {
                    let why = format!("cannot hold on to {host}: {error}");
                    return Err(Unreached::Failed(why));
                }
            },
        }
        reached
    }

    fn connect(&self, host: &Host, port: u16) -> Result<TcpStream, Unreached> {
        if !self.rules.iter().any(|rule| rule.admits(host, port)) {
            let why = format!("{host}:{port} is not on the list of hosts this command may reach");
            return Err(Unreached::Denied(why));
        }
        let addresses = self.addresses(host)?;
        let is_named = |address| self.rules.iter().any(|rule| rule.names(address, port));
        let mut may: Vec<IpAddr> = Vec::new();
        for address in addresses.iter().copied().map(plain) {
            if !may.contains(&address) && (is_named(address) || is_open(address)) {
                may.push(address);
            }
        }
        if may.is_empty() {
            let first = addresses.first().map(IpAddr::to_string).unwrap_or_default();
            let why = format!(
                "{host} leads to {first}, which is this machine, a neighbour of it or no place of \
                 the open internet; to reach it the list must name that address and port {port}"
            );
            return Err(Unreached::Denied(why));
        }
        let mut why = String::new();
        for address in may.into_iter().take(MOST_TRIES) {
            match TcpStream::connect_timeout(&SocketAddr::new(address, port), CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(error) => why = format!("cannot reach {host}:{port} at {address}: {error}"),
            }
        }
        Err(Unreached::Failed(why))
    }

    fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Unreached> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let why = match self.resolve.addresses(name) {
            Ok(addresses) if !addresses.is_empty() => return Ok(addresses),
            Ok(_) => format!("{name} has no address"),
            Err(error) => format!("cannot find the address of {name}: {error}"),
        };
        Err(Unreached::Failed(why))
    }
}

/// Ends one or both directions. One that has ended already has ended.
pub(super) fn shut(stream: &TcpStream, how: Shutdown) {
    stream.shutdown(how).ok();
}

/// Serves a connection to the proxy on a thread of its own.
pub(super) fn begin(stream: TcpStream, shared: &Arc<Shared>) {
    begin_with(stream, shared, serve);
}

/// The same for a connection to a port that leads to the machine.
pub(super) fn begin_leading_on(stream: TcpStream, shared: &Arc<Shared>) {
    begin_with(stream, shared, lead_on);
}

type Served = fn(&TcpStream, &Shared, u64) -> io::Result<()>;

fn begin_with(stream: TcpStream, shared: &Arc<Shared>, served: Served) {
    let id = {
        let mut live = shared.live();
        if live.is_ended || live.open.len() >= MOST_CONNECTIONS {
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
    shared.keep(id, twin);
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

/// Hands everything on to the address and port that the client called, which are the machine's own. A server that
/// listens on the other address of `localhost` alone is reached too: the client has no other chance to try it.
fn lead_on(stream: &TcpStream, shared: &Shared, id: u64) -> io::Result<()> {
    let called = stream.local_addr()?;
    let (address, port) = (plain(called.ip()), called.port());
    let other: Option<IpAddr> = match address {
        IpAddr::V4(v4) if v4 == Ipv4Addr::LOCALHOST => Some(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V6(v6) if v6 == Ipv6Addr::LOCALHOST => Some(Ipv4Addr::LOCALHOST.into()),
        _ => None,
    };
    let host = Host::of_address(address);
    let why = match shared.reach(id, &host, port) {
        Ok(server) => return tunnel::join(stream, &server),
        Err(Unreached::Denied(why) | Unreached::Failed(why)) => why,
    };
    let is_given = |host: &Host| shared.rules.iter().any(|rule| rule.admits(host, port));
    let other = other.map(Host::of_address).filter(is_given);
    match other.map(|other| shared.reach(id, &other, port)) {
        Some(Ok(server)) => tunnel::join(stream, &server),
        // A connection that is cut says as much as there is to say without a proxy's answer.
        _ => Err(io::Error::other(why)),
    }
}

fn serve(stream: &TcpStream, shared: &Shared, id: u64) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
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

fn serve_http(
    stream: &TcpStream,
    mut client: BufReader<&TcpStream>,
    shared: &Shared,
    id: u64,
) -> io::Result<()> {
    let head = head(&mut client)?;
    let Request { what, host, port } = match request::parse(&head) {
        Ok(request) => request,
        Err(bad) => {
            shared.deny(asked_for(&head), 0);
            return say(stream, "400 Bad Request", &bad.to_string());
        }
    };
    let server = match shared.reach(id, &host, port) {
        Ok(server) => server,
        Err(Unreached::Denied(why)) => return say(stream, "403 Forbidden", &why),
        Err(Unreached::Failed(why)) => return say(stream, "502 Bad Gateway", &why),
    };
    match what {
        What::Tunnel => {
            (&*stream).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            relay(
                stream,
                client,
                &server,
                &tunnel::Named { host, port },
                shared,
            )
        }
        What::Forward { head, body } => {
            stream.set_read_timeout(None)?;
            thread::scope(|scope| {
                scope.spawn(|| tunnel::copy_back(&server, stream));
                let sent = (&server)
                    .write_all(&head)
                    .and_then(|()| body::hand_on(body, &mut client, &mut &server));
                if sent.is_err() {
                    // Half a request is none.
                    shut(&server, Shutdown::Both);
                }
                sent
            })
        }
    }
}

fn serve_socks(
    stream: &TcpStream,
    mut client: BufReader<&TcpStream>,
    shared: &Shared,
    id: u64,
) -> io::Result<()> {
    let mut both = Both(&mut client, stream);
    let Some(asked) = socks::asked(&mut both)? else {
        return Ok(());
    };
    let answer = |answer| socks::answer(&mut &*stream, answer);
    let port = asked.port;
    let Ok(host) = asked.host else {
        shared.deny(asked.text, port);
        return answer(socks::Answer::NotAllowed);
    };
    let server = match shared.reach(id, &host, port) {
        Ok(server) => server,
        Err(Unreached::Denied(_)) => return answer(socks::Answer::NotAllowed),
        Err(Unreached::Failed(_)) => return answer(socks::Answer::Unreachable),
    };
    answer(socks::Answer::Done)?;
    relay(
        stream,
        client,
        &server,
        &tunnel::Named { host, port },
        shared,
    )
}

/// Hands on what was read too early, and from then on everything.
fn relay(
    stream: &TcpStream,
    client: BufReader<&TcpStream>,
    server: &TcpStream,
    named: &tunnel::Named,
    shared: &Shared,
) -> io::Result<()> {
    let early = client.buffer().to_vec();
    drop(client);
    tunnel::relay(stream, &early, server, named, shared)
}

/// Reads from the one and writes to the other.
struct Both<'a, R, W>(&'a mut R, W);

impl<R: Read, W> Read for Both<'_, R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R> Write for Both<'_, R, &TcpStream> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The head of a request with the empty line at its end, or as much of it as is too much.
fn head(client: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < LONGEST_HEAD {
        let rest = (LONGEST_HEAD - head.len()) as u64;
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

/// What a request that cannot be read seems to want, for the record.
fn asked_for(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let target = line.split(' ').nth(1).unwrap_or(&line);
    target.trim_end().escape_default().to_string()
}

fn say(mut stream: &TcpStream, status: &str, why: &str) -> io::Result<()> {
    let text = format!("burin: {why}\n");
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    )
}

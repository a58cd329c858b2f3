//! Relays a connection after its first message was checked.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

use super::client_hello::{self, ClientHello, MAX_HELLO_BYTES};
use super::host::Host;
use super::serve::{ProxyState, shut};

/// The target that the client requested.
pub(super) struct TunnelTarget {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// Relays bytes in both directions until both ends are done. `early` holds the bytes that the
/// client has sent already.
pub(super) fn relay(
    client: &TcpStream,
    early: &[u8],
    server: &TcpStream,
    named: &TunnelTarget,
    shared: &ProxyState,
) -> io::Result<()> {
    // If the server speaks first, the client may be silent for long.
    if named.port != 443 {
        client.set_read_timeout(None)?;
    }
    thread::scope(|scope| {
        scope.spawn(|| copy_back(server, client));
        let sent = first_message(client, early, named, shared).and_then(|first| {
            client.set_read_timeout(None)?;
            (&*server).write_all(&first)?;
            copy(client, server)
        });
        match &sent {
            Ok(()) => shut(server, Shutdown::Write),
            Err(_) => {
                shut(client, Shutdown::Both);
                shut(server, Shutdown::Both);
            }
        }
        sent
    })
}

/// Relays bytes in both directions until both ends are done, without any check.
pub(super) fn join(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    thread::scope(|scope| {
        scope.spawn(|| copy_back(server, client));
        let sent = copy(client, server);
        match &sent {
            Ok(()) => shut(server, Shutdown::Write),
            Err(_) => shut(server, Shutdown::Both),
        }
        sent
    })
}

/// Copies from the server to the client until the server is done.
pub(super) fn copy_back(server: &TcpStream, client: &TcpStream) {
    if let Err(error) = copy(server, client) {
        log::debug!("a response through the proxy was cut off: {error}");
    }
    shut(client, Shutdown::Write);
}

/// Copies bytes until `from` ends. Fails if reading or writing does.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads until the client's protocol is known, and checks the server name against the target.
fn first_message(
    mut client: &TcpStream,
    early: &[u8],
    named: &TunnelTarget,
    shared: &ProxyState,
) -> io::Result<Vec<u8>> {
    let mut bytes = early.to_vec();
    let mut buffer = [0; 4096];
    loop {
        let found = client_hello::read(&bytes);
        if found != ClientHello::Incomplete {
            return if is_allowed(&found, named) {
                Ok(bytes)
            } else {
                let asked = match found {
                    ClientHello::ServerName(name) => name.escape_default().to_string(),
                    _ => named.host.to_string(),
                };
                shared.deny(asked, named.port);
                Err(io::ErrorKind::PermissionDenied.into())
            };
        }
        let count = client.read(&mut buffer)?;
        if count == 0 || bytes.len() + count > 2 * MAX_HELLO_BYTES {
            // A client that sends nothing is not using TLS; a partial message is refused.
            return if bytes.is_empty() {
                Ok(bytes)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

/// Returns whether the first bytes of a client fit the target: its server name, if any, is the
/// requested name, and port 443 has TLS. False for incomplete and malformed TLS.
fn is_allowed(found: &ClientHello, named: &TunnelTarget) -> bool {
    match found {
        ClientHello::Incomplete | ClientHello::Malformed => false,
        // Port 443 is for TLS only.
        ClientHello::NotTls => named.port != 443,
        ClientHello::NoServerName => true,
        ClientHello::ServerName(name) => match &named.host {
            Host::Name(_) => Host::parse(name).is_ok_and(|host| host == named.host),
            // A rule for an address covers every host served there.
            Host::Address(_) => true,
        },
    }
}

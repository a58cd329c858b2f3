//! A connection that is handed through, once its first message is looked at.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

use super::hello::{self, Hello, LONGEST_HELLO};
use super::host::Host;
use super::serve::{Shared, shut};

/// What the client said it wants to speak to.
pub(super) struct Named {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// Hands bytes through in both directions until both ends are done. `early` is what the client sent already.
pub(super) fn relay(
    client: &TcpStream,
    early: &[u8],
    server: &TcpStream,
    named: &Named,
    shared: &Shared,
) -> io::Result<()> {
    // Where the server speaks first, the client may be silent for long.
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

/// Hands bytes through in both directions until both ends are done, whatever they are.
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

/// From the server to the client, until the server is done.
pub(super) fn copy_back(server: &TcpStream, client: &TcpStream) {
    if let Err(error) = copy(server, client) {
        log::debug!("an answer to a connection of the proxy was cut: {error}");
    }
    shut(client, Shutdown::Write);
}

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

/// Reads until it is known what the client speaks, and whether it asks for whom it named.
fn first_message(
    mut client: &TcpStream,
    early: &[u8],
    named: &Named,
    shared: &Shared,
) -> io::Result<Vec<u8>> {
    let mut bytes = early.to_vec();
    let mut buffer = [0; 4096];
    loop {
        let found = hello::read(&bytes);
        if found != Hello::More {
            return match is_fine(&found, named) {
                true => Ok(bytes),
                false => {
                    let asked = match found {
                        Hello::Named(name) => name.escape_default().to_string(),
                        _ => named.host.to_string(),
                    };
                    shared.deny(asked, named.port);
                    Err(io::ErrorKind::PermissionDenied.into())
                }
            };
        }
        let count = client.read(&mut buffer)?;
        if count == 0 || bytes.len() + count > 2 * LONGEST_HELLO {
            // Silence to the end is no TLS; what there is was not refused.
            return match bytes.is_empty() {
                true => Ok(bytes),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

fn is_fine(found: &Hello, named: &Named) -> bool {
    match found {
        Hello::More | Hello::Broken => false,
        // The port of TLS is for TLS.
        Hello::Other => named.port != 443,
        Hello::Nobody => true,
        Hello::Named(name) => match &named.host {
            Host::Name(_) => Host::parse(name).is_ok_and(|host| host == named.host),
            // Who allowed an address allowed whoever lives there.
            Host::Address(_) => true,
        },
    }
}

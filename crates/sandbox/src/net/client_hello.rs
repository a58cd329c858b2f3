//! Parses TLS's ClientHello as far as its server name.

/// The result of parsing the first bytes of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientHello {
    /// More bytes are needed.
    Incomplete,
    /// The connection does not use TLS.
    NotTls,
    /// TLS without a server name.
    NoServerName,
    /// TLS with this server name.
    ServerName(String),
    /// It claims to be TLS but cannot be parsed.
    Malformed,
}

/// Maximum length of a ClientHello that is waited for; the largest keys in use need about four
/// kilobytes.
pub(super) const MAX_HELLO_BYTES: usize = 64 << 10;

/// Parses the first bytes of a connection.
pub(super) fn read(bytes: &[u8]) -> ClientHello {
    match bytes.first() {
        None => return ClientHello::Incomplete,
        Some(0x16) => {}
        Some(_) => return ClientHello::NotTls,
    }
    match message(bytes) {
        Ok(Some(message)) => server_name(&message).unwrap_or(ClientHello::Malformed),
        Ok(None) if bytes.len() < MAX_HELLO_BYTES => ClientHello::Incomplete,
        Ok(None) | Err(MalformedHello) => ClientHello::Malformed,
    }
}

struct MalformedHello;

/// Joins the handshake message from its records; returns `None` while it is incomplete.
fn message(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, MalformedHello> {
    let mut message = Vec::new();
    loop {
        if message.len() >= 4 {
            let length = usize::from(message[1]) << 16
                | usize::from(message[2]) << 8
                | usize::from(message[3]);
            if message[0] != 1 || length > MAX_HELLO_BYTES {
                return Err(MalformedHello);
            }
            if message.len() >= 4 + length {
                message.truncate(4 + length);
                return Ok(Some(message));
            }
        }
        let [kind, major, _, high, low, rest @ ..] = bytes else {
            return Ok(None);
        };
        let length = usize::from(*high) << 8 | usize::from(*low);
        if *kind != 0x16 || *major != 3 || length == 0 || length > 1 << 14 {
            return Err(MalformedHello);
        }
        message.extend_from_slice(&rest[..length.min(rest.len())]);
        bytes = rest.get(length..).unwrap_or_default();
    }
}

/// Returns the server name of a complete message; `None` if it is truncated.
fn server_name(message: &[u8]) -> Option<ClientHello> {
    let mut hello = HelloReader(&message[4..]);
    hello.take(2 + 32)?;
    hello.short()?;
    hello.long()?;
    hello.short()?;
    if hello.0.is_empty() {
        return Some(ClientHello::NoServerName);
    }
    let mut extensions = HelloReader(hello.long()?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let content = extensions.long()?;
        if kind != 0 {
            continue;
        }
        let mut names = HelloReader(content);
        let mut names = HelloReader(names.long()?);
        let kind = names.take(1)?;
        let name = names.long()?;
        // Exactly one name of the only name type is accepted; a second one would be ambiguous.
        if kind != [0] || !names.0.is_empty() || found.is_some() {
            return None;
        }
        found = Some(String::from_utf8(name.to_vec()).ok()?);
    }
    Some(found.map_or(ClientHello::NoServerName, ClientHello::ServerName))
}

struct HelloReader<'a>(&'a [u8]);

impl<'a> HelloReader<'a> {
    /// Returns the next `count` bytes and moves past them; `None` if fewer are left.
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads two bytes, the most significant first; `None` if fewer are left.
    fn number(&mut self) -> Option<usize> {
        let bytes = self.take(2)?;
        Some(usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
    }

    /// Reads a field with a one-byte length.
    fn short(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(*self.take(1)?.first()?);
        self.take(length)
    }

    /// Reads a field with a two-byte length.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }
}

//! The first message of TLS, far enough to know which host it names.

/// What the beginning of a connection says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hello {
    /// More bytes are needed.
    More,
    /// It is no TLS.
    Other,
    /// It is TLS and names nobody.
    Nobody,
    /// It is TLS and names this host.
    Named(String),
    /// It calls itself TLS and cannot be read.
    Broken,
}

/// Longest message that is waited for; the largest keys in use make some four kilobytes.
pub(super) const LONGEST_HELLO: usize = 64 << 10;

/// Reads the beginning of a connection.
pub(super) fn read(bytes: &[u8]) -> Hello {
    match bytes.first() {
        None => return Hello::More,
        Some(0x16) => {}
        Some(_) => return Hello::Other,
    }
    match message(bytes) {
        Ok(Some(message)) => named(&message).unwrap_or(Hello::Broken),
        Ok(None) if bytes.len() < LONGEST_HELLO => Hello::More,
        Ok(None) | Err(Broken) => Hello::Broken,
    }
}

struct Broken;

/// The handshake message, put together from its records; `None` while it is not whole.
fn message(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
    let mut message = Vec::new();
    loop {
        if message.len() >= 4 {
            let length = usize::from(message[1]) << 16
                | usize::from(message[2]) << 8
                | usize::from(message[3]);
            if message[0] != 1 || length > LONGEST_HELLO {
                return Err(Broken);
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
            return Err(Broken);
        }
        message.extend_from_slice(&rest[..length.min(rest.len())]);
        bytes = rest.get(length..).unwrap_or_default();
    }
}

/// The name in a whole message; `None` where it ends before its time.
fn named(message: &[u8]) -> Option<Hello> {
    let mut hello = Bytes(&message[4..]);
    hello.take(2 + 32)?;
    hello.short()?;
    hello.long()?;
    hello.short()?;
    if hello.0.is_empty() {
        return Some(Hello::Nobody);
    }
    let mut extensions = Bytes(hello.long()?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let content = extensions.long()?;
        if kind != 0 {
            continue;
        }
        let mut names = Bytes(content);
        let mut names = Bytes(names.long()?);
        let kind = names.take(1)?;
        let name = names.long()?;
        // One name of the one kind there is; a second one would be another reading.
        if kind != [0] || !names.0.is_empty() || found.is_some() {
            return None;
        }
        found = Some(String::from_utf8(name.to_vec()).ok()?);
    }
    Some(found.map_or(Hello::Nobody, Hello::Named))
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        let bytes = self.take(2)?;
        Some(usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
    }

    /// What follows a length of one byte.
    fn short(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(*self.take(1)?.first()?);
        self.take(length)
    }

    /// What follows a length of two bytes.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }
}

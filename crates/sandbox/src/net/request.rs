//! The head of a request to the proxy, read to the letter.
//!
//! What another reader could read differently is refused: line ends other than CR LF, folded lines, control characters,
//! two lengths, a length and chunks, spaces where none belong.

use thiserror::Error;

use super::host::{BadHost, Host};
use super::rule::port;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) what: What,
    pub(super) host: Host,
    pub(super) port: u16,
}

/// The two kinds of requests to a proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A connection to be handed through.
    Tunnel,
    /// One request in the open: its new head, and how long its body is.
    Forward { head: Vec<u8>, body: Body },
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// There is none beyond so many bytes.
    Length(u64),
    /// In chunks, each with its length.
    Chunks,
}

/// Why a head is refused.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum BadRequest {
    #[error("the request is not written as HTTP/1.1 wants it")]
    Form,
    #[error("the request wants neither a tunnel nor an http:// address")]
    Target,
    #[error("the request names a user, which no host needs")]
    User,
    #[error("{0:?} is no port")]
    Port(String),
    #[error("cannot take {text:?} as a host: {bad}")]
    Host { text: String, bad: BadHost },
    #[error("the request says two things about the length of its body")]
    Length,
}

/// Longest head that is read.
pub(super) const LONGEST_HEAD: usize = 32 << 10;

/// Reads a head, the empty line at its end included.
pub(super) fn parse(head: &[u8]) -> Result<Request, BadRequest> {
    let head = std::str::from_utf8(head).map_err(|_| BadRequest::Form)?;
    let head = head.strip_suffix("\r\n\r\n").ok_or(BadRequest::Form)?;
    let is_clean = |line: &str| {
        line.chars()
            .all(|letter| letter == '\t' || !letter.is_control())
    };
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let lines: Vec<&str> = lines.collect();
    if !is_clean(first) || !lines.iter().all(|line| is_clean(line)) {
        return Err(BadRequest::Form);
    }
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(BadRequest::Form);
    };
    if !is_token(method) || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(BadRequest::Form);
    }
    let fields = fields(&lines)?;
    if method == "CONNECT" {
        let (host, port) = authority(target, None)?;
        let what = What::Tunnel;
        return Ok(Request { what, host, port });
    }
    forward(method, target, &fields)
}

struct Field<'a> {
    name: &'a str,
    value: &'a str,
}

fn fields<'a>(lines: &[&'a str]) -> Result<Vec<Field<'a>>, BadRequest> {
    let mut fields = Vec::with_capacity(lines.len());
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(BadRequest::Form)?;
        if !is_token(name) {
            return Err(BadRequest::Form);
        }
        let value = value.trim_matches([' ', '\t']);
        fields.push(Field { name, value });
    }
    Ok(fields)
}

fn is_token(text: &str) -> bool {
    let is_of_tokens =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_tokens)
}

/// A host and its port. Without a port the default is taken; a tunnel has none.
fn authority(text: &str, default: Option<u16>) -> Result<(Host, u16), BadRequest> {
    if text.contains('@') {
        return Err(BadRequest::User);
    }
    let end = match text.starts_with('[') {
        true => text.find(']').map_or(text.len(), |at| at + 1),
        false => text.find(':').unwrap_or(text.len()),
    };
    let (name, rest) = text.split_at(end);
    let number = match (rest.strip_prefix(':'), default) {
        (Some(digits), _) => port(digits),
        (None, Some(default)) if rest.is_empty() => Some(default),
        (None, _) => None,
    };
    let number = number.ok_or_else(|| BadRequest::Port(rest.to_owned()))?;
    let host = Host::parse(name).map_err(|bad| BadRequest::Host {
        text: name.to_owned(),
        bad,
    })?;
    Ok((host, number))
}

/// Headers that are between a client and its proxy, or that we write ourselves.
const DROPPED: &[&str] = &[
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "te",
    "trailer",
    "upgrade",
    "http2-settings",
    "content-length",
    "transfer-encoding",
];

fn forward(method: &str, target: &str, fields: &[Field]) -> Result<Request, BadRequest> {
    let scheme = target.get(..7).ok_or(BadRequest::Target)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return Err(BadRequest::Target);
    }
    let rest = &target[7..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (who, path) = rest.split_at(end);
    let (host, port) = authority(who, Some(80))?;
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let body = body(fields)?;
    let place = match port {
        80 => host.to_string(),
        port => format!("{host}:{port}"),
    };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {place}\r\n");
    // What a header `Connection` names is for us as well.
    let named: Vec<String> = fields
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case("connection"))
        .flat_map(|field| field.value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for field in fields {
        let name = field.name.to_ascii_lowercase();
        if !DROPPED.contains(&name.as_str()) && !named.contains(&name) {
            head.push_str(&format!("{}: {}\r\n", field.name, field.value));
        }
    }
    match body {
        Body::Length(0) if matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS") => {}
        Body::Length(length) => head.push_str(&format!("Content-Length: {length}\r\n")),
        Body::Chunks => head.push_str("Transfer-Encoding: chunked\r\n"),
    }
    head.push_str("Connection: close\r\n\r\n");
    let head = head.into_bytes();
    Ok(Request {
        what: What::Forward { head, body },
        host,
        port,
    })
}

fn body(fields: &[Field]) -> Result<Body, BadRequest> {
    let all = |wanted: &str| -> Vec<&str> {
        fields
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(wanted))
            .map(|field| field.value)
            .collect()
    };
    let lengths = all("content-length");
    let encodings = all("transfer-encoding");
    match (lengths.as_slice(), encodings.as_slice()) {
        ([], []) => Ok(Body::Length(0)),
        ([length], [])
            if !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            let length = length.parse().map_err(|_| BadRequest::Length)?;
            Ok(Body::Length(length))
        }
        ([], [encoding]) if encoding.eq_ignore_ascii_case("chunked") => Ok(Body::Chunks),
        _ => Err(BadRequest::Length),
    }
}

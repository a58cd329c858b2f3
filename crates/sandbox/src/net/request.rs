//! Strict parsing of a request's head.
//!
//! Input that another parser could interpret differently is refused: line ends other than CR LF,
//! folded lines, control characters, two lengths, both a length and chunks, misplaced spaces.

use thiserror::Error;

use super::host::{BadHost, Host};
use super::rule::port;

/// A parsed request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProxyRequest {
    pub(super) kind: ProxyRequestKind,
    pub(super) host: Host,
    pub(super) port: u16,
}

/// The two kinds of proxy requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProxyRequestKind {
    /// A `CONNECT` request for a tunnel.
    Tunnel,
    /// A plain HTTP request: its rewritten head and the length of its body.
    Forward { head: Vec<u8>, body: BodyLength },
}

/// The way the end of a body is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyLength {
    /// A body of this many bytes.
    Length(u64),
    /// A body in chunks, each with its length.
    Chunks,
}

/// The reason that a head is refused.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum BadRequest {
    #[error("the request is not valid HTTP/1.1")]
    Form,
    #[error("the request is for neither a tunnel nor an http:// address")]
    Target,
    #[error("the request's URL contains a user name")]
    User,
    #[error("{0:?} is not a valid port")]
    Port(String),
    #[error("cannot take {text:?} as a host: {bad}")]
    Host { text: String, bad: BadHost },
    #[error("the request has conflicting body lengths")]
    Length,
}

/// Maximum length of a head in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;

/// Parses a head, including the empty line at its end.
pub(super) fn parse(head: &[u8]) -> Result<ProxyRequest, BadRequest> {
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
        let what = ProxyRequestKind::Tunnel;
        return Ok(ProxyRequest {
            kind: what,
            host,
            port,
        });
    }
    forward(method, target, &fields)
}

struct HeaderField<'a> {
    name: &'a str,
    value: &'a str,
}

/// Parses header lines. Fails with `BadRequest::Form` if one has no colon or an invalid name.
fn fields<'a>(lines: &[&'a str]) -> Result<Vec<HeaderField<'a>>, BadRequest> {
    let mut fields = Vec::with_capacity(lines.len());
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(BadRequest::Form)?;
        if !is_token(name) {
            return Err(BadRequest::Form);
        }
        let value = value.trim_matches([' ', '\t']);
        fields.push(HeaderField { name, value });
    }
    Ok(fields)
}

/// Returns whether a text is a token of HTTP: not empty, and without spaces, control characters and
/// separators.
fn is_token(text: &str) -> bool {
    let is_of_tokens =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_tokens)
}

/// Parses a host and port. Without a port the default is used; `CONNECT` has none.
fn authority(text: &str, default: Option<u16>) -> Result<(Host, u16), BadRequest> {
    if text.contains('@') {
        return Err(BadRequest::User);
    }
    let end = if text.starts_with('[') {
        text.find(']').map_or(text.len(), |at| at + 1)
    } else {
        text.find(':').unwrap_or(text.len())
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

/// Headers that are hop-by-hop, or that the proxy writes itself.
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

/// Rewrites a plain request for the server: its path in place of the URL, without hop-by-hop
/// headers, for one connection. Fails unless `target` is an `http://` URL without a user name, and
/// for conflicting body lengths.
fn forward(method: &str, target: &str, fields: &[HeaderField]) -> Result<ProxyRequest, BadRequest> {
    let scheme = target.get(..7).ok_or(BadRequest::Target)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return Err(BadRequest::Target);
    }
    let rest = &target[7..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (location, path) = rest.split_at(end);
    let (host, port) = authority(location, Some(80))?;
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let body = body(fields)?;
    let place = match port {
        80 => host.to_string(),
        port => format!("{host}:{port}"),
    };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {place}\r\n");
    // Headers named by `Connection` are hop-by-hop too.
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
        BodyLength::Length(0) if matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS") => {}
        BodyLength::Length(length) => head.push_str(&format!("Content-Length: {length}\r\n")),
        BodyLength::Chunks => head.push_str("Transfer-Encoding: chunked\r\n"),
    }
    head.push_str("Connection: close\r\n\r\n");
    let head = head.into_bytes();
    Ok(ProxyRequest {
        kind: ProxyRequestKind::Forward { head, body },
        host,
        port,
    })
}

/// Returns the length of the body; 0 if no header gives it. Fails with `BadRequest::Length` if
/// several headers give it, or one in a form other than digits or `chunked`.
fn body(fields: &[HeaderField]) -> Result<BodyLength, BadRequest> {
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
        ([], []) => Ok(BodyLength::Length(0)),
        ([length], [])
            if !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            let length = length.parse().map_err(|_| BadRequest::Length)?;
            Ok(BodyLength::Length(length))
        }
        ([], [encoding]) if encoding.eq_ignore_ascii_case("chunked") => Ok(BodyLength::Chunks),
        _ => Err(BadRequest::Length),
    }
}

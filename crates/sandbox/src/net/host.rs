//! Names of hosts, taken only in a form that everybody reads the same way.
//!
//! Invariant: two hosts are equal exactly when a resolver takes them for the same name, or a socket for the same address.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// A host, in its one spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Host {
    /// A name: labels of letters, digits, `-` and `_`, lower case, international ones as A-labels, no dot at the end.
    Name(String),
    /// An address. An IPv4 address that is written as an IPv6 one is the IPv4 address.
    Address(IpAddr),
}

/// Why a text names no host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum BadHost {
    /// Nothing there.
    #[error("it is empty")]
    Empty,
    /// Longer than names can be.
    #[error("it is longer than names can be")]
    TooLong,
    /// A character that no name holds; it may mean something else to the next who reads it.
    #[error("it holds {0:?}, which no name of a host does")]
    Character(char),
    /// A number that is not an address written the plain way.
    #[error("it is a number, and not an address written as four numbers with dots")]
    Number,
    /// An address in brackets that is none.
    #[error("it is no address")]
    Address,
    /// Labels that are empty, too long, or no international name.
    #[error("it is no name of a host")]
    Label,
}

impl Host {
    /// Reads a host as it stands in a URL or a request: a name, an IPv4 address, or an IPv6 address in brackets.
    pub(super) fn parse(text: &str) -> Result<Self, BadHost> {
        if text.is_empty() {
            return Err(BadHost::Empty);
        }
        if text.len() > 1024 {
            return Err(BadHost::TooLong);
        }
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(BadHost::Address)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| BadHost::Address)?;
            return Ok(Self::Address(plain(IpAddr::V6(address))));
        }
        name(text)
    }

    /// The address, for one that was given as bytes.
    pub(super) fn of_address(address: IpAddr) -> Self {
        Self::Address(plain(address))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => address.fmt(f),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// An address with the disguise of the other family taken off.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn name(text: &str) -> Result<Host, BadHost> {
    // Before anything is mapped: what is strange in ASCII is strange.
    let strange = |letter: &char| letter.is_ascii() && !is_of_names(*letter);
    if let Some(letter) = text.chars().find(strange) {
        return Err(BadHost::Character(letter));
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let ascii = match text.is_ascii() {
        true if !has_a_label(text) => text.to_ascii_lowercase(),
        _ => idna::domain_to_ascii_strict(text).map_err(|_| BadHost::Label)?,
    };
    // International digits and dots are plain ones now, so this comes second.
    if ascii.len() > 253 {
        return Err(BadHost::TooLong);
    }
    let mut last = "";
    for label in ascii.split('.') {
        let is_bad = label.is_empty()
            || label.len() > 63
            || label.starts_with('-')
            || label.ends_with('-')
            || !label
                .chars()
                .all(|letter| is_of_names(letter) && letter != '.');
        if is_bad {
            return Err(BadHost::Label);
        }
        last = label;
    }
    match is_number(last) {
        false => Ok(Host::Name(ascii)),
        true => dotted(&ascii)
            .map(|address| Host::Address(IpAddr::V4(address)))
            .ok_or(BadHost::Number),
    }
}

fn is_of_names(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Whether a label claims to be an international one, which is then looked at.
fn has_a_label(text: &str) -> bool {
    text.split('.').any(|label| {
        let bytes = label.as_bytes();
        bytes.len() >= 4 && bytes[..4].eq_ignore_ascii_case(b"xn--")
    })
}

/// What some resolver somewhere takes for a part of an address: `1`, `017`, `0x7f`, `0x`.
fn is_number(label: &str) -> bool {
    let digits = label.strip_prefix("0x").unwrap_or(label);
    match label.len() == digits.len() {
        true => digits.bytes().all(|byte| byte.is_ascii_digit()),
        false => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
    }
}

/// Four decimal numbers without leading zeros; everything else has two readings.
fn dotted(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_plain = parts.len() == 4
        && parts
            .iter()
            .all(|part| *part == "0" || !part.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

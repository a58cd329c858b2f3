//! Host names, accepted only in an unambiguous form.
//!
//! Invariant: two hosts are equal exactly if a resolver treats them as the same name, or a socket
//! as the same address.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// A host in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Host {
    /// A name: labels of letters, digits, `-` and `_`, lower case, international ones as A-labels,
    /// without a trailing dot.
    Name(String),
    /// An address. An IPv4-mapped IPv6 address is stored as IPv4.
    Address(IpAddr),
}

/// The reason that a text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum BadHost {
    /// The text is empty.
    #[error("it is empty")]
    Empty,
    /// Longer than a name can be.
    #[error("it is too long for a host name")]
    TooLong,
    /// A character that no host name contains; another parser might interpret it differently.
    #[error("it contains {0:?}, which a host name cannot contain")]
    Character(char),
    /// A number that is not an address in dotted decimal form.
    #[error("it is a number, not an address in dotted decimal form")]
    Number,
    /// An invalid address in brackets.
    #[error("it is not a valid address")]
    Address,
    /// Labels that are empty, too long, or invalid international names.
    #[error("it is not a valid host name")]
    Label,
}

impl Host {
    /// Parses a host as written in a URL or request: a name, an IPv4 address, or an IPv6 address in
    /// brackets.
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
            return Ok(Self::Address(unmapped(IpAddr::V6(address))));
        }
        name(text)
    }

    /// Returns the host for an address; an IPv4-mapped IPv6 address becomes IPv4.
    pub(super) fn of_address(address: IpAddr) -> Self {
        Self::Address(unmapped(address))
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

/// Converts an IPv4-mapped IPv6 address to IPv4.
pub(super) fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Parses a name or an IPv4 address, which is not in brackets; one dot at the end is dropped. Fails
/// for every form that some resolver could interpret differently.
fn name(text: &str) -> Result<Host, BadHost> {
    // Checked before the mapping, which could turn invalid ASCII into valid characters.
    let strange = |letter: &char| letter.is_ascii() && !is_of_names(*letter);
    if let Some(letter) = text.chars().find(strange) {
        return Err(BadHost::Character(letter));
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let ascii = if text.is_ascii() && !has_a_label(text) {
        text.to_ascii_lowercase()
    } else {
        idna::domain_to_ascii_strict(text).map_err(|_| BadHost::Label)?
    };
    // Checked after the mapping, since international digits and dots become ASCII.
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
    if is_number(last) {
        dotted(&ascii)
            .map(|address| Host::Address(IpAddr::V4(address)))
            .ok_or(BadHost::Number)
    } else {
        Ok(Host::Name(ascii))
    }
}

/// Returns whether an ASCII character may occur in a host name, dots included.
fn is_of_names(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Returns whether a label claims to be an A-label, which is then validated.
fn has_a_label(text: &str) -> bool {
    text.split('.').any(|label| {
        let bytes = label.as_bytes();
        bytes.len() >= 4 && bytes[..4].eq_ignore_ascii_case(b"xn--")
    })
}

/// Returns whether some resolver accepts the label as part of an address: `1`, `017`, `0x7f`, `0x`.
fn is_number(label: &str) -> bool {
    let digits = label.strip_prefix("0x").unwrap_or(label);
    if label.len() == digits.len() {
        digits.bytes().all(|byte| byte.is_ascii_digit())
    } else {
        digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// Parses four decimal numbers without leading zeros; all other forms are ambiguous.
fn dotted(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_plain = parts.len() == 4
        && parts
            .iter()
            .all(|part| *part == "0" || !part.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

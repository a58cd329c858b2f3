//! The list of hosts: parsing and matching.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

use super::host::{BadHost, Host};
use crate::HostRule;

/// The default ports: HTTP and HTTPS.
const WEB: [u16; 2] = [80, 443];

/// An entry that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot take {text:?} as a host: {why}")]
pub struct BadRule {
    text: String,
    why: RuleProblem,
}

/// The reason that an entry cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum RuleProblem {
    #[error("expected a host, not a URL")]
    Url,
    #[error("a star is allowed only at the beginning, as in *.example.com")]
    InnerStar,
    #[error("a star before a top-level domain matches too many hosts")]
    TopLevelStar,
    #[error("a star is allowed with names, not with addresses")]
    AddressStar,
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error("unexpected {0:?} after the address")]
    Trailing(String),
    #[error("{0:?} is not a valid port")]
    Port(String),
    #[error("0 is not a valid port")]
    PortZero,
}

/// A parsed entry of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParsedRule {
    pattern: HostPattern,
    ports: Vec<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    /// Exactly this host, without subdomains.
    Host(Host),
    /// Every host with this suffix, which begins with a dot.
    Subdomains(String),
}

impl ParsedRule {
    /// Parses an entry; without ports, it grants 80 and 443. Fails if its host is invalid or a port
    /// is 0.
    pub(super) fn of(rule: &HostRule) -> Result<Self, BadRule> {
        let bad = |why| BadRule {
            text: rule.host.clone(),
            why,
        };
        let pattern = parse_pattern(&rule.host).map_err(bad)?;
        let ports = match rule.ports.as_slice() {
            [] => WEB.to_vec(),
            ports if ports.contains(&0) => return Err(bad(RuleProblem::PortZero)),
            ports => ports.to_vec(),
        };
        Ok(Self { pattern, ports })
    }

    /// Returns the loopback ports of the machine that it grants, for IPv4 or IPv6.
    pub(super) fn own_ports(&self, is_six: bool) -> &[u16] {
        let is_own = match &self.pattern {
            HostPattern::Host(Host::Address(address)) => {
                address.is_loopback() && address.is_ipv6() == is_six
            }
            HostPattern::Host(host) => is_localhost(host),
            HostPattern::Subdomains(_) => false,
        };
        if is_own { &self.ports } else { &[] }
    }

    /// Returns whether it grants this host and port. `localhost` covers both loopback addresses.
    pub(super) fn admits(&self, host: &Host, port: u16) -> bool {
        self.ports.contains(&port)
            && match (&self.pattern, host) {
                (HostPattern::Host(ours), Host::Address(address)) if is_localhost(ours) => {
                    is_localhost_address(*address)
                }
                (HostPattern::Host(ours), theirs) => ours == theirs,
                (HostPattern::Subdomains(end), Host::Name(name)) => {
                    name.len() > end.len() && name.ends_with(end.as_str())
                }
                (HostPattern::Subdomains(_), Host::Address(_)) => false,
            }
    }

    /// Returns whether it lists this very address, so that it may be reached although it is
    /// private.
    pub(super) fn names(&self, address: IpAddr, port: u16) -> bool {
        let is_named = match &self.pattern {
            HostPattern::Host(host) if is_localhost(host) => is_localhost_address(address),
            pattern => *pattern == HostPattern::Host(Host::of_address(address)),
        };
        self.ports.contains(&port) && is_named
    }
}

/// Returns whether a host is the name `localhost`.
fn is_localhost(host: &Host) -> bool {
    matches!(host, Host::Name(name) if name == "localhost")
}

/// Returns whether an address is `127.0.0.1` or `::1`; other loopback addresses do not count.
fn is_localhost_address(address: IpAddr) -> bool {
    [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        Ipv6Addr::LOCALHOST.into(),
    ]
    .contains(&address)
}

/// Parses an entry as users write it: `example.com` is that host, `*.example.com` every subdomain
/// but not the host itself, `127.0.0.1` and `[::1]` are addresses; `example.com:8080` is one port,
/// otherwise 80 and 443 are granted.
impl FromStr for HostRule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let bad = |why| BadRule {
            text: text.to_owned(),
            why,
        };
        let (host, ports) = split(text).map_err(bad)?;
        parse_pattern(host).map_err(bad)?;
        let host = host.to_owned();
        Ok(Self { host, ports })
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        for (ix, port) in self.ports.iter().enumerate() {
            let before = if ix == 0 { ":" } else { "," };
            write!(f, "{before}{port}")?;
        }
        Ok(())
    }
}

/// Parses the host of an entry: a name, an address, or `*.` before a name with a dot. Fails with
/// the reason for any other form.
fn parse_pattern(text: &str) -> Result<HostPattern, RuleProblem> {
    if text.contains('/') {
        return Err(RuleProblem::Url);
    }
    let Some(below) = text.strip_prefix("*.") else {
        if text.contains('*') {
            return Err(RuleProblem::InnerStar);
        }
        return Ok(HostPattern::Host(Host::parse(text)?));
    };
    match Host::parse(below)? {
        Host::Name(name) if name.contains('.') => Ok(HostPattern::Subdomains(format!(".{name}"))),
        Host::Name(_) => Err(RuleProblem::TopLevelStar),
        Host::Address(_) => Err(RuleProblem::AddressStar),
    }
}

/// Splits an entry into the host, as written, and its port; no port gives an empty list. Fails for
/// a URL, an invalid port and text behind an address.
fn split(text: &str) -> Result<(&str, Vec<u16>), RuleProblem> {
    if text.contains('/') {
        return Err(RuleProblem::Url);
    }
    let end = if text.starts_with('[') {
        text.find(']').map_or(text.len(), |at| at + 1)
    } else {
        text.find(':').unwrap_or(text.len())
    };
    let (name, rest) = text.split_at(end);
    let ports = match rest.strip_prefix(':') {
        None if rest.is_empty() => Vec::new(),
        None => return Err(RuleProblem::Trailing(rest.to_owned())),
        Some(digits) => {
            vec![port(digits).ok_or_else(|| RuleProblem::Port(digits.to_owned()))?]
        }
    };
    Ok((name, ports))
}

/// Parses a port of digits only: no sign, no leading zero, not 0.
pub(super) fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    is_plain.then(|| text.parse().ok()).flatten()
}

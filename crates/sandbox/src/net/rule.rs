//! The list of hosts: what a line of it means, and what it reaches.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

use super::host::{BadHost, Host};
use crate::HostRule;

/// The ports of a rule that names none: those of the web.
const WEB: [u16; 2] = [80, 443];

/// A line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot take {text:?} as a host: {why}")]
pub struct BadRule {
    text: String,
    why: String,
}

/// One line of the list, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    who: Who,
    ports: Vec<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    /// This host.
    Host(Host),
    /// Every host whose name ends so; begins with a dot.
    Below(String),
}

impl Rule {
    pub(super) fn of(rule: &HostRule) -> Result<Self, BadRule> {
        let bad = |why| BadRule {
            text: rule.host.clone(),
            why,
        };
        let who = who(&rule.host).map_err(bad)?;
        let ports = match rule.ports.as_slice() {
            [] => WEB.to_vec(),
            ports if ports.contains(&0) => return Err(bad("0 is no port".to_owned())),
            ports => ports.to_vec(),
        };
        Ok(Self { who, ports })
    }

    /// The ports that it gives of the machine's own loopback, of IPv4 or of IPv6.
    pub(super) fn own_ports(&self, is_six: bool) -> &[u16] {
        let is_own = match &self.who {
            Who::Host(Host::Address(address)) => {
                address.is_loopback() && address.is_ipv6() == is_six
            }
            Who::Host(host) => is_localhost(host),
            Who::Below(_) => false,
        };
        match is_own {
            true => &self.ports,
            false => &[],
        }
    }

    /// Whether it lets a command ask for this host and port. `localhost` is the loopback by either of its addresses.
    pub(super) fn admits(&self, host: &Host, port: u16) -> bool {
        self.ports.contains(&port)
            && match (&self.who, host) {
                (Who::Host(ours), Host::Address(address)) if is_localhost(ours) => {
                    is_localhost_address(*address)
                }
                (Who::Host(ours), theirs) => ours == theirs,
                (Who::Below(end), Host::Name(name)) => {
                    name.len() > end.len() && name.ends_with(end.as_str())
                }
                (Who::Below(_), Host::Address(_)) => false,
            }
    }

    /// Whether it names this very address, so that it may be reached though it is a private one.
    pub(super) fn names(&self, address: IpAddr, port: u16) -> bool {
        let is_named = match &self.who {
            Who::Host(host) if is_localhost(host) => is_localhost_address(address),
            who => *who == Who::Host(Host::of_address(address)),
        };
        self.ports.contains(&port) && is_named
    }
}

fn is_localhost(host: &Host) -> bool {
    matches!(host, Host::Name(name) if name == "localhost")
}

fn is_localhost_address(address: IpAddr) -> bool {
    [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        Ipv6Addr::LOCALHOST.into(),
    ]
    .contains(&address)
}

/// As a person writes it: `example.com` is this host, `*.example.com` every host below it and not itself, `127.0.0.1`
/// and `[::1]` are addresses; `example.com:8080` is one port of it, otherwise 80 and 443 are meant.
impl FromStr for HostRule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let bad = |why| BadRule {
            text: text.to_owned(),
            why,
        };
        let (host, ports) = split(text).map_err(bad)?;
        who(host).map_err(bad)?;
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

fn who(text: &str) -> Result<Who, String> {
    if text.contains('/') {
        return Err("a host is wanted, not a URL".to_owned());
    }
    let Some(below) = text.strip_prefix("*.") else {
        if text.contains('*') {
            return Err("a star stands only at the beginning, as in *.example.com".to_owned());
        }
        return Host::parse(text)
            .map(Who::Host)
            .map_err(|bad| bad.to_string());
    };
    match Host::parse(below).map_err(|bad: BadHost| bad.to_string())? {
        Host::Name(name) if name.contains('.') => Ok(Who::Below(format!(".{name}"))),
        Host::Name(_) => Err("a star before a single word would be too many hosts".to_owned()),
        Host::Address(_) => Err("a star goes with names, not with addresses".to_owned()),
    }
}

fn split(text: &str) -> Result<(&str, Vec<u16>), String> {
    if text.contains('/') {
        return Err("a host is wanted, not a URL".to_owned());
    }
    let end = match text.starts_with('[') {
        true => text.find(']').map_or(text.len(), |at| at + 1),
        false => text.find(':').unwrap_or(text.len()),
    };
    let (name, rest) = text.split_at(end);
    let ports = match rest.strip_prefix(':') {
        None if rest.is_empty() => Vec::new(),
        None => return Err(format!("{rest:?} after the address is too much")),
        Some(digits) => vec![port(digits).ok_or_else(|| format!("{digits:?} is no port"))?],
    };
    Ok((name, ports))
}

/// A port in digits alone: no sign, no leading zero, not 0.
pub(super) fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    is_plain.then(|| text.parse().ok()).flatten()
}

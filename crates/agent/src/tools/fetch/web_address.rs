//! Addresses of web pages: http and https, without credentials.
//!
//! Invariant: the parser is the one that the HTTP client uses, so that both name the same host.

use std::net::IpAddr;

use url::{Host, ParseError, Url};

use super::super::{invalid, truncate};
use crate::tool::ToolResult;

/// Names that belong to the local network, with everything below them.
const LOCAL_NAMES: [&str; 5] = ["localhost", "local", "internal", "lan", "home.arpa"];

/// A parsed web address, without its fragment, which is not sent to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebAddress {
    url: Url,
    /// In lower case, without a port; an IPv6 address is in brackets.
    host: String,
}

impl WebAddress {
    /// Parses an address as written. Fails with the result of the call for another scheme,
    /// credentials, or a text that is not an address.
    pub(super) fn read(url: &str) -> Result<Self, ToolResult> {
        let url = url.trim();
        let is_odd = |sign: char| sign.is_whitespace() || sign.is_control() || sign == '\\';
        if url.contains(is_odd) {
            return Err(refused(url, "is not an address"));
        }
        match Url::parse(url) {
            Ok(parsed) => Self::of(parsed, url),
            Err(error) => Err(unparsed(url, error)),
        }
    }

    /// Resolves the target of a redirect, which may be relative. Fails like `read`.
    pub(super) fn follow(&self, target: &str) -> Result<Self, ToolResult> {
        match self.url.join(target) {
            Ok(joined) => Self::of(joined, target),
            Err(error) => Err(unparsed(target, error)),
        }
    }

    /// Drops the fragment. Fails with the result of the call if the scheme is neither http nor
    /// https, or if there are credentials or no host; the message shows the address as `written`.
    fn of(mut url: Url, written: &str) -> Result<Self, ToolResult> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused(written, "is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused(written, "holds a name or password"));
        }
        let Some(host) = url.host_str() else {
            return Err(refused(written, "names no host"));
        };
        let host = host.to_owned();
        url.set_fragment(None);
        Ok(Self { url, host })
    }

    /// Returns the whole address.
    pub(super) fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the beginning of the address, for titles and messages.
    pub(super) fn display_url(&self) -> &str {
        let url = self.url.as_str();
        &url[..truncate::floor(url, 200)]
    }

    /// Returns the host in lower case, without a port.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the IP address that the host is written as; `None` for a name.
    pub(super) fn ip(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
            Host::Domain(_) => None,
        }
    }

    /// Returns whether the host is a name of the local network.
    pub(super) fn is_local_name(&self) -> bool {
        let name = self.host.trim_end_matches('.');
        LOCAL_NAMES.iter().any(|local| {
            let above = name.strip_suffix(local);
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        })
    }
}

fn unparsed(url: &str, error: ParseError) -> ToolResult {
    match error {
        ParseError::InvalidPort => refused(url, "names no host"),
        _ => refused(url, "is not an address"),
    }
}

fn refused(url: &str, why: &str) -> ToolResult {
    invalid(format!(
        "fetch: {url:?} {why}; give one such as https://docs.rs/serde"
    ))
}

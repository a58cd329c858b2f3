//! The part of SOCKS 5 that opens a connection: no authentication, no listening, no datagrams.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::{BadHost, Host};

/// A client's request to connect.
pub(super) struct SocksRequest {
    /// The host as written, for the record.
    pub(super) text: String,
    pub(super) host: Result<Host, BadHost>,
    pub(super) port: u16,
}

/// The reply codes used here.
#[derive(Clone, Copy)]
pub(super) enum SocksReply {
    Done = 0,
    NotAllowed = 2,
    Unreachable = 4,
    Unknown = 7,
}

/// Reads a request after its first byte, the version. Returns `None` for an unsupported request,
/// which was answered.
pub(super) fn read_request(stream: &mut (impl Read + Write)) -> io::Result<Option<SocksRequest>> {
    let [count] = bytes(stream)?;
    let mut ways = vec![0; usize::from(count)];
    stream.read_exact(&mut ways)?;
    if !ways.contains(&0) {
        stream.write_all(&[5, 0xff])?;
        return Ok(None);
    }
    stream.write_all(&[5, 0])?;
    let [version, command, _, kind] = bytes(stream)?;
    if version != 5 || command != 1 {
        reply(stream, SocksReply::Unknown)?;
        return Ok(None);
    }
    let (text, host) = match kind {
        1 => {
            let address: [u8; 4] = bytes(stream)?;
            of(IpAddr::V4(Ipv4Addr::from(address)))
        }
        4 => {
            let address: [u8; 16] = bytes(stream)?;
            of(IpAddr::V6(Ipv6Addr::from(address)))
        }
        3 => {
            let [length] = bytes(stream)?;
            let mut name = vec![0; usize::from(length)];
            stream.read_exact(&mut name)?;
            let text = String::from_utf8_lossy(&name).into_owned();
            // Brackets are not allowed here: addresses have their own types.
            let host = if text.starts_with('[') {
                Err(BadHost::Character('['))
            } else {
                Host::parse(&text)
            };
            (text, host)
        }
        _ => {
            reply(stream, SocksReply::Unknown)?;
            return Ok(None);
        }
    };
    let port = u16::from_be_bytes(bytes(stream)?);
    Ok(Some(SocksRequest { text, host, port }))
}

/// Sends a reply to the client.
pub(super) fn reply(stream: &mut impl Write, answer: SocksReply) -> io::Result<()> {
    stream.write_all(&[5, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0])
}

/// Returns an address as a text for the record, and as a host, which never fails.
fn of(address: IpAddr) -> (String, Result<Host, BadHost>) {
    let host = Host::of_address(address);
    (host.to_string(), Ok(host))
}

/// Reads exactly `N` bytes; fails with `UnexpectedEof` if the stream ends before.
fn bytes<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

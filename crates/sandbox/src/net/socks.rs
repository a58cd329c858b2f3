//! SOCKS 5, as much of it as opens a connection: no sign-in, no listening, no datagrams.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::{BadHost, Host};

/// What a client of SOCKS asked for.
pub(super) struct Asked {
    /// The host as it was written, for the record.
    pub(super) text: String,
    pub(super) host: Result<Host, BadHost>,
    pub(super) port: u16,
}

/// How it is answered.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    Done = 0,
    NotAllowed = 2,
    Unreachable = 4,
    Unknown = 7,
}

/// Reads what is asked for; the first byte, the version, was read. `None` when it is something that is not done here,
/// which was answered.
pub(super) fn asked(stream: &mut (impl Read + Write)) -> io::Result<Option<Asked>> {
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
        answer(stream, Answer::Unknown)?;
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
            // A bracket has no place here: addresses have kinds of their own.
            let host = match text.starts_with('[') {
                true => Err(BadHost::Character('[')),
                false => Host::parse(&text),
            };
            (text, host)
        }
        _ => {
            answer(stream, Answer::Unknown)?;
            return Ok(None);
        }
    };
    let port = u16::from_be_bytes(bytes(stream)?);
    Ok(Some(Asked { text, host, port }))
}

/// Answers a request.
pub(super) fn answer(stream: &mut impl Write, answer: Answer) -> io::Result<()> {
    stream.write_all(&[5, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0])
}

fn of(address: IpAddr) -> (String, Result<Host, BadHost>) {
    let host = Host::of_address(address);
    (host.to_string(), Ok(host))
}

fn bytes<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

//! Which addresses lie in the open internet, and which are this machine, its neighbours, or the clerk that hands out
//! the secrets of a cloud.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use super::host::plain;

/// Whether an address may be connected to without being named itself.
pub(super) fn is_open(address: IpAddr) -> bool {
    is_public(address) && !is_ours(address)
}

/// Whether an address is one of the open internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Whether it is an address of this machine, which listens there for its neighbours: only such a one can be bound to.
fn is_ours(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    !matches!(
        (a, b, c, d),
        (0 | 10 | 127 | 224..=255, ..)
            | (100, 64..=127, ..)
            | (169, 254, ..)
            | (172, 16..=31, ..)
            | (192, 0, 0 | 2, _)
            | (192, 31, 196, _)
            | (192, 52, 193, _)
            | (192, 88, 99, _)
            | (192, 168, ..)
            | (192, 175, 48, _)
            | (198, 18 | 19, ..)
            | (198, 51, 100, _)
            | (203, 0, 113, _)
            // Where virtual machines of Azure find their keeper.
            | (168, 63, 129, 16)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // An IPv4 address behind a translator of the network: it decides.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        // 6to4: the same.
        [0x2002, high, low, ..] => inner(high, low),
        // Teredo and other tunnels, identifiers, benchmarks.
        [0x2001, 0..=0x1ff, ..] => false,
        // Examples.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // What a tunnel of ISATAP takes for an IPv4 address.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => inner(high, low),
        // What is given out to the internet at all.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

//! Classifies addresses: the public internet, or this machine, its local network, and the cloud
//! metadata endpoint.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use super::host::unmapped;

/// Returns whether an address may be connected to without being listed itself: it belongs to the
/// public internet and not to this machine.
pub fn is_open_address(address: IpAddr) -> bool {
    is_public(address) && !is_ours(address)
}

/// Returns whether an address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match unmapped(address) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Returns whether it is an address of this machine, whose other services listen there: only an own
/// address can be bound.
fn is_ours(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Returns whether an address belongs to the public internet: not to a private, local, multicast,
/// documentation or otherwise reserved range, nor to a platform endpoint.
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
            // The platform endpoint of Azure's virtual machines.
            | (168, 63, 129, 16)
    )
}

/// Returns whether an address belongs to the public internet. In NAT64, 6to4 and ISATAP addresses,
/// the IPv4 address in it decides.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // NAT64: the embedded IPv4 address decides.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        // 6to4: the same.
        [0x2002, high, low, ..] => inner(high, low),
        // Teredo and other tunnels, identifiers, benchmarks.
        [0x2001, 0..=0x1ff, ..] => false,
        // Documentation prefixes.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // ISATAP: the embedded IPv4 address decides.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => inner(high, low),
        // The only prefix allocated for the public internet.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

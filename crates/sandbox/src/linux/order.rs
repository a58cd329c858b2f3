//! An order as bytes, for a seat.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::kernel::{self, Errno};
use super::{seat, wire};
use crate::{Network, Order, Policy};

/// Where programs are looked for when nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of an order: the policy's, the order's on top, and the way to the proxy.
pub(super) fn environment(policy: &Policy, order: &Order) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    let mut put = |name: &OsStr, value: &OsStr| {
        environment.retain(|(known, _)| known != name);
        environment.push((name.to_owned(), value.to_owned()));
    };
    for (name, value) in policy.environment.iter().chain(&order.environment) {
        put(name, value);
    }
    if matches!(&policy.network, Network::Hosts(hosts) if !hosts.is_empty()) {
        let proxy = format!("http://127.0.0.1:{}", crate::net::Proxy::PORT);
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            put(name.as_ref(), proxy.as_ref());
            put(name.to_uppercase().as_ref(), proxy.as_ref());
        }
        for name in ["no_proxy", "NO_PROXY"] {
            put(name.as_ref(), "localhost,127.0.0.1,::1".as_ref());
        }
    }
    environment
}

/// An order on its way.
pub(super) struct Packed {
    numbers: [u32; seat::NUMBERS],
    strings: Vec<u8>,
}

fn put(strings: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        // A NUL would end the string early and shift what follows.
        strings.extend(
            part.iter()
                .map(|byte| if *byte == 0 { b'?' } else { *byte }),
        );
    }
    strings.push(0);
}

/// Paths to try for a program, as a shell would.
fn programs(order: &Order, environment: &[(OsString, OsString)]) -> Vec<OsString> {
    if order.program.as_bytes().contains(&b'/') {
        return vec![order.folder.as_path().join(&order.program).into_os_string()];
    }
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new(USUAL_PATH), |(_, value)| value);
    let folders = path.as_bytes().split(|byte| *byte == b':');
    let absolute = folders.filter(|folder| folder.starts_with(b"/"));
    let program = |folder: &[u8]| Path::new(OsStr::from_bytes(folder)).join(&order.program);
    absolute.map(|folder| program(folder).into()).collect()
}

impl Packed {
    pub(super) fn new(policy: &Policy, order: &Order) -> Self {
        let environment = environment(policy, order);
        let programs = programs(order, &environment);
        let mut strings = Vec::new();
        put(
            &mut strings,
            &[order.folder.as_path().as_os_str().as_bytes()],
        );
        for program in &programs {
            put(&mut strings, &[program.as_bytes()]);
        }
        put(&mut strings, &[order.program.as_bytes()]);
        for argument in &order.arguments {
            put(&mut strings, &[argument.as_bytes()]);
        }
        for (name, value) in &environment {
            put(&mut strings, &[name.as_bytes(), b"=", value.as_bytes()]);
        }
        let numbers = [
            wire::ORDER,
            programs.len() as u32,
            1 + order.arguments.len() as u32,
            environment.len() as u32,
            u32::from(order.terminal),
            0,
            0,
        ];
        Self { numbers, strings }
    }

    /// Sends it, with its streams, to a seat.
    pub(super) fn send(mut self, seat: &OwnedFd, streams: &[OwnedFd; 3]) -> Result<(), Errno> {
        let mut files: Vec<RawFd> = streams.iter().map(AsRawFd::as_raw_fd).collect();
        let mut long = None;
        if self.strings.len() + 4 * seat::NUMBERS > seat::INLINE {
            let file = memory_file(&self.strings)?;
            self.numbers[5] = self.strings.len() as u32;
            self.strings.clear();
            files.push(long.insert(file).as_raw_fd());
        }
        let mut bytes: Vec<u8> = Vec::with_capacity(self.strings.len() + 32);
        bytes.extend(self.numbers.iter().flat_map(|number| number.to_ne_bytes()));
        bytes.extend(self.strings);
        kernel::send(seat.as_raw_fd(), &bytes, &files)
    }
}

/// A file without a name that holds these bytes.
pub(super) fn memory_file(bytes: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let file = rustix::fs::memfd_create("burin", flags).map_err(|error| error.raw_os_error())?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let count = kernel::write(file.as_raw_fd(), rest)?;
        rest = &rest[count..];
    }
    Ok(file)
}

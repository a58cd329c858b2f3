//! A spawn request encoded for a supervisor.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use super::kernel::{self, Errno};
use super::{OWN_HOSTS, PROXY_PORT, protocol, supervisor};
use crate::net;
use crate::program::{environment, programs};
use crate::{Policy, SpawnRequest};

/// A spawn request encoded for sending.
pub(super) struct PackedRequest {
    numbers: [u32; supervisor::NUMBERS],
    strings: Vec<u8>,
}

fn push_string(strings: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        // A NUL would end the string early and shift the rest.
        strings.extend(
            part.iter()
                .map(|byte| if *byte == 0 { b'?' } else { *byte }),
        );
    }
    strings.push(0);
}

impl PackedRequest {
    pub(super) fn new(policy: &Policy, request: &SpawnRequest) -> Self {
        let mut proxy = Vec::new();
        if net::reaches_hosts(&policy.network).is_some() {
            proxy = net::environment(PROXY_PORT, OWN_HOSTS);
        }
        let environment = environment(policy, request, &proxy);
        let programs = programs(request, &environment);
        let mut strings = Vec::new();
        push_string(
            &mut strings,
            &[request.folder.as_path().as_os_str().as_bytes()],
        );
        for program in &programs {
            push_string(&mut strings, &[program.as_bytes()]);
        }
        push_string(&mut strings, &[request.program.as_bytes()]);
        for argument in &request.arguments {
            push_string(&mut strings, &[argument.as_bytes()]);
        }
        for (name, value) in &environment {
            push_string(&mut strings, &[name.as_bytes(), b"=", value.as_bytes()]);
        }
        let numbers = [
            protocol::REQUEST,
            programs.len() as u32,
            1 + request.arguments.len() as u32,
            environment.len() as u32,
            u32::from(request.terminal),
            0,
            0,
        ];
        Self { numbers, strings }
    }

    /// Sends the request with its streams to a supervisor.
    pub(super) fn send(mut self, socket: &OwnedFd, streams: &[OwnedFd; 3]) -> Result<(), Errno> {
        let mut files: Vec<RawFd> = streams.iter().map(AsRawFd::as_raw_fd).collect();
        let mut long = None;
        if self.strings.len() + 4 * supervisor::NUMBERS > supervisor::INLINE {
            let file = memory_file(&self.strings)?;
            self.numbers[5] = self.strings.len() as u32;
            self.strings.clear();
            files.push(long.insert(file).as_raw_fd());
        }
        let mut bytes: Vec<u8> = Vec::with_capacity(self.strings.len() + 32);
        bytes.extend(self.numbers.iter().flat_map(|number| number.to_ne_bytes()));
        bytes.extend(self.strings);
        kernel::send(socket.as_raw_fd(), &bytes, &files)
    }
}

/// Creates an anonymous file with these bytes.
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

//! Blocks of ports, each claimed by one lease of any repository.

use std::fs;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::settings::PoolSettings;

/// End of the port range: systems assign higher ports themselves.
const END: u16 = 32_752;

/// Claims the lowest free block of ports from `first` on for the lease in `lease`, by a file in
/// `folder` named after its first port. A block with a port in use is passed over.
pub(crate) fn claim(folder: &Path, first: u16, lease: &Path) -> Result<Range<u16>, Error> {
    let mut start = first;
    while start < END {
        let block = start..start + PoolSettings::PORTS;
        start += PoolSettings::PORTS;
        let path = folder.join(block.start.to_string());
        if path.exists() && !is_stale(&path) {
            continue;
        }
        if block.clone().any(is_in_use) {
            continue;
        }
        fs::remove_file(&path).ok();
        let claimed = fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .open(&path);
        match claimed {
            Ok(mut file) => {
                file.write_all(lease.to_string_lossy().as_bytes())
                    .map_err(Error::file("write", &path))?;
                return Ok(block);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::file("create", &path)(error)),
        }
    }
    Err(Error::Refused(
        "all port blocks are in use; release some leases".to_owned(),
    ))
}

/// Releases a block of ports.
pub(crate) fn give_back(folder: &Path, block: &Range<u16>) {
    // A file that stays is stale, since its lease is gone.
    fs::remove_file(folder.join(block.start.to_string())).ok();
}

/// Whether the lease that claimed a block is gone. The caller holds the lock of all leases, so no
/// process is between creating the file and writing it.
fn is_stale(path: &Path) -> bool {
    match fs::read_to_string(path) {
        Ok(lease) => !Path::new(&lease).is_dir(),
        Err(_) => false,
    }
}

/// Whether a TCP port of the loopback address cannot be bound at this moment.
fn is_in_use(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err()
}

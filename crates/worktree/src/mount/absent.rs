//! A system without overlays: nothing can be mounted, so nothing is mounted.

use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

use super::MountPrivilege;
use crate::error::Error;

pub(super) const HAS_OVERLAYS: bool = false;

pub(super) fn mount(file_system: &str, _at: &Path, _options: &CStr) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("this system has no {file_system} mounts"),
    ))
}

pub(super) fn detach(_at: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn mount_points() -> Vec<PathBuf> {
    Vec::new()
}

pub(super) fn privilege() -> MountPrivilege {
    MountPrivilege::Plain
}

pub(super) fn enter_namespace() -> Result<MountPrivilege, Error> {
    Ok(MountPrivilege::Plain)
}

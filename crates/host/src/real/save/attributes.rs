//! The extended attributes of a file on the one that replaces it.
//!
//! Some attributes belong to the system: it derives them from the content, or attaches them to each
//! file by itself and lets no program set them. They are left to the system; otherwise every save
//! of a file that has one would have to overwrite it in place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use xattr::FileExt;

use crate::retry::retry;
use crate::system_calls;

/// The attributes of one file.
pub(super) trait AttributeStore {
    /// Returns the names; fails with `NOTSUP` on a volume without attributes.
    fn names(&self) -> Result<Vec<OsString>, Errno>;
    /// Returns the length of a value in bytes; `None` if there is no such attribute.
    fn length(&self, name: &OsStr) -> Result<Option<usize>, Errno>;
    /// Returns a value; `None` if there is no such attribute.
    fn get(&self, name: &OsStr) -> Result<Option<Vec<u8>>, Errno>;
    /// Sets a value.
    fn set(&self, name: &OsStr, value: &[u8]) -> Result<(), Errno>;
    /// Removes an attribute.
    fn remove(&self, name: &OsStr) -> Result<(), Errno>;
}

/// The attributes that a system treats specially.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeRules {
    Linux,
    MacOs,
}

/// The treatment of one of the old file's attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttributeRule {
    /// The new file must have it.
    Copy,
    /// Copied if the system permits; otherwise the system keeps it itself.
    CopyIfPermitted,
    /// Left to the system.
    Skip,
}

/// The longest value that is copied, in bytes. A file with a longer one, which only a resource fork
/// has, is overwritten in place.
const MAX_VALUE: usize = 1 << 20;

impl AttributeRules {
    pub(super) fn of_this_system() -> Self {
        if system_calls::HAS_APPLE_ATTRIBUTES {
            Self::MacOs
        } else {
            Self::Linux
        }
    }

    fn rule(self, name: &OsStr) -> AttributeRule {
        let name = name.as_bytes();
        let is_apple = name.starts_with(b"com.apple.");
        match self {
            // The kernel derives them from the content.
            Self::Linux if matches!(name, b"security.ima" | b"security.evm") => AttributeRule::Skip,
            Self::Linux => AttributeRule::Copy,
            Self::MacOs if matches!(name, b"com.apple.provenance" | b"com.apple.macl") => {
                AttributeRule::Skip
            }
            Self::MacOs if name.starts_with(b"com.apple.system.") => AttributeRule::Skip,
            // These hold the user's own data.
            Self::MacOs if matches!(name, b"com.apple.ResourceFork" | b"com.apple.FinderInfo") => {
                AttributeRule::Copy
            }
            Self::MacOs if is_apple => AttributeRule::CopyIfPermitted,
            Self::MacOs => AttributeRule::Copy,
        }
    }

    /// Returns whether a new file can have the attribute by itself although the old one has none:
    /// from its folder, or because of the program that creates it.
    fn is_invented(self, name: &OsStr) -> bool {
        match self {
            Self::Linux => name == "system.posix_acl_access",
            Self::MacOs => name == "com.apple.quarantine",
        }
    }
}

/// Gives `new` the attributes of `old`. Returns whether it has all that count.
pub(super) fn keep_attributes(
    rules: AttributeRules,
    old: &dyn AttributeStore,
    new: &dyn AttributeStore,
) -> io::Result<bool> {
    let names = match old.names() {
        Ok(names) => names,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(true),
        Err(errno) => return unreadable(errno),
    };
    for name in &names {
        let rule = rules.rule(name);
        if rule != AttributeRule::Skip && !keep(rule, name, old, new)? {
            return Ok(false);
        }
    }
    for name in new.names()? {
        if rules.is_invented(&name) && !names.contains(&name) && new.remove(&name).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn keep(
    rule: AttributeRule,
    name: &OsStr,
    old: &dyn AttributeStore,
    new: &dyn AttributeStore,
) -> io::Result<bool> {
    match old.length(name) {
        Ok(Some(length)) if length > MAX_VALUE => return Ok(false),
        Ok(Some(_)) => {}
        // Removed meanwhile.
        Ok(None) => return Ok(true),
        Err(errno) => return unreadable(errno),
    }
    let value = match old.get(name) {
        Ok(Some(value)) => value,
        Ok(None) => return Ok(true),
        Err(errno) => return unreadable(errno),
    };
    if new.get(name).ok().flatten().as_ref() == Some(&value) {
        return Ok(true);
    }
    Ok(match new.set(name, &value) {
        Ok(()) => true,
        Err(Errno::PERM | Errno::ACCESS) => rule == AttributeRule::CopyIfPermitted,
        Err(_) => false,
    })
}

/// Only the old file itself can keep an attribute that cannot be read.
fn unreadable(errno: Errno) -> io::Result<bool> {
    match errno {
        Errno::PERM | Errno::ACCESS => Ok(false),
        other => Err(other.into()),
    }
}

impl AttributeStore for File {
    fn names(&self) -> Result<Vec<OsString>, Errno> {
        FileExt::list_xattr(self)
            .map(Iterator::collect)
            .map_err(|error| errno_of(&error))
    }

    fn length(&self, name: &OsStr) -> Result<Option<usize>, Errno> {
        match retry(|| rustix::fs::fgetxattr_query(self, name)) {
            Ok(length) => Ok(Some(length)),
            Err(system_calls::NO_ATTRIBUTE) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn get(&self, name: &OsStr) -> Result<Option<Vec<u8>>, Errno> {
        FileExt::get_xattr(self, name).map_err(|error| errno_of(&error))
    }

    fn set(&self, name: &OsStr, value: &[u8]) -> Result<(), Errno> {
        retry(|| rustix::fs::fsetxattr(self, name, value, XattrFlags::empty()))
    }

    fn remove(&self, name: &OsStr) -> Result<(), Errno> {
        retry(|| rustix::fs::fremovexattr(self, name))
    }
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests;

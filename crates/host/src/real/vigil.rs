//! Whether anything happened in some folders, known without looking at them.
//!
//! The system writes an event down before the call that made the change returns. So who reads what is written down, to
//! its end, knows of every change that was over before: a barrier, without a cookie and without a thread.
//!
//! Not told of are: writes through a shared mapping until it is closed, writes through another hard link, and what
//! another machine does. A vigil is kept only on file systems of this machine; for the rest, whoever trusts it looks
//! at everything now and then.
//! Linux only; elsewhere there is none to be had.

#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsStr;
use std::path::Path;

use base::AbsPath;

/// Folders under watch, until it is dropped or lost.
#[derive(Debug)]
pub struct Vigil {
    #[cfg(target_os = "linux")]
    kept: linux::Kept,
    #[cfg(not(target_os = "linux"))]
    kept: std::convert::Infallible,
}

/// Something happened to a file or link in one of the folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened<'a> {
    /// Below the root; empty for the root.
    pub folder: &'a Path,
    /// In that folder.
    pub name: &'a OsStr,
    /// Whether the folder has other entries now, or one of another file.
    pub is_entry: bool,
}

/// Something may have happened that is not told: what was known is to be looked at anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl Vigil {
    /// Watches the folders, which lie below `root` or are it (the empty path). `None` where the system has nothing of the
    /// kind, grants too little, or would not tell of all changes.
    pub fn keep(root: &AbsPath, folders: &mut dyn ExactSizeIterator<Item = &Path>) -> Option<Self> {
        #[cfg(target_os = "linux")]
        return linux::Kept::new(root, folders).map(|kept| Self { kept });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (root, folders);
            None
        }
    }

    /// Everything that happened before this was called and was not told so far. Never waits. After `Lost` it is of no
    /// more use; so it is when a folder comes, goes or moves.
    pub fn happened(&mut self, each: &mut dyn FnMut(Happened<'_>)) -> Result<(), Lost> {
        #[cfg(target_os = "linux")]
        return self.kept.happened(each);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = each;
            match self.kept {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

//! The backends that make trees, best first, and detection of those that a file system supports.
//!
//! Detection tries each backend once per file system, boot and mount privilege; the result is
//! cached and shown.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::dir_tree;
use crate::error::Error;
use crate::json_file;
use crate::mount::{self, OverlayLayers};
use crate::mount_privilege::{MountPrivilege, current_privilege};
use crate::probe::PROBE_PREFIX;

/// A backend that makes trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeBackend {
    /// An overlay over the base: no file is copied.
    Overlay,
    /// Clones of the base's files, which share blocks until one side writes.
    Reflink,
    /// Copies of the base's files, made by several threads.
    Copy,
    /// Files written directly from Git's objects, without a base.
    Fill,
}

impl TreeBackend {
    /// The name in settings and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Reflink => "reflink",
            Self::Copy => "copy",
            Self::Fill => "fill",
        }
    }

    /// All backends, best first.
    pub const ALL: [Self; 4] = [Self::Overlay, Self::Reflink, Self::Copy, Self::Fill];
}

/// The backends that a file system supports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendSupport {
    /// The best backend that works.
    #[serde(rename = "rung")]
    pub backend: TreeBackend,
    /// The reason against each better backend, as a sentence.
    pub missing: BTreeMap<String, String>,
}

/// Detects the backends for a folder's file system, using the cache file `cache`.
pub(crate) fn detect_backends(folder: &Path, cache: &Path) -> Result<BackendSupport, Error> {
    let stat = rustix::fs::stat(folder).map_err(Error::errno("look at", folder))?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let privilege = current_privilege();
    let key = format!("{}:{:x}:{}", boot.trim(), stat.st_dev, privilege.name());
    let mut known: BTreeMap<String, BackendSupport> = fs::read(cache)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    if let Some(support) = known.get(&key) {
        return Ok(support.clone());
    }
    let support = probe_backends(folder, privilege)?;
    known.retain(|name, _| name.starts_with(boot.trim()));
    known.insert(key, support.clone());
    json_file::write(cache, &known)?;
    Ok(support)
}

/// Finds the best backend that works in `folder`, by trying each in a temporary folder there. Fails
/// only if that folder cannot be created or removed.
fn probe_backends(folder: &Path, privilege: MountPrivilege) -> Result<BackendSupport, Error> {
    let place = folder.join(format!("{PROBE_PREFIX}{}", std::process::id()));
    dir_tree::remove_all(&place).map_err(Error::file("clear", &place))?;
    fs::create_dir(&place).map_err(Error::file("create", &place))?;
    let mut missing = BTreeMap::new();
    let backend = match try_overlay(&place, privilege) {
        Ok(()) => TreeBackend::Overlay,
        Err(reason) => {
            missing.insert(TreeBackend::Overlay.name().to_owned(), reason.to_string());
            match try_reflink(&place) {
                Ok(()) => TreeBackend::Reflink,
                Err(error) => {
                    let sentence = format!("this file system does not support reflinks: {error}");
                    missing.insert(TreeBackend::Reflink.name().to_owned(), sentence);
                    TreeBackend::Copy
                }
            }
        }
    };
    mount::detach_below(&place).map_err(Error::file("unmount below", &place))?;
    dir_tree::remove_all(&place).map_err(Error::file("clear", &place))?;
    Ok(BackendSupport { backend, missing })
}

/// The reason that overlays do not work; its text is kept as [`BackendSupport::missing`].
#[derive(Debug, thiserror::Error)]
enum NoOverlay {
    #[error(
        "only root, or a process in its own mount namespace, can mount; Burin's window and its \
         agents have one, a single command of an ordinary user does not"
    )]
    Unprivileged,
    #[error("cannot mount an overlay: {0}")]
    Failed(#[from] io::Error),
}

/// Mounts an overlay in the folder `place` and checks that writes stay out of its lower layer.
/// Leaves the mount and the files there.
fn try_overlay(place: &Path, privilege: MountPrivilege) -> Result<(), NoOverlay> {
    if privilege == MountPrivilege::Plain {
        return Err(NoOverlay::Unprivileged);
    }
    let tried = || -> io::Result<()> {
        for name in ["lower", "upper", "work", "at"] {
            fs::create_dir(place.join(name))?;
        }
        fs::write(place.join("lower/file"), b"below")?;
        fs::create_dir(place.join("lower/folder"))?;
        let (lower, upper, work) = (place.join("lower"), place.join("upper"), place.join("work"));
        let layers = OverlayLayers {
            lower: &[&lower],
            upper: &upper,
            work: &work,
        };
        let at = place.join("at");
        mount::overlay(layers, &at, privilege != MountPrivilege::Root)?;
        fs::write(at.join("file"), b"above")?;
        fs::remove_dir(at.join("folder"))?;
        let kept = fs::read(lower.join("file"))? == b"below" && lower.join("folder").exists();
        if kept && fs::read(at.join("file"))? == b"above" {
            Ok(())
        } else {
            Err(io::Error::other("writes reached the lower layer"))
        }
    };
    Ok(tried()?)
}

/// Clones a file in the folder `place`; fails if the file system cannot. Leaves the files there.
fn try_reflink(place: &Path) -> io::Result<()> {
    let from = place.join("from");
    fs::write(&from, vec![7; 8192])?;
    let (from, to) = (fs::File::open(&from)?, fs::File::create(place.join("to"))?);
    rustix::fs::ioctl_ficlone(&to, &from)?;
    Ok(())
}

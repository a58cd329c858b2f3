//! The backends that make trees, best first, and detection of those that a file system supports.
//!
//! Detection tries each backend once per file system, boot and mount privilege; the result is
//! cached and shown.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clone;
use crate::dir_tree;
use crate::error::Error;
use crate::json_file;
use crate::mount::{self, MountPrivilege, OverlayLayers, current_privilege};
use crate::probe::PROBE_PREFIX;
use crate::system;
use crate::volume::VolumeFacts;

/// A backend that makes trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeBackend {
    /// An overlay over the base: no file is copied. Linux only.
    Overlay,
    /// One clone of the whole base, whose files share blocks until one side writes. APFS only.
    #[serde(rename = "clone")]
    CloneTree,
    /// Clones of the base's files, one by one, which share blocks until one side writes.
    Reflink,
    /// Copies of the base's files, made by several threads.
    Copy,
    /// Files written directly from Git's objects, without a base.
    Fill,
}

impl TreeBackend {
    /// Returns the name in lists and in the cache of detected backends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::CloneTree => "clone",
            Self::Reflink => "reflink",
            Self::Copy => "copy",
            Self::Fill => "fill",
        }
    }

    /// All backends, best first.
    pub const ALL: [Self; 5] = [
        Self::Overlay,
        Self::CloneTree,
        Self::Reflink,
        Self::Copy,
        Self::Fill,
    ];

    /// Returns whether some file system of this system supports the backend.
    pub(crate) fn exists_here(self) -> bool {
        match self {
            Self::Overlay => mount::HAS_OVERLAYS,
            Self::CloneTree => clone::CLONES_TREES,
            Self::Reflink | Self::Copy | Self::Fill => true,
        }
    }

    /// Returns whether the files of a tree share blocks with those of the base.
    pub(crate) fn shares_blocks(self) -> bool {
        matches!(self, Self::CloneTree | Self::Reflink)
    }
}

/// The backends that a file system supports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendSupport {
    /// The best backend that works.
    #[serde(rename = "rung")]
    pub backend: TreeBackend,
    /// The reason against each better backend, as a sentence, by the backend's name.
    pub missing: BTreeMap<String, String>,
    pub(crate) volume: VolumeFacts,
}

/// Detects the backends for a folder's file system, using the cache file `cache`.
pub(crate) fn detect_backends(folder: &Path, cache: &Path) -> Result<BackendSupport, Error> {
    let stat = rustix::fs::stat(folder).map_err(Error::errno("look at", folder))?;
    let boot = system::boot_id();
    let privilege = current_privilege();
    let key = format!("{boot}:{:x}:{}", stat.st_dev, privilege.name());
    let mut known: BTreeMap<String, BackendSupport> = fs::read(cache)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    if let Some(support) = known.get(&key) {
        return Ok(support.clone());
    }
    let support = probe_backends(folder, privilege)?;
    known.retain(|name, _| name.starts_with(&boot));
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
    let mut backend = TreeBackend::Copy;
    for tried in [
        TreeBackend::Overlay,
        TreeBackend::CloneTree,
        TreeBackend::Reflink,
    ] {
        match try_backend(tried, &place, privilege) {
            Ok(()) => {
                backend = tried;
                break;
            }
            Err(reason) => {
                missing.insert(tried.name().to_owned(), reason.to_string());
            }
        }
    }
    let can_clone = match backend {
        TreeBackend::Overlay => clone::probe_file(&place).is_ok(),
        backend => backend.shares_blocks(),
    };
    let volume = VolumeFacts::probe(folder, &place, can_clone);
    mount::detach_below(&place).map_err(Error::file("unmount below", &place))?;
    dir_tree::remove_all(&place).map_err(Error::file("clear", &place))?;
    Ok(BackendSupport {
        backend,
        missing,
        volume: volume.map_err(Error::file("examine the volume of", folder))?,
    })
}

/// The reason that a backend does not work; its text is kept as [`BackendSupport::missing`].
#[derive(Debug, thiserror::Error)]
enum NoBackend {
    #[error("only Linux can mount overlays")]
    NoOverlays,
    #[error(
        "only root, or a process in its own mount namespace, can mount; Burin's window and its \
         agents have one, a single command of an ordinary user does not"
    )]
    Unprivileged,
    #[error("cannot mount an overlay: {0}")]
    Overlay(io::Error),
    #[error("only macOS clones whole folders, on APFS")]
    NoTreeClones,
    #[error("this file system does not clone whole folders: {0}")]
    TreeClone(io::Error),
    #[error("this file system does not support reflinks: {0}")]
    Reflink(io::Error),
}

/// Tries a backend in the folder `place`.
fn try_backend(
    backend: TreeBackend,
    place: &Path,
    privilege: MountPrivilege,
) -> Result<(), NoBackend> {
    match backend {
        TreeBackend::Overlay if !backend.exists_here() => Err(NoBackend::NoOverlays),
        TreeBackend::Overlay if privilege == MountPrivilege::Plain => Err(NoBackend::Unprivileged),
        TreeBackend::Overlay => try_overlay(place, privilege).map_err(NoBackend::Overlay),
        TreeBackend::CloneTree if !backend.exists_here() => Err(NoBackend::NoTreeClones),
        TreeBackend::CloneTree => clone::probe_tree(place).map_err(NoBackend::TreeClone),
        TreeBackend::Reflink => clone::probe_file(place).map_err(NoBackend::Reflink),
        TreeBackend::Copy | TreeBackend::Fill => Ok(()),
    }
}

fn try_overlay(place: &Path, privilege: MountPrivilege) -> io::Result<()> {
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
}

//! The ways a tree can be made, best first, and which of them a file system allows.
//!
//! Decided by doing, once for each file system, boot and standing; what was found is remembered and shown.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::inside::{Standing, standing};
use crate::mount::{self, Layers};
use crate::mounts::PROBE;
use crate::record;
use crate::sweep;

/// A way to make a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// An overlay mounted over the base: nothing is copied.
    Overlay,
    /// Each file of the base cloned: its blocks are shared until one side writes.
    Reflink,
    /// Each file of the base copied, by several threads.
    Copy,
    /// No base: files written straight from git's objects.
    Fill,
}

impl Rung {
    /// As it is written in settings and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Reflink => "reflink",
            Self::Copy => "copy",
            Self::Fill => "fill",
        }
    }

    /// All of them, best first.
    pub const ALL: [Self; 4] = [Self::Overlay, Self::Reflink, Self::Copy, Self::Fill];
}

/// What a file system allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// The best way that works.
    pub rung: Rung,
    /// Why each better one does not, as a sentence.
    pub missing: BTreeMap<String, String>,
}

/// What the folder's file system allows: remembered in `memory`, or tried out.
pub(crate) fn ladder(folder: &Path, memory: &Path) -> Result<Ladder, Error> {
    let stat = rustix::fs::stat(folder).map_err(Error::errno("look at", folder))?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let standing = standing();
    let key = format!("{}:{:x}:{}", boot.trim(), stat.st_dev, standing.name());
    let mut known: BTreeMap<String, Ladder> = fs::read(memory)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    if let Some(ladder) = known.get(&key) {
        return Ok(ladder.clone());
    }
    let ladder = tried(folder, standing)?;
    known.retain(|name, _| name.starts_with(boot.trim()));
    known.insert(key, ladder.clone());
    record::write(memory, &known)?;
    Ok(ladder)
}

fn tried(folder: &Path, standing: Standing) -> Result<Ladder, Error> {
    let place = folder.join(format!("{PROBE}{}", std::process::id()));
    sweep::remove(&place).map_err(Error::file("clear", &place))?;
    fs::create_dir(&place).map_err(Error::file("create", &place))?;
    let mut missing = BTreeMap::new();
    let rung = match try_overlay(&place, standing) {
        Ok(()) => Rung::Overlay,
        Err(sentence) => {
            missing.insert(Rung::Overlay.name().to_owned(), sentence);
            match try_reflink(&place) {
                Ok(()) => Rung::Reflink,
                Err(error) => {
                    let sentence = format!("this file system does not clone files: {error}");
                    missing.insert(Rung::Reflink.name().to_owned(), sentence);
                    Rung::Copy
                }
            }
        }
    };
    mount::detach_below(&place).map_err(Error::file("unmount below", &place))?;
    sweep::remove(&place).map_err(Error::file("clear", &place))?;
    Ok(Ladder { rung, missing })
}

fn try_overlay(place: &Path, standing: Standing) -> Result<(), String> {
    if standing == Standing::Plain {
        return Err(
            "only root, or a process in a namespace of its own, can mount; Burin's window and its agents have \
             one, a single command for an ordinary user has not"
                .to_owned(),
        );
    }
    let tried = || -> io::Result<()> {
        for name in ["lower", "upper", "work", "at"] {
            fs::create_dir(place.join(name))?;
        }
        fs::write(place.join("lower/file"), b"below")?;
        fs::create_dir(place.join("lower/folder"))?;
        let (lower, upper, work) = (place.join("lower"), place.join("upper"), place.join("work"));
        let layers = Layers {
            lower: &[&lower],
            upper: &upper,
            work: &work,
        };
        let at = place.join("at");
        mount::overlay(layers, &at, standing != Standing::Root)?;
        fs::write(at.join("file"), b"above")?;
        fs::remove_dir(at.join("folder"))?;
        let kept = fs::read(lower.join("file"))? == b"below" && lower.join("folder").exists();
        match kept && fs::read(at.join("file"))? == b"above" {
            true => Ok(()),
            false => Err(io::Error::other("writes went through to the lower layer")),
        }
    };
    tried().map_err(|error| format!("an overlay could not be mounted: {error}"))
}

fn try_reflink(place: &Path) -> io::Result<()> {
    let from = place.join("from");
    fs::write(&from, vec![7; 8192])?;
    let (from, to) = (fs::File::open(&from)?, fs::File::create(place.join("to"))?);
    rustix::fs::ioctl_ficlone(&to, &from)?;
    Ok(())
}

//! The git folder of a lease: written by us, then an agent's.
//!
//! Invariant: nothing in it is believed. HEAD and refs are read as text, objects and index are copied before anything
//! looks into them, and a config that is not byte for byte ours is refused.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git::lease::Hub;
use rustix::fs::FileType;

use crate::beneath::{Beneath, names};
use crate::error::Error;
use crate::fill::make_folder;

/// What is longer than this, in bytes, was not written by git.
const LONGEST_REF: u64 = 4096;
const LONGEST_REFS: u64 = 64 << 20;
const LARGEST_INDEX: u64 = 1 << 30;
const LARGEST_PACK: u64 = 8 << 30;

/// Where a lease's HEAD stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    /// The last commit, in full.
    pub(crate) commit: String,
    /// The ref that HEAD names, when it names one.
    pub(crate) reference: Option<String>,
}

/// Writes what all git folders of one base have in common.
pub(crate) fn write_common(hub: &Hub, folder: &Path) -> Result<(), Error> {
    for name in [
        "objects",
        "objects/info",
        "objects/pack",
        "refs",
        "refs/heads",
        "refs/tags",
        "info",
    ] {
        make_folder(&folder.join(name))?;
    }
    put(&folder.join("HEAD"), b"ref: refs/heads/burin/base\n")?;
    let mut alternates = hub.object_folder().into_os_string();
    alternates.push("\n");
    put(
        &folder.join("objects/info/alternates"),
        alternates.as_bytes(),
    )?;
    let common = hub.common_dir();
    for name in ["info/exclude", "info/attributes"] {
        if let Ok(text) = fs::read(common.join(name)) {
            put(&folder.join(name), &text)?;
        }
    }
    // Files lie here as they are committed, whatever encoding they are to have elsewhere.
    let attributes = folder.join("info/attributes");
    let mut text = fs::read(&attributes).unwrap_or_default();
    text.extend_from_slice(b"\n* -working-tree-encoding\n");
    put(&attributes, &text)
}

/// Writes what is a lease's own: HEAD, its branch, its config.
pub(crate) fn write_own(folder: &Path, own: &Own<'_>) -> Result<(), Error> {
    put(
        &folder.join("HEAD"),
        format!("ref: refs/heads/{}\n", own.branch).as_bytes(),
    )?;
    put(&folder.join("config"), own.config.as_bytes())?;
    let mut refs = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    refs.push_str(&format!("{} refs/heads/{}\n", own.commit, own.branch));
    if let Some(hub_branch) = own.hub_branch {
        refs.push_str(&format!("{} refs/remotes/hub/{hub_branch}\n", own.base));
    }
    put(&folder.join("packed-refs"), refs.as_bytes())?;
    if let Some(shallow) = own.shallow {
        let text = fs::read(shallow).map_err(Error::file("read", shallow))?;
        put(&folder.join("shallow"), &text)?;
    }
    Ok(())
}

/// What a lease's git folder holds for itself.
pub(crate) struct Own<'a> {
    /// "burin/wt-3".
    pub(crate) branch: &'a str,
    /// Where the branch stands.
    pub(crate) commit: &'a str,
    /// Where the hub stood.
    pub(crate) base: &'a str,
    pub(crate) hub_branch: Option<&'a str>,
    pub(crate) config: &'a str,
    pub(crate) shallow: Option<&'a Path>,
}

/// A lease's git folder, to be read with care.
pub(crate) struct GitDir {
    folder: Beneath,
    id: String,
}

impl GitDir {
    pub(crate) fn open(folder: &Path, id: &str) -> Result<Self, Error> {
        let opened = Beneath::open(folder).map_err(Error::file("open", folder))?;
        Ok(Self {
            folder: opened,
            id: id.to_owned(),
        })
    }

    /// Refuses a folder whose config is not ours, or that sends git elsewhere.
    pub(crate) fn check(&self, config: &str) -> Result<(), Error> {
        let found = self.read("config", 1 << 20)?;
        if found.as_deref() != Some(config.as_bytes()) {
            return Err(self.spoilt(
                "the config of its git folder is not the one it was given; archive what you need by hand, then \
                 release it with --discard",
            ));
        }
        for name in ["commondir", "config.worktree", "gitdir"] {
            if self.read(name, 1 << 20)?.is_some() {
                return Err(self.spoilt(&format!(
                    "its git folder holds a file {name:?} that sends git elsewhere; remove it",
                )));
            }
        }
        Ok(())
    }

    /// Where HEAD stands.
    pub(crate) fn tip(&self) -> Result<Tip, Error> {
        let head = self.text("HEAD")?.unwrap_or_default();
        if let Some(name) = head.trim_end().strip_prefix("ref: ") {
            let commit = self.reference(name.trim())?;
            let commit = commit.ok_or_else(|| {
                self.spoilt(&format!(
                    "its HEAD names {name}, which has no commit; check out a branch there"
                ))
            })?;
            return Ok(Tip {
                commit,
                reference: Some(name.trim().to_owned()),
            });
        }
        let commit = id_of(head.trim_end()).ok_or_else(|| {
            self.spoilt(
                "its HEAD cannot be read; write \"ref: refs/heads/NAME\" or a commit into it",
            )
        })?;
        Ok(Tip {
            commit,
            reference: None,
        })
    }

    /// Whether an index was written that is not the base's.
    pub(crate) fn copy_index(&self, to: &Path) -> Result<(), Error> {
        let content = self.read("index", LARGEST_INDEX)?;
        let content =
            content.ok_or_else(|| self.spoilt("its index is gone; run \"git reset\" there"))?;
        let stat = rustix::fs::statat(
            self.folder
                .folder(Path::new("."))
                .map_err(self.unread("."))?,
            "index",
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
        );
        put(to, &content)?;
        // Files changed in the moment the index was written are told apart by its time.
        if let Ok(stat) = stat {
            let time = rustix::fs::Timespec {
                tv_sec: stat.st_mtime,
                tv_nsec: stat.st_mtime_nsec as _,
            };
            let times = rustix::fs::Timestamps {
                last_access: time,
                last_modification: time,
            };
            let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::utimensat(rustix::fs::CWD, to, &times, flags)
                .map_err(Error::errno("write", to))?;
        }
        Ok(())
    }

    /// Copies the objects that were made in the lease to `to`: regular files of the names git gives, nothing else.
    pub(crate) fn copy_objects(&self, to: &Path) -> Result<(), Error> {
        make_folder(to)?;
        let objects = Path::new("objects");
        let Ok(top) = self.folder.folder(objects) else {
            return Ok(());
        };
        for (name, kind) in names(&top).map_err(self.unread("objects"))? {
            let name = name.to_string_lossy().into_owned();
            let is_pack = name == "pack";
            if kind != FileType::Directory || !(is_pack || is_hex(&name, 2)) {
                continue;
            }
            let within = objects.join(&name);
            let Ok(folder) = self.folder.folder(&within) else {
                continue;
            };
            for (file, kind) in names(&folder).map_err(self.unread("objects"))? {
                let file = file.to_string_lossy().into_owned();
                let is_wanted = match is_pack {
                    true => file.ends_with(".pack") || file.ends_with(".idx"),
                    false => is_hex(&file, 38),
                };
                if kind != FileType::RegularFile || !is_wanted {
                    continue;
                }
                let path = within.join(&file);
                let content = self.folder.read(&path, LARGEST_PACK);
                if let Some(content) = content.map_err(self.unread("objects"))? {
                    make_folder(&to.join(&name))?;
                    put(&to.join(&name).join(&file), &content)?;
                }
            }
        }
        Ok(())
    }

    fn reference(&self, name: &str) -> Result<Option<String>, Error> {
        let is_plain = name.starts_with("refs/")
            && name
                .split('/')
                .all(|part| !part.is_empty() && part != "." && part != "..");
        if !is_plain {
            return Err(
                self.spoilt("its HEAD names something that is no branch; check out a branch there")
            );
        }
        if let Some(id) = self
            .text(name)?
            .as_deref()
            .and_then(|text| id_of(text.trim_end()))
        {
            return Ok(Some(id));
        }
        let packed = self.read("packed-refs", LONGEST_REFS)?.unwrap_or_default();
        let packed = String::from_utf8_lossy(&packed);
        let found = packed.lines().find_map(|line| {
            let (id, packed_name) = line.split_once(' ')?;
            (packed_name == name).then(|| id_of(id)).flatten()
        });
        Ok(found)
    }

    fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let content = self.read(name, LONGEST_REF)?;
        Ok(content.map(|content| String::from_utf8_lossy(&content).into_owned()))
    }

    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.folder.read(Path::new(name), limit) {
            // A file stands where a folder of refs would be.
            Err(error)
                if error.raw_os_error() == Some(rustix::io::Errno::NOTDIR.raw_os_error()) =>
            {
                Ok(None)
            }
            other => other.map_err(self.unread(name)),
        }
    }

    fn unread(&self, name: &str) -> impl FnOnce(std::io::Error) -> Error {
        let what = format!(
            "{} cannot be read: {{}}; put a regular file or folder of git's there",
            self.folder.path().join(name).display()
        );
        let id = self.id.clone();
        move |error| Error::Spoilt {
            id,
            what: what.replace("{}", &error.to_string()),
        }
    }

    fn spoilt(&self, what: &str) -> Error {
        Error::Spoilt {
            id: self.id.clone(),
            what: what.to_owned(),
        }
    }
}

fn id_of(text: &str) -> Option<String> {
    is_hex(text, 40).then(|| text.to_owned())
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn put(path: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(path, content).map_err(Error::file("write", path))
}

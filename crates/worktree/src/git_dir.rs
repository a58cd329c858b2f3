//! The git folder of a lease: written by us, then under an agent's control.
//!
//! Invariant: its contents are untrusted. HEAD and refs are read as text, objects and index are
//! copied before they are used, and a config that differs from ours is refused.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git::lease::MainRepo;
use host::no_follow::{self, FolderEntry};
use rustix::fs::FileType;

use crate::error::Error;
use crate::fill::make_folder;
use crate::open_beneath::RootedDir;

/// Maximum sizes in bytes; Git writes nothing larger.
const MAX_REF_BYTES: u64 = 4096;
const MAX_PACKED_REFS_BYTES: u64 = 64 << 20;
const MAX_INDEX_BYTES: u64 = 1 << 30;
const MAX_PACK_BYTES: u64 = 8 << 30;

/// The commit and ref to which a lease's HEAD points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    /// The full id of the last commit.
    pub(crate) commit: String,
    /// The ref that HEAD names; `None` if it is detached.
    pub(crate) reference: Option<String>,
}

/// Writes the files that all git folders of one base have in common, into an existing folder.
pub(crate) fn write_common(main_repo: &MainRepo, folder: &Path) -> Result<(), Error> {
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
    write_file(&folder.join("HEAD"), b"ref: refs/heads/burin/base\n")?;
    let mut alternates = main_repo.object_folder().into_os_string();
    alternates.push("\n");
    write_file(
        &folder.join("objects/info/alternates"),
        alternates.as_bytes(),
    )?;
    let common = main_repo.common_dir();
    for name in ["info/exclude", "info/attributes"] {
        if let Ok(text) = fs::read(common.join(name)) {
            write_file(&folder.join(name), &text)?;
        }
    }
    // Leases contain files as committed, so Git must not convert their encoding.
    let attributes = folder.join("info/attributes");
    let mut text = fs::read(&attributes).unwrap_or_default();
    text.extend_from_slice(b"\n* -working-tree-encoding\n");
    write_file(&attributes, &text)
}

/// Writes the files of one lease into its git folder: HEAD, its branch, its config.
pub(crate) fn write_own(folder: &Path, own: &OwnGitFiles<'_>) -> Result<(), Error> {
    write_file(
        &folder.join("HEAD"),
        format!("ref: refs/heads/{}\n", own.branch).as_bytes(),
    )?;
    write_file(&folder.join("config"), own.config.as_bytes())?;
    let mut refs = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    refs.push_str(&format!("{} refs/heads/{}\n", own.commit, own.branch));
    if let Some(main_branch) = own.main_branch {
        refs.push_str(&format!("{} refs/remotes/hub/{main_branch}\n", own.base));
    }
    write_file(&folder.join("packed-refs"), refs.as_bytes())?;
    if let Some(shallow) = own.shallow {
        let text = fs::read(shallow).map_err(Error::file("read", shallow))?;
        write_file(&folder.join("shallow"), &text)?;
    }
    Ok(())
}

/// The contents of a lease's own git files.
pub(crate) struct OwnGitFiles<'a> {
    /// Name of the branch: "burin/wt-3".
    pub(crate) branch: &'a str,
    /// The commit to which the branch points.
    pub(crate) commit: &'a str,
    /// The commit of the main repository from which the lease starts.
    pub(crate) base: &'a str,
    pub(crate) main_branch: Option<&'a str>,
    pub(crate) config: &'a str,
    pub(crate) shallow: Option<&'a Path>,
}

/// A lease's git folder, treated as untrusted.
pub(crate) struct GitDir {
    folder: RootedDir,
    id: String,
}

impl GitDir {
    /// Opens the git folder of the lease `id`, without reading it. Fails if it is not a folder.
    pub(crate) fn open(folder: &Path, id: &str) -> Result<Self, Error> {
        let opened = RootedDir::open(folder).map_err(Error::file("open", folder))?;
        Ok(Self {
            folder: opened,
            id: id.to_owned(),
        })
    }

    /// Refuses a folder whose config is not `config`, or that redirects Git elsewhere.
    pub(crate) fn check(&self, config: &str) -> Result<(), Error> {
        let found = self.read("config", 1 << 20)?;
        if found.as_deref() != Some(config.as_bytes()) {
            return Err(self.corrupt(
                "the config of its git folder was modified; save what you need by hand, then \
                 release it with --discard",
            ));
        }
        for name in ["commondir", "config.worktree", "gitdir"] {
            if self.read(name, 1 << 20)?.is_some() {
                return Err(self.corrupt(&format!(
                    "its git folder contains a file {name:?} that redirects Git; remove it",
                )));
            }
        }
        Ok(())
    }

    /// Reads the commit and ref of HEAD, without following symlinks.
    ///
    /// # Errors
    /// `Corrupt` if HEAD names no commit.
    pub(crate) fn tip(&self) -> Result<Tip, Error> {
        let head = self.text("HEAD")?.unwrap_or_default();
        if let Some(name) = head.trim_end().strip_prefix("ref: ") {
            let commit = self.reference(name.trim())?;
            let commit = commit.ok_or_else(|| {
                self.corrupt(&format!(
                    "its HEAD names {name}, which has no commit; check out a branch there"
                ))
            })?;
            return Ok(Tip {
                commit,
                reference: Some(name.trim().to_owned()),
            });
        }
        let commit = id_of(head.trim_end()).ok_or_else(|| {
            self.corrupt(
                "its HEAD cannot be read; write \"ref: refs/heads/NAME\" or a commit into it",
            )
        })?;
        Ok(Tip {
            commit,
            reference: None,
        })
    }

    /// Copies the index of the lease to the file `to`, together with its modification time.
    pub(crate) fn copy_index(&self, to: &Path) -> Result<(), Error> {
        let content = self.read("index", MAX_INDEX_BYTES)?;
        let content =
            content.ok_or_else(|| self.corrupt("its index is missing; run \"git reset\" there"))?;
        let folder = self.folder.open_dir(Path::new("."));
        let stat = no_follow::stat(folder.map_err(self.read_error("."))?, "index");
        write_file(to, &content)?;
        // Git uses the index's time to detect files changed in the same moment.
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

    /// Copies the objects made in the lease to the new folder `to`: only regular files with names that
    /// Git gives.
    pub(crate) fn copy_objects(&self, to: &Path) -> Result<(), Error> {
        make_folder(to)?;
        let objects = Path::new("objects");
        let Ok(top) = self.folder.open_dir(objects) else {
            return Ok(());
        };
        for FolderEntry { name, kind } in self.entries(&top)? {
            let name = name.to_string_lossy().into_owned();
            let is_pack = name == "pack";
            if kind != FileType::Directory || !(is_pack || is_hex(&name, 2)) {
                continue;
            }
            let within = objects.join(&name);
            let Ok(folder) = self.folder.open_dir(&within) else {
                continue;
            };
            for FolderEntry { name: file, kind } in self.entries(&folder)? {
                let file = file.to_string_lossy().into_owned();
                let is_wanted = if is_pack {
                    file.ends_with(".pack") || file.ends_with(".idx")
                } else {
                    is_hex(&file, 38)
                };
                if kind != FileType::RegularFile || !is_wanted {
                    continue;
                }
                let path = within.join(&file);
                let content = self.folder.read(&path, MAX_PACK_BYTES);
                if let Some(content) = content.map_err(self.read_error("objects"))? {
                    make_folder(&to.join(&name))?;
                    write_file(&to.join(&name).join(&file), &content)?;
                }
            }
        }
        Ok(())
    }

    /// Lists a folder of objects; fails with `Corrupt` if it cannot be read.
    fn entries(&self, folder: &OwnedFd) -> Result<Vec<FolderEntry>, Error> {
        let entries = no_follow::entries(folder).map_err(std::io::Error::from);
        entries.map_err(self.read_error("objects"))
    }

    /// Returns the commit id of a ref, loose or packed; `None` if it does not exist or names no
    /// commit. Fails if `name` is not a plain path below `refs/`.
    fn reference(&self, name: &str) -> Result<Option<String>, Error> {
        let is_plain = name.starts_with("refs/")
            && name
                .split('/')
                .all(|part| !part.is_empty() && part != "." && part != "..");
        if !is_plain {
            return Err(self.corrupt("its HEAD does not name a branch; check out a branch there"));
        }
        if let Some(id) = self
            .text(name)?
            .as_deref()
            .and_then(|text| id_of(text.trim_end()))
        {
            return Ok(Some(id));
        }
        let packed = self
            .read("packed-refs", MAX_PACKED_REFS_BYTES)?
            .unwrap_or_default();
        let packed = String::from_utf8_lossy(&packed);
        let found = packed.lines().find_map(|line| {
            let (id, packed_name) = line.split_once(' ')?;
            (packed_name == name).then(|| id_of(id)).flatten()
        });
        Ok(found)
    }

    /// Reads a file of at most `MAX_REF_BYTES`, with invalid UTF-8 replaced; `None` if there is
    /// none.
    fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let content = self.read(name, MAX_REF_BYTES)?;
        Ok(content.map(|content| String::from_utf8_lossy(&content).into_owned()))
    }

    /// Reads a file of at most `limit` bytes; `None` if it does not exist. Fails with `Corrupt` if
    /// it is larger or cannot be read.
    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.folder.read(Path::new(name), limit) {
            // A file is in the place of a folder of refs.
            Err(error)
                if error.raw_os_error() == Some(rustix::io::Errno::NOTDIR.raw_os_error()) =>
            {
                Ok(None)
            }
            other => other.map_err(self.read_error(name)),
        }
    }

    fn read_error(&self, name: &str) -> impl FnOnce(std::io::Error) -> Error {
        let what = format!(
            "cannot read {}: {{}}; restore it as a regular file or folder",
            self.folder.path().join(name).display()
        );
        let id = self.id.clone();
        move |error| Error::Corrupt {
            id,
            what: what.replace("{}", &error.to_string()),
        }
    }

    fn corrupt(&self, what: &str) -> Error {
        Error::Corrupt {
            id: self.id.clone(),
            what: what.to_owned(),
        }
    }
}

/// Returns the text if it is a full SHA-1 object id in lower case, else `None`.
fn id_of(text: &str) -> Option<String> {
    is_hex(text, 40).then(|| text.to_owned())
}

/// Whether a text consists of exactly `length` hexadecimal digits, in lower case.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Writes a file, replacing any content.
fn write_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(path, content).map_err(Error::file("write", path))
}

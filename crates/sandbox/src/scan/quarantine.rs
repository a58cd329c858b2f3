//! Findings put aside, so that no tool of the host meets them, and brought back when the person says so.
//!
//! Invariant: nothing is lost: what is put aside lies whole in the folder of the quarantine, with a list that says where
//! it came from, also when the program dies in between.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base::AbsPath;
use host::{Error, Files};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::bytes::open_below;
use super::walk::open_top;
use super::{Before, Change, Finding, Way};
use crate::names;

/// What was put aside.
#[derive(Debug)]
pub struct Quarantine {
    folder: AbsPath,
    list: List,
}

/// The list as it lies in the folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    items: Vec<Item>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    /// Where it came from.
    from: std::path::PathBuf,
    /// What it is called in the folder.
    name: String,
    /// Whether what was there before was put in its place.
    is_replaced: bool,
}

const LIST: &str = "list.json";
const LONGEST_LIST: u64 = 16 << 20;

impl Quarantine {
    /// Puts what was found in a workspace aside into `folder`, which is made and must lie outside of it. What was
    /// changed is replaced by what was there before, where that is known. Findings that are no file of their own (links
    /// of an index, what is gone, what could not be seen) stay.
    ///
    /// # Errors
    /// At the first thing that cannot be moved; what was moved until then is in the list.
    pub fn put(
        findings: &[Finding],
        workspace: &AbsPath,
        folder: &AbsPath,
        files: &dyn Files,
    ) -> Result<Self, Error> {
        files.create_folder(folder)?;
        let mut quarantine = Self {
            folder: folder.clone(),
            list: List::default(),
        };
        for finding in findings.iter().filter(|finding| can_move(finding)) {
            let top = match finding.path.is_within(workspace) {
                true => workspace,
                false => &finding.top,
            };
            let held = files.beneath(top);
            let inside = held.as_deref().unwrap_or(files);
            let name = quarantine.list.items.len().to_string();
            quarantine.list.items.push(Item {
                from: finding.path.as_path().to_owned(),
                name: name.clone(),
                is_replaced: finding.before.is_some(),
            });
            // The list first: it may name what was not moved, never the other way round.
            quarantine.write(files)?;
            move_to(&finding.path, &folder.join(name), inside)?;
            match &finding.before {
                None => remove_empty(finding),
                Some(Before::File(content)) => {
                    let aside = folder.join("before");
                    files.write_private(&aside, &content.bytes)?;
                    inside.copy(&aside, &finding.path)?;
                    files.remove(&aside)?;
                    set_mode(finding, content.mode)?;
                }
                Some(Before::Link(target)) => set_link(finding, target)?,
            }
        }
        Ok(quarantine)
    }

    /// A quarantine that was made earlier.
    pub fn open(folder: &AbsPath, files: &dyn Files) -> Result<Self, Error> {
        let text = files.read(&folder.join(LIST), LONGEST_LIST)?;
        let list = serde_json::from_slice(&text).map_err(|error| {
            let reason = host::Reason::Other(error.to_string());
            Error::new(&folder.join(LIST), "read", reason)
        })?;
        let folder = folder.clone();
        Ok(Self { folder, list })
    }

    /// Where things came from, in the order in which they were put aside.
    pub fn items(&self) -> impl Iterator<Item = &Path> {
        self.list.items.iter().map(|item| item.from.as_path())
    }

    /// Brings everything back, the last first. What was put in its place meanwhile stays in the folder beside it.
    ///
    /// # Errors
    /// At the first thing that cannot be moved; the rest stays where it is.
    pub fn restore(mut self, files: &dyn Files) -> Result<(), Error> {
        while let Some(item) = self.list.items.last().cloned() {
            let here = self.folder.join(&item.name);
            let there = AbsPath::new(&item.from).unwrap_or_else(|| self.folder.clone());
            if files.exists(&here) {
                if item.is_replaced && files.exists(&there) {
                    move_to(
                        &there,
                        &self.folder.join(format!("{}.replaced", item.name)),
                        files,
                    )?;
                }
                if let Some(above) = there.parent() {
                    files.create_folder(&above)?;
                }
                move_to(&here, &there, files)?;
            }
            self.list.items.pop();
            self.write(files)?;
        }
        Ok(())
    }

    fn write(&self, files: &dyn Files) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(&self.list).unwrap_or_default();
        files.write_private(&self.folder.join(LIST), &text)
    }
}

/// Removes the folders of a protected name that are empty now: they came with what was put aside.
fn remove_empty(finding: &Finding) {
    let Way::Name(_) = finding.way else {
        return;
    };
    let inner = finding.path.relative_to(&finding.top);
    let above = inner
        .into_iter()
        .flat_map(|inner| inner.ancestors().skip(1));
    for folder in above.take_while(|folder| names::of(folder).is_some()) {
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return;
        };
        let removed = open_top(&finding.top)
            .and_then(|top| open_below(top, parent))
            .and_then(|held| rustix::fs::unlinkat(held, name, AtFlags::REMOVEDIR));
        // It holds something else.
        if removed.is_err() {
            return;
        }
    }
}

/// Gives a file that was put back the mode that it had.
fn set_mode(finding: &Finding, mode: u32) -> Result<(), Error> {
    let mode = Mode::from_raw_mode((mode & 0o777) as rustix::fs::RawMode);
    in_folder(finding, |folder, name| {
        rustix::fs::chmodat(folder, name, mode, AtFlags::empty())
    })
}

fn set_link(finding: &Finding, target: &[u8]) -> Result<(), Error> {
    in_folder(finding, |folder, name| {
        rustix::fs::symlinkat(OsStr::from_bytes(target), folder, name)
    })
}

/// Does something to a name in a folder that is reached through no link.
fn in_folder(
    finding: &Finding,
    act: impl FnOnce(&std::os::fd::OwnedFd, &OsStr) -> Result<(), Errno>,
) -> Result<(), Error> {
    let inner = finding.path.relative_to(&finding.top);
    let name = finding.path.as_path().file_name().unwrap_or_default();
    let above = inner.and_then(Path::parent).unwrap_or(Path::new(""));
    let done = open_top(&finding.top)
        .and_then(|top| open_below(top, above))
        .and_then(|folder| act(&folder, name));
    done.map_err(|errno| {
        let reason = host::Reason::Other(errno.to_string());
        Error::new(&finding.path, "put back", reason)
    })
}

fn can_move(finding: &Finding) -> bool {
    finding.change != Change::Gone && !matches!(finding.way, Way::Gitlink | Way::Unseen)
}

/// Moves, also to another volume.
fn move_to(from: &AbsPath, to: &AbsPath, files: &dyn Files) -> Result<(), Error> {
    match files.rename(from, to) {
        Ok(()) => Ok(()),
        Err(_) => {
            files.copy(from, to)?;
            files.remove(from)
        }
    }
}

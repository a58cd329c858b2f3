//! Moves findings to a quarantine folder, so that no tool of the host meets them, and restores them
//! on the user's request.
//!
//! Invariant: nothing is lost: moved files lie complete in the quarantine folder, with a list of
//! their origins, even if the program dies in between.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base::AbsPath;
use host::no_follow::open_folder_below;
use host::{Error, Files};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::walk::open_top;
use super::{Finding, FindingChange, FindingKind, PriorState};
use crate::names;

/// A set of quarantined files.
#[derive(Debug)]
pub struct Quarantine {
    folder: AbsPath,
    list: QuarantineList,
}

/// The list stored in the folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct QuarantineList {
    items: Vec<QuarantineItem>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct QuarantineItem {
    /// The original path of the file.
    from: std::path::PathBuf,
    /// The name inside the quarantine folder.
    name: String,
    /// Whether the previous content was restored in its place.
    is_replaced: bool,
}

const LIST: &str = "list.json";
const MAX_LIST_BYTES: u64 = 16 << 20;

impl Quarantine {
    /// Moves findings of a workspace into `folder`, which is created and must lie outside the
    /// workspace. A changed file is replaced by its previous content, if that is known. Findings
    /// that are not a file of their own (links in an index, removed paths, unreadable paths) stay.
    ///
    /// # Errors
    /// At the first file that cannot be moved; the files moved before are in the list.
    pub fn isolate(
        findings: &[Finding],
        workspace: &AbsPath,
        folder: &AbsPath,
        files: &dyn Files,
    ) -> Result<Self, Error> {
        files.create_folder(folder)?;
        let mut quarantine = Self {
            folder: folder.clone(),
            list: QuarantineList::default(),
        };
        for finding in findings.iter().filter(|finding| can_move(finding)) {
            let top = if finding.path.is_within(workspace) {
                workspace
            } else {
                &finding.top
            };
            let held = files.open_beneath(top);
            let inside = held.as_deref().unwrap_or(files);
            let name = quarantine.list.items.len().to_string();
            quarantine.list.items.push(QuarantineItem {
                from: finding.path.as_path().to_owned(),
                name: name.clone(),
                is_replaced: finding.before.is_some(),
            });
            // The list is written first: it may name a file that was not moved, but never the other
            // way round.
            quarantine.write(files)?;
            move_to(&finding.path, &folder.join(name), inside)?;
            match &finding.before {
                None => remove_empty(finding),
                Some(PriorState::File(content)) => {
                    let aside = folder.join("before");
                    files.write_private(&aside, &content.bytes)?;
                    inside.copy(&aside, &finding.path)?;
                    files.remove(&aside)?;
                    set_mode(finding, content.mode)?;
                }
                Some(PriorState::Link(target)) => set_link(finding, target)?,
            }
        }
        Ok(quarantine)
    }

    /// Opens an existing quarantine.
    pub fn open(folder: &AbsPath, files: &dyn Files) -> Result<Self, Error> {
        let text = files.read(&folder.join(LIST), MAX_LIST_BYTES)?;
        let list = serde_json::from_slice(&text).map_err(|error| {
            let reason = host::ErrorReason::Other(error.to_string());
            Error::new(&folder.join(LIST), "read", reason)
        })?;
        let folder = folder.clone();
        Ok(Self { folder, list })
    }

    /// Returns the original paths in the order in which they were moved.
    pub fn items(&self) -> impl Iterator<Item = &Path> {
        self.list.items.iter().map(|item| item.from.as_path())
    }

    /// Restores everything in reverse order. A file that took an original path meanwhile is kept in
    /// the folder.
    ///
    /// # Errors
    /// At the first file that cannot be moved; the rest stays where it is.
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

    /// Writes the list of the moved files to the quarantine folder.
    fn write(&self, files: &dyn Files) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(&self.list).unwrap_or_default();
        files.write_private(&self.folder.join(LIST), &text)
    }
}

/// Removes folders of a protected name that are empty now: they were created with the moved files.
fn remove_empty(finding: &Finding) {
    let FindingKind::Name(_) = finding.kind else {
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
            .and_then(|top| open_folder_below(top, parent))
            .and_then(|held| rustix::fs::unlinkat(held, name, AtFlags::REMOVEDIR));
        // The folder contains something else.
        if removed.is_err() {
            return;
        }
    }
}

/// Restores the mode of a file that was put back.
fn set_mode(finding: &Finding, mode: u32) -> Result<(), Error> {
    let mode = Mode::from_raw_mode((mode & 0o777) as rustix::fs::RawMode);
    in_folder(finding, |folder, name| {
        rustix::fs::chmodat(folder, name, mode, AtFlags::empty())
    })
}

/// Creates a symlink at the path of a finding. Fails if something is there.
fn set_link(finding: &Finding, target: &[u8]) -> Result<(), Error> {
    in_folder(finding, |folder, name| {
        rustix::fs::symlinkat(OsStr::from_bytes(target), folder, name)
    })
}

/// Performs an operation on a name in a folder that is reached without following links.
fn in_folder(
    finding: &Finding,
    act: impl FnOnce(&std::os::fd::OwnedFd, &OsStr) -> Result<(), Errno>,
) -> Result<(), Error> {
    let inner = finding.path.relative_to(&finding.top);
    let name = finding.path.as_path().file_name().unwrap_or_default();
    let above = inner.and_then(Path::parent).unwrap_or(Path::new(""));
    let done = open_top(&finding.top)
        .and_then(|top| open_folder_below(top, above))
        .and_then(|folder| act(&folder, name));
    done.map_err(|errno| {
        let reason = host::ErrorReason::Other(errno.to_string());
        Error::new(&finding.path, "put back", reason)
    })
}

/// Returns whether there is a file to move: the finding is not a removed one, an entry of an index,
/// or an unreadable path.
fn can_move(finding: &Finding) -> bool {
    finding.change != FindingChange::Gone
        && !matches!(finding.kind, FindingKind::Gitlink | FindingKind::Unreadable)
}

/// Moves a file, even to another volume.
fn move_to(from: &AbsPath, to: &AbsPath, files: &dyn Files) -> Result<(), Error> {
    match files.rename(from, to) {
        Ok(()) => Ok(()),
        Err(_) => {
            files.copy(from, to)?;
            files.remove(from)
        }
    }
}

//! Observation of the working tree: finds the differences since the last observation.

use std::cell::Cell;
use std::collections::HashSet;

use base::names::{is_system_litter, widest_key};
use host::{ErrorReason, TreeEntry, WalkStep};

use git::blob_id;

use super::change::{ChangeAuthor, ChangeId, RecordedChange, StoredVersion, VersionKind};
use super::{ChangeHistory, MAX_CONTENT_BYTES, ObservedFile};
use crate::Error;

/// Minimum age of a file's last change before its metadata is trusted, in nanoseconds: the clocks
/// of file systems tick in milliseconds.
const CLOCK_TICK_NS: i128 = 20_000_000;
/// The same for the metadata in Git's index, in nanoseconds: Git counts whole seconds there.
const INDEX_TICK_NS: i128 = 2_000_000_000;

/// The part of the tree that is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserveScope<'a> {
    /// The whole working tree.
    All,
    /// Only the given paths.
    Paths(&'a [String]),
}

/// A path that differs from its last known version.
struct ObservedChange {
    path: String,
    after: Option<ObservedFile>,
}

impl ChangeHistory {
    /// Observes the tree, attributes all differences to `author` and returns the changes.
    /// Differences are attributed to a running background command, if there is one, instead of to
    /// other programs.
    pub fn observe(
        &mut self,
        scope: ObserveScope<'_>,
        author: &ChangeAuthor,
    ) -> Result<Vec<ChangeId>, Error> {
        let author = match (author, &self.running) {
            (ChangeAuthor::Disk, Some(running)) => running.clone(),
            (author, _) => author.clone(),
        };
        self.note_head()?;
        let found = match scope {
            ObserveScope::All => self.scan_all()?,
            ObserveScope::Paths(paths) => {
                let mut found = Vec::new();
                for path in paths {
                    let is_outside = if self.base.is_users_folder() {
                        is_git_path(path)
                    } else {
                        self.is_outside(path)
                    };
                    if !is_outside {
                        self.distrust_filtered(path)?;
                        let entry = self.tree.entry(path)?;
                        found.extend(self.scan_path(path, entry)?);
                    }
                }
                found
            }
        };
        let changes = self.record_observed(found, &author)?;
        if scope == ObserveScope::All {
            self.git_move = None;
        }
        Ok(changes)
    }

    /// Records the present content of a file that the user saved. `unformatted` is the text before a
    /// formatter changed it on the save; the rest counts as the formatter's.
    pub(crate) fn observe_saved(
        &mut self,
        path: &str,
        unformatted: Option<&str>,
    ) -> Result<Vec<ChangeId>, Error> {
        let paths = [path.to_owned()];
        let mut author = ChangeAuthor::Person;
        let mut changes = Vec::new();
        if let Some(text) = unformatted
            && self.has_plain_lines(path, text)?
        {
            let known = self.known_version(path).cloned();
            let kind = known.as_ref().map_or(VersionKind::File, |it| it.kind);
            let version = self.store_version(kind, text.as_bytes())?;
            if known.is_some() && known.as_ref() != Some(&version) {
                let id = self.next_id();
                let change = RecordedChange {
                    id,
                    at_ms: self.clock.wall_ms(),
                    path: path.to_owned(),
                    before: known.clone(),
                    after: Some(version),
                    author: author.clone(),
                    undoes: Vec::new(),
                };
                self.append_changes(vec![change])?;
                changes.push(id);
            }
            if known.is_some() {
                let cause = Box::new(author);
                author = ChangeAuthor::Formatter { cause };
            }
        }
        changes.extend(self.observe(ObserveScope::Paths(&paths), &author)?);
        Ok(changes)
    }

    /// Whether the lines of a file on the disk can be compared with those of a text: it is stored in
    /// UTF-8 with plain line feeds.
    fn has_plain_lines(&self, path: &str, text: &str) -> Result<bool, Error> {
        let read = self.tree.read(path, MAX_CONTENT_BYTES)?;
        let stored = read.and_then(|(_, bytes)| String::from_utf8(bytes).ok());
        let is_plain = |text: &str| !text.contains('\r') && !text.starts_with('\u{feff}');
        Ok(is_plain(text) && stored.is_some_and(|stored| is_plain(&stored)))
    }

    /// Has a file read whose content on the disk cannot be the one that the index names: Git converted
    /// its line endings, or stores only a pointer to it. Returns whether it is such a file.
    fn distrust_filtered(&mut self, path: &str) -> Result<bool, Error> {
        if !self.base.is_users_folder() {
            return Ok(false);
        }
        let Some(stat) = self.index.remove(path) else {
            return Ok(false);
        };
        let Some(known) = self
            .known
            .get_mut(path)
            .filter(|it| it.version.id == stat.id)
        else {
            return Ok(false);
        };
        let stored = self.base.content(&stat.id)?;
        let is_same = stored.is_some_and(|bytes| bytes.len() as u32 == stat.size);
        if !is_same {
            known.entry = None;
        }
        Ok(!is_same)
    }

    /// Sets or clears the author of a background command. Later differences without another author
    /// are attributed to this command.
    pub fn set_running(&mut self, command: Option<ChangeAuthor>) {
        self.running = command;
    }

    /// Records that a call runs that may change these paths, and all below them; `None` for all paths.
    /// Until `end_call`, such differences without another author are attributed to it.
    pub(crate) fn begin_call(&mut self, author: ChangeAuthor, paths: Option<Vec<String>>) {
        self.active_calls.push((author, paths));
    }

    /// Records that a call has ended and its changes were observed.
    pub(crate) fn end_call(&mut self, author: &ChangeAuthor) {
        let ended = self.active_calls.iter().position(|it| it.0 == *author);
        if let Some(at) = ended {
            self.active_calls.remove(at);
        }
    }

    /// The author of a difference: Git, if it checked the file out; a running call, if `author` is
    /// unknown.
    fn author_of(&self, found: &ObservedChange, author: &ChangeAuthor) -> ChangeAuthor {
        let path = found.path.as_str();
        // A file tool and a save know their file; a command may have run Git.
        let may_be_git = matches!(author, ChangeAuthor::Disk | ChangeAuthor::Command(_));
        let after = found.after.as_ref().map(|it| &it.version);
        if may_be_git
            && let Some(moved) = &self.git_move
            && moved.explains(path, after)
        {
            return ChangeAuthor::Git;
        }
        let covers = |paths: &Option<Vec<String>>| {
            paths.as_ref().is_none_or(|paths| {
                paths.iter().any(|it| {
                    let rest = path.strip_prefix(it.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            })
        };
        let mut active = self.active_calls.iter();
        match active.find(|(_, paths)| *author == ChangeAuthor::Disk && covers(paths)) {
            Some((call, _)) => call.clone(),
            None => author.clone(),
        }
    }

    /// Adds the found differences to the log as changes of `author`, takes over their versions as
    /// the known ones, and returns the new changes' ids.
    fn record_observed(
        &mut self,
        found: Vec<ObservedChange>,
        author: &ChangeAuthor,
    ) -> Result<Vec<ChangeId>, Error> {
        let first = self.next_id().0;
        let at_ms = self.clock.wall_ms();
        let mut changes = Vec::with_capacity(found.len());
        let mut seen = Vec::with_capacity(found.len());
        for (found, number) in found.into_iter().zip(first..) {
            let mut before = self.known_version(&found.path).cloned();
            if let Some(version) = &mut before
                && self.distrust_filtered(&found.path)?
            {
                *version = StoredVersion::unread(version.kind);
            }
            changes.push(RecordedChange {
                id: ChangeId(number),
                at_ms,
                before,
                after: found.after.as_ref().map(|it| it.version.clone()),
                author: self.author_of(&found, author),
                path: found.path.clone(),
                undoes: Vec::new(),
            });
            seen.extend(found.after.map(|after| (found.path, after)));
        }
        let ids = changes.iter().map(|change| change.id).collect();
        self.append_changes(changes)?;
        self.known.extend(seen);
        Ok(ids)
    }

    /// Compares the whole tree with the known versions and returns the differences. Files and
    /// folders that cannot be read are added to `problems`, and do not count as gone.
    fn scan_all(&mut self) -> Result<Vec<ObservedChange>, Error> {
        let mut entries: Vec<(String, TreeEntry)> = Vec::with_capacity(self.known.len());
        // A folder with too many files is not walked to its end.
        let most = self
            .base
            .max_first_files()
            .filter(|_| self.first_look_bytes.is_some());
        let most = most.map_or(usize::MAX, |most| self.known.len().saturating_add(most));
        let count = Cell::new(0);
        let problems = self.tree.walk(
            &mut |path, is_folder| {
                if count.get() > most {
                    WalkStep::Skip
                } else {
                    self.walk_step(path, is_folder)
                }
            },
            &mut |path, entry| {
                count.set(count.get() + 1);
                entries.push((path.to_owned(), entry));
            },
        );
        self.problems
            .extend(problems.iter().map(std::string::ToString::to_string));
        self.check_first_files(&entries)?;
        let mut found = Vec::new();
        let mut there: HashSet<String> = HashSet::with_capacity(entries.len());
        for (path, entry) in entries {
            found.extend(self.scan_path(&path, Some(entry))?);
            there.insert(path);
        }
        let gone = self.known.keys().filter(|path| !there.contains(*path));
        let gone: Vec<String> = gone.cloned().collect();
        for path in gone {
            // A folder that could not be listed hides its entries; that does not mean they are
            // gone.
            match self.tree.entry(&path) {
                Ok(entry) => found.extend(self.scan_path(&path, entry)?),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
        Ok(found)
    }

    /// Fails on the first look at a tree that has too many files outside its base.
    fn check_first_files(&self, entries: &[(String, TreeEntry)]) -> Result<(), Error> {
        let Some(most) = self.base.max_first_files() else {
            return Ok(());
        };
        let new = entries
            .iter()
            .filter(|(path, _)| !self.known.contains_key(path));
        if self.first_look_bytes.is_some() && new.count() > most {
            return Err(Error::TooLarge(format!(
                "{} has more than {most} files that Git does not know, so changes of agents are not recorded there: \
                 list generated files in .gitignore",
                self.root()
            )));
        }
        Ok(())
    }

    /// Whether a path is never observed.
    fn is_outside(&self, path: &str) -> bool {
        let is_litter = path
            .split('/')
            .any(|part| is_system_litter(part.as_bytes()));
        is_git_path(path)
            || (!self.known.contains_key(path) && (is_litter || self.base.is_ignored(path)))
    }

    fn walk_step(&self, path: &str, is_folder: bool) -> WalkStep {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if *widest_key(name.as_bytes()) == *b".git" {
            return WalkStep::Skip;
        }
        let is_litter = is_system_litter(name.as_bytes());
        let is_ignored = if is_folder {
            let below = format!("{path}/");
            let mut inner = self.known.range(below.clone()..);
            let holds_known = inner.next().is_some_and(|(it, _)| it.starts_with(&below));
            !holds_known && (is_litter || self.base.is_ignored(&below))
        } else {
            !self.known.contains_key(path) && (is_litter || self.base.is_ignored(path))
        };
        if is_ignored {
            WalkStep::Skip
        } else {
            WalkStep::Enter
        }
    }

    /// Compares a path with its last known version, given its present entry.
    fn scan_path(
        &mut self,
        path: &str,
        entry: Option<TreeEntry>,
    ) -> Result<Option<ObservedChange>, Error> {
        let entry = entry.filter(|entry| VersionKind::of(entry.kind).is_some());
        let Some(entry) = entry else {
            let is_known = self.known.contains_key(path);
            return Ok(is_known.then(|| ObservedChange {
                path: path.to_owned(),
                after: None,
            }));
        };
        if self.is_unchanged(path, &entry) {
            return Ok(None);
        }
        let Some(version) = self.read_version(path, &entry)? else {
            // It vanished between two observations; the next one records that.
            return Ok(None);
        };
        let now = i128::from(self.clock.wall_ms()) * 1_000_000;
        let seen = ObservedFile {
            version,
            entry: (entry.ctime_ns + CLOCK_TICK_NS < now).then_some(entry),
        };
        match self.known.get_mut(path) {
            Some(known) if known.version == seen.version => {
                *known = seen;
                Ok(None)
            }
            _ => Ok(Some(ObservedChange {
                path: path.to_owned(),
                after: Some(seen),
            })),
        }
    }

    /// Returns whether the metadata show that a file still has its known version, so that it need
    /// not be read. Returns `false` for an unknown file, or if the metadata are too recent to tell.
    fn is_unchanged(&mut self, path: &str, entry: &TreeEntry) -> bool {
        let now = i128::from(self.clock.wall_ms()) * 1_000_000;
        let Some(known) = self.known.get_mut(path) else {
            return false;
        };
        if known.entry.is_some() {
            return known.entry.as_ref() == Some(entry);
        }
        let is_as_indexed = self.index.get(path).is_some_and(|stat| {
            stat.id == known.version.id
                && VersionKind::of(entry.kind) == Some(known.version.kind)
                && stat.size == entry.size as u32
                && stat.mtime_ns == entry.mtime_ns
                && entry.mtime_ns + INDEX_TICK_NS < now
        });
        if is_as_indexed {
            known.entry = Some(*entry);
        }
        is_as_indexed
    }

    /// Reads a path and stores its content; `None` if it is gone.
    fn read_version(
        &mut self,
        path: &str,
        entry: &TreeEntry,
    ) -> Result<Option<StoredVersion>, Error> {
        let (kind, bytes) = match self.tree.read(path, MAX_CONTENT_BYTES) {
            Ok(Some(read)) => read,
            Ok(None) => return Ok(None),
            Err(error) => match error.reason {
                ErrorReason::TooLarge { size, .. } => {
                    let kind = VersionKind::of(entry.kind).unwrap_or(VersionKind::File);
                    return Ok(Some(StoredVersion::too_large(kind, size, entry.mtime_ns)));
                }
                _ => {
                    // An unreadable file keeps its last known version.
                    self.problems.push(error.to_string());
                    return Ok(self.known_version(path).cloned());
                }
            },
        };
        let Some(kind) = VersionKind::of(kind) else {
            return Ok(None);
        };
        let id = blob_id(&bytes);
        if let Some(left) = self.first_look_bytes
            && !self.base_ids.contains(&id)
        {
            let size = bytes.len() as u64;
            if size > left {
                return Ok(Some(StoredVersion::too_large(kind, size, entry.mtime_ns)));
            }
            self.first_look_bytes = Some(left - size);
        }
        self.store_content(&id, &bytes)?;
        Ok(Some(StoredVersion { id, kind }))
    }

    /// Reads the present version of a path from the disk, without logging it. Returns `None` if
    /// there is no file or symlink.
    pub(crate) fn current_version(&mut self, path: &str) -> Result<Option<StoredVersion>, Error> {
        let entry = self.tree.entry(path)?;
        match entry.filter(|entry| VersionKind::of(entry.kind).is_some()) {
            Some(entry) => self.read_version(path, &entry),
            None => Ok(None),
        }
    }
}

/// Whether a path is inside a Git folder.
fn is_git_path(path: &str) -> bool {
    path.split('/')
        .any(|part| *widest_key(part.as_bytes()) == *b".git")
}

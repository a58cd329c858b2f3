//! Looking at the working tree: what became different since it was last looked at.

use std::collections::HashSet;

use host::{Reason, Step, TreeEntry};

use git::blob_id;

use super::change::{Author, Change, ChangeId, Version, VersionKind};
use super::{Authored, MOST, Seen};

/// How much older than now a file's last change must be before its looks are trusted: file systems' clocks tick in
/// milliseconds. Nanoseconds.
const TICK: i128 = 20_000_000;
/// The same for what the index remembers: git itself counts whole seconds there. Nanoseconds.
const INDEX_TICK: i128 = 2_000_000_000;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Everything.
    All,
    /// These paths.
    Paths(&'a [String]),
}

/// What was found at a path that differs from what was known.
struct Found {
    path: String,
    after: Option<Seen>,
}

impl Authored {
    /// Looks, and puts what is different down to an author. Answers the changes. What is different is put down to a
    /// command that goes on beside its session, if there is one, rather than to other programs.
    pub fn observe(&mut self, scope: Scope<'_>, author: &Author) -> Result<Vec<ChangeId>, String> {
        let author = match (author, &self.running) {
            (Author::Disk, Some(running)) => running.clone(),
            (author, _) => author.clone(),
        };
        let found = match scope {
            Scope::All => self.look_at_all()?,
            Scope::Paths(paths) => {
                let mut found = Vec::new();
                for path in paths {
                    if !self.is_outside(path) {
                        let entry = self.tree.entry(path).map_err(|error| error.to_string())?;
                        found.extend(self.look_at(path, entry)?);
                    }
                }
                found
            }
        };
        self.put_down(found, &author)
    }

    /// A command of an agent goes on beside its session, or no longer does.
    pub fn set_running(&mut self, command: Option<Author>) {
        self.running = command;
    }

    fn put_down(&mut self, found: Vec<Found>, author: &Author) -> Result<Vec<ChangeId>, String> {
        let first = self.next_id().0;
        let at_ms = self.clock.wall_ms();
        let mut changes = Vec::with_capacity(found.len());
        let mut seen = Vec::with_capacity(found.len());
        for (found, number) in found.into_iter().zip(first..) {
            changes.push(Change {
                id: ChangeId(number),
                at_ms,
                before: self.known(&found.path).cloned(),
                after: found.after.as_ref().map(|it| it.version.clone()),
                path: found.path.clone(),
                author: author.clone(),
                undoes: Vec::new(),
            });
            seen.extend(found.after.map(|after| (found.path, after)));
        }
        let ids = changes.iter().map(|change| change.id).collect();
        self.write(changes)?;
        self.known.extend(seen);
        Ok(ids)
    }

    fn look_at_all(&mut self) -> Result<Vec<Found>, String> {
        let mut entries: Vec<(String, TreeEntry)> = Vec::with_capacity(self.known.len());
        let problems = self.tree.walk(
            &mut |path, is_folder| self.step(path, is_folder),
            &mut |path, entry| entries.push((path.to_owned(), entry)),
        );
        self.problems
            .extend(problems.iter().map(std::string::ToString::to_string));
        let mut found = Vec::new();
        let mut there: HashSet<String> = HashSet::with_capacity(entries.len());
        for (path, entry) in entries {
            found.extend(self.look_at(&path, Some(entry))?);
            there.insert(path);
        }
        let gone = self.known.keys().filter(|path| !there.contains(*path));
        let gone: Vec<String> = gone.cloned().collect();
        for path in gone {
            // A folder that could not be listed hides what is in it; that is not the same as its being gone.
            match self.tree.entry(&path) {
                Ok(entry) => found.extend(self.look_at(&path, entry)?),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
        Ok(found)
    }

    /// Whether a path is never looked at.
    fn is_outside(&self, path: &str) -> bool {
        let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
        path.split('/').any(is_git)
            || (!self.known.contains_key(path) && self.base.is_ignored(path))
    }

    fn step(&self, path: &str, is_folder: bool) -> Step {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if name.eq_ignore_ascii_case(".git") {
            return Step::Skip;
        }
        let is_ignored = match is_folder {
            true => {
                let below = format!("{path}/");
                let mut inner = self.known.range(below.clone()..);
                let holds_known = inner.next().is_some_and(|(it, _)| it.starts_with(&below));
                !holds_known && self.base.is_ignored(&below)
            }
            false => !self.known.contains_key(path) && self.base.is_ignored(path),
        };
        match is_ignored {
            true => Step::Skip,
            false => Step::Enter,
        }
    }

    /// What is different at a path at which this stands.
    fn look_at(&mut self, path: &str, entry: Option<TreeEntry>) -> Result<Option<Found>, String> {
        let entry = entry.filter(|entry| VersionKind::of(entry.kind).is_some());
        let Some(entry) = entry else {
            let is_known = self.known.contains_key(path);
            return Ok(is_known.then(|| Found {
                path: path.to_owned(),
                after: None,
            }));
        };
        if self.looks_the_same(path, &entry) {
            return Ok(None);
        }
        let Some(version) = self.read(path, &entry)? else {
            // It vanished between two looks; the next one tells.
            return Ok(None);
        };
        let now = i128::from(self.clock.wall_ms()) * 1_000_000;
        let seen = Seen {
            version,
            entry: (entry.ctime_ns + TICK < now).then_some(entry),
        };
        match self.known.get_mut(path) {
            Some(known) if known.version == seen.version => {
                *known = seen;
                Ok(None)
            }
            _ => Ok(Some(Found {
                path: path.to_owned(),
                after: Some(seen),
            })),
        }
    }

    fn looks_the_same(&mut self, path: &str, entry: &TreeEntry) -> bool {
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
                && entry.mtime_ns + INDEX_TICK < now
        });
        if is_as_indexed {
            known.entry = Some(*entry);
        }
        is_as_indexed
    }

    /// Reads what stands at a path, and keeps its content; `None` where it is gone.
    fn read(&mut self, path: &str, entry: &TreeEntry) -> Result<Option<Version>, String> {
        let (kind, bytes) = match self.tree.read(path, MOST) {
            Ok(Some(read)) => read,
            Ok(None) => return Ok(None),
            Err(error) => match error.reason {
                Reason::TooLarge { size, .. } => {
                    let kind = VersionKind::of(entry.kind).unwrap_or(VersionKind::File);
                    return Ok(Some(Version::too_large(kind, size, entry.mtime_ns)));
                }
                _ => {
                    // What cannot be read stays what it was as far as anybody can tell.
                    self.problems.push(error.to_string());
                    return Ok(self.known(path).cloned());
                }
            },
        };
        let Some(kind) = VersionKind::of(kind) else {
            return Ok(None);
        };
        let id = blob_id(&bytes);
        self.keep(&id, &bytes)?;
        Ok(Some(Version { id, kind }))
    }

    /// What stands at a path at this moment, whatever is known of it.
    pub(crate) fn present(&mut self, path: &str) -> Result<Option<Version>, String> {
        let entry = self.tree.entry(path).map_err(|error| error.to_string())?;
        match entry.filter(|entry| VersionKind::of(entry.kind).is_some()) {
            Some(entry) => self.read(path, &entry),
            None => Ok(None),
        }
    }
}

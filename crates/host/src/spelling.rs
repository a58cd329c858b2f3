//! The spelling of a path as its folders store it, and the rules by which a volume compares names.
//!
//! Knows: `Files`. Must not know: which system it runs on.
//! Invariant: a name is changed only to one that leads to the same file, so a wrong answer about a
//! volume's rules cannot exchange files.
//!
//! Neither question has a portable system call, and resolving links does not correct a spelling.
//! Another spelling of the name is tried instead: if it leads to the same file, the folder is
//! listed. Volumes that keep spellings apart pay for the failed tries alone.

use std::path::{Component, Path};

use base::names::other_spellings;
use base::{AbsPath, NameRules};

use crate::files::Files;
use crate::stat::FileKind;
use crate::system_calls;

/// Returns the path with every name as its folder stores it; names that do not exist stay.
pub(crate) fn stored_path<F: Files + ?Sized>(files: &F, path: &AbsPath) -> AbsPath {
    let Some(mut stored) = AbsPath::new("/") else {
        return path.clone();
    };
    let mut components = path.as_path().components();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            continue;
        };
        match stored_name(files, &stored, Path::new(name)) {
            StoredName::Same => stored = stored.join(name),
            StoredName::Other(entry) => stored = entry,
            StoredName::Missing => return stored.join(name).join(components.as_path()),
        }
    }
    stored
}

enum StoredName {
    Missing,
    /// Stored as it was given.
    Same,
    /// The entry of the folder's listing.
    Other(AbsPath),
}

fn stored_name<F: Files + ?Sized>(files: &F, folder: &AbsPath, name: &Path) -> StoredName {
    let given = folder.join(name);
    let mut others = other_spellings(name.as_os_str());
    others.retain(|other| is_same_file(files, &given, &folder.join(Path::new(other))));
    if others.is_empty() {
        return if files.exists(&given) {
            StoredName::Same
        } else {
            StoredName::Missing
        };
    }
    let Ok(listing) = files.list(folder) else {
        return StoredName::Same;
    };
    let entries = listing.entries.into_iter().map(|entry| entry.path);
    let is_stored = |entry: &AbsPath| {
        NameRules::FOLDING.is_same(entry.file_name(), name) && is_same_file(files, &given, entry)
    };
    let mut found = None;
    for entry in entries {
        // Two names that a volume keeps apart can be hard links of one file.
        if entry.file_name() == name.as_os_str() {
            return StoredName::Same;
        }
        if found.is_none() && is_stored(&entry) {
            found = Some(entry);
        }
    }
    found.map_or(StoredName::Same, StoredName::Other)
}

fn is_same_file<F: Files + ?Sized>(files: &F, one: &AbsPath, other: &AbsPath) -> bool {
    let identity = |path| {
        let stat = files.stat(path).ok()?;
        Some((stat.stamp.device, stat.stamp.inode, stat.kind))
    };
    // Most names have no other spelling, so the one that exists is looked at last.
    let found = identity(other);
    found.is_some() && found == identity(one)
}

/// Returns the rules of the volume at `path`, judged by the names around it: the first below or
/// above it that has another spelling decides about case, and about normal forms. Without one for
/// normal forms, a volume that folds case is taken to normalize.
pub(crate) fn name_rules<F: Files + ?Sized>(files: &F, path: &AbsPath) -> NameRules {
    let mut probe = RulesProbe {
        files,
        case: None,
        form: system_calls::VOLUMES_NORMALIZE.then_some(true),
    };
    let mut folder = Some(path.clone());
    let device = |folder: &AbsPath| files.stat(folder).ok().map(|stat| stat.stamp.device);
    let own = folder.as_ref().and_then(device);
    while let Some(at) = folder.take_if(|_| !probe.is_done()) {
        folder = at.parent();
        match (device(&at), own) {
            // The name of a mount point belongs to the volume above it.
            (Some(other), Some(own)) if other != own => break,
            (Some(_), _) => probe.entries_of(&at),
            (None, _) => {}
        }
    }
    let folds_case = probe.case.unwrap_or(false);
    NameRules {
        folds_case,
        normalizes: probe.form.unwrap_or(folds_case),
    }
}

struct RulesProbe<'a, F: ?Sized> {
    files: &'a F,
    case: Option<bool>,
    form: Option<bool>,
}

impl<F: Files + ?Sized> RulesProbe<'_, F> {
    /// Case decides: names with accents are rare.
    fn is_done(&self) -> bool {
        self.case.is_some()
    }

    fn entries_of(&mut self, folder: &AbsPath) {
        let Ok(listing) = self.files.list(folder) else {
            return;
        };
        let is_stable = |kind| matches!(kind, FileKind::File | FileKind::Folder);
        let entries = listing.entries.iter();
        for entry in entries.filter(|entry| !entry.is_link && is_stable(entry.kind)) {
            let Some((case, form)) = self.looked_at(folder, &entry.path) else {
                continue;
            };
            self.case = self.case.or(case);
            self.form = self.form.or(form);
            if self.case.is_some() && (self.form.is_some() || self.case == Some(false)) {
                return;
            }
        }
    }

    /// Tries the other spellings of one entry, unless several names lead to its file.
    fn looked_at(&self, folder: &AbsPath, entry: &AbsPath) -> Option<(Option<bool>, Option<bool>)> {
        let others = other_spellings(entry.file_name());
        if others.is_empty() {
            return None;
        }
        let stat = self.files.stat(entry).ok()?;
        if stat.kind == FileKind::File && stat.links != 1 {
            return None;
        }
        let (mut case, mut form) = (None, None);
        let form_only = NameRules {
            folds_case: false,
            normalizes: true,
        };
        for other in &others {
            let is_same = is_same_file(self.files, entry, &folder.join(Path::new(other)));
            if form_only.is_same(entry.file_name(), other) {
                form = Some(is_same);
            } else {
                case = Some(is_same);
            }
        }
        Some((case, form))
    }
}

#[cfg(test)]
mod tests;

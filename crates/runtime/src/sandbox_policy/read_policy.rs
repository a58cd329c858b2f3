//! The policy of read-only commands that run without permission: nothing is writable except what is
//! discarded, the network is off, and files that need permission appear empty, through every link
//! and pattern.
//!
//! Limits: a file created while such a command runs is not hidden from it. Secrets in committed git
//! objects are readable through commands that show old versions.

use std::collections::{BTreeMap, BTreeSet};

use base::AbsPath;
use host::{FileKind, Files as _, ListedEntry, RealFiles};
use project::is_secret;
use sandbox::{Network, Policy};

use crate::Error;

/// The maximum number of paths that are hidden one by one; beyond it, whole folders are hidden.
const MAX_HIDDEN_PATHS: usize = 48;
/// The maximum depth of the scan; beyond it, commands need permission.
const DEEPEST: usize = 200;
/// The maximum number of names scanned; beyond it, commands need permission.
const MAX_SCANNED_NAMES: usize = 2_000_000;

/// Folders of programs and their data: a link into them does not lead to a user's secret.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/proc",
    "/sys",
    "/dev",
    "/System",
    "/Applications",
    "/Library/Developer",
    "/Library/Frameworks",
    "/private/etc",
];

/// A policy, and the files it hides with their inode numbers: a replaced file must be hidden again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadPolicy {
    pub(super) policy: Policy,
    hidden: Vec<(AbsPath, u64)>,
}

impl ReadPolicy {
    /// Returns the policy for commands that only read, for the folder's current contents.
    ///
    /// # Errors
    /// If the secrets cannot be hidden.
    pub(super) fn of(policy: &Policy) -> Result<Self, Error> {
        let mut reading = policy.clone();
        reading.network = Network::None;
        let root = RealFiles.canonicalize(&policy.workspace)?;
        let hidden = hidden(&root)?;
        reading.hidden.extend(hidden.iter().cloned());
        // The workspace in both spellings: the link to it may change before the sandbox is opened.
        let granted = [policy.workspace.clone(), root].into_iter();
        let granted = granted.chain(policy.writable.iter().cloned());
        let granted = granted.chain(policy.protected.repositories.iter().cloned());
        reading.protected.paths.extend(granted);
        let number = |path: AbsPath| {
            let stat = RealFiles.stat(&path).ok();
            (path, stat.map_or(0, |stat| stat.stamp.inode))
        };
        Ok(Self {
            policy: reading,
            hidden: hidden.into_iter().map(number).collect(),
        })
    }
}

/// Returns the paths below `root` that must appear empty to readers.
fn hidden(root: &AbsPath) -> Result<Vec<AbsPath>, Error> {
    let mut look = SecretScan {
        root,
        names: 0,
        secrets: BTreeSet::new(),
        outside: BTreeSet::new(),
        files: Vec::new(),
    };
    look.folder(root, 0)?;
    look.add_hard_links();
    let mut hidden = collapse_folders(look.secrets, root)?;
    hidden.extend(look.outside);
    if hidden.len() > 2 * MAX_HIDDEN_PATHS {
        return Err(Error::sandbox("too many links lead out of the folder"));
    }
    Ok(hidden)
}

struct SecretScan<'a> {
    root: &'a AbsPath,
    names: usize,
    secrets: BTreeSet<AbsPath>,
    /// The targets of links.
    outside: BTreeSet<AbsPath>,
    files: Vec<AbsPath>,
}

impl SecretScan<'_> {
    /// Scans a folder and those below it. Returns an error if they are nested deeper than
    /// `DEEPEST`, contain more than about `MAX_SCANNED_NAMES` entries, or contain a link that
    /// `link` rejects.
    fn folder(&mut self, folder: &AbsPath, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST || self.names > MAX_SCANNED_NAMES {
            return Err(Error::Sandbox(format!(
                "{folder} has more files than can be scanned"
            )));
        }
        // A folder that cannot be listed cannot be read by the command either.
        let Ok(listing) = RealFiles.list(folder) else {
            return Ok(());
        };
        self.names += listing.entries.len();
        for entry in listing.entries {
            self.entry(&entry, depth)?;
        }
        Ok(())
    }

    /// Scans one entry of a folder at this depth. Git objects are skipped. Fails like `folder`.
    fn entry(&mut self, entry: &ListedEntry, depth: usize) -> Result<(), Error> {
        let path = &entry.path;
        if entry.is_link {
            return self.link(path);
        }
        match entry.kind {
            FileKind::File if is_secret(&path.name()) => drop(self.secrets.insert(path.clone())),
            FileKind::File => self.files.push(path.clone()),
            // The names of git objects are hashes of their contents.
            FileKind::Folder if path.name() == "objects" && is_repository(path) => {}
            FileKind::Folder => self.folder(path, depth + 1)?,
            FileKind::BrokenLink | FileKind::Other => {}
        }
        Ok(())
    }

    /// Records the target of a link if it must be hidden: outside the root and the system's
    /// folders, or named like a secret. Returns an error if the target contains the root. Skips
    /// broken links.
    fn link(&mut self, path: &AbsPath) -> Result<(), Error> {
        let Ok(target) = RealFiles.canonicalize(path) else {
            return Ok(());
        };
        let is_system = || {
            let mut folders = SYSTEM.iter().filter_map(AbsPath::new);
            folders.any(|folder| target.is_within(&folder))
        };
        if self.root.is_within(&target) {
            return Err(Error::Sandbox(format!(
                "the link {path} leads to a folder above this one"
            )));
        }
        // A link to a secret below the root needs nothing: its target is hidden anyway.
        if target.is_within(self.root) {
            if is_secret(&path.name()) {
                self.secrets.insert(target);
            }
        } else if !is_system() {
            self.outside.insert(target);
        }
        Ok(())
    }

    /// Adds other names of files that are secrets.
    fn add_hard_links(&mut self) {
        let stat = |path: &AbsPath| RealFiles.stat(path).ok();
        let twins = self
            .secrets
            .iter()
            .filter_map(stat)
            .filter(|it| it.links > 1);
        let twins: BTreeSet<(u64, u64)> =
            twins.map(|it| (it.stamp.device, it.stamp.inode)).collect();
        if twins.is_empty() {
            return;
        }
        for file in std::mem::take(&mut self.files) {
            let is_twin =
                stat(&file).is_some_and(|it| twins.contains(&(it.stamp.device, it.stamp.inode)));
            if is_twin {
                self.secrets.insert(file);
            }
        }
    }
}

/// Whether a folder `objects` is one of a repository of git.
fn is_repository(objects: &AbsPath) -> bool {
    let folder = objects.parent();
    folder
        .is_some_and(|it| RealFiles.exists(&it.join("HEAD")) && RealFiles.exists(&it.join("refs")))
}

/// The secrets, with those of full folders replaced by the folders until there are few enough.
fn collapse_folders(secrets: BTreeSet<AbsPath>, root: &AbsPath) -> Result<Vec<AbsPath>, Error> {
    let mut gathered = secrets;
    while gathered.len() > MAX_HIDDEN_PATHS {
        let mut folders: BTreeMap<AbsPath, usize> = BTreeMap::new();
        for parent in gathered.iter().filter_map(AbsPath::parent) {
            *folders.entry(parent).or_default() += 1;
        }
        folders.remove(root);
        let fullest = folders.into_iter().max_by_key(|(_, count)| *count);
        let Some((fullest, _)) = fullest else {
            return Err(Error::Sandbox(format!(
                "{root} has more secret files than can be hidden"
            )));
        };
        gathered.retain(|path| !path.is_within(&fullest));
        gathered.insert(fullest);
    }
    Ok(gathered.into_iter().collect())
}

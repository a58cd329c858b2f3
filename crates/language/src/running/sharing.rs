//! The decision which folders share a server, and the removal of folders.
//!
//! A server may work on several worktrees of a repository: rust-analyzer needs hardly more memory for four than for
//! one, and answers about one do not concern another.
//! Invariant: roots share a server only if the same program with the same options and environment would serve both.
//! Start at `State::join` and `State::close_folder`.

use host::environment::Variable;

use super::state::{FolderNumber, ServedRoot, ServerEntry, ServerNumber, State};
use crate::selection::ServerChoice;
use crate::table::ServerSharing;

/// The servers that change when a folder is closed.
#[derive(Default)]
pub(super) struct ClosedFolder {
    /// Servers without a root.
    pub(super) ended: Vec<ServerEntry>,
    /// Servers of which most roots are gone; a restart frees their memory.
    pub(super) outgrown: Vec<ServerNumber>,
}

impl State {
    /// Returns the server for a root: the one that works on it, one that may share it and is notified of the root, or
    /// a new one.
    pub(super) fn join(&mut self, root: ServedRoot) -> ServerNumber {
        let id = &root.choice.definition.id;
        let is_same = |known: &ServedRoot| {
            let choice = &known.choice;
            known.folder == root.folder
                && choice.definition.id == *id
                && choice.root == root.choice.root
        };
        let mut servers = self.servers.iter();
        if let Some((number, _)) = servers.find(|(_, entry)| entry.roots.iter().any(is_same)) {
            return *number;
        }
        let mut servers = self.servers.iter_mut();
        let shared = servers.find(|(_, entry)| {
            let first = entry.roots.first();
            first.is_some_and(|first| may_share(first, &root))
        });
        let Some((number, entry)) = shared else {
            return self.add_server(root);
        };
        if let Some(connected) = &entry.connected {
            connected.connection.add_folder(&root.choice.root);
        }
        entry.roots.push(root);
        *number
    }

    /// Closes a folder: its documents, and its roots at their servers.
    pub(super) fn close_folder(&mut self, folder: FolderNumber) -> ClosedFolder {
        let documents = self.documents.iter();
        let documents = documents.filter(|(_, document)| document.folder == folder);
        let paths: Vec<_> = documents.map(|(path, _)| path.clone()).collect();
        for path in paths {
            self.close(&path);
        }
        let changes = self.folders.remove(&folder).map(|folder| folder.changes);
        let mut closed = ClosedFolder::default();
        let numbers: Vec<ServerNumber> = self.servers.keys().copied().collect();
        for number in numbers {
            let Some(entry) = self.servers.get_mut(&number) else {
                continue;
            };
            entry.remove_roots(folder);
            if entry.roots.is_empty() {
                let has_thread = entry.wake.is_some();
                let changes = changes.clone().filter(|_| has_thread);
                self.ending.extend(changes.map(|changes| (number, changes)));
                closed.ended.extend(self.servers.remove(&number));
            } else if entry.removed > entry.roots.len() {
                closed.outgrown.push(number);
            }
        }
        closed
    }
}

impl ServerEntry {
    fn remove_roots(&mut self, folder: FolderNumber) {
        let (removed, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.roots)
            .into_iter()
            .partition(|root| root.folder == folder);
        self.roots = left;
        self.removed += removed.len();
        let is_left = |root: &ServedRoot| {
            let mut roots = self.roots.iter();
            roots.any(|it| it.choice.root == root.choice.root)
        };
        if let Some(connected) = &self.connected {
            for root in removed.iter().filter(|root| !is_left(root)) {
                connected.connection.remove_folder(&root.choice.root);
            }
        }
    }
}

/// Returns whether a process for one root may serve the other as well.
fn may_share(a: &ServedRoot, b: &ServedRoot) -> bool {
    let definition = &a.choice.definition;
    definition.sharing == ServerSharing::Shared
        && *definition == b.choice.definition
        && [a, b].iter().all(|root| !root.choice.is_sandboxed())
        && a.servers.repository().is_some()
        && a.servers.repository() == b.servers.repository()
        && is_program_alike(a, b)
        && relative_root(a) == relative_root(b)
        && variables(a) == variables(b)
}

/// Returns whether both programs are the same, or have the same path in their folders.
fn is_program_alike(a: &ServedRoot, b: &ServedRoot) -> bool {
    let relative = |root: &ServedRoot| {
        let path = &root.choice.program.path;
        path.relative_to(root.servers.root()).map(ToOwned::to_owned)
    };
    a.choice.program.path == b.choice.program.path
        || relative(a).is_some() && relative(a) == relative(b)
}

/// Returns the root of the project within its folder.
fn relative_root(root: &ServedRoot) -> Option<&std::path::Path> {
    let ServerChoice { root: project, .. } = &root.choice;
    project.relative_to(root.servers.root())
}

/// Returns the environment without the variables in which direnv keeps the state of a folder.
fn variables(root: &ServedRoot) -> Vec<&Variable> {
    let variables = root.servers.variables().iter();
    let is_state = |(name, _): &&Variable| name.as_encoded_bytes().starts_with(b"DIRENV_");
    variables.filter(|it| !is_state(it)).collect()
}

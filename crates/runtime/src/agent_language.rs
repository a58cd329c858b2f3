//! Language servers of the trees that agents work in: one set for each tree, in the sandbox of its session.
//!
//! Knows: `language`, `lsp`, the sandbox of sessions. Must not know: tools, how an answer is shown to a model.
//! Invariant: servers read the tree and cannot change it; they have no network, and none of the tree's secrets, unless the
//! user turned the sandbox off.
//! Invariant: no server starts in a folder that is not trusted, or without the sandbox that the session's commands have.
//! Invariant: after each call that may change files, the servers are notified of the changed ones.
//! Start at `AgentLanguagePool::offer`; `tree` runs the servers of one tree, `queries` asks them.

mod call_observer;
mod document_query;
mod documents;
mod edits;
mod file_changes;
mod queries;
mod tree;

use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};

use agent::PossibleChanges;
use agent::language::LanguageQueries;
use agent::sandbox::CommandSandbox;
use agent::services::Buffers;
use agent::tool::Tool;
use agent::tools::{ToolStates, language as language_tools};
use base::AbsPath;
use composer::change_history::TreeWatchers;
use host::Dirs;
use host::environment::Variable;
use language::{FolderServers, ProgramCache, ServerSandbox};
use project::{WalkBackend, WalkOptions, file_list};

use crate::language_servers::{self, TreeServersRequest};
use crate::sandbox_policy::{self, SessionSandbox, lock};
pub(crate) use call_observer::SessionCallObserver;
use tree::TreeServers;

/// The servers of all trees that sessions work in. Sessions in one tree share them.
pub(crate) struct AgentLanguagePool {
    dirs: Dirs,
    buffers: Option<Arc<dyn Buffers>>,
    watchers: TreeWatchers,
    /// Holds no server by itself: they end with the last session that can ask them.
    trees: Mutex<Vec<Weak<TreeServers>>>,
}

/// A tree in which a session works.
#[derive(Clone)]
pub(crate) struct AgentTree {
    /// The root of the session.
    pub(crate) root: AbsPath,
    /// The user's checkout: the root itself, or the main repository of a worktree. Its settings count.
    pub(crate) checkout: AbsPath,
    /// Whether the user trusts the checkout.
    pub(crate) is_trusted: bool,
    pub(crate) sandbox: TreeSandbox,
    /// Variables of the session's commands, in addition to those of every command.
    pub(crate) variables: Vec<Variable>,
}

/// The sandbox for the servers of a tree.
#[derive(Clone)]
pub(crate) enum TreeSandbox {
    /// The user turned it off.
    Off,
    /// That of the session's read-only commands.
    On(Arc<dyn CommandSandbox>),
    /// It cannot hide files and forbid changes.
    Weak,
}

impl TreeSandbox {
    /// Returns the sandbox for servers that corresponds to the one of a session; `None` means that the user turned it off.
    pub(crate) fn of(sandbox: Option<&Arc<SessionSandbox>>) -> Self {
        match sandbox {
            None => Self::Off,
            Some(sandbox) if sandbox.hides_files() => Self::On(sandbox.clone()),
            Some(_) => Self::Weak,
        }
    }
}

/// The parts of a session that language servers provide.
#[derive(Default)]
pub(crate) struct LanguageOffer {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// The servers, if one may run.
    pub(crate) queries: Option<Arc<dyn LanguageQueries>>,
    /// The servers whose errors follow each edit.
    pub(crate) edit_diagnostics: Option<Arc<dyn LanguageQueries>>,
}

impl AgentLanguagePool {
    /// Creates the pool without servers. `buffers` provides the unsaved texts of windows, if there are any; `watchers`
    /// have the logs of the composer's worktrees.
    pub(crate) fn new(
        dirs: &Dirs,
        buffers: Option<Arc<dyn Buffers>>,
        watchers: TreeWatchers,
    ) -> Self {
        Self {
            dirs: dirs.clone(),
            buffers,
            watchers,
            trees: Mutex::default(),
        }
    }

    /// Returns the tools for a session in a tree; none unless an installed server serves one of its files and may run.
    /// Starts no server.
    pub(crate) async fn offer(&self, tree: AgentTree, states: &Arc<ToolStates>) -> LanguageOffer {
        let (dirs, inspected) = (self.dirs.clone(), tree.clone());
        let inspected = tokio::task::spawn_blocking(move || inspected.inspect(&dirs)).await;
        let Ok(Some(features)) = inspected else {
            return LanguageOffer::default();
        };
        let queries: Arc<dyn LanguageQueries> = self.servers(tree);
        LanguageOffer {
            tools: language_tools::all(&queries, states),
            queries: Some(queries.clone()),
            edit_diagnostics: features.diagnostics_after_edit.then_some(queries),
        }
    }

    /// Returns the servers of a tree, which start with the first query.
    fn servers(&self, tree: AgentTree) -> Arc<TreeServers> {
        let mut trees = lock(&self.trees);
        trees.retain(|servers| servers.strong_count() > 0);
        let mut known = trees.iter().filter_map(Weak::upgrade);
        // A session with another sandbox does not share servers.
        if let Some(known) = known.find(|it| it.is_like(&tree)) {
            return known;
        }
        let (dirs, buffers) = (self.dirs.clone(), self.buffers.clone());
        let servers = TreeServers::new(dirs, tree, buffers, self.watchers.clone());
        trees.push(Arc::downgrade(&servers));
        servers
    }

    /// Notifies the running servers that a session in the folder `root` may have changed files. Returns at once.
    fn files_changed(&self, root: &AbsPath, changed: &PossibleChanges) {
        // The tree of another session may lie within the folder, or around it.
        let is_affected = |servers: &Arc<TreeServers>| {
            let tree = &servers.tree.root;
            tree.is_within(root) || root.is_within(tree)
        };
        let trees = lock(&self.trees);
        let affected = trees.iter().filter_map(Weak::upgrade).filter(is_affected);
        let affected: Vec<Arc<TreeServers>> = affected.collect();
        drop(trees);
        for servers in affected {
            servers.files_changed(root, changed);
        }
    }
}

/// The settings of a tree in which servers may run.
struct LanguageFeatures {
    diagnostics_after_edit: bool,
}

impl AgentTree {
    /// Returns the servers of the tree. Blocks on the disk, and until the sandbox is open.
    pub(crate) fn open(&self, dirs: &Dirs) -> FolderServers {
        let sandbox = match &self.sandbox {
            TreeSandbox::Off => ServerSandbox::Off,
            TreeSandbox::Weak => {
                let reason = "its layers that hide files are turned off";
                ServerSandbox::Unavailable(reason.to_owned())
            }
            TreeSandbox::On(sandbox) => match sandbox.read_only_bounds() {
                Ok(bounds) => ServerSandbox::On(bounds),
                Err(error) => ServerSandbox::Unavailable(error.to_string()),
            },
        };
        let mut variables = sandbox_policy::command_variables(dirs);
        variables.extend(self.variables.iter().cloned());
        language_servers::tree_servers(
            dirs,
            TreeServersRequest {
                root: self.root.clone(),
                checkout: self.checkout.clone(),
                is_trusted: self.is_trusted,
                variables,
                sandbox,
            },
        )
    }

    /// Returns the settings if a server may run and serves a file of the tree. Blocks on the disk.
    fn inspect(&self, dirs: &Dirs) -> Option<LanguageFeatures> {
        if !self.is_trusted || matches!(self.sandbox, TreeSandbox::Weak) {
            return None;
        }
        let settings = language_servers::checkout_settings(dirs, &self.checkout).lsp;
        if !settings.enabled || !settings.agents {
            return None;
        }
        let servers = self.open(dirs);
        let may_start = servers.ensure_may_start();
        may_start.is_ok().then_some(())?;
        self.has_served_file(&servers).then_some(LanguageFeatures {
            diagnostics_after_edit: settings.diagnostics_after_edit,
        })
    }

    /// Returns whether a server serves a file of the tree; of files with one extension, one is looked at.
    fn has_served_file(&self, servers: &FolderServers) -> bool {
        let options = WalkOptions::default();
        let cancel = AtomicBool::new(false);
        let listed = file_list(&WalkBackend::Disk, &self.root, &options, &cancel);
        let Ok((names, _)) = listed else {
            return false;
        };
        let mut seen: HashSet<OsString> = HashSet::new();
        let mut kinds = names.iter().filter(|name| {
            let kind = name.extension().or_else(|| name.file_name());
            kind.is_some_and(|kind| seen.insert(kind.to_owned()))
        });
        let mut programs = ProgramCache::default();
        kinds.any(|name| servers.serves_with(&self.root.join(name), &mut programs))
    }
}

#[cfg(test)]
mod tests;

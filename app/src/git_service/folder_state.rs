//! The state that the requests of one folder share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use base::AbsPath;
use git_panel::{GitRepository, StagingStep};
use git_program::CheckoutTrust;
use host::environment::Variable;
use host::{Dirs, Files as _, RealFiles};
use settings::SettingsSource;

use super::discard::DiscardedFiles;
use super::door::RepositoryAccess;
use super::drafts::CommitDrafts;
use super::events::WatchedRepository;
use super::prompts::PromptForwarder;
use super::queues::lock;
use super::repositories;
use super::ticks::{RepositoryTicks, TickMessage};

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Returns the environment of the user's programs. Blocks while the login shell is read.
pub(super) type ReadEnvironment = Arc<dyn Fn() -> Vec<Variable> + Send + Sync>;

/// The state that the requests of one folder share.
pub(super) struct GitFolderState {
    pub(super) dirs: Dirs,
    pub(super) root: AbsPath,
    read_environment: ReadEnvironment,
    pub(super) prompts: PromptForwarder,
    pub(super) drafts: CommitDrafts,
    pub(super) discarded: DiscardedFiles,
    pub(super) ticks: RepositoryTicks,
    accesses: Mutex<BTreeMap<AbsPath, Arc<RepositoryAccess>>>,
    /// The trust that was last found for each root, so that a change of it is reported.
    trusted: Mutex<BTreeMap<AbsPath, bool>>,
    last_step: AtomicU64,
}

impl GitFolderState {
    pub(super) fn new(dirs: Dirs, root: AbsPath, read_environment: ReadEnvironment) -> Self {
        Self {
            prompts: PromptForwarder::new(&dirs),
            drafts: CommitDrafts::new(&dirs),
            discarded: DiscardedFiles::new(&dirs),
            ticks: RepositoryTicks::start(root.clone()),
            accesses: Mutex::default(),
            trusted: Mutex::default(),
            last_step: AtomicU64::new(0),
            dirs,
            root,
            read_environment,
        }
    }

    /// Returns the trust in a working tree. Blocks on the disk.
    pub(super) fn trust_in(&self, root: &AbsPath) -> CheckoutTrust {
        if root.is_within(&self.dirs.state) {
            return CheckoutTrust::AgentTree;
        }
        let is_trusted = runtime::trust::is_trusted(&RealFiles, &self.dirs, root);
        let before = lock(&self.trusted).insert(root.clone(), is_trusted);
        if before.is_some_and(|before| before != is_trusted) {
            self.ticks.send(TickMessage::Trust);
        }
        if is_trusted {
            CheckoutTrust::Trusted
        } else {
            CheckoutTrust::Untrusted
        }
    }

    /// Returns the environment of the user's programs. Blocks while the login shell is read.
    pub(super) fn environment(&self) -> Vec<Variable> {
        (self.read_environment)()
    }

    /// Returns a number that no other change of an index has.
    pub(super) fn next_step(&self) -> StagingStep {
        StagingStep(self.last_step.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Returns whether the user's settings ask for the checks of landings before commits. Blocks on the disk.
    pub(super) fn checks_commits(&self) -> bool {
        let path = self.dirs.config.join("settings.json");
        let text = RealFiles.read(&path, MAX_SETTINGS_BYTES);
        let text = text.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        text.is_some_and(|text| {
            let layers = [(SettingsSource::User, "settings.json", text.as_str())];
            settings::parse(&layers).0.git.checks_on_commit
        })
    }

    /// Returns the access to a repository.
    pub(super) fn access(&self, root: &AbsPath) -> Arc<RepositoryAccess> {
        let mut accesses = lock(&self.accesses);
        let access = accesses
            .entry(root.clone())
            .or_insert_with(|| Arc::new(RepositoryAccess::new(root.clone())));
        Arc::clone(access)
    }

    /// Finds the repositories, clears the locks that killed processes of ours left in them, and forgets those that are gone.
    pub(super) fn find_repositories(&self) -> Vec<GitRepository> {
        let found = repositories::find(&self.root);
        for repository in &found {
            self.access(&repository.root).clear_stale_lock();
        }
        let watched = found.iter().filter_map(WatchedRepository::of);
        self.ticks.send(TickMessage::Found(watched.collect()));
        let is_there = |root: &AbsPath| found.iter().any(|it| it.root == *root);
        lock(&self.accesses).retain(|root, _| is_there(root));
        found
    }
}

//! One repository and the two doors to it: libgit2 in this process, and the user's git program.
//!
//! The door is chosen for each task: libgit2 unless a feature of the repository is an obstacle to the task. What runs hooks,
//! filters, helpers or signers, and what talks to a remote, has the program as its only door.
//! Invariant: the program exists only while the user trusts the working tree.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use base::{AbsPath, LogErr as _};
use git::changes::Changes;
use git::staging::StagingUndo;
use git::{Capabilities, GitTask, KeptRepository, Repository};
use git_panel::{GitFailure, GitFailureKind, StagingStep};
use git_program::{CheckoutTrust, Error as ProgramError, GitProgram, IndexEntries, find_program};
use host::{Files as _, RealFiles, Stat};

use super::failures::{failure, of_git, of_program};
use super::folder_state::GitFolderState;
use super::queues::{SharedReading, TaskQueue, lock};

/// Number of changes of the index that can be undone.
const MAX_STEPS: usize = 200;

/// One repository of the folder.
pub(super) struct RepositoryAccess {
    /// The root of its working tree.
    pub(super) root: AbsPath,
    /// Its changes, one after the other.
    pub(super) changes: TaskQueue,
    /// The readings of its status.
    pub(super) status: SharedReading<Changes>,
    /// The repository for readings in process.
    pub(super) kept: KeptRepository,
    program: Mutex<Option<Arc<GitProgram>>>,
    capabilities: Mutex<Option<(CapabilityStamp, Capabilities)>>,
    steps: Mutex<VecDeque<(StagingStep, StepUndo)>>,
}

/// The metadata of the files that decide about the capabilities.
type CapabilityStamp = [Stat; 2];

/// The way to take back a change of the index.
pub(super) enum StepUndo {
    /// In process.
    InProcess(StagingUndo),
    /// By the program: the entries before and after the change.
    Program {
        /// The entries to restore.
        before: IndexEntries,
        /// The entries that the index must still have.
        after: IndexEntries,
    },
}

/// The door to a repository for one task.
pub(super) enum RepositoryDoor {
    /// libgit2.
    InProcess(Repository),
    /// The git program.
    Program(Arc<GitProgram>),
}

impl RepositoryAccess {
    pub(super) fn new(root: AbsPath) -> Self {
        Self {
            kept: KeptRepository::new(root.clone()),
            root,
            changes: TaskQueue::default(),
            status: SharedReading::default(),
            program: Mutex::default(),
            capabilities: Mutex::default(),
            steps: Mutex::default(),
        }
    }

    /// Opens the repository for a task.
    ///
    /// # Errors
    /// The task needs the program, and the user does not trust the working tree; or the repository is gone.
    pub(super) fn open(
        &self,
        task: GitTask,
        folder: &GitFolderState,
    ) -> Result<RepositoryDoor, GitFailure> {
        let capabilities = self.capabilities().map_err(of_git)?;
        let Some(obstacle) = capabilities.obstacle(task) else {
            return self.in_process().map(RepositoryDoor::InProcess);
        };
        match self.program(folder) {
            Ok(program) => Ok(RepositoryDoor::Program(program)),
            Err(error) => Err(GitFailure {
                sentence: format!("{}; it is needed because {obstacle}", error.sentence),
                ..error
            }),
        }
    }

    /// Opens the repository with libgit2.
    pub(super) fn in_process(&self) -> Result<Repository, GitFailure> {
        Repository::discover(&self.root).map_err(of_git)
    }

    /// Returns the git program in this working tree. Starts no process.
    ///
    /// # Errors
    /// `Untrusted`, or `NoGit`.
    pub(super) fn program(&self, folder: &GitFolderState) -> Result<Arc<GitProgram>, GitFailure> {
        let root = self.root.clone();
        let trust = folder.trust_in(&root);
        match trust {
            CheckoutTrust::Trusted => {}
            CheckoutTrust::Untrusted => return Err(of_program(ProgramError::Untrusted { root })),
            CheckoutTrust::AgentTree => return Err(of_program(ProgramError::AgentTree { root })),
        }
        if let Some(program) = lock(&self.program).as_ref() {
            return Ok(Arc::clone(program));
        }
        let environment = folder.environment();
        let git = find_program("git", &environment).ok_or_else(|| {
            let sentence = "the program git was not found; install it, or add its folder to PATH";
            failure(sentence.to_owned(), GitFailureKind::NoGit)
        })?;
        let program = GitProgram::new(git, root, environment, trust);
        let mut program = program.map_err(of_program)?;
        if let Some(prompts) = folder.prompts.server() {
            program = program.with_prompts(prompts);
        }
        let program = Arc::new(program);
        *lock(&self.program) = Some(Arc::clone(&program));
        Ok(program)
    }

    /// Removes the lock on the index that a killed process of ours left, because git would wait for it in vain. A failure is
    /// logged: the change that follows reports the lock.
    pub(super) fn clear_stale_lock(&self) {
        let lock = git::git_dir_of(&self.root).map(|git_dir| git_dir.join("index.lock"));
        if !lock.is_some_and(|lock| RealFiles.exists(&lock)) {
            return;
        }
        let Ok(repository) = self.in_process() else {
            // Only git can open it, so that no lock on it is ours.
            return;
        };
        let sentences = repository.clear_stale_lock(&RealFiles).log_err();
        for sentence in sentences.into_iter().flatten() {
            log::warn!("{sentence}");
        }
    }

    /// Returns the features of the repository, read again if its index or its config changed.
    fn capabilities(&self) -> Result<Capabilities, git::Error> {
        let stamp = self.stamp();
        if let Some((known, capabilities)) = lock(&self.capabilities).as_ref()
            && stamp.as_ref() == Some(known)
        {
            return Ok(capabilities.clone());
        }
        let capabilities = Capabilities::of_folder(&self.root)?;
        *lock(&self.capabilities) = stamp.map(|stamp| (stamp, capabilities.clone()));
        Ok(capabilities)
    }

    fn stamp(&self) -> Option<CapabilityStamp> {
        let git_dir = git::git_dir_of(&self.root)?;
        let config = git::common_dir_of(&git_dir).join("config");
        let index = RealFiles.stat(&git_dir.join("index")).ok()?;
        Some([index, RealFiles.stat(&config).ok()?])
    }

    /// Keeps the way to take back a change; returns its number. The oldest one is forgotten.
    pub(super) fn keep_step(&self, undo: StepUndo, folder: &GitFolderState) -> StagingStep {
        let step = folder.next_step();
        let mut steps = lock(&self.steps);
        steps.push_back((step, undo));
        if steps.len() > MAX_STEPS {
            steps.pop_front();
        }
        step
    }

    /// Takes the way to take back a change.
    pub(super) fn take_step(&self, step: StagingStep) -> Option<StepUndo> {
        let mut steps = lock(&self.steps);
        let at = steps.iter().position(|(kept, _)| *kept == step)?;
        steps.remove(at).map(|(_, undo)| undo)
    }
}

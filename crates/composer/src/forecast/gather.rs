//! Reads the changes of the sessions and of the user; an unchanged tree costs almost nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::AbsPath;
use git::Repository;
use git::land::{RefusedPath, ScanLimits, ScanTarget, WorktreeChanges};
use git::merge::Changes;
use host::Files;

use super::{ForecastInput, ForecastParty};
use crate::work::{CommitId, SessionChanges, SessionWork, UnsavedBuffers};

/// Reads the changes of working trees and caches them.
pub struct ChangeGatherer {
    files: Arc<dyn Files>,
    main_repo: AbsPath,
    /// Private folder with one index of file metadata per tree.
    memory: AbsPath,
    /// The changes of each tree when last read, with the commit they are against.
    known: BTreeMap<ForecastParty, KnownTree>,
}

#[derive(Clone)]
struct KnownTree {
    base: String,
    changes: Arc<Changes>,
    refused: Vec<RefusedPath>,
}

/// The trees that may have changed since the last read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedTrees {
    /// Unknown: every tree is scanned.
    All,
    /// Only the trees of these parties, as reported by a watcher; the others are not scanned.
    Only(BTreeSet<ForecastParty>),
}

/// The changes that were read.
pub struct GatheredChanges {
    /// The input for the forecast.
    pub input: ForecastInput,
    /// Paths that cannot land, by session.
    pub refused: BTreeMap<String, Vec<RefusedPath>>,
    /// Sessions that could not be read, with a sentence each; the forecast leaves them out.
    pub unread: BTreeMap<String, String>,
}

impl ChangeGatherer {
    /// Prepares to read the sessions of the repository with the checkout `main_repo`; `memory` is a
    /// private folder.
    pub fn new(
        main_repo: &AbsPath,
        memory: &AbsPath,
        files: Arc<dyn Files>,
    ) -> Result<Self, host::Error> {
        files.create_folder(memory)?;
        Ok(Self {
            files,
            main_repo: main_repo.clone(),
            memory: memory.clone(),
            known: BTreeMap::new(),
        })
    }

    /// Reads the present changes of all parties: of `works` from their worktrees, of the user from
    /// the checkout and the `unsaved` buffers. For trees that `touched` does not contain, uses the
    /// result of the last read. An error means that the repository itself could not be read.
    /// Sessions that could not be read are listed in `unread`.
    pub fn read(
        &mut self,
        repository: &Repository,
        works: &[SessionWork],
        unsaved: &UnsavedBuffers,
        touched: &ChangedTrees,
    ) -> Result<GatheredChanges, git::Error> {
        let tip = repository.commit_id("HEAD")?.to_string();
        let branch = repository.branch().map(|branch| branch.name);
        let is_work = |who: &ForecastParty| works.iter().any(|work| is_session_of(who, work));
        self.known
            .retain(|who, _| *who == ForecastParty::Person || is_work(who));
        let main_repo = self.main_repo.clone();
        let person = self.tree_changes(
            repository,
            (&main_repo, None),
            &tip,
            (ForecastParty::Person, touched),
        )?;
        let mut gathered = GatheredChanges {
            input: ForecastInput {
                tip: CommitId(tip),
                branch: branch.unwrap_or_default(),
                sessions: Vec::new(),
                uncommitted: person.changes,
                unsaved: unsaved.clone(),
            },
            refused: BTreeMap::new(),
            unread: BTreeMap::new(),
        };
        for work in works {
            let place = (&work.root, Some(&work.git_dir));
            let who = ForecastParty::Session(work.session.clone());
            match self.tree_changes(repository, place, &work.base.0, (who, touched)) {
                Ok(known) => {
                    gathered.input.sessions.push(SessionChanges {
                        session: work.session.clone(),
                        title: work.title.clone(),
                        base: work.base.clone(),
                        changes: known.changes,
                    });
                    if !known.refused.is_empty() {
                        gathered.refused.insert(work.session.clone(), known.refused);
                    }
                }
                Err(error) => {
                    let sentence = format!("Cannot read the work of “{}”: {error}.", work.title);
                    gathered.unread.insert(work.session.clone(), sentence);
                }
            }
        }
        Ok(gathered)
    }

    /// The changes of a tree, from the cache if it was not touched.
    fn tree_changes(
        &mut self,
        repository: &Repository,
        place: (&AbsPath, Option<&AbsPath>),
        base: &str,
        (who, touched): (ForecastParty, &ChangedTrees),
    ) -> Result<KnownTree, git::Error> {
        let is_touched = match touched {
            ChangedTrees::All => true,
            ChangedTrees::Only(touched) => touched.contains(&who),
        };
        if let Some(known) = self.known.get(&who)
            && !is_touched
            && known.base == base
        {
            return Ok(known.clone());
        }
        // The entry is removed first, so that a failed scan is repeated the next time.
        self.known.remove(&who);
        let scanned = self.scan(repository, place, base, &who)?;
        let known = KnownTree {
            base: base.to_owned(),
            changes: Arc::new(scanned.changes),
            refused: scanned.refused,
        };
        self.known.insert(who, known.clone());
        Ok(known)
    }

    /// Reads the changes of a tree against the commit `base`. A cache file per party makes it fast
    /// if little changed.
    fn scan(
        &self,
        repository: &Repository,
        (root, git_dir): (&AbsPath, Option<&AbsPath>),
        base: &str,
        who: &ForecastParty,
    ) -> Result<WorktreeChanges, git::Error> {
        let print = host::ContentHash::of(format!("{who:?}").as_bytes()).0;
        let memory = self.memory.join(format!("{print:032x}.index"));
        let place = ScanTarget {
            root,
            git_dir,
            cache_file: Some(&memory),
        };
        let base = repository.tree_of(base)?;
        repository.scan(place, base, ScanLimits::default(), &*self.files)
    }
}

/// Returns whether `who` is the session of this work.
fn is_session_of(who: &ForecastParty, work: &SessionWork) -> bool {
    matches!(who, ForecastParty::Session(name) if *name == work.session)
}

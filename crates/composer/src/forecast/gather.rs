//! What sessions and the person hold right now, read so that an untouched tree costs next to nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::AbsPath;
use git::Repository;
use git::land::{Limits, Place, Refused, Scanned};
use git::merge::Changes;
use host::Files;

use super::{Input, Session, Who};
use crate::land::Buffers;
use crate::work::{CommitId, Work};

/// Reads trees again and again.
pub struct Gather {
    files: Arc<dyn Files>,
    hub: AbsPath,
    /// A folder of ours for what was looked at, one file for each tree.
    memory: AbsPath,
    /// What each tree held, with the commit it was compared with.
    known: BTreeMap<Who, Known>,
}

#[derive(Clone)]
struct Known {
    base: String,
    changes: Arc<Changes>,
    refused: Vec<Refused>,
}

/// Whose trees may have changed since the last time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// Nobody watched: every tree is looked at.
    Anyone,
    /// Only theirs, as a watcher says; the others are not even looked at.
    Only(BTreeSet<Who>),
}

/// What was read.
pub struct Gathered {
    /// For the forecast.
    pub input: Input,
    /// What was not taken, by session.
    pub refused: BTreeMap<String, Vec<Refused>>,
    /// Sessions that could not be read, with a sentence each; they take no part in the forecast.
    pub unread: BTreeMap<String, String>,
}

impl Gather {
    /// Reads the sessions of the repository `hub` is a checkout of; `memory` is a private folder of ours.
    pub fn new(
        hub: &AbsPath,
        memory: &AbsPath,
        files: Arc<dyn Files>,
    ) -> Result<Self, host::Error> {
        files.create_folder(memory)?;
        Ok(Self {
            files,
            hub: hub.clone(),
            memory: memory.clone(),
            known: BTreeMap::new(),
        })
    }

    /// What everybody holds now. An error means that the hub itself could not be read.
    pub fn read(
        &mut self,
        repository: &Repository,
        works: &[Work],
        unsaved: &Buffers,
        touched: &Touched,
    ) -> Result<Gathered, git::Error> {
        let tip = repository.commit_id("HEAD")?.to_string();
        let branch = repository.branch().map(|branch| branch.name);
        let is_work = |who: &Who| works.iter().any(|work| is_of(who, work));
        self.known
            .retain(|who, _| *who == Who::Person || is_work(who));
        let hub = self.hub.clone();
        let person = self.look(repository, (&hub, None), &tip, (Who::Person, touched))?;
        let mut gathered = Gathered {
            input: Input {
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
            let who = Who::Session(work.session.clone());
            match self.look(repository, place, &work.base.0, (who, touched)) {
                Ok(known) => {
                    gathered.input.sessions.push(Session {
                        name: work.session.clone(),
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

    /// What a tree holds; as of the last time where nobody touched it.
    fn look(
        &mut self,
        repository: &Repository,
        place: (&AbsPath, Option<&AbsPath>),
        base: &str,
        (who, touched): (Who, &Touched),
    ) -> Result<Known, git::Error> {
        let is_touched = match touched {
            Touched::Anyone => true,
            Touched::Only(touched) => touched.contains(&who),
        };
        if let Some(known) = self.known.get(&who)
            && !is_touched
            && known.base == base
        {
            return Ok(known.clone());
        }
        // Until it was read, nothing is known of it: the next time looks again.
        self.known.remove(&who);
        let scanned = self.scan(repository, place, base, &who)?;
        let known = Known {
            base: base.to_owned(),
            changes: Arc::new(scanned.changes),
            refused: scanned.refused,
        };
        self.known.insert(who, known.clone());
        Ok(known)
    }

    fn scan(
        &self,
        repository: &Repository,
        (root, git_dir): (&AbsPath, Option<&AbsPath>),
        base: &str,
        who: &Who,
    ) -> Result<Scanned, git::Error> {
        let print = host::ContentHash::of(format!("{who:?}").as_bytes()).0;
        let memory = self.memory.join(format!("{print:032x}.index"));
        let place = Place {
            root,
            git_dir,
            memory: Some(&memory),
        };
        let base = repository.tree_of(base)?;
        repository.scan(place, base, Limits::default(), &*self.files)
    }
}

fn is_of(who: &Who, work: &Work) -> bool {
    matches!(who, Who::Session(name) if *name == work.session)
}

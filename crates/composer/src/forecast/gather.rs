//! What sessions and the person hold right now, read so that an untouched tree costs next to nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use git::Repository;
use git::land::{Limits, Place, Refused, Scanned};
use git::merge::Changes;
use host::Files;

use super::{Input, Session};
use crate::land::Buffers;
use crate::work::{CommitId, Work};

/// Reads trees again and again.
pub struct Gather {
    files: Arc<dyn Files>,
    hub: AbsPath,
    /// A folder of ours for what was looked at, one file for each tree.
    memory: AbsPath,
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
        })
    }

    /// What everybody holds now. An error means that the hub itself could not be read.
    pub fn read(
        &self,
        repository: &Repository,
        works: &[Work],
        unsaved: &Buffers,
    ) -> Result<Gathered, git::Error> {
        let tip = repository.commit_id("HEAD")?.to_string();
        let branch = repository.branch().map(|branch| branch.name);
        let person = self.scan(repository, (&self.hub, None), &tip, "person")?;
        let mut gathered = Gathered {
            input: Input {
                tip: CommitId(tip),
                branch: branch.unwrap_or_default(),
                sessions: Vec::new(),
                uncommitted: Arc::new(person.changes),
                unsaved: unsaved.clone(),
            },
            refused: BTreeMap::new(),
            unread: BTreeMap::new(),
        };
        for work in works {
            let place = (&work.root, Some(&work.git_dir));
            match self.scan(repository, place, &work.base.0, &work.session) {
                Ok(scanned) => {
                    let changes: Arc<Changes> = Arc::new(scanned.changes);
                    gathered.input.sessions.push(Session {
                        name: work.session.clone(),
                        title: work.title.clone(),
                        base: work.base.clone(),
                        changes,
                    });
                    if !scanned.refused.is_empty() {
                        gathered
                            .refused
                            .insert(work.session.clone(), scanned.refused);
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

    fn scan(
        &self,
        repository: &Repository,
        (root, git_dir): (&AbsPath, Option<&AbsPath>),
        base: &str,
        name: &str,
    ) -> Result<Scanned, git::Error> {
        let print = host::ContentHash::of(name.as_bytes()).0;
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

//! What a search need not look at, since it was looked at and nothing happened to it.
//!
//! A trust begins with a vigil over all known folders and one look at everything behind it: what looked as it was read
//! is trusted, the rest is doubtful, and so is everything that something happens to from then on. What is doubtful is
//! looked at by each search, as if there were no trust.
//!
//! Invariant: a trust holds for whatever is published after it. The writer of `Known` takes the marks of what it reads from
//! the disk, so an entry is as the disk is, unless something happened since; then its path is doubtful.
//! Invariant: whoever goes by a trust takes it before `Known`.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use host::{Clock, Lost, Mark, Survey, Vigil};

use super::known::{Known, Name};
use super::sift::changed;
use super::{Inner, lock};

/// Doubtful paths from which on another look at everything is worth its time.
const DOUBTFUL: usize = 2000;
/// Between two looks at everything: to begin anew, or to find what nobody told.
const PAUSE: Duration = Duration::from_secs(5);

/// Whether changes are told, and what is known of it.
#[derive(Debug, Default)]
pub(super) struct Watch {
    trust: Option<Trust>,
    /// When everything was last looked at; `None` for never.
    looked: Option<Duration>,
    /// Something changed and was not told of: what lies here is not trusted again.
    is_deceived: bool,
}

#[derive(Debug)]
struct Trust {
    vigil: Vigil,
    /// What it is kept over.
    folders: HashSet<Vec<u8>>,
    doubtful: Arc<Doubtful>,
}

/// Paths below the root, as bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubtful {
    files: BTreeSet<Vec<u8>>,
    folders: BTreeSet<Vec<u8>>,
}

impl Doubtful {
    /// The doubtful ones among the known files, by number, growing.
    pub(super) fn files(&self, known: &Known) -> Vec<usize> {
        let files = self.files.iter();
        files.filter_map(|path| known.file(path_of(path))).collect()
    }

    /// The doubtful ones among the known folders, by number, growing.
    pub(super) fn folders(&self, known: &Known) -> Vec<usize> {
        let folders = self.folders.iter();
        folders
            .filter_map(|path| known.folder(path_of(path)))
            .collect()
    }

    fn len(&self) -> usize {
        self.files.len() + self.folders.len()
    }
}

impl Trust {
    /// Begins to trust what is known. The look at everything comes behind the vigil, so that nothing falls between.
    fn begin(root: &AbsPath, survey: &Survey, known: &Known) -> Option<Self> {
        let device = survey.mark(Path::new(""))?.device;
        let elsewhere = |mark: Mark| mark.device != device;
        // Of another file system it is not known whether it tells.
        if known
            .folders
            .iter()
            .any(|it| it.mark.is_some_and(elsewhere))
        {
            return None;
        }
        let folders = known.folders.iter();
        let mut paths = folders.clone().map(|folder| known.path(folder.name));
        let vigil = Vigil::keep(root, &mut paths)?;
        let doubtful = look(survey, known, true);
        (survey.is_in_place() && doubtful.len() <= DOUBTFUL).then(|| Self {
            vigil,
            folders: folders
                .map(|folder| known.bytes(folder.name).to_vec())
                .collect(),
            doubtful: Arc::new(doubtful),
        })
    }

    /// Takes in what happened before this was called.
    fn catch_up(&mut self) -> Result<(), Lost> {
        let mut happened = Vec::new();
        self.vigil.happened(&mut |it| {
            let folder = it.folder.as_os_str().as_bytes();
            let path = it.folder.join(it.name).into_os_string();
            happened.push((
                path.as_bytes().to_vec(),
                it.is_entry.then(|| folder.to_vec()),
            ));
        })?;
        if happened.is_empty() {
            return Ok(());
        }
        let doubtful = Arc::make_mut(&mut self.doubtful);
        for (file, folder) in happened {
            doubtful.files.insert(file);
            doubtful.folders.extend(folder);
        }
        match doubtful.len() > DOUBTFUL {
            true => Err(Lost),
            false => Ok(()),
        }
    }

    /// Whether all of these are doubtful.
    fn told(&self, changed: &Doubtful) -> bool {
        changed.files.is_subset(&self.doubtful.files)
            && changed.folders.is_subset(&self.doubtful.folders)
    }
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// What does not look as it was read. What was not read counts where `or_unread` says so.
fn look(survey: &Survey, known: &Known, or_unread: bool) -> Doubtful {
    let counts = |mark: Option<Mark>| or_unread || mark.is_some();
    let files = changed(survey, known, known.files.len(), |ix| {
        let file = &known.files[ix];
        (file.name, file.content.mark())
    });
    let folders = changed(survey, known, known.folders.len(), |ix| {
        let folder = &known.folders[ix];
        (folder.name, folder.mark)
    });
    let files = files.iter().map(|ix| &known.files[*ix]);
    let files = files.filter(|file| counts(file.content.mark()));
    let folders = folders.iter().map(|ix| &known.folders[*ix]);
    let folders = folders.filter(|folder| counts(folder.mark));
    let path = |name: Name| known.bytes(name).to_vec();
    Doubtful {
        files: files.map(|file| path(file.name)).collect(),
        folders: folders.map(|folder| path(folder.name)).collect(),
    }
}

impl Inner {
    /// What a search has to look at; `None` where it has to look at everything.
    pub(super) fn doubtful(self: &Arc<Self>) -> Option<Arc<Doubtful>> {
        if !self.is_lasting {
            return None;
        }
        let mut watch = lock(&self.watch);
        if watch.trust.as_mut().map(Trust::catch_up) == Some(Err(Lost)) {
            watch.trust = None;
        }
        let doubtful = watch.trust.as_ref().map(|it| Arc::clone(&it.doubtful));
        let is_due = watch.is_due(self.clock.elapsed());
        drop(watch);
        if is_due {
            self.beside("trigrams", Self::look_over);
        }
        doubtful
    }

    /// Ends the trust where there are folders that it does not cover. To be called before anything in them is read.
    pub(super) fn cover(&self, known: &Known) {
        let mut watch = lock(&self.watch);
        let covers = |trust: &mut Trust| {
            let mut folders = known.folders.iter();
            folders.all(|folder| trust.folders.contains(known.bytes(folder.name)))
        };
        watch.trust.take_if(|trust| !covers(trust));
    }

    /// Begins to trust what is known, unless that is done or cannot be. Only the holder of `upkeep` may call this.
    pub(super) fn begin_trust(&self, survey: &Survey) {
        let may_begin = |watch: &Watch| watch.trust.is_none() && !watch.is_deceived;
        if !self.is_lasting || !may_begin(&lock(&self.watch)) {
            return;
        }
        let trust = Trust::begin(&self.root, survey, &self.known());
        let mut watch = lock(&self.watch);
        watch.trust = trust;
        watch.looked = Some(self.clock.elapsed());
    }

    /// Looks at everything: what changed and was not told of ends all trust; where there is none, it begins.
    pub(super) fn look_over(&self) {
        host::lower_priority();
        let Some(survey) = &self.survey else {
            return;
        };
        let _upkeep = lock(&self.upkeep);
        if lock(&self.watch).trust.is_none() {
            return self.begin_trust(survey);
        }
        let changed = look(survey, &self.known(), false);
        let mut watch = lock(&self.watch);
        watch.looked = Some(self.clock.elapsed());
        // What happens while it is looked at is told by now.
        let is_told = |trust: &mut Trust| trust.catch_up().is_err() || trust.told(&changed);
        if watch.trust.as_mut().is_none_or(is_told) {
            return;
        }
        (watch.trust, watch.is_deceived) = (None, true);
        drop(watch);
        self.note(format!(
            "text search in {} looks at every file each time: files there are changed in a way that is not told of",
            self.root
        ));
    }
}

impl Watch {
    /// Whether it is time to look at everything.
    fn is_due(&self, now: Duration) -> bool {
        self.looked
            .is_some_and(|looked| now.saturating_sub(looked) >= PAUSE)
    }
}

#[cfg(test)]
mod tests;

//! What need not be looked at again, since the kernel would have told.
//!
//! The vigil is set first, then everything is looked at once; from there on a file that no event named is as it was
//! read. What a vigil does not see (a second name of a file, another disk, a mapping that is still open) is looked at
//! each time, or found when all is looked at once more after a while.
//! Invariant: trust belongs to one set of folders; whoever publishes another set ends it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::{Moment, News, Survey, Vigil};

use super::known::Known;
use super::sift::{except, looks_so};

/// After this long everything is looked at once more.
const GOOD_FOR: Duration = Duration::from_secs(60);
/// With more than these to be looked at each time, it is time to begin anew.
const MANY: usize = 500;
/// In a search the kernel is asked once for so many files.
pub(super) const ASKED_AFTER: u32 = 64;

/// A vigil over all folders of a `Known`, and what it told.
pub(super) struct Trust {
    vigil: Vigil,
    began: Moment,
    doubts: Mutex<Doubts>,
    /// Whether there are any doubts: most searches need not ask which.
    is_doubting: AtomicBool,
    is_over: AtomicBool,
    /// How many files were vouched for.
    asked: AtomicU32,
}

/// What is looked at each time.
#[derive(Default)]
struct Doubts {
    files: HashSet<PathBuf>,
    folders: HashSet<PathBuf>,
}

impl Trust {
    /// Sets the vigil and looks at everything once. `None` where there is none to be had.
    pub(super) fn begin(root: &AbsPath, survey: &Survey, known: &Known) -> Option<Self> {
        let began = survey.moment();
        let mut folders = known.folders.iter().map(|folder| known.path(folder.name));
        let vigil = Vigil::over(root, &mut folders)?;
        let device = survey.mark(Path::new(""))?.device;
        let is_elsewhere = |ix: &usize| {
            let mark = known.folders[*ix].mark;
            mark.is_some_and(|mark| mark.device != device)
        };
        if (0..known.folders.len()).any(|ix| is_elsewhere(&ix)) {
            return None;
        }
        let folders = except(known.folders.len(), |ix| {
            let folder = &known.folders[ix];
            looks_so(survey, known.path(folder.name), folder.mark)
        });
        let files = except(known.files.len(), |ix| {
            let file = &known.files[ix];
            let mark = survey.only_mark(known.path(file.name));
            mark == file.content.mark() && mark.is_some_and(|mark| mark.device == device)
        });
        let doubts = Doubts {
            files: paths(files.iter().map(|ix| known.path(known.files[*ix].name))),
            folders: paths(folders.iter().map(|ix| known.path(known.folders[*ix].name))),
        };
        Some(Self {
            vigil,
            began,
            is_doubting: AtomicBool::new(!doubts.files.is_empty()),
            doubts: Mutex::new(doubts),
            is_over: AtomicBool::new(false),
            asked: AtomicU32::new(0),
        })
    }

    /// Takes in all that happened until now. Answers whether it still holds.
    pub(super) fn catch_up(&self) -> bool {
        // Taken and noted in one, so that nobody finds the queue empty and the note missing.
        let mut doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.vigil.is_quiet() {
            self.vigil.news(&mut |news| match news {
                News::Changed(path) => {
                    doubts.files.insert(path);
                }
                News::Moved(path) => {
                    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                    doubts.folders.insert(folder);
                    doubts.files.insert(path);
                }
                News::Lost => self.is_over.store(true, Ordering::Release),
            });
            self.is_doubting.store(true, Ordering::Release);
        }
        !self.is_over.load(Ordering::Acquire)
    }

    /// Whether the file is what it was when it was read. A search catches up before it begins, which is what it owes;
    /// what happens meanwhile is asked for now and then, since asking costs more than all else that is done for a file.
    pub(super) fn vouches_for(&self, file: &Path) -> bool {
        let holds = match self.asked.fetch_add(1, Ordering::Relaxed) % ASKED_AFTER {
            0 => self.catch_up(),
            _ => !self.is_over.load(Ordering::Acquire),
        };
        holds && !(self.is_doubting.load(Ordering::Acquire) && self.doubts(file))
    }

    fn doubts(&self, file: &Path) -> bool {
        let doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        doubts.files.contains(file)
    }

    /// The folders that are to be looked at.
    pub(super) fn doubtful_folders(&self, known: &Known) -> Vec<usize> {
        let doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        let folders = known.folders.iter().enumerate();
        let is_doubtful = |folder: &super::known::Folder| {
            let is_named = || doubts.folders.contains(known.path(folder.name));
            folder.mark.is_none() || !doubts.folders.is_empty() && is_named()
        };
        folders
            .filter(|(_, folder)| is_doubtful(folder))
            .map(|(ix, _)| ix)
            .collect()
    }

    /// Whether it is time to look at everything once more.
    pub(super) fn is_due(&self, now: Moment) -> bool {
        let doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        now.since(self.began) > GOOD_FOR || doubts.files.len() + doubts.folders.len() > MANY
    }
}

fn paths<'a>(paths: impl Iterator<Item = &'a Path>) -> HashSet<PathBuf> {
    paths.map(Path::to_path_buf).collect()
}

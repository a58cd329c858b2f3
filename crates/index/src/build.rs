//! The full pass: lists the files, reuses what is known, and reads the others on two threads.
//!
//! Words come first: if much has to be read, a first pass only counts words, so that queries are
//! answered in a fraction of the time that parsing takes.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use base::AbsPath;
use git::merge::TreePath;
use git::{Repository, TrackedFile};
use host::{Files, RealFiles, Stamp};
use project::{WalkBackend as Disk, WalkOptions, file_list};

use crate::changes::{IndexUpdater, ReadOutcome, blob};
use crate::policy::{self, MAX_FILE_BYTES, SkipReason};
use crate::rough::RoughIndex;
use crate::status::{IndexPhase, LeftOut};
use crate::store::{FoldPolicy, Persistence};
use crate::view::{ViewedFile, WorktreeView};

/// Number of threads that read files.
const THREADS: usize = 2;
/// Below this many bytes indexing is fast enough that words are not counted first.
const WORTH_ROUGH: u64 = 512 << 10;
/// Number of files in one part of the first pass.
const ROUGH_FILES: usize = 256;
/// Memory limit of the first pass in bytes; files beyond it are found once they are indexed.
const MAX_ROUGH_BYTES: usize = 256 << 20;
/// Number of files indexed together; small, so that both threads finish at about the same time.
const BATCH: usize = 4;

/// A file to be read.
struct UnindexedFile {
    path: AbsPath,
    name: String,
    bytes: u64,
}

/// Walks the root, checks every file, and chunks and embeds those whose content is new. Returns the
/// number of files that had to be read. Blocks, waits while the index is paused, and stops early
/// when the index is closed.
pub(crate) fn index_all(changes: &IndexUpdater<'_>) -> usize {
    let state = changes.state;
    let was_ready = state.is_complete();
    if !was_ready {
        state.update_status(|status| status.phase = IndexPhase::Walking);
    }
    let (names, notes) = walk(changes);
    let todo = adopt(changes, &names);
    let all = names.len();
    state.update_status(|status| {
        status.files = all;
        status.done = all - todo.len();
    });
    for note in notes {
        log::warn!("{note}");
    }
    let bytes: u64 = todo.iter().map(|todo| todo.bytes).sum();
    if !was_ready && bytes > WORTH_ROUGH {
        state.update_status(|status| status.phase = IndexPhase::Reading);
        read_words(changes, &todo);
    }
    if !was_ready {
        state.update_status(|status| status.phase = IndexPhase::Embedding);
    }
    take_in(changes, &todo);
    state
        .rough
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    let left = {
        let view = state.view.read().unwrap_or_else(PoisonError::into_inner);
        left_out(&view)
    };
    if !state.is_ended.load(Ordering::Relaxed) {
        state.update_status(|status| {
            status.phase = IndexPhase::Ready;
            status.left_out = left;
            status.done = status.files;
        });
    }
    todo.len()
}

/// Returns the paths of all files below the root, sorted, and the problems of the walk.
fn walk(changes: &IndexUpdater<'_>) -> (Vec<String>, Vec<String>) {
    let root = &changes.state.root;
    let never = AtomicBool::new(false);
    let list = file_list(&Disk::Disk, root, &WalkOptions::default(), &never);
    // No globs are given, so none can be invalid.
    let (paths, problems) = list.unwrap_or_default();
    let below = &changes.layout.prefix;
    let named = |path: &Path| Some(format!("{below}{}", path.to_str()?));
    let names = paths.iter().filter_map(|path| named(path)).collect();
    let problems = problems.into_iter().map(|problem| problem.0);
    (names, problems.collect())
}

/// Removes deleted files, keeps unchanged ones, and looks up the contents that git knows without
/// reading them. Returns the remaining files.
fn adopt(changes: &IndexUpdater<'_>, names: &[String]) -> Vec<UnindexedFile> {
    let is_there: HashSet<&str> = names.iter().map(String::as_str).collect();
    let gone: Vec<Arc<str>> = {
        let view = changes.view();
        let paths = view.files().map(|(path, _)| path);
        paths
            .filter(|path| !is_there.contains(&***path))
            .cloned()
            .collect()
    };
    for path in gone {
        changes.set(&path, ViewedFile::default());
    }
    let tracked = Repository::discover(&changes.layout.top).and_then(|git| git.tracked());
    let tracked = tracked.unwrap_or_default();
    let mut todo = Vec::new();
    for name in names {
        let path = changes.layout.top.join(name);
        let stamp = RealFiles.stat(&path).map(|stat| stat.stamp).ok();
        let file = {
            let view = changes
                .state
                .view
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            view.file(name).copied()
        };
        if stamp.is_some() && file.is_some_and(|file| file.stamp == stamp) {
            continue;
        }
        match stamp.and_then(|stamp| unread(changes, name, stamp, &tracked)) {
            Some(file) => changes.set(name, file),
            None => todo.push(UnindexedFile {
                bytes: stamp.map_or(0, |stamp| stamp.size),
                path,
                name: name.clone(),
            }),
        }
    }
    todo
}

/// Returns what is known about a file without reading it.
fn unread(
    changes: &IndexUpdater<'_>,
    name: &str,
    stamp: Stamp,
    tracked: &HashMap<TreePath, TrackedFile>,
) -> Option<ViewedFile> {
    let by_size = (stamp.size > MAX_FILE_BYTES).then_some(SkipReason::Large);
    let left = policy::by_name(name).or(by_size);
    let entry = match left {
        Some(_) => None,
        None => {
            let tracked = tracked.get(&TreePath::of_path(Path::new(name)))?;
            let blob = tracked.is(&stamp).then(|| blob(&tracked.id)).flatten()?;
            Some(changes.store.find(name, &blob, stamp.size)?)
        }
    };
    Some(ViewedFile {
        stamp: Some(stamp),
        entry,
        skip_reason: left,
        ..ViewedFile::default()
    })
}

/// Counts the words of files, so that they can be searched soon.
fn read_words(changes: &IndexUpdater<'_>, todo: &[UnindexedFile]) {
    let spent = AtomicUsize::new(0);
    on_threads(
        changes,
        todo.chunks(ROUGH_FILES).collect(),
        |files: &[UnindexedFile]| {
            if spent.load(Ordering::Relaxed) > MAX_ROUGH_BYTES {
                return;
            }
            let mut part = RoughIndex::default();
            for todo in files {
                let Ok(bytes) = RealFiles.read(&todo.path, MAX_FILE_BYTES) else {
                    continue;
                };
                if let Ok(text) = policy::by_content(&bytes) {
                    part.add(&todo.name, text);
                }
            }
            spent.fetch_add(part.size(), Ordering::Relaxed);
            let mut rough = changes
                .state
                .rough
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            rough.push(Arc::new(part));
        },
    );
}

/// Reads, chunks and embeds files.
fn take_in(changes: &IndexUpdater<'_>, todo: &[UnindexedFile]) {
    on_threads(
        changes,
        todo.chunks(BATCH).collect(),
        |files: &[UnindexedFile]| {
            let (mut records, mut new) = (Vec::new(), Vec::new());
            for todo in files {
                match changes.read(&todo.path, &todo.name) {
                    ReadOutcome::Known(file) => changes.set(&todo.name, file),
                    ReadOutcome::Gone => changes.set(&todo.name, ViewedFile::default()),
                    ReadOutcome::New(stamp, record) => {
                        records.push(record);
                        new.push((stamp, &todo.name));
                    }
                }
            }
            let entries = changes.store.add(records, Persistence::Durable);
            for ((stamp, name), entry) in new.iter().zip(entries) {
                let file = ViewedFile {
                    stamp: Some(*stamp),
                    entry: Some(entry),
                    ..ViewedFile::default()
                };
                changes.set(name, file);
            }
            changes.store.persist(FoldPolicy::InBackground);
            let chunks = changes
                .state
                .view
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .chunks();
            changes.state.update_status(|status| {
                status.done += files.len();
                status.embedded += new.len();
                status.chunks = chunks;
            });
        },
    );
}

/// Calls `work` with each item on two threads until none are left or the index is closed. Waits
/// while paused.
fn on_threads<T: Copy + Sync>(changes: &IndexUpdater<'_>, items: Vec<T>, work: impl Fn(T) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        while changes.state.wait_while_paused() {
            let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            work(*item);
        }
    };
    std::thread::scope(|threads| {
        for _ in 1..THREADS.min(items.len()) {
            threads.spawn(|| {
                host::lower_priority();
                run();
            });
        }
        run();
    });
}

fn left_out(view: &WorktreeView) -> LeftOut {
    let mut left = LeftOut::default();
    for (_, file) in view.files() {
        let count = match file.skip_reason {
            Some(SkipReason::Secret) => &mut left.secret,
            Some(SkipReason::Large) => &mut left.large,
            Some(SkipReason::Binary) => &mut left.binary,
            Some(SkipReason::Generated) => &mut left.generated,
            Some(SkipReason::Unreadable) => &mut left.unreadable,
            None => continue,
        };
        *count += 1;
    }
    left
}

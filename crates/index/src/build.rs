//! Everything at once: which files there are, which of them are known, and reading the others on two threads.
//!
//! Words come first: where much is to be read, a first pass only counts, so that questions are answered within a
//! fraction of the time that parsing takes.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use base::AbsPath;
use git::merge::TreePath;
use git::{Repository, Tracked};
use host::{Files, RealFiles, Stamp};
use project::{Ground as Disk, WalkOptions, file_list};

use crate::changes::{Changes, Read, blob};
use crate::policy::{self, Left, MOST_BYTES};
use crate::rough::Rough;
use crate::status::{LeftOut, Phase};
use crate::store::{Fold, Keep};
use crate::view::{Seen, View};

/// Threads that read.
const THREADS: usize = 2;
/// Fewer bytes than this are in before anyone could ask: words are not counted first.
const WORTH_ROUGH: u64 = 512 << 10;
/// Files that one part of the first pass holds.
const ROUGH_FILES: usize = 256;
/// Bytes that the first pass may take; what is beyond is found when it is in.
const MOST_ROUGH: usize = 256 << 20;
/// Files that are taken in together; few, so that no thread is left with much when the other has nothing more.
const BATCH: usize = 4;

/// A file that is to be read.
struct Todo {
    path: AbsPath,
    name: String,
    bytes: u64,
}

/// Looks at every file and brings the view up to date. Says how many had to be read.
pub(crate) fn all(changes: &Changes<'_>) -> usize {
    let shared = changes.shared;
    let was_ready = shared.is_complete();
    if !was_ready {
        shared.tell(|status| status.phase = Phase::Walking);
    }
    let (names, notes) = walk(changes);
    let todo = adopt(changes, &names);
    let all = names.len();
    shared.tell(|status| {
        status.files = all;
        status.done = all - todo.len();
    });
    for note in notes {
        log::warn!("{note}");
    }
    let bytes: u64 = todo.iter().map(|todo| todo.bytes).sum();
    if !was_ready && bytes > WORTH_ROUGH {
        shared.tell(|status| status.phase = Phase::Reading);
        read_words(changes, &todo);
    }
    if !was_ready {
        shared.tell(|status| status.phase = Phase::Embedding);
    }
    take_in(changes, &todo);
    shared
        .rough
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    let left = {
        let view = shared.view.read().unwrap_or_else(PoisonError::into_inner);
        left_out(&view)
    };
    if !shared.is_ended.load(Ordering::Relaxed) {
        shared.tell(|status| {
            status.phase = Phase::Ready;
            status.left_out = left;
            status.done = status.files;
        });
    }
    todo.len()
}

/// The paths of all files below the top, sorted, and what could not be looked at.
fn walk(changes: &Changes<'_>) -> (Vec<String>, Vec<String>) {
    let root = &changes.shared.root;
    let never = AtomicBool::new(false);
    let list = file_list(&Disk::Disk, root, &WalkOptions::default(), &never);
    // Without globs there is none that could be bad.
    let (paths, problems) = list.unwrap_or_default();
    let below = &changes.ground.below;
    let named = |path: &Path| Some(format!("{below}{}", path.to_str()?));
    let names = paths.iter().filter_map(|path| named(path)).collect();
    let problems = problems.into_iter().map(|problem| problem.0);
    (names, problems.collect())
}

/// Takes out what is gone, keeps what is unchanged, finds what git knows unread, and gives the rest.
fn adopt(changes: &Changes<'_>, names: &[String]) -> Vec<Todo> {
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
        changes.set(&path, Seen::default());
    }
    let tracked = Repository::discover(&changes.ground.top).and_then(|git| git.tracked());
    let tracked = tracked.unwrap_or_default();
    let mut todo = Vec::new();
    for name in names {
        let path = changes.ground.top.join(name);
        let stamp = RealFiles.stat(&path).map(|stat| stat.stamp).ok();
        let seen = {
            let view = changes
                .shared
                .view
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            view.seen(name).copied()
        };
        if stamp.is_some() && seen.is_some_and(|seen| seen.stamp == stamp) {
            continue;
        }
        match stamp.and_then(|stamp| unread(changes, name, stamp, &tracked)) {
            Some(seen) => changes.set(name, seen),
            None => todo.push(Todo {
                bytes: stamp.map_or(0, |stamp| stamp.size),
                path,
                name: name.clone(),
            }),
        }
    }
    todo
}

/// What can be said of a file without reading it.
fn unread(
    changes: &Changes<'_>,
    name: &str,
    stamp: Stamp,
    tracked: &HashMap<TreePath, Tracked>,
) -> Option<Seen> {
    let by_size = (stamp.size > MOST_BYTES).then_some(Left::Large);
    let left = policy::by_name(name).or(by_size);
    let entry = match left {
        Some(_) => None,
        None => {
            let tracked = tracked.get(&TreePath::of_path(Path::new(name)))?;
            let blob = tracked.is(&stamp).then(|| blob(&tracked.id)).flatten()?;
            Some(changes.store.find(name, &blob, stamp.size)?)
        }
    };
    Some(Seen {
        stamp: Some(stamp),
        entry,
        left,
        ..Seen::default()
    })
}

/// Counts the words of files, so that they can be asked for soon.
fn read_words(changes: &Changes<'_>, todo: &[Todo]) {
    let spent = AtomicUsize::new(0);
    on_threads(
        changes,
        todo.chunks(ROUGH_FILES).collect(),
        |files: &[Todo]| {
            if spent.load(Ordering::Relaxed) > MOST_ROUGH {
                return;
            }
            let mut part = Rough::default();
            for todo in files {
                let Ok(bytes) = RealFiles.read(&todo.path, MOST_BYTES) else {
                    continue;
                };
                if let Ok(text) = policy::by_content(&bytes) {
                    part.add(&todo.name, text);
                }
            }
            spent.fetch_add(part.size(), Ordering::Relaxed);
            let mut rough = changes
                .shared
                .rough
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            rough.push(Arc::new(part));
        },
    );
}

/// Reads, cuts and embeds files.
fn take_in(changes: &Changes<'_>, todo: &[Todo]) {
    on_threads(changes, todo.chunks(BATCH).collect(), |files: &[Todo]| {
        let (mut records, mut new) = (Vec::new(), Vec::new());
        for todo in files {
            match changes.read(&todo.path, &todo.name) {
                Read::Done(seen) => changes.set(&todo.name, seen),
                Read::Gone => changes.set(&todo.name, Seen::default()),
                Read::New(stamp, record) => {
                    records.push(record);
                    new.push((stamp, &todo.name));
                }
            }
        }
        let entries = changes.store.add(records, Keep::Kept);
        for ((stamp, name), entry) in new.iter().zip(entries) {
            let seen = Seen {
                stamp: Some(*stamp),
                entry: Some(entry),
                ..Seen::default()
            };
            changes.set(name, seen);
        }
        changes.store.keep(Fold::Beside);
        let chunks = changes
            .shared
            .view
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .chunks();
        changes.shared.tell(|status| {
            status.done += files.len();
            status.embedded += new.len();
            status.chunks = chunks;
        });
    });
}

/// Does `work` with each item on two threads, until there are no more or the index ends. Waits while paused.
fn on_threads<T: Copy + Sync>(changes: &Changes<'_>, items: Vec<T>, work: impl Fn(T) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        while changes.shared.may_go_on() {
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

fn left_out(view: &View) -> LeftOut {
    let mut left = LeftOut::default();
    for (_, seen) in view.files() {
        let count = match seen.left {
            Some(Left::Secret) => &mut left.secret,
            Some(Left::Large) => &mut left.large,
            Some(Left::Binary) => &mut left.binary,
            Some(Left::Generated) => &mut left.generated,
            Some(Left::Unreadable) => &mut left.unreadable,
            None => continue,
        };
        *count += 1;
    }
    left
}

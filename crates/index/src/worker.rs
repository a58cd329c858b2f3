//! The indexing thread: processes the queue until the last handle of the index is dropped.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use host::{Files as _, RealFiles};
use trigram::TrigramUpdater;

use crate::build;
use crate::changes::IndexUpdater;
use crate::embedding::EmbeddingTable;
use crate::options::trigram_folder;
use crate::repo_layout::{RepoLayout, folder_for};
use crate::state::{IndexState, WorkQueue};
use crate::status::IndexPhase;
use crate::store::{ChunkStore, FoldPolicy};

/// Number of files read after which freed memory is returned to the system.
const WORTH_GIVING_BACK: usize = 50;

/// Starts the indexing thread. If that fails, the status becomes `IndexPhase::Off` and waiters
/// return.
pub(crate) fn start(state: Arc<IndexState>) {
    let thread = std::thread::Builder::new().name("index".to_owned());
    let theirs = state.clone();
    if let Err(error) = thread.spawn(move || run(&theirs)) {
        let why = format!("its thread cannot be started: {error}");
        state.update_status(|status| status.phase = IndexPhase::Off(why));
        finish(&state, u64::MAX);
    }
}

fn run(state: &IndexState) {
    host::lower_priority();
    let layout = RepoLayout::of(&state.root);
    let table = state
        .table
        .get_or_init(|| EmbeddingTable::shipped().clone());
    let folder = state.options.folder.as_ref();
    let folder = folder.map(|folder| folder_for(&folder.join("repositories"), &layout.shared));
    let store = ChunkStore::of(folder.as_ref(), table.hash());
    let (layout, store) = state.store.get_or_init(|| (layout, store));
    while state.wait_while_paused() {
        let Some((todo, asked)) = next(state) else {
            break;
        };
        let walked = work(state, layout, store, todo);
        tell_sizes(state, store);
        finish(state, asked);
        if let Some(read) = walked {
            tidy_up(state, store, read);
        }
        help_text_search(state);
    }
    store.persist(FoldPolicy::WhenMany);
}

/// Makes later queries cheaper; nothing waits for it, since everything is searchable without it.
fn tidy_up(state: &IndexState, store: &ChunkStore, read: usize) {
    if store.persist(FoldPolicy::Now) {
        tell_sizes(state, store);
    }
    if read > WORTH_GIVING_BACK {
        host::release_free_memory();
    }
}

/// Starts the trigram index once the semantic index is complete.
fn help_text_search(state: &IndexState) {
    if let Some(folder) = &state.options.folder
        && state.keeps_trigrams.load(Ordering::Relaxed)
    {
        let store = || trigram_folder(folder, &state.root);
        state
            .trigram_updater
            .get_or_init(|| TrigramUpdater::start(state.root.clone(), store()));
    }
}

/// Waits for work and takes it; returns `None` when the index closes.
fn next(state: &IndexState) -> Option<(WorkQueue, u64)> {
    let mut queue = state.queue();
    while queue.is_empty() {
        if state.is_ended.load(Ordering::Relaxed) {
            return None;
        }
        queue.is_idle = true;
        state.wake.notify_all();
        // Work that was requested may already be done together with earlier work.
        queue = state
            .wake
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner);
    }
    queue.is_idle = false;
    let todo = WorkQueue {
        wants_walk: std::mem::take(&mut queue.wants_walk),
        wants_trigrams: std::mem::take(&mut queue.wants_trigrams),
        touched: std::mem::take(&mut queue.touched),
        unsaved: std::mem::take(&mut queue.unsaved),
        ..WorkQueue::default()
    };
    Some((todo, queue.asked))
}

fn finish(state: &IndexState, asked: u64) {
    let mut queue = state.queue();
    queue.done = asked;
    drop(queue);
    state.wake.notify_all();
}

/// Brings the index up to date and writes it. Returns the number of files read if a full pass was
/// made.
fn work(
    state: &IndexState,
    layout: &RepoLayout,
    store: &ChunkStore,
    todo: WorkQueue,
) -> Option<usize> {
    let changes = IndexUpdater {
        state,
        layout,
        store,
    };
    for (path, text) in todo.unsaved {
        let stored = RealFiles.stored_path(&path);
        // A text under the spelling that the file had before would never be removed.
        if stored != path {
            changes.set_unsaved(&path, None);
        }
        changes.set_unsaved(&stored, text);
    }
    let needs_walk = changes.touch(todo.touched);
    let walked = (todo.wants_walk || needs_walk).then(|| build::index_all(&changes));
    store.persist(FoldPolicy::WhenMany);
    walked
}

fn tell_sizes(state: &IndexState, store: &ChunkStore) {
    let rough: usize = {
        let rough = state.rough.read().unwrap_or_else(PoisonError::into_inner);
        rough.iter().map(|rough| rough.size()).sum()
    };
    let (disk, memory, notes) = (store.disk_size(), store.contents().size(), store.notes());
    let chunks = {
        let view = state.view.read().unwrap_or_else(PoisonError::into_inner);
        view.chunks()
    };
    state.update_status(|status| {
        status.chunks = chunks;
        status.disk_bytes = disk;
        let table = state.table.get().map_or(0, EmbeddingTable::size);
        status.memory_bytes = memory + (rough + table) as u64;
        status.notes = notes;
    });
}

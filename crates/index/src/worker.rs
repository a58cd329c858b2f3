//! The indexing thread: processes the queue until the last handle of the index is dropped.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use crate::build;
use crate::changes::IndexUpdater;
use crate::embedding::EmbeddingTable;
use crate::index::trigram_folder;
use crate::repo_layout::{RepoLayout, folder_for};
use crate::state::{IndexState, WorkQueue};
use crate::status::IndexPhase;
use crate::store::{ChunkStore, FoldPolicy};
use crate::trigram_updater::TrigramUpdater;

/// Number of files read after which freed memory is returned to the system.
const WORTH_GIVING_BACK: usize = 50;

/// Starts the indexing thread.
pub(crate) fn start(shared: Arc<IndexState>) {
    let thread = std::thread::Builder::new().name("index".to_owned());
    let theirs = shared.clone();
    if let Err(error) = thread.spawn(move || run(&theirs)) {
        let why = format!("its thread cannot be started: {error}");
        shared.update_status(|status| status.phase = IndexPhase::Off(why));
        finish(&shared, u64::MAX);
    }
}

fn run(shared: &IndexState) {
    host::lower_priority();
    let ground = RepoLayout::of(&shared.root);
    let table = shared
        .table
        .get_or_init(|| EmbeddingTable::shipped().clone());
    let folder = shared.options.folder.as_ref();
    let folder = folder.map(|folder| folder_for(&folder.join("repositories"), &ground.shared));
    let store = ChunkStore::of(folder.as_ref(), table.hash());
    let (ground, store) = shared.store.get_or_init(|| (ground, store));
    while shared.wait_while_paused() {
        let Some((todo, asked)) = next(shared) else {
            break;
        };
        let walked = work(shared, ground, store, todo);
        tell_sizes(shared, store);
        finish(shared, asked);
        if let Some(read) = walked {
            tidy_up(shared, store, read);
        }
        help_text_search(shared);
    }
    store.persist(FoldPolicy::WhenMany);
}

/// Makes later queries cheaper; nothing waits for it, since everything is searchable without it.
fn tidy_up(shared: &IndexState, store: &ChunkStore, read: usize) {
    if store.persist(FoldPolicy::Now) {
        tell_sizes(shared, store);
    }
    if read > WORTH_GIVING_BACK {
        host::release_free_memory();
    }
}

/// Starts the trigram index once the semantic index is complete.
fn help_text_search(shared: &IndexState) {
    if let Some(folder) = &shared.options.folder
        && shared.keeps_trigrams.load(Ordering::Relaxed)
    {
        let store = || trigram_folder(folder, &shared.root);
        shared
            .trigram_updater
            .get_or_init(|| TrigramUpdater::start(shared.root.clone(), store()));
    }
}

/// Waits for work and takes it; returns `None` when the index closes.
fn next(shared: &IndexState) -> Option<(WorkQueue, u64)> {
    let mut queue = shared.queue();
    while queue.is_empty() {
        if shared.is_ended.load(Ordering::Relaxed) {
            return None;
        }
        queue.is_idle = true;
        shared.wake.notify_all();
        // Work that was requested may already be done together with earlier work.
        queue = shared
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

fn finish(shared: &IndexState, asked: u64) {
    let mut queue = shared.queue();
    queue.done = asked;
    drop(queue);
    shared.wake.notify_all();
}

/// Brings the index up to date and writes it. Returns the number of files read if a full pass was
/// made.
fn work(
    shared: &IndexState,
    ground: &RepoLayout,
    store: &ChunkStore,
    todo: WorkQueue,
) -> Option<usize> {
    let changes = IndexUpdater {
        shared,
        ground,
        store,
    };
    for (path, text) in todo.unsaved {
        changes.set_unsaved(&path, text);
    }
    let needs_walk = changes.touch(todo.touched);
    let walked = (todo.wants_walk || needs_walk).then(|| build::index_all(&changes));
    store.persist(FoldPolicy::WhenMany);
    walked
}

fn tell_sizes(shared: &IndexState, store: &ChunkStore) {
    let rough: usize = {
        let rough = shared.rough.read().unwrap_or_else(PoisonError::into_inner);
        rough.iter().map(|rough| rough.size()).sum()
    };
    let (disk, memory, notes) = (store.disk_size(), store.contents().size(), store.notes());
    let chunks = {
        let view = shared.view.read().unwrap_or_else(PoisonError::into_inner);
        view.chunks()
    };
    shared.update_status(|status| {
        status.chunks = chunks;
        status.disk_bytes = disk;
        let table = shared.table.get().map_or(0, EmbeddingTable::size);
        status.memory_bytes = memory + (rough + table) as u64;
        status.notes = notes;
    });
}

//! The thread of an index: takes what is to be done from the queue until nobody holds the index any more.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use crate::build;
use crate::changes::Changes;
use crate::ground::{Ground, folder_for};
use crate::index::{TextSearch, trigram_folder};
use crate::shared::{Queue, Shared};
use crate::sieve::Sieve;
use crate::status::Phase;
use crate::store::{Fold, Store};
use crate::table::Table;

/// Files whose reading takes memory that is worth giving back.
const WORTH_GIVING_BACK: usize = 50;

/// Starts the thread.
pub(crate) fn start(shared: Arc<Shared>) {
    let thread = std::thread::Builder::new().name("index".to_owned());
    let theirs = shared.clone();
    if let Err(error) = thread.spawn(move || run(&theirs)) {
        let why = format!("the system gives no thread for it: {error}");
        shared.tell(|status| status.phase = Phase::Off(why));
        finish(&shared, u64::MAX);
    }
}

fn run(shared: &Shared) {
    host::lower_priority();
    let ground = Ground::of(&shared.root);
    let table = shared.table.get_or_init(|| Table::shipped().clone());
    let folder = shared.options.folder.as_ref();
    let folder = folder.map(|folder| folder_for(&folder.join("repositories"), &ground.shared));
    let store = Store::of(folder.as_ref(), table.hash());
    let (ground, store) = shared.place.get_or_init(|| (ground, store));
    while shared.may_go_on() {
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
    store.keep(Fold::WhenMany);
}

/// What makes later questions cheaper, and for which nobody waits: everything is found without it.
fn tidy_up(shared: &Shared, store: &Store, read: usize) {
    if store.keep(Fold::Now) {
        tell_sizes(shared, store);
    }
    if read > WORTH_GIVING_BACK {
        host::give_back_memory();
    }
}

/// Begins to help text search, now that everything is in.
fn help_text_search(shared: &Shared) {
    if let (Some(folder), TextSearch::Helped) = (&shared.options.folder, shared.options.text_search)
    {
        let store = || trigram_folder(folder, &shared.root);
        shared
            .sieve
            .get_or_init(|| Sieve::start(shared.root.clone(), store()));
    }
}

/// What is to be done, once there is something.
fn next(shared: &Shared) -> Option<(Queue, u64)> {
    let mut queue = shared.queue();
    while queue.is_empty() {
        if shared.is_ended.load(Ordering::Relaxed) {
            return None;
        }
        queue.is_at_rest = true;
        shared.wake.notify_all();
        // Something asked for may have been done with what was asked before it.
        queue = shared
            .wake
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner);
    }
    queue.is_at_rest = false;
    let todo = Queue {
        wants_walk: std::mem::take(&mut queue.wants_walk),
        touched: std::mem::take(&mut queue.touched),
        unsaved: std::mem::take(&mut queue.unsaved),
        ..Queue::default()
    };
    Some((todo, queue.asked))
}

fn finish(shared: &Shared, asked: u64) {
    let mut queue = shared.queue();
    queue.done = asked;
    drop(queue);
    shared.wake.notify_all();
}

/// Brings everything up to date, and onto the disk. Where all files were looked at, says how many were read.
fn work(shared: &Shared, ground: &Ground, store: &Store, todo: Queue) -> Option<usize> {
    let changes = Changes {
        shared,
        ground,
        store,
    };
    for (path, text) in todo.unsaved {
        changes.set_unsaved(&path, text);
    }
    let needs_walk = changes.touch(todo.touched);
    let walked = (todo.wants_walk || needs_walk).then(|| build::all(&changes));
    store.keep(Fold::WhenMany);
    walked
}

fn tell_sizes(shared: &Shared, store: &Store) {
    let rough: usize = {
        let rough = shared.rough.read().unwrap_or_else(PoisonError::into_inner);
        rough.iter().map(|rough| rough.size()).sum()
    };
    let (disk, memory, notes) = (store.disk_size(), store.known().size(), store.notes());
    let chunks = {
        let view = shared.view.read().unwrap_or_else(PoisonError::into_inner);
        view.chunks()
    };
    shared.tell(|status| {
        status.chunks = chunks;
        status.disk_bytes = disk;
        let table = shared.table.get().map_or(0, Table::size);
        status.memory_bytes = memory + (rough + table) as u64;
        status.notes = notes;
    });
}

//! Reads the words of a folder's files in the background and keeps them in sync with the disk, as
//! training data for Tab.
//!
//! Must not know: suggestions. Invariant: one batch is read at a time.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use autocomplete::local::{Corpus, CorpusView, DEFAULT_BYTES};
use base::{AbsPath, text_path};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, Global, Subscription, Task, WeakEntity,
};
use host::Files;

use crate::folder::{FolderEvent, OpenFolder};
use crate::services::Services;

/// Files read before the updated view is published.
const BATCH: usize = 256;
/// Largest file read, in bytes; larger files are data.
const MAX_FILE_BYTES: u64 = 512 * 1024;

/// Words of the files of a folder.
pub(crate) struct FolderReader {
    root: AbsPath,
    corpus: Arc<Mutex<Corpus>>,
    view: Arc<CorpusView>,
    /// Files to read, or to read again.
    waiting: BTreeSet<AbsPath>,
    /// Files read and believed to still exist.
    read: BTreeSet<AbsPath>,
    running: Option<Task<()>>,
    _followed: Subscription,
}

/// A newer view of the corpus is available.
pub(crate) struct ViewChanged;

impl EventEmitter<ViewChanged> for FolderReader {}

#[derive(Default)]
struct FolderReaders(HashMap<AbsPath, WeakEntity<FolderReader>>);

impl Global for FolderReaders {}

impl FolderReader {
    /// Returns the reader of a folder, shared by all windows that have it open.
    pub(crate) fn of(folder: &Entity<OpenFolder>, cx: &mut App) -> Entity<Self> {
        let root = folder.read(cx).root().clone();
        let known = cx.default_global::<FolderReaders>().0.get(&root).cloned();
        if let Some(reader) = known.and_then(|reader| reader.upgrade()) {
            return reader;
        }
        let reader = cx.new(|cx| Self::new(folder, cx));
        let readers = &mut cx.default_global::<FolderReaders>().0;
        readers.retain(|_, reader| reader.upgrade().is_some());
        readers.insert(root, reader.downgrade());
        reader
    }

    fn new(folder: &Entity<OpenFolder>, cx: &mut Context<Self>) -> Self {
        let followed = cx.subscribe(
            folder,
            |this, folder, event: &FolderEvent, cx| match event {
                FolderEvent::Files => this.follow_list(&folder, cx),
                FolderEvent::Changed(paths) => this.read_again(paths, cx),
                FolderEvent::Rescan => {
                    this.waiting.extend(this.read.iter().cloned());
                    this.read_next(cx);
                }
                FolderEvent::Tree
                | FolderEvent::Git
                | FolderEvent::Index
                | FolderEvent::Problem(_) => {}
            },
        );
        let mut this = Self {
            root: folder.read(cx).root().clone(),
            corpus: Arc::new(Mutex::new(Corpus::new())),
            view: CorpusView::empty(),
            waiting: BTreeSet::new(),
            read: BTreeSet::new(),
            running: None,
            _followed: followed,
        };
        this.follow_list(folder, cx);
        this
    }

    /// Returns the view of the files read so far.
    pub(crate) fn view(&self) -> &Arc<CorpusView> {
        &self.view
    }

    /// Schedules new files of the folder and removes deleted ones.
    fn follow_list(&mut self, folder: &Entity<OpenFolder>, cx: &mut Context<Self>) {
        let files = folder.read(cx).files();
        if !files.is_complete {
            return;
        }
        let listed = files.paths.iter().filter(|path| is_code(path));
        let listed: BTreeSet<AbsPath> =
            listed.map(|path| self.root.join(text_path(path))).collect();
        self.waiting.extend(listed.difference(&self.read).cloned());
        self.waiting.extend(self.read.difference(&listed).cloned());
        self.read = listed;
        self.read_next(cx);
    }

    fn read_again(&mut self, paths: &[AbsPath], cx: &mut Context<Self>) {
        let known = paths.iter().filter(|path| self.read.contains(path));
        self.waiting.extend(known.cloned());
        self.read_next(cx);
    }

    fn read_next(&mut self, cx: &mut Context<Self>) {
        if self.running.is_some() || self.waiting.is_empty() {
            return;
        }
        let mut batch = Vec::with_capacity(BATCH.min(self.waiting.len()));
        while batch.len() < BATCH
            && let Some(path) = self.waiting.pop_first()
        {
            let is_there = self.read.contains(&path);
            batch.push((path, is_there));
        }
        let (corpus, files) = (self.corpus.clone(), Services::of(cx).files);
        let view = cx.background_spawn(async move { read(&corpus, files.as_ref(), batch) });
        self.running = Some(cx.spawn(async move |this, cx| {
            let view = view.await;
            // The folder may have been closed in the meantime.
            this.update(cx, |this, cx| {
                this.view = view;
                this.running = None;
                cx.emit(ViewChanged);
                this.read_next(cx);
            })
            .ok();
        }));
    }
}

/// Returns whether a file is worth reading: code or prose in a known language, without secrets.
fn is_code(path: &str) -> bool {
    let name = std::path::Path::new(path);
    syntax::language_for(name, "").is_some() && !project::is_secret(path)
}

/// Reads a batch of files into the corpus; deleted and binary files are removed from it.
fn read(corpus: &Mutex<Corpus>, files: &dyn Files, batch: Vec<(AbsPath, bool)>) -> Arc<CorpusView> {
    let texts: Vec<(AbsPath, Option<String>)> = batch
        .into_iter()
        .map(|(path, is_there)| {
            let bytes = is_there
                .then(|| files.read(&path, MAX_FILE_BYTES).ok())
                .flatten();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            (path, text)
        })
        .collect();
    let mut corpus = corpus.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, text) in texts {
        match text {
            Some(text) => corpus.insert(&path, &text),
            None => corpus.remove(&path),
        }
    }
    corpus.compact(DEFAULT_BYTES);
    corpus.view()
}

#[cfg(test)]
mod tests {
    use super::is_code;

    #[test]
    fn code_and_prose_are_read_and_secrets_are_not() {
        for path in ["src/main.rs", "a/b.py", "web/app.tsx"] {
            assert!(is_code(path), "{path}");
        }
        for path in [".env", "a.png", "deep/.env.local", "server.pem"] {
            assert!(!is_code(path), "{path}");
        }
    }
}

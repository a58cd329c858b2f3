//! The words of a folder's files, read in the background and kept in step with the disk, for what Tab learns from.
//!
//! Must not know: suggestions. Invariant: one batch is read at a time, and the oldest wish first.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use autocomplete::local::{Corpus, CorpusView, DEFAULT_BYTES};
use base::{AbsPath, text_path};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, Global, Subscription, Task, WeakEntity,
};
use host::Files;

use crate::folder::{Folder, FolderEvent};
use crate::services::Services;

/// Files that are read before what they say can be used.
const BATCH: usize = 256;
/// Larger files are data, in bytes.
const MOST_BYTES: u64 = 512 * 1024;

/// What the files of a folder say.
pub(crate) struct Reading {
    root: AbsPath,
    corpus: Arc<Mutex<Corpus>>,
    view: Arc<CorpusView>,
    /// What is to be read, or read again.
    waiting: BTreeSet<AbsPath>,
    /// What was read and is there as far as is known.
    read: BTreeSet<AbsPath>,
    running: Option<Task<()>>,
    _followed: Subscription,
}

/// There is a newer view.
pub(crate) struct ViewChanged;

impl EventEmitter<ViewChanged> for Reading {}

#[derive(Default)]
struct Readings(HashMap<AbsPath, WeakEntity<Reading>>);

impl Global for Readings {}

impl Reading {
    /// The reading of a folder, shared by the windows that have it open.
    pub(crate) fn of(folder: &Entity<Folder>, cx: &mut App) -> Entity<Self> {
        let root = folder.read(cx).root().clone();
        let known = cx.default_global::<Readings>().0.get(&root).cloned();
        if let Some(reading) = known.and_then(|reading| reading.upgrade()) {
            return reading;
        }
        let reading = cx.new(|cx| Self::new(folder, cx));
        let readings = &mut cx.default_global::<Readings>().0;
        readings.retain(|_, reading| reading.upgrade().is_some());
        readings.insert(root, reading.downgrade());
        reading
    }

    fn new(folder: &Entity<Folder>, cx: &mut Context<Self>) -> Self {
        let followed = cx.subscribe(
            folder,
            |this, folder, event: &FolderEvent, cx| match event {
                FolderEvent::Files => this.follow_list(&folder, cx),
                FolderEvent::Changed(paths) => this.read_again(paths, cx),
                FolderEvent::Rescan => {
                    this.waiting.extend(this.read.iter().cloned());
                    this.go_on(cx);
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

    /// What was read so far.
    pub(crate) fn view(&self) -> &Arc<CorpusView> {
        &self.view
    }

    /// Reads files that are new in the folder and forgets those that are gone.
    fn follow_list(&mut self, folder: &Entity<Folder>, cx: &mut Context<Self>) {
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
        self.go_on(cx);
    }

    fn read_again(&mut self, paths: &[AbsPath], cx: &mut Context<Self>) {
        let known = paths.iter().filter(|path| self.read.contains(path));
        self.waiting.extend(known.cloned());
        self.go_on(cx);
    }

    fn go_on(&mut self, cx: &mut Context<Self>) {
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
        let reading = cx.background_spawn(async move { read(&corpus, files.as_ref(), batch) });
        self.running = Some(cx.spawn(async move |this, cx| {
            let view = reading.await;
            // The folder may be closed meanwhile.
            this.update(cx, |this, cx| {
                this.view = view;
                this.running = None;
                cx.emit(ViewChanged);
                this.go_on(cx);
            })
            .ok();
        }));
    }
}

/// Whether a file is worth reading: code or prose of a known language, and no secret.
fn is_code(path: &str) -> bool {
    let name = std::path::Path::new(path);
    syntax::language_for(name, "").is_some() && !project::is_secret(path)
}

/// Takes a batch of files in; those that are gone or no text are forgotten.
fn read(corpus: &Mutex<Corpus>, files: &dyn Files, batch: Vec<(AbsPath, bool)>) -> Arc<CorpusView> {
    let texts: Vec<(AbsPath, Option<String>)> = batch
        .into_iter()
        .map(|(path, is_there)| {
            let bytes = is_there
                .then(|| files.read(&path, MOST_BYTES).ok())
                .flatten();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            (path, text)
        })
        .collect();
    let mut corpus = corpus.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, text) in texts {
        match text {
            Some(text) => corpus.put(&path, &text),
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
    fn what_is_written_by_people_is_read_and_secrets_are_not() {
        for path in ["src/main.rs", "a/b.py", "web/app.tsx"] {
            assert!(is_code(path), "{path}");
        }
        for path in [".env", "a.png", "deep/.env.local", "server.pem"] {
            assert!(!is_code(path), "{path}");
        }
    }
}

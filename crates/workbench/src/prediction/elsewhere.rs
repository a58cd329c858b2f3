//! Further places of an edit in files that are not open: found by their words, read and searched beside.
//!
//! Must not know: what is looked for, and what a place is; `autocomplete` says both.
//! Invariant: one search at a time, bounded in files and bytes, and none for a key.
//! Invariant: files that changed while they were searched are searched again; what was found before is dropped.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autocomplete::Scene;
use autocomplete::local::{Done, Elsewhere};
use base::{AbsPath, ByteOffset, Row};
use gpui_kit::{AppContext as _, Context, Task};
use host::Files;
use project::search::{Case, SearchEvent, SearchQuery, SearchScope, search};
use syntax::{Budget, SyntaxSnapshot, SyntaxTree, language_for};
use text::Snapshot;

use super::Prediction;
use super::gate::Rules;
use crate::documents::Documents;
use crate::folder::Folder;

/// Files that are read for a pattern, the nearest to the text at hand first.
const MOST_FILES: usize = 128;
/// Bytes of all of them.
const MOST_BYTES: usize = 8 << 20;
/// Larger files are data, in bytes.
const MOST_FILE_BYTES: u64 = 512 << 10;
/// Matches of a word that are looked at: one that stands everywhere leads nowhere.
const MOST_MATCHES: usize = 4_000;

/// What is searched beside.
#[derive(Default)]
pub(super) struct Outside {
    running: Option<Running>,
    /// Counts what happened to files that are not open.
    changes: u64,
}

/// A search, which ends when it is dropped.
struct Running {
    is_over: Arc<AtomicBool>,
    _task: Task<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Prediction {
    /// Has files that are not open searched, if something is to be looked for there.
    pub(super) fn look_outside(&mut self, cx: &mut Context<Self>) {
        if self.outside.running.is_some() {
            return;
        }
        let (Some(wanted), Some(root)) = (self.local.elsewhere(), self.root.clone()) else {
            return;
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let open = Documents::all(cx);
        let open = open.iter().filter_map(|it| it.read(cx).path().cloned());
        let quest = Quest {
            near: self.front.as_ref().and_then(|front| {
                let path = front.model.read(cx).path().cloned();
                path.and_then(|path| path.parent())
            }),
            open: open.collect(),
            rules: self.gate.rules(),
            files: self.services.files.clone(),
            scope: SearchScope::new(self.services.ground.clone(), root.clone())
                .with_sieve(Folder::sieve_of(&root, cx)),
            is_over: is_over.clone(),
        };
        let changes = self.outside.changes;
        let search = cx.background_spawn(async move { quest.run(wanted) });
        let task = cx.spawn(async move |this, cx| {
            let done = search.await;
            // The window may be gone.
            this.update(cx, |this, cx| this.found_outside(done, changes, cx))
                .ok();
        });
        self.outside.running = Some(Running {
            is_over,
            _task: task,
        });
    }

    fn found_outside(&mut self, done: Done, changes: u64, cx: &mut Context<Self>) {
        self.outside.running = None;
        if changes == self.outside.changes {
            self.local.finish(done);
            self.ask_local(cx);
        }
        if self.local.elsewhere().is_some() {
            self.work_soon(cx);
        }
    }

    /// Files changed on the disk; none stands for any of them.
    pub(super) fn changed_outside(&mut self, paths: Option<&[AbsPath]>, cx: &mut Context<Self>) {
        let open = Documents::all(cx);
        let open = open.iter().filter_map(|it| it.read(cx).path().cloned());
        let open: HashSet<AbsPath> = open.collect();
        let is_changed =
            |path: &AbsPath| !open.contains(path) && paths.is_none_or(|paths| paths.contains(path));
        if paths.is_some_and(|paths| !paths.iter().any(is_changed)) {
            return;
        }
        self.outside.changes += 1;
        if self.local.look_again(&is_changed) {
            self.ask_local(cx);
        }
        if self.local.elsewhere().is_some() {
            self.work_soon(cx);
        }
    }
}

/// A search through the files of a folder, for a background thread.
struct Quest {
    scope: SearchScope,
    files: Arc<dyn Files>,
    rules: Arc<Rules>,
    /// What is open is searched as it stands there.
    open: HashSet<AbsPath>,
    /// The folder of the text at hand.
    near: Option<AbsPath>,
    is_over: Arc<AtomicBool>,
}

impl Quest {
    fn run(&self, wanted: Elsewhere) -> Done {
        let paths = self.candidates(&wanted);
        let mut left = MOST_BYTES;
        let scenes = paths.into_iter().map_while(|path| {
            let text = self.read(&path);
            left = left.checked_sub(text.len())?;
            let is_over = self.is_over.load(Ordering::Relaxed);
            (!is_over).then(|| scene(path, &text))
        });
        wanted.run(scenes)
    }

    /// The files with a word that a place must have.
    fn candidates(&self, wanted: &Elsewhere) -> Vec<AbsPath> {
        let found: BTreeSet<AbsPath> = wanted
            .words()
            .into_iter()
            .flat_map(|word| self.holding(word))
            .collect();
        let mut found: Vec<AbsPath> = found.into_iter().filter(|path| self.may(path)).collect();
        // Sorted by path already; those beside the text at hand come first.
        found.sort_by_key(|path| path.parent() != self.near);
        found.truncate(MOST_FILES);
        found
    }

    fn holding(&self, word: &str) -> Vec<AbsPath> {
        let query = SearchQuery {
            case: Case::Sensitive,
            whole_word: true,
            limit: MOST_MATCHES,
            ..SearchQuery::literal(word)
        };
        // Bounded by the limit of the query.
        let (events, told) = async_channel::unbounded();
        if let Err(problem) = search(&query, &self.scope, &self.is_over, &events) {
            log::debug!("cannot look for further places: {problem}");
        }
        drop(events);
        let mut paths = Vec::new();
        while let Ok(event) = told.try_recv() {
            if let SearchEvent::File(file) = event {
                paths.push(file.path);
            }
        }
        paths
    }

    /// Whether a file is one to be read: code that is not open, no secret, and nothing that Tab is off for.
    fn may(&self, path: &AbsPath) -> bool {
        let language = language_for(path.as_path(), "");
        language.is_some_and(|language| {
            !self.open.contains(path)
                && !project::is_secret(&path.name())
                && self.rules.off(Some(path), Some(language.name())).is_none()
        })
    }

    fn read(&self, path: &AbsPath) -> String {
        let bytes = self.files.read(path, MOST_FILE_BYTES).ok();
        bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}

/// A file as it lies on the disk, without a caret.
fn scene(path: AbsPath, text: &str) -> Scene {
    let snapshot = Snapshot::new(text);
    let language = language_for(path.as_path(), "");
    let syntax: Option<SyntaxSnapshot> = language.map(|language| {
        language.prepare();
        let mut tree = SyntaxTree::new(language);
        // However it ends, the tree is the best there is.
        drop(tree.parse(&snapshot, &mut Budget::unlimited()));
        tree.snapshot()
    });
    Scene {
        path: Some(path),
        snapshot,
        syntax,
        language,
        caret: ByteOffset(0),
        rows: (Row(0), Row(0)),
        indent: "    ".to_owned(),
    }
}

//! Searches files that are not open for further locations of an edit: filters them by words, then
//! reads and searches them in the background.
//!
//! Must not know: what a location or its pattern is; `autocomplete` defines both.
//! Invariant: one search at a time, bounded in files and bytes, and none on a keystroke.
//! Invariant: files that change during a search are searched again, and their results are dropped.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autocomplete::EditorState;
use autocomplete::engine::{ChangedFiles, EngineInput};
use autocomplete::local::{BackgroundResult, UnopenedFileSearch};
use base::{AbsPath, ByteOffset, Row};
use gpui_kit::{AppContext as _, Context, Task};
use host::Files;
use project::search::{CaseSensitivity, SearchEvent, SearchQuery, SearchScope, search};
use syntax::{Budget, SyntaxSnapshot, SyntaxTree, language_for};
use text::Snapshot;

use super::Prediction;
use super::suggestion_settings::SuggestionRules;
use crate::documents::Documents;
use crate::folder::OpenFolder;

/// Files read for a pattern, nearest to the focused text first.
const MAX_FILES: usize = 128;
/// Total size of the files read, in bytes.
const MAX_TOTAL_BYTES: usize = 8 << 20;
/// Largest file read, in bytes; larger files are data.
const MAX_FILE_BYTES: u64 = 512 << 10;
/// Matches of a word to consider: a word that occurs everywhere selects nothing.
const MAX_MATCHES: usize = 4_000;

/// Search state for files that are not open.
#[derive(Default)]
pub(super) struct UnopenedFiles {
    running: Option<UnopenedSearch>,
    /// Number of changes seen in files that are not open.
    changes: u64,
}

/// A running search, cancelled on drop.
struct UnopenedSearch {
    is_over: Arc<AtomicBool>,
    _task: Task<()>,
}

impl Drop for UnopenedSearch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl UnopenedFiles {
    /// Cancels a running search. The next pause in typing starts it again.
    pub(super) fn cancel(&mut self) {
        self.running = None;
    }
}

impl Prediction {
    /// Starts a search of the files that are not open, if the engine needs one.
    pub(super) fn search_unopened(&mut self, cx: &mut Context<Self>) {
        if self.unopened_files.running.is_some() {
            return;
        }
        let (Some(wanted), Some(root)) = (self.engine.unopened_search(), self.root.clone()) else {
            return;
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let open = Documents::all(cx);
        let open = open.iter().filter_map(|it| it.read(cx).path().cloned());
        let query = UnopenedQuery {
            near: self.focused.as_ref().and_then(|focused| {
                let path = focused.model.read(cx).path().cloned();
                path.and_then(|path| path.parent())
            }),
            open: open.collect(),
            rules: self.settings.rules(),
            files: self.services.files.clone(),
            scope: SearchScope::new(self.services.ground.clone(), root.clone())
                .with_prefilter(OpenFolder::prefilter_of(&root, cx)),
            is_over: is_over.clone(),
        };
        let changes = self.unopened_files.changes;
        let search = cx.background_spawn(async move { query.run(wanted) });
        let task = cx.spawn(async move |this, cx| {
            let done = search.await;
            // The window may have been closed.
            this.update(cx, |this, cx| this.apply_unopened(done, changes, cx))
                .ok();
        });
        self.unopened_files.running = Some(UnopenedSearch {
            is_over,
            _task: task,
        });
    }

    fn apply_unopened(&mut self, done: BackgroundResult, changes: u64, cx: &mut Context<Self>) {
        self.unopened_files.running = None;
        if changes == self.unopened_files.changes {
            self.handle_refreshed(EngineInput::TaskFinished(Box::new(done)), cx);
        }
        if self.engine.unopened_search().is_some() {
            self.start_work(cx);
        }
    }

    /// Handles changes on disk; `None` means that any file may have changed.
    pub(super) fn files_changed_on_disk(
        &mut self,
        paths: Option<&[AbsPath]>,
        cx: &mut Context<Self>,
    ) {
        let open = Documents::all(cx);
        let open = open.iter().filter_map(|it| it.read(cx).path().cloned());
        let open: HashSet<AbsPath> = open.collect();
        let files = match paths {
            Some(paths) => {
                let closed = paths.iter().filter(|path| !open.contains(path));
                ChangedFiles::Paths(closed.cloned().collect())
            }
            None => ChangedFiles::AllExcept(open),
        };
        if matches!(&files, ChangedFiles::Paths(paths) if paths.is_empty()) {
            return;
        }
        self.unopened_files.changes += 1;
        self.handle_refreshed(EngineInput::FilesChanged(files), cx);
        if self.engine.unopened_search().is_some() {
            self.start_work(cx);
        }
    }
}

/// A search through the files of a folder, for a background thread.
struct UnopenedQuery {
    scope: SearchScope,
    files: Arc<dyn Files>,
    rules: Arc<SuggestionRules>,
    /// Open files, which are searched as documents instead.
    open: HashSet<AbsPath>,
    /// The folder of the focused text.
    near: Option<AbsPath>,
    is_over: Arc<AtomicBool>,
}

impl UnopenedQuery {
    fn run(&self, wanted: UnopenedFileSearch) -> BackgroundResult {
        let paths = self.candidates(&wanted);
        let mut left = MAX_TOTAL_BYTES;
        let states = paths.into_iter().map_while(|path| {
            let text = self.read(&path);
            left = left.checked_sub(text.len())?;
            let is_over = self.is_over.load(Ordering::Relaxed);
            (!is_over).then(|| state(path, &text))
        });
        wanted.run(states)
    }

    /// Returns the files that contain a word required by the pattern.
    fn candidates(&self, wanted: &UnopenedFileSearch) -> Vec<AbsPath> {
        let found: BTreeSet<AbsPath> = wanted
            .required_words()
            .into_iter()
            .flat_map(|word| self.files_containing(word))
            .collect();
        let mut found: Vec<AbsPath> = found.into_iter().filter(|path| self.may(path)).collect();
        // Already sorted by path; files in the folder of the focused text come first.
        found.sort_by_key(|path| path.parent() != self.near);
        found.truncate(MAX_FILES);
        found
    }

    fn files_containing(&self, word: &str) -> Vec<AbsPath> {
        let query = SearchQuery {
            case: CaseSensitivity::Sensitive,
            whole_word: true,
            limit: MAX_MATCHES,
            ..SearchQuery::literal(word)
        };
        // Bounded by the query's limit.
        let (events, receiver) = async_channel::unbounded();
        if let Err(problem) = search(&query, &self.scope, &self.is_over, &events) {
            log::debug!("cannot search unopened files: {problem}");
        }
        drop(events);
        let mut paths = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            if let SearchEvent::File(file) = event {
                paths.push(file.path);
            }
        }
        paths
    }

    /// Returns whether a file may be read: source code that is not open, holds no secrets, and has
    /// suggestions enabled.
    fn may(&self, path: &AbsPath) -> bool {
        let language = language_for(path.as_path(), "");
        language.is_some_and(|language| {
            !self.open.contains(path)
                && !project::is_secret(&path.name())
                && self
                    .rules
                    .disabled_reason(Some(path), Some(language.name()))
                    .is_none()
        })
    }

    fn read(&self, path: &AbsPath) -> String {
        let bytes = self.files.read(path, MAX_FILE_BYTES).ok();
        bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}

/// Returns the editor state of a file on disk, with the caret at its start.
fn state(path: AbsPath, text: &str) -> EditorState {
    let snapshot = Snapshot::new(text);
    let language = language_for(path.as_path(), "");
    let syntax: Option<SyntaxSnapshot> = language.map(|language| {
        language.prepare();
        let mut tree = SyntaxTree::new(language);
        // A partial tree is still the best available.
        drop(tree.parse(&snapshot, &mut Budget::unlimited()));
        tree.snapshot()
    });
    EditorState {
        path: Some(path),
        snapshot,
        syntax,
        language,
        caret: ByteOffset(0),
        rows: (Row(0), Row(0)),
        indent: "    ".to_owned(),
    }
}

//! Search and replace in the project, in its own tab.
//!
//! The search runs in the background and streams into `results`, which is plain data. Open texts
//! are searched in their current state, saved or not.
//! Invariant: further typing stops the running search; results of a stopped search never arrive.

mod actions;
mod job;
mod render;
pub(crate) mod replace;
mod replacing;
pub(crate) mod results;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::AbsPath;
use caret::find::Matcher;
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, ScrollStrategy,
    SharedString, Subscription, Task, UniformListScrollHandle, Window,
};
use project::search::{BadQuery, SearchEvent, SearchQuery, SearchScope, SearchSummary};
use ui::ModalLayer;

use self::replace::ReplacedFile;
use self::results::{Picked, ReplacementPreview, Results};
use crate::excerpt_rows::FilePlaces;
use crate::notices::Notice;
use crate::open_options::OpenOptions;
use crate::services::Services;
use crate::session::SavedSearch;

/// The panel for searching the project.
pub struct SearchPanel {
    services: Services,
    modal: Entity<ModalLayer>,
    root: Option<AbsPath>,
    pattern: Entity<InputState>,
    replacement: Entity<InputState>,
    include: Entity<InputState>,
    exclude: Entity<InputState>,
    options: SearchOptions,
    results: Results,
    /// The search that produced `results`.
    searched: Option<ShownSearch>,
    /// Files changed by the last replacement, until it is undone.
    replaced: Vec<ReplacedFile>,
    picked: Option<Picked>,
    progress: SearchProgress,
    problems: Vec<String>,
    running: Option<RunningSearch>,
    /// Whether to replace all matches when the search finishes.
    wants_replace: bool,
    focus: FocusHandle,
    list_focus: FocusHandle,
    scroll: UniformListScrollHandle,
    _subscriptions: Vec<Subscription>,
}

/// A request of the panel to its window.
pub(crate) enum SearchPanelEvent {
    /// Opens the file of a result.
    Open(AbsPath, OpenOptions),
    /// Opens rows of several files as one text.
    OpenExcerpts {
        /// Title of the tab.
        title: String,
        /// The rows to show.
        files: Vec<FilePlaces>,
    },
    /// Shows a notification.
    Report(Notice),
}

/// State of the toggles beside the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchOptions {
    is_regex: bool,
    is_case_sensitive: bool,
    is_whole_word: bool,
    shows_replace: bool,
    shows_filters: bool,
}

/// Progress of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SearchProgress {
    /// No search was requested.
    Idle,
    /// The search is running.
    Running,
    /// The search ran to its end.
    Done(SearchSummary),
    /// The user stopped the search.
    Stopped,
    /// The search could not start.
    Refused(QueryProblem),
}

/// Reason a search could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryProblem {
    field: SearchField,
    /// Message for the user.
    reason: String,
}

/// The text fields of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    Pattern,
    Include,
    Exclude,
}

/// A search whose results are shown.
#[derive(Clone)]
struct ShownSearch {
    query: SearchQuery,
    matcher: Matcher,
}

struct RunningSearch {
    /// Whether the search has finished.
    is_over: bool,
    cancel: Arc<AtomicBool>,
    _task: Task<()>,
}

impl Drop for RunningSearch {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// Pause in typing before the search starts.
const REST: Duration = Duration::from_millis(120);

impl SearchPanel {
    /// Creates an empty search panel.
    pub fn new(
        modal: Entity<ModalLayer>,
        root: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        Self::restored(SavedSearch::default(), modal, root, window, cx)
    }

    /// Restores a stored search. Runs the search at once if it has a pattern. `root` is the folder
    /// to search.
    pub fn restored(
        saved: SavedSearch,
        modal: Entity<ModalLayer>,
        root: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let mut field = |text: &str, hint: &'static str| {
            let text = SharedString::from(text.to_owned());
            cx.new(|cx| {
                InputState::new(window, cx)
                    .placeholder(hint)
                    .default_value(text)
            })
        };
        let pattern = field(&saved.pattern, "Search the project");
        let replacement = field(&saved.replacement, "Replace by");
        let include = field(&saved.include, "Files to include, e.g. src, *.{rs,toml}");
        let exclude = field(&saved.exclude, "Files to exclude, e.g. tests, *.lock");
        let subscriptions = vec![
            cx.subscribe_in(&pattern, window, Self::query_event),
            cx.subscribe_in(&include, window, Self::query_event),
            cx.subscribe_in(&exclude, window, Self::query_event),
            cx.subscribe_in(&replacement, window, |_, _, event: &InputEvent, _, cx| {
                if matches!(event, InputEvent::Change) {
                    cx.notify();
                }
            }),
        ];
        let options = SearchOptions {
            is_regex: saved.is_regex,
            is_case_sensitive: saved.is_case_sensitive,
            is_whole_word: saved.is_whole_word,
            shows_replace: !saved.replacement.is_empty(),
            shows_filters: !saved.include.is_empty() || !saved.exclude.is_empty(),
        };
        let mut panel = Self {
            services: Services::of(cx),
            modal,
            root,
            pattern,
            replacement,
            include,
            exclude,
            options,
            results: Results::default(),
            searched: None,
            replaced: Vec::new(),
            picked: None,
            progress: SearchProgress::Idle,
            problems: Vec::new(),
            running: None,
            wants_replace: false,
            focus: cx.focus_handle(),
            list_focus: cx.focus_handle().tab_stop(true),
            scroll: UniformListScrollHandle::new(),
            _subscriptions: subscriptions,
        };
        if !saved.pattern.is_empty() {
            panel.search(Duration::ZERO, window, cx);
        }
        panel
    }

    /// Returns the state to store between runs.
    pub fn saved(&self, cx: &App) -> SavedSearch {
        SavedSearch {
            pattern: self.pattern.read(cx).value().to_string(),
            replacement: self.replacement.read(cx).value().to_string(),
            include: self.include.read(cx).value().to_string(),
            exclude: self.exclude.read(cx).value().to_string(),
            is_regex: self.options.is_regex,
            is_case_sensitive: self.options.is_case_sensitive,
            is_whole_word: self.options.is_whole_word,
        }
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        "Search".into()
    }

    /// Returns the results found so far; more may follow while `is_running`.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Returns whether a search is running.
    pub fn is_running(&self) -> bool {
        self.progress == SearchProgress::Running
    }

    /// Switches to another folder; `None` means no folder. Searches again if the folder differs.
    pub fn set_root(&mut self, root: Option<AbsPath>, window: &mut Window, cx: &mut Context<Self>) {
        if self.root != root {
            self.root = root;
            self.search(Duration::ZERO, window, cx);
        }
    }

    /// Searches for a text as if the user typed it, and focuses the pattern field. If the text is
    /// `None` or empty, keeps the current pattern.
    pub fn search_for(
        &mut self,
        pattern: Option<String>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(pattern) = pattern.filter(|pattern| !pattern.is_empty()) {
            let text = SharedString::from(pattern);
            self.pattern
                .update(cx, |field, cx| field.set_value(text, window, cx));
            self.search(Duration::ZERO, window, cx);
        }
        self.focus_field(window, cx);
    }

    /// Shows the replacement field.
    pub fn show_replace(&mut self, cx: &mut Context<Self>) {
        self.options.shows_replace = true;
        self.results.rebuild(self.replaced());
        cx.notify();
    }

    /// Sets the text of the replacement field.
    #[cfg(test)]
    pub(crate) fn set_replacement(
        &mut self,
        text: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let text = SharedString::from(text.to_owned());
        self.replacement
            .update(cx, |field, cx| field.set_value(text, window, cx));
    }

    /// Restricts the search to files that match `glob` and searches at once.
    pub fn search_in_folder(&mut self, glob: String, window: &mut Window, cx: &mut Context<Self>) {
        self.options.shows_filters = true;
        let text = SharedString::from(glob);
        self.include
            .update(cx, |field, cx| field.set_value(text, window, cx));
        self.search(Duration::ZERO, window, cx);
    }

    fn focus_field(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.pattern.update(cx, |field, cx| {
            field.focus(window, cx);
            field.select_all(window, cx);
        });
    }

    fn replaced(&self) -> ReplacementPreview {
        if self.options.shows_replace {
            ReplacementPreview::Shown
        } else {
            ReplacementPreview::Hidden
        }
    }

    fn query_event(
        &mut self,
        field: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::Change => self.search(REST, window, cx),
            InputEvent::PressEnter { .. }
                if field == &self.pattern && !self.results.lines().is_empty() =>
            {
                self.focus_results_now(window, cx);
            }
            InputEvent::PressEnter { .. } => self.search(Duration::ZERO, window, cx),
            InputEvent::Focus | InputEvent::Blur => {}
        }
    }

    fn focus_results_now(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.list_focus.focus(window, cx);
        if self.picked.is_none() {
            self.picked = self.results.step_match(None, 1);
        }
        self.show_picked(cx);
    }

    fn show_picked(&mut self, cx: &mut Context<Self>) {
        if let Some(at) = self
            .picked
            .as_ref()
            .and_then(|picked| self.results.line_of(picked))
        {
            self.scroll.scroll_to_item(at, ScrollStrategy::Nearest);
        }
        cx.notify();
    }

    /// Starts the search after a pause in typing, replacing the running one.
    fn search(&mut self, rest: Duration, window: &mut Window, cx: &mut Context<Self>) {
        self.running = None;
        self.wants_replace = false;
        let pattern = self.pattern.read(cx).value();
        let (Some(root), false) = (self.root.clone(), pattern.is_empty()) else {
            self.results = Results::default();
            self.progress = SearchProgress::Idle;
            self.problems.clear();
            cx.notify();
            return;
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let stop = cancel.clone();
        let task = cx.spawn_in(window, async move |this, cx| {
            if !rest.is_zero() {
                cx.background_executor().timer(rest).await;
            }
            let Ok(Some((query, scope))) = this.update(cx, |this, cx| this.start_query(root, cx))
            else {
                return;
            };
            let (sender, events) = async_channel::bounded(job::WAITING);
            let work = cx.background_spawn(async move {
                project::search::search(&query, &scope, &stop, &sender)
            });
            while let Ok(first) = events.recv().await {
                let batch = job::gather(first, &events);
                if this.update(cx, |this, cx| this.take(batch, cx)).is_err() {
                    return;
                }
            }
            let ended = work.await;
            this.update_in(cx, |this, window, cx| this.on_search_end(ended, window, cx))
                .ok();
        });
        self.running = Some(RunningSearch {
            is_over: false,
            cancel,
            _task: task,
        });
    }

    /// Clears the previous results and returns the query; `None` if the pattern is invalid.
    fn start_query(
        &mut self,
        root: AbsPath,
        cx: &mut Context<Self>,
    ) -> Option<(SearchQuery, SearchScope)> {
        self.results = Results::default();
        self.problems.clear();
        self.progress = SearchProgress::Running;
        cx.notify();
        let query = self.query(cx);
        match query.matcher() {
            Ok(matcher) => {
                self.searched = Some(ShownSearch {
                    query: query.clone(),
                    matcher,
                });
                Some((query, self.scope(root, cx)))
            }
            Err(error) => {
                self.refuse(&error, cx);
                None
            }
        }
    }

    fn refuse(&mut self, error: &BadQuery, cx: &App) {
        let field = match error {
            BadQuery::Glob(bad)
                if job::globs(&self.include.read(cx).value()).contains(&bad.glob) =>
            {
                SearchField::Include
            }
            BadQuery::Glob(_) => SearchField::Exclude,
            BadQuery::Pattern(_) => SearchField::Pattern,
        };
        self.wants_replace = false;
        self.progress = SearchProgress::Refused(QueryProblem {
            field,
            reason: error.to_string(),
        });
        if let Some(running) = &mut self.running {
            running.is_over = true;
        }
    }

    fn take(&mut self, events: Vec<SearchEvent>, cx: &mut Context<Self>) {
        let replaced = self.replaced();
        for event in events {
            match event {
                SearchEvent::File(found) => self.results.add(found, replaced),
                SearchEvent::Problem(problem) => self.problems.push(problem.0),
                SearchEvent::Done(summary) => self.progress = SearchProgress::Done(summary),
            }
        }
        cx.notify();
    }

    fn on_search_end(
        &mut self,
        ended: Result<SearchSummary, BadQuery>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(running) = &mut self.running {
            running.is_over = true;
        }
        match ended {
            Ok(summary) if self.progress == SearchProgress::Running => {
                self.progress = SearchProgress::Done(summary)
            }
            Ok(_) => {}
            Err(error) => self.refuse(&error, cx),
        }
        if std::mem::take(&mut self.wants_replace) {
            self.ask_to_replace(window, cx);
        }
        cx.notify();
    }

    /// Returns whether more results may follow: true from the last keystroke in a field on.
    fn is_under_way(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| !running.is_over)
    }

    /// Returns the display path of a result, for headings.
    fn shown_path(&self, path: &AbsPath) -> String {
        self.services.display_in(self.root.as_ref(), path)
    }
}

impl EventEmitter<SearchPanelEvent> for SearchPanel {}

impl Focusable for SearchPanel {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.pattern.read(cx).focus_handle(cx)
    }
}

//! Search and replace through the project, in a tab of its own.
//!
//! The search runs in the background and streams; what it found is `results`, which is plain data. Open
//! texts are searched as they are, saved or not.
//! Invariant: typing on stops the search before; results of a stopped search never arrive.

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
    App, AppContext as _, Context, Entity, FocusHandle, Focusable, ScrollStrategy, SharedString,
    Subscription, Task, UniformListScrollHandle, WeakEntity, Window,
};
use project::search::{BadQuery, SearchEvent, SearchQuery, SearchScope, SearchSummary};

use self::replace::ReplacedFile;
use self::results::{Picked, Replaced, Results};
use crate::services::Services;
use crate::session::SavedSearch;
use crate::workbench::Workbench;

/// The search through the project.
pub struct SearchPanel {
    services: Services,
    workbench: WeakEntity<Workbench>,
    root: Option<AbsPath>,
    pattern: Entity<InputState>,
    replacement: Entity<InputState>,
    include: Entity<InputState>,
    exclude: Entity<InputState>,
    options: Options,
    results: Results,
    /// What `results` are the results of.
    searched: Option<Searched>,
    /// What the last replacement did, until it is taken back.
    replaced: Vec<ReplacedFile>,
    picked: Option<Picked>,
    progress: Progress,
    problems: Vec<String>,
    running: Option<Running>,
    /// Everything is to be replaced once everything is found.
    wants_replace: bool,
    focus: FocusHandle,
    list_focus: FocusHandle,
    scroll: UniformListScrollHandle,
    _subscriptions: Vec<Subscription>,
}

/// The switches beside the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    is_regex: bool,
    is_case_sensitive: bool,
    is_whole_word: bool,
    shows_replace: bool,
    shows_filters: bool,
}

/// How far the search is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Progress {
    /// Nothing was asked for.
    Idle,
    /// It runs.
    Running,
    /// It came to its end.
    Done(SearchSummary),
    /// It was stopped by hand.
    Stopped,
    /// It could not start.
    Refused(Refusal),
}

/// Why a search could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    field: Field,
    /// A sentence.
    reason: String,
}

/// The fields that a search is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Pattern,
    Include,
    Exclude,
}

/// A search whose results are shown.
#[derive(Clone)]
struct Searched {
    query: SearchQuery,
    matcher: Matcher,
}

struct Running {
    /// It came to its end.
    is_over: bool,
    cancel: Arc<AtomicBool>,
    _task: Task<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// How long typing must rest before the search starts.
const REST: Duration = Duration::from_millis(120);

impl SearchPanel {
    /// An empty search.
    pub fn new(
        workbench: WeakEntity<Workbench>,
        root: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        Self::restored(SavedSearch::default(), workbench, root, window, cx)
    }

    /// A search as it was stored; it runs at once when there is something to look for.
    pub fn restored(
        saved: SavedSearch,
        workbench: WeakEntity<Workbench>,
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
        let include = field(&saved.include, "Only in, for instance src, *.{rs,toml}");
        let exclude = field(&saved.exclude, "Not in, for instance tests, *.lock");
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
        let options = Options {
            is_regex: saved.is_regex,
            is_case_sensitive: saved.is_case_sensitive,
            is_whole_word: saved.is_whole_word,
            shows_replace: !saved.replacement.is_empty(),
            shows_filters: !saved.include.is_empty() || !saved.exclude.is_empty(),
        };
        let mut panel = Self {
            services: Services::of(cx),
            workbench,
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
            progress: Progress::Idle,
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

    /// What to keep of it between two runs.
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

    /// What its tab says.
    pub fn title(&self) -> SharedString {
        "Search".into()
    }

    /// What was found.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.progress == Progress::Running
    }

    /// Searches another folder from now on.
    pub fn set_root(&mut self, root: Option<AbsPath>, window: &mut Window, cx: &mut Context<Self>) {
        if self.root != root {
            self.root = root;
            self.search(Duration::ZERO, window, cx);
        }
    }

    /// Looks for a text, as if typed, and gives the field the keyboard.
    pub fn look_for(
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

    /// Shows the field for the replacement.
    pub fn show_replace(&mut self, cx: &mut Context<Self>) {
        self.options.shows_replace = true;
        self.results.rebuild(self.replaced());
        cx.notify();
    }

    /// Puts a replacement into its field, as if typed.
    pub fn set_replacement(&mut self, text: &str, window: &mut Window, cx: &mut Context<Self>) {
        let text = SharedString::from(text.to_owned());
        self.replacement
            .update(cx, |field, cx| field.set_value(text, window, cx));
    }

    /// Looks in one folder only.
    pub fn look_in(&mut self, glob: String, window: &mut Window, cx: &mut Context<Self>) {
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

    fn replaced(&self) -> Replaced {
        if self.options.shows_replace {
            Replaced::Shown
        } else {
            Replaced::Hidden
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

    /// Starts the search after a rest, in place of the one that runs.
    fn search(&mut self, rest: Duration, window: &mut Window, cx: &mut Context<Self>) {
        self.running = None;
        self.wants_replace = false;
        let pattern = self.pattern.read(cx).value();
        let (Some(root), false) = (self.root.clone(), pattern.is_empty()) else {
            self.results = Results::default();
            self.progress = Progress::Idle;
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
            let Ok(Some((query, scope))) = this.update(cx, |this, cx| this.begin(root, cx)) else {
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
            this.update_in(cx, |this, window, cx| this.ended(ended, window, cx))
                .ok();
        });
        self.running = Some(Running {
            is_over: false,
            cancel,
            _task: task,
        });
    }

    /// Clears what was found before, and says what to search for; `None` where the pattern cannot be read.
    fn begin(
        &mut self,
        root: AbsPath,
        cx: &mut Context<Self>,
    ) -> Option<(SearchQuery, SearchScope)> {
        self.results = Results::default();
        self.problems.clear();
        self.progress = Progress::Running;
        cx.notify();
        let query = self.query(cx);
        match query.matcher() {
            Ok(matcher) => {
                self.searched = Some(Searched {
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
                Field::Include
            }
            BadQuery::Glob(_) => Field::Exclude,
            BadQuery::Pattern(_) => Field::Pattern,
        };
        self.wants_replace = false;
        self.progress = Progress::Refused(Refusal {
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
                SearchEvent::Done(summary) => self.progress = Progress::Done(summary),
            }
        }
        cx.notify();
    }

    fn ended(
        &mut self,
        ended: Result<SearchSummary, BadQuery>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(running) = &mut self.running {
            running.is_over = true;
        }
        match ended {
            Ok(summary) if self.progress == Progress::Running => {
                self.progress = Progress::Done(summary)
            }
            Ok(_) => {}
            Err(error) => self.refuse(&error, cx),
        }
        if std::mem::take(&mut self.wants_replace) {
            self.ask_to_replace(window, cx);
        }
        cx.notify();
    }

    /// Whether there may be more to find than there is: from the last key in a field on.
    fn is_under_way(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| !running.is_over)
    }

    /// Where a result lies, for titles.
    fn shown_path(&self, path: &AbsPath, cx: &App) -> String {
        match self.workbench.upgrade() {
            Some(workbench) => workbench.read(cx).display_path(path, cx),
            None => path.to_string(),
        }
    }
}

impl Focusable for SearchPanel {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.pattern.read(cx).focus_handle(cx)
    }
}

//! Search in the terminal: the pattern, its matches in view, and steps from match to match.
//!
//! Invariant: each step searches a bounded number of lines; a search that takes longer goes on in later steps.

use std::time::Duration;

use gpui_kit::{Context, Focusable as _, Task, Window};
use terminal::{
    CellPosition, CellSpan, ScrollTarget, SearchOptions, SearchStep, TerminalDirection,
    TerminalSearch,
};

use super::TerminalView;
use super::search_bar::SearchBar;
use super::{copy_mode, scrolling};
use crate::actions::{
    CloseFind, Find, FindNext, FindPrevious, ToggleFindCase, ToggleFindRegex, ToggleFindWholeWord,
};
use crate::program::read_emulator;

/// Time between two steps of a search, for output and keys.
const PAUSE: Duration = Duration::from_millis(1);

/// The search of a view.
#[derive(Default)]
pub(crate) struct SearchSession {
    pub(super) bar: Option<SearchBar>,
    pub(super) query: String,
    pub(super) options: SearchOptions,
    pattern: Option<TerminalSearch>,
    pub(super) error: Option<String>,
    /// The match that was last reached.
    pub(crate) current: Option<CellSpan>,
    pub(super) state: SearchState,
    /// The rest of a search that takes several steps.
    running: Option<Task<()>>,
}

/// The state of the search for the next match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SearchState {
    #[default]
    Idle,
    Searching,
    NoMatch,
}

impl SearchSession {
    /// Returns the pattern while the bar is open.
    pub(super) fn pattern_mut(&mut self) -> Option<&mut TerminalSearch> {
        self.bar.as_ref()?;
        self.pattern.as_mut()
    }
}

/// Handler of an action: opens the search bar, with the selected text if it is one line.
pub(super) fn find(
    view: &mut TerminalView,
    _: &Find,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let selected = view.selected_text();
    let text = selected.filter(|text| !text.contains('\n') && text.len() < 200);
    if view.search.bar.is_none() {
        view.search.bar = Some(SearchBar::new(window, cx));
    }
    let query = if view.is_copying() {
        String::new()
    } else {
        text.unwrap_or_else(|| view.search.query.clone())
    };
    if let Some(bar) = &view.search.bar {
        bar.show(&query, window, cx);
    }
    set_query(view, &query, cx);
}

/// Handler of an action: closes the search bar.
pub(super) fn close_find(
    view: &mut TerminalView,
    _: &CloseFind,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    if view.search.bar.take().is_some() {
        view.search.running = None;
        view.search.current = None;
        copy_mode::forget_copy_search(view);
        view.contents.is_stale = true;
        view.focus_handle(cx).focus(window, cx);
        cx.notify();
    }
}

/// Sets the pattern and shows its nearest match above the end of the view.
pub(super) fn set_query(view: &mut TerminalView, query: &str, cx: &mut Context<TerminalView>) {
    query.clone_into(&mut view.search.query);
    compile(view, cx);
}

fn compile(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    let search = &mut view.search;
    search.error = None;
    search.pattern = None;
    search.current = None;
    search.running = None;
    search.state = SearchState::Idle;
    if !search.query.is_empty() {
        match TerminalSearch::new(&search.query, search.options) {
            Ok(pattern) => search.pattern = Some(pattern),
            Err(error) => search.error = Some(error.to_string()),
        }
    }
    view.contents.is_stale = true;
    match copy_mode::copy_search_start(view) {
        Some((from, direction)) => search_from(view, from, direction, cx),
        None => step(view, TerminalDirection::Up, cx),
    }
    cx.notify();
}

pub(super) fn toggle_case(
    view: &mut TerminalView,
    _: &ToggleFindCase,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.search.options.is_case_sensitive ^= true;
    compile(view, cx);
}

pub(super) fn toggle_word(
    view: &mut TerminalView,
    _: &ToggleFindWholeWord,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.search.options.is_whole_word ^= true;
    compile(view, cx);
}

pub(super) fn toggle_regex(
    view: &mut TerminalView,
    _: &ToggleFindRegex,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.search.options.is_regex ^= true;
    compile(view, cx);
}

pub(super) fn find_next(
    view: &mut TerminalView,
    _: &FindNext,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    step(view, TerminalDirection::Down, cx);
}

pub(super) fn find_previous(
    view: &mut TerminalView,
    _: &FindPrevious,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    step(view, TerminalDirection::Up, cx);
}

/// Goes to the next match in a direction.
fn step(view: &mut TerminalView, direction: TerminalDirection, cx: &mut Context<TerminalView>) {
    if view.search.pattern.is_none() {
        return;
    }
    view.refresh(cx);
    let snapshot = &view.contents.snapshot;
    let below = snapshot.first_line.below(u64::from(snapshot.size.rows));
    let from = match (view.search.current, direction) {
        (Some(current), _) => current.start,
        (None, TerminalDirection::Up) => CellPosition::new(below, 0),
        (None, TerminalDirection::Down) => CellPosition::new(snapshot.first_line, 0),
    };
    search_from(view, from, direction, cx);
}

/// Searches for the next match from a place on, and shows it.
pub(super) fn search_from(
    view: &mut TerminalView,
    from: CellPosition,
    direction: TerminalDirection,
    cx: &mut Context<TerminalView>,
) {
    let Some(program) = view.program().cloned() else {
        return;
    };
    let Some(pattern) = &mut view.search.pattern else {
        return;
    };
    let step = read_emulator(&*program, |emulator| {
        emulator.search(pattern, from, direction)
    });
    match step {
        Some(SearchStep::Match(span)) => {
            view.search.running = None;
            view.search.state = SearchState::Idle;
            view.search.current = Some(span);
            if view.is_copying() {
                view.change_emulator(cx, |emulator| emulator.place_copy_cursor(span.start));
            }
            scrolling::scroll_emulator(view, ScrollTarget::Line(span.start.line), cx);
        }
        Some(SearchStep::Unfinished) => {
            view.search.state = SearchState::Searching;
            view.search.running = Some(cx.spawn(async move |this, cx| {
                cx.background_executor().timer(PAUSE).await;
                let stepped = this.update(cx, |this, cx| search_from(this, from, direction, cx));
                // The view may be closed.
                stepped.ok();
            }));
            cx.notify();
        }
        Some(SearchStep::NoMatch) | None => {
            view.search.running = None;
            view.search.state = SearchState::NoMatch;
            view.search.current = None;
            cx.notify();
        }
    }
}

/// Returns the number of matches in view, or why there is none.
pub(super) fn search_summary(view: &TerminalView) -> String {
    let count = view.contents.matches.len();
    match view.search.state {
        _ if view.search.query.is_empty() => String::new(),
        SearchState::Searching => "Searching\u{2026}".to_owned(),
        SearchState::NoMatch => "No match".to_owned(),
        SearchState::Idle => format!("{count} in view"),
    }
}

//! The tests of a window: `session` finds and runs them, and the panel in a tab lists them with the output of the selected
//! one.
//!
//! Must not know: how a command is started (`test_service`), how output is read (`test_runner`).
//! Start at `WindowTests` and `TestsPanel`.

mod documents;
mod failures;
mod render;
mod scan;
mod session;

use base::AbsPath;
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, ScrollStrategy,
    SharedString, Subscription, UniformListScrollHandle, Window,
};
use test_runner::{TestFilter, TestId, TestRow};

use crate::actions::test_runs as act;
use crate::open_options::{GoToPosition, OpenOptions};

pub(crate) use session::{RunRequest, TestsEvent, WindowTests};

/// The list of tests in a tab.
pub struct TestsPanel {
    tests: Option<Entity<WindowTests>>,
    filter: Entity<InputState>,
    failed_first: bool,
    rows: Vec<TestRow>,
    /// Whether `rows` must be made anew before they are drawn.
    is_outdated: bool,
    selected: Option<TestId>,
    scroll: UniformListScrollHandle,
    focus: FocusHandle,
    _filter_changes: Subscription,
    _test_changes: Option<Subscription>,
}

/// A request of the panel to its window.
pub(crate) enum TestsPanelEvent {
    /// Opens the file of a test at its definition, or at the place of its failure.
    Open(AbsPath, OpenOptions),
    /// Returns the focus to the text.
    Cancelled,
}

impl EventEmitter<TestsPanelEvent> for TestsPanel {}

impl Focusable for TestsPanel {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.filter.read(cx).focus_handle(cx)
    }
}

impl TestsPanel {
    /// Creates the panel over the tests of a window.
    pub(crate) fn new(
        tests: Option<Entity<WindowTests>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let filter = cx.new(|cx| InputState::new(window, cx).placeholder("Filter tests"));
        let mut panel = Self {
            tests: None,
            _filter_changes: cx.subscribe_in(&filter, window, Self::filter_event),
            filter,
            failed_first: true,
            rows: Vec::new(),
            is_outdated: true,
            selected: None,
            scroll: UniformListScrollHandle::new(),
            focus: cx.focus_handle(),
            _test_changes: None,
        };
        panel.follow(tests, cx);
        panel
    }

    /// Shows the tests of another folder, or of none.
    pub(crate) fn follow(&mut self, tests: Option<Entity<WindowTests>>, cx: &mut Context<Self>) {
        self._test_changes = tests.as_ref().map(|tests| {
            cx.observe(tests, |panel, _, cx| {
                panel.is_outdated = true;
                cx.notify();
            })
        });
        self.tests = tests;
        self.selected = None;
        self.is_outdated = true;
        cx.notify();
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        "Tests".into()
    }

    /// Returns the rows as they are drawn.
    #[cfg(test)]
    pub(crate) fn rows(&mut self, cx: &App) -> Vec<TestRow> {
        self.refresh(cx);
        self.rows.clone()
    }

    /// Makes the rows anew if the tests or the filter changed. Takes time proportional to the number of tests.
    fn refresh(&mut self, cx: &App) {
        if !std::mem::take(&mut self.is_outdated) {
            return;
        }
        let filter = TestFilter {
            text: self.filter.read(cx).value().to_string(),
            failed_first: self.failed_first,
        };
        let tests = self.tests.as_ref().map(|tests| tests.read(cx));
        let rows = tests.map(|tests| tests.state().rows(tests.root(), &filter));
        self.rows = rows.unwrap_or_default();
    }

    fn filter_event(
        &mut self,
        _: &Entity<InputState>,
        event: &InputEvent,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::Change => {
                self.is_outdated = true;
                cx.notify();
            }
            InputEvent::PressEnter { .. } => self.open_selected(cx),
            InputEvent::Focus | InputEvent::Blur => {}
        }
    }

    fn selected_ix(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.rows.iter().position(|row| row.id == *selected)
    }

    fn select(&mut self, ix: usize, cx: &mut Context<Self>) {
        if let Some(row) = self.rows.get(ix) {
            self.selected = Some(row.id.clone());
            self.scroll.scroll_to_item(ix, ScrollStrategy::Nearest);
            cx.notify();
        }
    }

    fn select_next(&mut self, _: &act::SelectNext, _: &mut Window, cx: &mut Context<Self>) {
        self.refresh(cx);
        let next = self.selected_ix().map_or(0, |ix| ix + 1);
        self.select(next.min(self.rows.len().saturating_sub(1)), cx);
    }

    fn select_previous(&mut self, _: &act::SelectPrevious, _: &mut Window, cx: &mut Context<Self>) {
        self.refresh(cx);
        let previous = self.selected_ix().map_or(0, |ix| ix.saturating_sub(1));
        self.select(previous, cx);
    }

    fn run_selected(&mut self, _: &act::RunSelected, _: &mut Window, cx: &mut Context<Self>) {
        if let (Some(tests), Some(id)) = (&self.tests, self.selected.clone()) {
            tests.update(cx, |tests, cx| tests.run(RunRequest::Tests(vec![id]), cx));
        }
    }

    fn toggle_failed_first(
        &mut self,
        _: &act::ToggleFailedFirst,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.failed_first = !self.failed_first;
        self.is_outdated = true;
        cx.notify();
    }

    fn cancel(&mut self, _: &act::Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.filter.read(cx).value().is_empty() {
            cx.emit(TestsPanelEvent::Cancelled);
        } else {
            let filter = self.filter.clone();
            filter.update(cx, |filter, cx| filter.set_value("", window, cx));
            self.is_outdated = true;
            cx.notify();
        }
    }

    /// Opens the selected test: at the place of its failure if it has one, else at its definition.
    fn open_selected(&mut self, cx: &mut Context<Self>) {
        let (Some(tests), Some(id)) = (&self.tests, &self.selected) else {
            return;
        };
        let state = tests.read(cx).state();
        let failure = state.failures().find(|failure| failure.id == id);
        let (file, place) = match failure {
            Some(failure) => {
                let place = failures::place_of(failure.line, failure.column);
                (failure.file.clone(), Some(GoToPosition::Place(place)))
            }
            None => {
                let name = state.item(id).map(|item| item.name_span);
                (id.file.clone(), name.map(GoToPosition::Span))
            }
        };
        let options = OpenOptions::lasting().at(place);
        cx.emit(TestsPanelEvent::Open(file, options));
    }
}

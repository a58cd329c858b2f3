//! Rendering of the list of tests, with the output of the selected one beside it.

use std::ops::Range;

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, ClickEvent, Context, InteractiveElement as _, IntoElement, ParentElement as _,
    Render, Role, StatefulInteractiveElement as _, Styled as _, Window, div, uniform_list,
};
use test_runner::{TestCounts, TestKind, TestOutcome, TestRow, TestStatus};
use ui::{
    ActiveTheme as _, Button, EmptyState, Icon, IconButton, IconSize, Label, TextField, TreeRow, dp,
};

use super::TestsPanel;
use crate::actions::test_runs as act;

/// Maximum number of lines of a result that are drawn.
const MAX_LINES: usize = 500;

impl TestsPanel {
    fn render_controls(&self, cx: &Context<Self>) -> AnyElement {
        let tests = self.tests.as_ref().map(|tests| tests.read(cx));
        let counts = tests.map(|tests| tests.state().counts());
        let is_running = tests.is_some_and(|tests| tests.is_running());
        let words = status_words(counts.unwrap_or_default());
        let buttons = div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(4.0))
            .child(
                IconButton::new("failed-first", Icon::ArrowUp, "Failed tests first")
                    .small()
                    .pressed(self.failed_first)
                    .action(Box::new(act::ToggleFailedFirst)),
            )
            .child(
                IconButton::new("run-all", Icon::Play, "Run all tests")
                    .small()
                    .action(Box::new(act::RunAll)),
            )
            .child(
                IconButton::new("stop-tests", Icon::Stop, "Stop")
                    .small()
                    .disabled(!is_running)
                    .action(Box::new(act::Stop)),
            );
        let filter = TextField::new(&self.filter, "Filter tests").icon(Icon::Filter);
        let status = div()
            .id("test-status")
            .role(Role::Status)
            .test_support()
            .aria_label(words.clone())
            .flex()
            .items_center()
            .gap(dp(8.0))
            .child(Label::new(words).small().muted())
            .child(div().flex_1())
            .child(Button::new("run-failed", "Run failed").action(Box::new(act::RunFailed)));
        div()
            .flex()
            .flex_col()
            .flex_none()
            .gap(dp(8.0))
            .p(dp(12.0))
            .border_b_1()
            .border_color(cx.theme().colors.border)
            .child(
                div()
                    .flex()
                    .items_center()
                    .gap(dp(8.0))
                    .child(div().flex_1().min_w_0().child(filter))
                    .child(buttons),
            )
            .child(status)
            .into_any_element()
    }

    fn render_list(&self, cx: &mut Context<Self>) -> AnyElement {
        if self.rows.is_empty() {
            return EmptyState::new("There are no tests here")
                .icon(Icon::ListTree)
                .detail("Tests of Rust, Python, JavaScript, TypeScript and Go are found by their names and attributes.")
                .into_any_element();
        }
        uniform_list(
            "test-rows",
            self.rows.len(),
            cx.processor(Self::render_rows),
        )
        .track_scroll(&self.scroll)
        .size_full()
        .into_any_element()
    }

    fn render_rows(
        &mut self,
        range: Range<usize>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        let is_focused = self.focus.contains_focused(window, cx);
        let rows = self.rows.get(range.clone()).unwrap_or_default().to_vec();
        let rows = rows.into_iter().zip(range);
        rows.map(|(row, ix)| self.render_row(&row, ix, is_focused, cx))
            .collect()
    }

    fn render_row(
        &self,
        row: &TestRow,
        ix: usize,
        is_focused: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let (icon, color, state) = match row.status {
            None => (Icon::Circle, colors.muted, ""),
            Some(TestStatus::Running) => (Icon::Clock, colors.info, ", running"),
            Some(TestStatus::Passed) => (Icon::CircleCheck, colors.success, ", passed"),
            Some(TestStatus::Failed) => (Icon::CircleX, colors.error, ", failed"),
            Some(TestStatus::Skipped) => (Icon::Minus, colors.muted, ", skipped"),
            Some(TestStatus::NotRun) => (Icon::Minus, colors.warning, ", not run"),
        };
        let stale = if row.is_stale {
            ", before the last change"
        } else {
            ""
        };
        let id = row.id.clone();
        let label = Label::new(row.label.clone());
        let label = if row.is_stale { label.muted() } else { label };
        TreeRow::new(
            ("test-row", ix),
            format!("{}{state}{stale}", row.label),
            row.depth,
        )
        .expanded((row.kind == TestKind::Suite).then_some(true))
        .selected(self.selected.as_ref() == Some(&row.id))
        .focused(is_focused)
        .on_click(cx.listener(move |panel, event: &ClickEvent, _, cx| {
            panel.selected = Some(id.clone());
            if event.click_count() > 1 {
                panel.open_selected(cx);
            }
            cx.notify();
        }))
        .child(icon.size(IconSize::Small).color(color))
        .child(label)
        .into_any_element()
    }

    /// Renders the result of the selected test. Returns `None` if no test is selected.
    fn render_result(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let (tests, id) = (self.tests.as_ref()?, self.selected.as_ref()?);
        let outcome = tests.read(cx).state().outcome(id)?;
        let text = result_text(outcome);
        let theme = cx.theme();
        let lines = text.lines().take(MAX_LINES).map(|line| {
            let line = ui::foreign::one_line(line.to_owned());
            div().whitespace_nowrap().child(line)
        });
        let lines: Vec<_> = lines.collect();
        let result = div()
            .id("test-result")
            .role(Role::Log)
            .test_support()
            .aria_label(ui::foreign::multi_line(text))
            .flex_1()
            .min_w_0()
            .h_full()
            .overflow_scroll()
            .border_l_1()
            .border_color(theme.colors.border)
            .p(dp(12.0))
            .font(theme.code_font())
            .text_size(dp(12.0))
            .text_color(theme.colors.text)
            .children(lines);
        Some(result.into_any_element())
    }
}

/// Returns the text beside the list: state, duration, message and place, then the output.
fn result_text(outcome: &TestOutcome) -> String {
    let state = match outcome.status {
        TestStatus::Running => "running",
        TestStatus::Passed => "passed",
        TestStatus::Failed => "failed",
        TestStatus::Skipped => "skipped",
        TestStatus::NotRun => "not run",
    };
    let mut text = match outcome.duration {
        Some(duration) => format!("{state} after {:.3} s", duration.as_secs_f64()),
        None => state.to_owned(),
    };
    if let Some(place) = &outcome.location {
        text.push_str(&format!(" at {}:{}", place.path, place.line));
    }
    for part in [&outcome.message, &outcome.output] {
        if !part.is_empty() {
            text.push_str("\n\n");
            text.push_str(part);
        }
    }
    text
}

/// Returns the numbers of tests as a phrase: "12 tests: 3 passed, 1 failed".
fn status_words(counts: TestCounts) -> String {
    let total = match counts.total {
        1 => "1 test".to_owned(),
        total => format!("{total} tests"),
    };
    let parts = [
        (counts.failed, "failed"),
        (counts.passed, "passed"),
        (counts.skipped, "skipped"),
        (counts.running, "running"),
        (counts.not_run, "not run"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, state)| format!("{count} {state}"))
        .collect();
    if parts.is_empty() {
        total
    } else {
        format!("{total}: {}", parts.join(", "))
    }
}

impl Render for TestsPanel {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        self.refresh(cx);
        let controls = self.render_controls(cx);
        let list = self.render_list(cx);
        let result = self.render_result(cx);
        div()
            .id("tests-panel")
            .role(Role::Group)
            .test_support()
            .aria_label("Tests")
            .key_context("TestsPanel")
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::select_next))
            .on_action(cx.listener(Self::select_previous))
            .on_action(cx.listener(Self::run_selected))
            .on_action(cx.listener(Self::toggle_failed_first))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(controls)
            .child(
                div()
                    .flex()
                    .flex_1()
                    .min_h_0()
                    .w_full()
                    .child(
                        div()
                            .id("test-list")
                            .role(Role::Tree)
                            .test_support()
                            .aria_label("Tests and their results")
                            .flex_1()
                            .min_w_0()
                            .h_full()
                            .child(list),
                    )
                    .children(result),
            )
    }
}

//! Rendering of the search panel.

use std::ops::Range;

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, App, ClickEvent, Context, HighlightStyle, InteractiveElement as _, IntoElement,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    StyledText, Window, div, prelude::FluentBuilder as _, px, uniform_list,
};
use ui::{
    ActiveTheme as _, Badge, Button, EmptyState, Icon, IconButton, IconSize, Label, TextField, dp,
    row_height,
};

use super::actions::{files, matches};
use super::replace::{Replacer, preview};
use super::results::{Picked, ResultLine};
use super::{SearchField, SearchPanel, SearchProgress};
use crate::actions::project_search as act;
use crate::layout::TabOpenMode;
use crate::open_options::Focus;

/// Input for drawing a row with a match.
struct MatchRow {
    number: u32,
    text: String,
    highlights: Vec<Range<usize>>,
}

impl SearchPanel {
    fn render_fields(&self, cx: &mut Context<Self>) -> AnyElement {
        let toggles = div()
            .flex()
            .flex_none()
            .items_start()
            .gap(dp(4.0))
            .child(toggle(
                Icon::Replace,
                "Replace",
                self.options.shows_replace,
                act::ToggleReplace,
            ))
            .child(toggle(
                Icon::Filter,
                "Files to include",
                self.options.shows_filters,
                act::ToggleFilters,
            ));
        let pattern = div()
            .flex()
            .items_start()
            .gap(dp(8.0))
            .child(div().flex_1().min_w_0().child(self.render_pattern()))
            .child(toggles);
        let filters = self.options.shows_filters.then(|| {
            let field = |state, name: &'static str, error| {
                let field = TextField::new(state, name).error(error);
                div().flex_1().min_w_0().child(field)
            };
            div()
                .flex()
                .items_start()
                .gap(dp(8.0))
                .child(field(
                    &self.include,
                    "Files to include",
                    self.error_of(SearchField::Include),
                ))
                .child(field(
                    &self.exclude,
                    "Files to exclude",
                    self.error_of(SearchField::Exclude),
                ))
        });
        div()
            .flex()
            .flex_col()
            .flex_none()
            .gap(dp(8.0))
            .p(dp(12.0))
            .border_b_1()
            .border_color(cx.theme().colors.border)
            .child(pattern)
            .children(self.render_replacement())
            .children(filters)
            .child(self.render_status(cx))
            .into_any_element()
    }

    /// Returns the error message below a field.
    pub(crate) fn error_of(&self, field: SearchField) -> Option<SharedString> {
        match &self.progress {
            SearchProgress::Refused(refusal) if refusal.field == field => {
                Some(refusal.reason.clone().into())
            }
            _ => None,
        }
    }

    fn render_pattern(&self) -> TextField {
        let options = self.options;
        let error = self.error_of(SearchField::Pattern);
        let (case, word) = (options.is_case_sensitive, options.is_whole_word);
        TextField::new(&self.pattern, "Search the project")
            .icon(Icon::Search)
            .mono()
            .error(error)
            .end_element(toggle(
                Icon::CaseSensitive,
                "Match case",
                case,
                act::ToggleCase,
            ))
            .end_element(toggle(
                Icon::WholeWord,
                "Whole words",
                word,
                act::ToggleWord,
            ))
            .end_element(toggle(
                Icon::Regex,
                "Regular expression",
                options.is_regex,
                act::ToggleRegex,
            ))
    }

    /// Renders the field for the replacement with its button. Returns `None` if it is hidden.
    fn render_replacement(&self) -> Option<AnyElement> {
        if !self.options.shows_replace {
            return None;
        }
        let nothing = self.results.lines().is_empty();
        let field = TextField::new(&self.replacement, "Replace by")
            .icon(Icon::Replace)
            .mono();
        let all = Button::new("replace-all", "Replace all")
            .action(Box::new(act::ReplaceAll))
            .disabled(nothing.then(|| "there is nothing to replace".into()));
        let row = div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .child(div().flex_1().min_w_0().child(field))
            .child(all);
        Some(row.into_any_element())
    }

    /// Returns the text of the line above the results.
    pub(crate) fn status_words(&self) -> String {
        let found = || {
            let count = self.results.match_count();
            format!(
                "{} in {}",
                matches(count),
                files(self.results.files().len())
            )
        };
        match &self.progress {
            SearchProgress::Idle => "Type to search all files of the folder".to_owned(),
            SearchProgress::Running if self.wants_replace => {
                format!(
                    "Searching\u{2026} {}; you will be asked to confirm when it finishes",
                    found()
                )
            }
            SearchProgress::Running => format!("Searching\u{2026} {}", found()),
            SearchProgress::Stopped => format!("Stopped: {}", found()),
            SearchProgress::Refused(_) => "The search cannot start".to_owned(),
            SearchProgress::Done(summary) if summary.matches == 0 => {
                format!("Nothing found in {}", files(summary.files_searched))
            }
            SearchProgress::Done(summary) if self.results.match_count() == 0 => {
                format!("None left of {}", matches(summary.matches))
            }
            SearchProgress::Done(summary) if summary.is_cut => {
                format!("{}, and there is more: narrow the search down", found())
            }
            SearchProgress::Done(_) => found(),
        }
    }

    fn render_status(&self, cx: &Context<Self>) -> AnyElement {
        let words = self.status_words();
        let stop = (self.progress == SearchProgress::Running).then(|| {
            IconButton::new("stop", Icon::CircleX, "Stop")
                .small()
                .action(Box::new(act::Stop))
        });
        let problems = (!self.problems.is_empty()).then(|| {
            let text = format!("{} could not be searched", files(self.problems.len()));
            div()
                .id("search-problems")
                .tooltip(ui::Tooltip::text(
                    self.problems
                        .iter()
                        .take(8)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join("\n"),
                ))
                .child(Badge::new(text).tone(ui::Tone::Warning))
        });
        let edit = (!self.results.lines().is_empty()).then(|| {
            Button::new("edit-results", "Edit all")
                .style(ui::ButtonStyle::Ghost)
                .action(Box::new(act::EditResults))
        });
        div()
            .id("search-status")
            .role(Role::Status)
            .test_support()
            .aria_label(words.clone())
            .flex()
            .items_center()
            .gap(dp(8.0))
            .h(dp(24.0))
            .text_color(cx.theme().colors.muted)
            .child(Label::new(words).small().muted())
            .children(problems)
            .children(stop)
            .child(div().flex_1())
            .children(edit)
            .into_any_element()
    }

    fn render_lines(
        &mut self,
        range: Range<usize>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        let has_keyboard = self.list_focus.contains_focused(window, cx);
        let replacing = self.replacing(cx).filter(|_| self.options.shows_replace);
        let lines = self
            .results
            .lines()
            .get(range.clone())
            .unwrap_or_default()
            .to_vec();
        lines
            .into_iter()
            .zip(range)
            .map(|(line, at)| self.render_line(line, at, has_keyboard, replacing.as_ref(), cx))
            .collect()
    }

    fn render_line(
        &self,
        line: ResultLine,
        at: usize,
        has_keyboard: bool,
        replacing: Option<&Replacer>,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        match line {
            ResultLine::File { file } => self.render_file(file, at, has_keyboard, cx),
            ResultLine::Match { file, row } => {
                let found = self
                    .results
                    .files()
                    .get(file)
                    .and_then(|file| file.rows.get(row));
                let Some(found) = found else {
                    return div().into_any_element();
                };
                let row = MatchRow {
                    number: found.row.0 + 1,
                    text: found.text.clone(),
                    highlights: found.highlights.clone(),
                };
                self.render_match(row, at, has_keyboard, cx)
            }
            ResultLine::Replaced { file, row } => {
                let file = self.results.files().get(file);
                let found = file.and_then(|file| Some((file.line_ending, file.rows.get(row)?)));
                let text = match (found, replacing) {
                    (Some((line_ending, found)), Some(replace)) => {
                        preview(replace, line_ending, found)
                    }
                    _ => String::new(),
                };
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                code_row(None, text, cx)
                    .bg(colors.added_ground)
                    .into_any_element()
            }
            ResultLine::Context { .. } => match self.results.context(line) {
                Some((row, text)) => code_row(Some(row.0 + 1), text.to_owned(), cx)
                    .text_color(colors.muted)
                    .into_any_element(),
                None => div().into_any_element(),
            },
            ResultLine::Gap => code_row(None, "\u{22ef}".to_owned(), cx)
                .text_color(colors.disabled)
                .into_any_element(),
        }
    }

    fn render_file(
        &self,
        file: usize,
        at: usize,
        has_keyboard: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let Some(found) = self.results.files().get(file) else {
            return div().into_any_element();
        };
        let path = found.path.clone();
        let shown = self.shown_path(&path);
        let (folder, name) = match shown.rsplit_once('/') {
            Some((folder, name)) => (folder.to_owned(), name.to_owned()),
            None => (String::new(), shown.clone()),
        };
        let count: usize = found
            .rows
            .iter()
            .map(project::search::MatchingRow::match_count)
            .sum();
        let selected = self.picked == Some(Picked::File(path.clone()));
        let arrow = if found.is_closed {
            Icon::ChevronRight
        } else {
            Icon::ChevronDown
        };
        div()
            .id(("result-file", at))
            .role(Role::TreeItem)
            .test_support()
            .aria_label(format!("{shown}, {}", matches(count)))
            .aria_expanded(!found.is_closed)
            .aria_selected(selected)
            .flex()
            .items_center()
            .w_full()
            .h(row_height(true, cx))
            .px(dp(8.0))
            .gap(dp(6.0))
            .bg(if selected {
                colors.selected
            } else {
                colors.raised
            })
            .border_1()
            .border_color(if selected && has_keyboard {
                colors.focus
            } else {
                colors.raised.opacity(0.0)
            })
            .on_click(cx.listener(move |this, _: &ClickEvent, window, cx| {
                this.picked = Some(Picked::File(path.clone()));
                this.list_focus.focus(window, cx);
                this.toggle_file(&path, cx);
            }))
            .child(arrow.size(IconSize::Small).color(colors.muted))
            .child(ui::file_icon(&name, cx))
            .child(div().min_w_0().child(Label::new(name).strong()))
            .child(
                div()
                    .flex_1()
                    .min_w_0()
                    .child(Label::new(folder).small().muted()),
            )
            .child(Badge::new(count.to_string()))
            .into_any_element()
    }

    fn render_match(
        &self,
        row: MatchRow,
        at: usize,
        has_keyboard: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let picked = self.results.picked_at(at);
        let selected = picked.is_some() && self.picked == picked;
        let is_replaced = self.options.shows_replace;
        let style = HighlightStyle {
            background_color: Some(if is_replaced {
                colors.removed.opacity(0.3)
            } else {
                colors.find_match
            }),
            ..HighlightStyle::default()
        };
        let highlights: Vec<_> = row
            .highlights
            .iter()
            .map(|range| (range.clone(), style))
            .collect();
        let spoken = format!("Line {}: {}", row.number, row.text.trim());
        let text = one_line(row.text);
        code_row_with(
            Some(row.number),
            StyledText::new(text).with_highlights(highlights),
            cx,
        )
        .id(("result", at))
        .role(Role::TreeItem)
        .test_support()
        .aria_label(spoken)
        .aria_selected(selected)
        .when(is_replaced, |this| this.bg(colors.removed_ground))
        .when(selected, |this| this.bg(colors.selected))
        .border_1()
        .border_color(if selected && has_keyboard {
            colors.focus
        } else {
            colors.raised.opacity(0.0)
        })
        .cursor_pointer()
        .hover(|style| style.bg(colors.hover))
        .on_click(cx.listener(move |this, event: &ClickEvent, window, cx| {
            this.picked = picked.clone();
            this.list_focus.focus(window, cx);
            match event.click_count() {
                1 => this.open_picked(TabOpenMode::Preview, Focus::Leave, cx),
                _ => this.open_picked(TabOpenMode::Lasting, Focus::Take, cx),
            }
            cx.notify();
        }))
        .into_any_element()
    }

    fn render_results(&self, cx: &mut Context<Self>) -> AnyElement {
        let lines = self.results.lines().len();
        if lines > 0 {
            return uniform_list("result-lines", lines, cx.processor(Self::render_lines))
                .track_scroll(&self.scroll)
                .size_full()
                .into_any_element();
        }
        match &self.progress {
            SearchProgress::Idle => EmptyState::new("Search all files of the folder")
                .icon(Icon::Search)
                .detail("Texts with unsaved changes are searched as they are. Enter goes to the results.")
                .into_any_element(),
            SearchProgress::Running => EmptyState::new("Searching\u{2026}").into_any_element(),
            SearchProgress::Refused(refusal) => {
                EmptyState::new("The search cannot start").detail(refusal.reason.clone()).into_any_element()
            }
            SearchProgress::Done(summary) if summary.matches > 0 => EmptyState::new("No match is left")
                .detail("All matches were replaced, edited or dismissed.")
                .into_any_element(),
            SearchProgress::Stopped | SearchProgress::Done(_) => EmptyState::new("Nothing found")
                .detail("Check the toggles for case, whole words and regular expressions, and the excluded files.")
                .into_any_element(),
        }
    }
}

/// Builds a toggle beside a field. Each has its own key binding; Tab moves between fields.
fn toggle(icon: Icon, name: &'static str, on: bool, action: impl gpui_kit::Action) -> IconButton {
    IconButton::new(name, icon, name)
        .small()
        .pressed(on)
        .tab_stop(false)
        .action(Box::new(action))
}

/// Joins text of several rows into one line.
fn one_line(text: String) -> String {
    // The replacement characters keep the length, so that highlights stay aligned.
    if text.contains(['\n', '\t', '\r']) {
        text.replace(['\n', '\t', '\r'], " ")
    } else {
        text
    }
}

fn code_row(number: Option<u32>, text: String, cx: &App) -> gpui_kit::Div {
    code_row_with(number, StyledText::new(one_line(text)), cx)
}

fn code_row_with(number: Option<u32>, text: StyledText, cx: &App) -> gpui_kit::Div {
    let theme = cx.theme();
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    div()
        .flex()
        .items_center()
        .w_full()
        .h(row_height(true, cx))
        .pl(dp(8.0))
        .gap(dp(12.0))
        .rounded(px(2.0))
        .font(theme.code_font())
        .text_size(dp(12.5))
        .child(
            div()
                .flex_none()
                .w(dp(48.0))
                .text_right()
                .text_size(dp(11.0))
                .text_color(theme.colors.line_number)
                .child(number),
        )
        .child(
            div()
                .flex_1()
                .min_w_0()
                .overflow_hidden()
                .whitespace_nowrap()
                .child(text),
        )
}

impl Render for SearchPanel {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let in_results = self.list_focus.contains_focused(window, cx);
        let context = if in_results {
            "ProjectSearch results"
        } else {
            "ProjectSearch"
        };
        let fields = self.render_fields(cx);
        let results = self.render_results(cx);
        div()
            .id("project-search")
            .role(Role::Search)
            .test_support()
            .aria_label("Search the project")
            .key_context(context)
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::toggle_regex))
            .on_action(cx.listener(Self::toggle_case))
            .on_action(cx.listener(Self::toggle_word))
            .on_action(cx.listener(Self::toggle_filters))
            .on_action(cx.listener(Self::toggle_replace))
            .on_action(cx.listener(Self::run))
            .on_action(cx.listener(Self::stop))
            .on_action(cx.listener(Self::select_next))
            .on_action(cx.listener(Self::select_previous))
            .on_action(cx.listener(Self::focus_results))
            .on_action(cx.listener(Self::edit_results))
            .on_action(cx.listener(Self::open))
            .on_action(cx.listener(Self::dismiss))
            .on_action(cx.listener(Self::replace_one))
            .on_action(cx.listener(Self::replace_in_file))
            .on_action(cx.listener(Self::replace_all))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(fields)
            .child(
                div()
                    .id("results")
                    .role(Role::Tree)
                    .test_support()
                    .aria_label("Results")
                    .track_focus(&self.list_focus)
                    .flex_1()
                    .min_h_0()
                    .w_full()
                    .child(results),
            )
    }
}

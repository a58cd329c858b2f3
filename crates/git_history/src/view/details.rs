//! The selected commit: its message, people and files.

use std::ops::Range;
use std::sync::Arc;

use git_program::{ChangeLetter, CommittedChange};
use gpui_kit::{
    AnyElement, ClickEvent, Context, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _,
    Window, div, uniform_list,
};
use ui::{ActiveTheme as _, EmptyState, Label, ListRow, dp, foreign};

use super::HistoryView;
use crate::age::{age, date};
use crate::service::{CommitPage, HistoryError};

/// Maximum number of lines of a message that are drawn.
const MAX_LINES: usize = 200;

/// The commit below the list.
pub(super) enum ShownCommit {
    /// None, or the selection still moves.
    None,
    /// The service was asked.
    Reading { _task: Task<()> },
    /// It is there; `file` is the selected one.
    Ready { page: Arc<CommitPage>, file: usize },
    /// It cannot be read.
    Failed(HistoryError),
}

impl HistoryView {
    /// Asks for the selected commit.
    pub(super) fn selection_rested(&mut self, cx: &mut Context<Self>) {
        let Some(commit) = self.selected_commit() else {
            return;
        };
        let answer = self.service.commit(commit.id.clone());
        let task = cx.spawn(async move |this, cx| {
            let answer = answer.await;
            let taken = this.update(cx, |view, cx| {
                view.shown = match answer {
                    Ok(page) => ShownCommit::Ready {
                        page: Arc::new(page),
                        file: 0,
                    },
                    Err(error) => ShownCommit::Failed(error),
                };
                cx.notify();
            });
            // The view may have been closed.
            taken.ok();
        });
        self.shown = ShownCommit::Reading { _task: task };
        cx.notify();
    }

    pub(super) fn render_details(&self, cx: &mut Context<Self>) -> AnyElement {
        let content = match &self.shown {
            ShownCommit::None => EmptyState::new("Select a commit").into_any_element(),
            ShownCommit::Reading { .. } => {
                EmptyState::new("Reading the commit\u{2026}").into_any_element()
            }
            ShownCommit::Failed(error) => EmptyState::new("The commit cannot be read")
                .detail(Self::failure(error))
                .into_any_element(),
            ShownCommit::Ready { page, .. } => {
                let page = page.clone();
                div()
                    .flex()
                    .size_full()
                    .child(self.render_message(&page, cx))
                    .child(self.render_files(&page, cx))
                    .into_any_element()
            }
        };
        div()
            .id("history-details")
            .role(Role::Group)
            .test_support()
            .aria_label("Selected commit")
            .w_full()
            .h(gpui_kit::relative(0.4))
            .flex_none()
            .border_t_1()
            .border_color(cx.theme().colors.border)
            .child(content)
            .into_any_element()
    }

    fn render_message(&self, page: &CommitPage, cx: &Context<Self>) -> AnyElement {
        let details = &page.details;
        let (author, committer) = (&details.author, &details.committer);
        let line = |label: &str, name: &str, address: &str, seconds: i64| {
            let age = age(self.now, seconds);
            format!("{label}: {name} <{address}>, {} ({age})", date(seconds))
        };
        let mut people = vec![
            format!("Commit: {}", details.id),
            line("Author", &author.name, &author.address, author.seconds),
        ];
        if (&author.name, &author.address) != (&committer.name, &committer.address) {
            let (name, address) = (&committer.name, &committer.address);
            people.push(line("Committer", name, address, committer.seconds));
        }
        let lines = details.message.lines().take(MAX_LINES);
        let lines: Vec<AnyElement> = lines
            .map(|line| {
                let line = foreign::one_line(line.to_owned());
                div().min_h(dp(8.0)).child(line).into_any_element()
            })
            .collect();
        let muted = cx.theme().colors.muted;
        let people = people.into_iter().map(|line| {
            let line = foreign::one_line(line);
            div().text_size(dp(12.0)).text_color(muted).child(line)
        });
        div()
            .id("history-message")
            .role(Role::Article)
            .test_support()
            .aria_label(foreign::multi_line(details.message.clone()))
            .flex_1()
            .min_w_0()
            .h_full()
            .overflow_y_scroll()
            .p(dp(12.0))
            .flex()
            .flex_col()
            .gap(dp(2.0))
            .text_size(dp(13.0))
            .text_color(cx.theme().colors.text)
            .children(lines)
            .child(div().flex_none().h(dp(8.0)))
            .children(people)
            .into_any_element()
    }

    fn render_files(&self, page: &CommitPage, cx: &mut Context<Self>) -> AnyElement {
        let count = page.files.len();
        let list = if count == 0 {
            EmptyState::new("No file differs from the first parent").into_any_element()
        } else {
            uniform_list("history-files", count, cx.processor(Self::render_file_rows))
                .track_scroll(&self.files_scroll)
                .size_full()
                .into_any_element()
        };
        div()
            .id("history-file-list")
            .role(Role::ListBox)
            .test_support()
            .aria_label(base::count_of(count, "changed file"))
            .flex_1()
            .min_w_0()
            .h_full()
            .p(dp(4.0))
            .border_l_1()
            .border_color(cx.theme().colors.border)
            .child(list)
            .into_any_element()
    }

    fn render_file_rows(
        &mut self,
        range: Range<usize>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        let ShownCommit::Ready { page, file } = &self.shown else {
            return Vec::new();
        };
        let (page, selected) = (page.clone(), *file);
        let files = page.files.get(range.clone()).unwrap_or_default().iter();
        files
            .zip(range)
            .map(|(change, ix)| {
                let is_selected = self.is_in_files && ix == selected;
                file_row(change, ix, is_selected, cx)
            })
            .collect()
    }
}

fn file_row(
    change: &CommittedChange,
    ix: usize,
    is_selected: bool,
    cx: &mut Context<HistoryView>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let (letter, word, color) = match change.letter {
        ChangeLetter::Added => ("A", "added", colors.added),
        ChangeLetter::Modified => ("M", "modified", colors.changed),
        ChangeLetter::Deleted => ("D", "deleted", colors.removed),
        ChangeLetter::Renamed => ("R", "renamed", colors.changed),
        ChangeLetter::Copied => ("C", "copied", colors.added),
        ChangeLetter::TypeChanged => ("T", "type changed", colors.changed),
    };
    let path = shown_path(change);
    ListRow::new(("history-file", ix), format!("{path}, {word}"))
        .selected(is_selected)
        .on_click(cx.listener(move |view, event: &ClickEvent, window, cx| {
            view.list_focus.focus(window, cx);
            view.is_in_files = true;
            if let ShownCommit::Ready { file, .. } = &mut view.shown {
                *file = ix;
            }
            if event.click_count() > 1 {
                view.open_change(ix, cx);
            }
            cx.notify();
        }))
        .child(Label::new(letter).mono().color(color))
        .child(Label::new(path))
        .into_any_element()
}

/// Returns the path of a change on one line, with the former path of a renamed file.
fn shown_path(change: &CommittedChange) -> SharedString {
    let path = base::path_text(&change.path);
    let text = match &change.source {
        Some((source, _)) => format!("{} \u{2192} {path}", base::path_text(source)),
        None => path,
    };
    foreign::one_line(text)
}

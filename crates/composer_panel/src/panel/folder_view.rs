//! Renders the changes of the open session in the user's folder: a bar under the transcript, and the
//! page with all hunks.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, list, px,
};
use ui::{
    ActiveTheme as _, Banner, Button, ButtonStyle, Elide, EmptyState, Icon, IconButton, Label,
    Tone, dp, foreign,
};

use super::comment::render_notes;
use super::folder_changes::{FolderPane, board_hunk};
use super::review::{LineSide, accessible_label, code_block, comment_button, render_lines};
use super::{ComposerPanel, PanelPage};
use crate::actions::{KeepAllChanges, RejectAllChanges, ReviewChanges, UndoRestore};
use crate::board::{BoardHunk, HunkVerdict};

impl ComposerPanel {
    /// Renders the bar with the number of changes and the buttons about all of them. `None` if the
    /// session changed nothing.
    pub(super) fn render_change_bar(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let pane = &self.open.as_ref()?.folder;
        let is_session = matches!(self.page, PanelPage::Session | PanelPage::Changes);
        if !is_session || pane.is_empty() {
            return None;
        }
        let colors = cx.theme().colors;
        let changes = &pane.changes;
        let problem = pane.problem.as_ref().map(|why| {
            Banner::new(
                "changes-problem",
                Tone::Warning,
                format!("Changes are not recorded: {why}"),
            )
            .into_any_element()
        });
        let notice = pane
            .notice
            .as_ref()
            .map(|text| Banner::new("changes-notice", Tone::Info, text.clone()).into_any_element());
        let counts = (!changes.hunks.is_empty()).then(|| {
            let files = match changes.files {
                1 => "1 file changed".to_owned(),
                files => format!("{files} files changed"),
            };
            div()
                .flex()
                .gap(dp(8.0))
                .child(Label::new(files).small())
                .child(
                    Label::new(format!("+{}", changes.added))
                        .small()
                        .color(colors.added),
                )
                .child(
                    Label::new(format!("\u{2212}{}", changes.removed))
                        .small()
                        .color(colors.removed),
                )
        });
        let has_hunks = !changes.hunks.is_empty();
        let button = |id: &'static str, text: &'static str, action: Box<dyn gpui_kit::Action>| {
            Button::new(id, text)
                .style(ButtonStyle::Ghost)
                .action(action)
        };
        let is_review = self.page == PanelPage::Changes;
        let review = if is_review { "Close review" } else { "Review" };
        let buttons = div()
            .flex()
            .flex_wrap()
            .gap(dp(4.0))
            .when(has_hunks || is_review, |this| {
                this.child(button("changes-review", review, Box::new(ReviewChanges)))
            })
            .when(has_hunks, |this| {
                this.child(button("changes-keep", "Keep all", Box::new(KeepAllChanges)))
                    .child(button(
                        "changes-reject",
                        "Reject all",
                        Box::new(RejectAllChanges),
                    ))
            })
            .when(changes.can_undo, |this| {
                this.child(button(
                    "changes-undo",
                    "Undo restore",
                    Box::new(UndoRestore),
                ))
            });
        let bar = div()
            .id("agent-changes")
            .role(Role::Group)
            .aria_label("Changes of this session")
            .test_support()
            .flex()
            .flex_none()
            .flex_col()
            .gap(dp(4.0))
            .px(dp(8.0))
            .py(dp(4.0))
            .border_t_1()
            .border_color(colors.border)
            .children(problem)
            .children(notice)
            .child(
                div()
                    .flex()
                    .flex_wrap()
                    .items_center()
                    .justify_between()
                    .gap(dp(8.0))
                    .children(counts)
                    .child(buttons),
            );
        Some(bar.into_any_element())
    }

    /// Renders the page with all hunks of the session.
    pub(super) fn render_changes(&self, cx: &mut Context<Self>) -> AnyElement {
        let pane = self.open.as_ref().map(|open| &open.folder);
        let body = match pane.filter(|pane| !pane.changes.hunks.is_empty()) {
            None => div()
                .size_full()
                .child(
                    EmptyState::new("No changes to review")
                        .icon(Icon::Check)
                        .detail("Changes that this session makes in your folder appear here."),
                )
                .into_any_element(),
            Some(pane) => {
                let this = cx.entity();
                list(pane.list.clone(), move |at, _, cx| {
                    this.update(cx, |this, cx| this.render_change(at, cx))
                })
                .size_full()
                .into_any_element()
            }
        };
        div()
            .id("agent-changes-list")
            .role(Role::ListBox)
            .aria_label("Changes")
            .test_support()
            .track_focus(&self.list_focus)
            // Letters are typed into the field of a comment.
            .key_context(if self.comments_in_list() {
                "Composer comment"
            } else {
                "Composer changes"
            })
            .size_full()
            .child(body)
            .into_any_element()
    }

    fn render_change(&self, at: usize, cx: &mut Context<Self>) -> AnyElement {
        let pane = self.open.as_ref().map(|open| &open.folder);
        let found = pane.and_then(|pane| Some((pane, pane.changes.hunks.get(at)?)));
        let Some((pane, hunk)) = found else {
            return div().into_any_element();
        };
        let hunk = board_hunk(hunk);
        let colors = cx.theme().colors;
        let is_selected = is_selected(pane, &hunk);
        let id = hunk.id.clone();
        let gone = render_lines('\u{2212}', &hunk.before, LineSide::Removed, cx);
        let come = render_lines('+', &hunk.after, LineSide::Added, cx);
        let lines = code_block([gone, come].into_iter().flatten().collect(), cx);
        let notes = pane.notes.get(at).map(|notes| render_notes(at, notes, cx));
        let notes = notes.unwrap_or_default();
        let field = self.render_comment_field(&hunk.id);
        div()
            .px(dp(8.0))
            .py(dp(4.0))
            .child(
                div()
                    .id(("change-row", at))
                    .role(Role::ListBoxOption)
                    .aria_label(foreign::one_line(accessible_label(&hunk)))
                    .aria_selected(is_selected)
                    .test_support()
                    .rounded(px(6.0))
                    .border_1()
                    .border_color(if is_selected {
                        colors.focus
                    } else {
                        colors.border
                    })
                    .bg(colors.surface)
                    .overflow_hidden()
                    .on_click(cx.listener(move |this, _, _, cx| {
                        if let Some(open) = &mut this.open {
                            open.folder.row = Some(id.clone());
                        }
                        cx.notify();
                    }))
                    .child(render_change_head(at, &hunk, cx))
                    .children(lines)
                    .children(notes)
                    .children(field),
            )
            .into_any_element()
    }
}

fn is_selected(pane: &FolderPane, hunk: &BoardHunk) -> bool {
    pane.row.as_ref() == Some(&hunk.id)
}

fn render_change_head(at: usize, hunk: &BoardHunk, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let button = |id: &'static str, icon, name: &'static str, verdict: HunkVerdict| {
        let hunk = hunk.id.clone();
        IconButton::new((id, at), icon, name)
            .small()
            .on_click(cx.listener(move |this, _, window, cx| {
                this.decide_folder_hunk(&hunk, verdict, Some(window), cx);
            }))
    };
    let about = [hunk.note.clone(), hunk.symbol.clone()];
    let about: Vec<String> = about.into_iter().flatten().collect();
    let place = format!("{}:{}", hunk.path, hunk.line);
    let place = Label::new(place).small().mono().elide(Elide::Middle(36));
    div()
        .flex()
        .items_center()
        .gap(dp(8.0))
        .h(dp(28.0))
        .pl(dp(8.0))
        .pr(dp(4.0))
        .border_b_1()
        .border_color(colors.border)
        .child(div().flex_none().child(place))
        .child(
            div()
                .min_w_0()
                .flex_1()
                .child(Label::new(about.join(" \u{b7} ")).small().muted()),
        )
        .when_some(hunk.risk.clone(), |this, risk| {
            this.child(Label::new(risk).tiny().color(colors.warning))
        })
        .child(button(
            "change-keep",
            Icon::Check,
            "Keep",
            HunkVerdict::Accepted,
        ))
        .child(button(
            "change-reject",
            Icon::Close,
            "Reject",
            HunkVerdict::Rejected,
        ))
        .child(comment_button("change-comment", at, hunk, cx))
        .into_any_element()
}

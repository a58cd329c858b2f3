//! Renders the review list: conflicts that block landings, and all hunks with their verdicts.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, list, px,
};
use ui::{ActiveTheme as _, Elide, Icon, IconButton, Label, Tooltip, dp, foreign};

use super::board::{BoardPane, ReviewRow};
use super::board_view::agent_mark;
use super::{ComposerPanel, landing_conflict};
use crate::board::{BoardHunk, HunkVerdict, JobState};

/// Maximum number of lines shown on each side of a hunk.
const MAX_LINES: usize = 200;

impl ComposerPanel {
    /// Renders the review list.
    pub(super) fn render_review(&self, pane: &BoardPane, cx: &mut Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let rows = pane.rows();
        let area = div()
            .flex()
            .flex_1()
            .flex_col()
            .min_h_0()
            .border_t_1()
            .border_color(colors.border);
        if rows.is_empty() {
            let is_listed = |id: &str| pane.job.as_ref().is_none_or(|job| job == id);
            let jobs = &pane.board.jobs;
            let is_live = jobs
                .iter()
                .any(|job| job.state().is_live() && is_listed(job.id()));
            let is_landed = pane
                .chosen_job()
                .is_some_and(|job| matches!(job.state(), JobState::Landed { .. }));
            let text = match (is_landed, is_live) {
                (true, _) => "All changes have landed on your branch.",
                (false, true) => "Changes appear here as the agents make them.",
                (false, false) => "No changes.",
            };
            let text = Label::new(text).small().muted();
            return area.p(dp(12.0)).child(text).into_any_element();
        }
        let title = review_title(pane, &rows);
        let this = cx.entity();
        let rows = list(pane.list.clone(), move |at, _, cx| {
            this.update(cx, |this, cx| this.render_row(at, cx))
        });
        area.child(
            div()
                .flex()
                .flex_none()
                .items_center()
                .h(dp(28.0))
                .px(dp(12.0))
                .child(Label::new(title).small().muted()),
        )
        .child(
            div()
                .id("board-review")
                .role(Role::ListBox)
                .aria_label("Changes")
                .test_support()
                .flex_1()
                .min_h_0()
                .child(rows.size_full()),
        )
        .into_any_element()
    }

    fn render_row(&self, at: usize, cx: &mut Context<Self>) -> AnyElement {
        let Some(pane) = &self.board else {
            return div().into_any_element();
        };
        let rows = pane.rows();
        let Some(row) = rows.get(at).copied() else {
            return div().into_any_element();
        };
        let colors = cx.theme().colors;
        let id = row.id();
        let is_chosen = pane.row.as_ref() == Some(&id) && pane.in_review;
        let border = match row {
            _ if is_chosen => colors.focus,
            ReviewRow::Conflict(_) => colors.warning,
            ReviewRow::Hunk(hunk) if hunk.verdict == HunkVerdict::Accepted => colors.added,
            ReviewRow::Hunk(_) => colors.border,
        };
        let (spoken, parts) = match row {
            ReviewRow::Conflict(conflict) => (
                landing_conflict::accessible_label(conflict),
                self.render_conflict(at, conflict, cx),
            ),
            ReviewRow::Hunk(hunk) => (accessible_label(hunk), self.render_hunk(at, hunk, cx)),
        };
        let is_rejected =
            matches!(row, ReviewRow::Hunk(hunk) if hunk.verdict == HunkVerdict::Rejected);
        div()
            .px(dp(8.0))
            .py(dp(4.0))
            .child(
                div()
                    .id(("board-row", at))
                    .role(Role::ListBoxOption)
                    .aria_label(foreign::one_line(spoken))
                    .aria_selected(is_chosen)
                    .test_support()
                    .rounded(px(6.0))
                    .border_1()
                    .border_color(border)
                    .bg(colors.surface)
                    .overflow_hidden()
                    .when(is_rejected, |this| this.opacity(0.55))
                    .on_click(cx.listener(move |this, _, _, cx| this.choose_row(id.clone(), cx)))
                    .children(parts),
            )
            .into_any_element()
    }

    fn render_hunk(&self, at: usize, hunk: &BoardHunk, cx: &Context<Self>) -> Vec<AnyElement> {
        let mut parts = vec![self.render_hunk_head(at, hunk, cx)];
        let gone = render_lines('\u{2212}', &hunk.before, LineSide::Removed, cx);
        let come = render_lines('+', &hunk.after, LineSide::Added, cx);
        parts.extend(code_block([gone, come].into_iter().flatten().collect(), cx));
        parts.extend(self.render_comment_field(&hunk.id));
        parts
    }

    fn render_hunk_head(&self, at: usize, hunk: &BoardHunk, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let place = format!("{}:{}", hunk.path, hunk.line);
        let button = |id: &'static str, icon, name: &'static str, verdict: HunkVerdict| {
            let hunk_id = hunk.id.clone();
            IconButton::new((id, at), icon, name)
                .small()
                .pressed(hunk.verdict == verdict)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.decide_row(Some(hunk_id.clone()), verdict, cx);
                }))
        };
        let about = [hunk.symbol.clone(), hunk.author.clone(), hunk.note.clone()];
        let about: Vec<String> = about.into_iter().flatten().collect();
        div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .h(dp(28.0))
            .pl(dp(8.0))
            .pr(dp(4.0))
            .border_b_1()
            .border_color(colors.border)
            .child(self.mark_of(&hunk.job, cx))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .flex()
                    .gap(dp(8.0))
                    .child(
                        div()
                            .flex_none()
                            .child(Label::new(place).small().mono().elide(Elide::Middle(36))),
                    )
                    .child(
                        div()
                            .min_w_0()
                            .child(Label::new(about.join(" \u{b7} ")).small().muted()),
                    ),
            )
            .children(self.conflict_warning(hunk).map(|why| {
                div()
                    .id(("hunk-conflict", at))
                    .role(Role::Image)
                    .aria_label(foreign::multi_line(why.clone()))
                    .flex_none()
                    .tooltip(Tooltip::text(why))
                    .child(Icon::Warning.color(colors.warning))
            }))
            .when_some(hunk.risk.clone(), |this, risk| {
                this.child(Label::new(risk).tiny().color(colors.warning))
            })
            .child(button(
                "hunk-accept",
                Icon::Check,
                "Accept",
                HunkVerdict::Accepted,
            ))
            .child(button(
                "hunk-reject",
                Icon::Close,
                "Reject",
                HunkVerdict::Rejected,
            ))
            .child(comment_button("hunk-comment", at, hunk, cx))
            .into_any_element()
    }
}

/// Renders the button that opens the field for a comment on a hunk.
pub(super) fn comment_button(
    id: &'static str,
    at: usize,
    hunk: &BoardHunk,
    cx: &Context<ComposerPanel>,
) -> IconButton {
    let hunk = hunk.id.clone();
    IconButton::new((id, at), Icon::Message, "Comment")
        .small()
        .on_click(cx.listener(move |this, _, window, cx| {
            cx.stop_propagation();
            this.comment_on(&hunk, window, cx);
        }))
}

impl ComposerPanel {
    /// The predicted conflict of a hunk's file.
    fn conflict_warning(&self, hunk: &BoardHunk) -> Option<String> {
        let board = &self.board.as_ref()?.board;
        let conflict = board
            .conflicts
            .iter()
            .find(|it| it.path == hunk.path && it.involves(&hunk.job))?;
        Some(conflict.text.clone())
    }

    /// Renders the letter of a job's agent.
    pub(super) fn mark_of(&self, job: &str, cx: &Context<Self>) -> AnyElement {
        let board = self.board.as_ref().map(|pane| &pane.board);
        let job = board.and_then(|board| board.job(job));
        agent_mark(job.map_or(0, |job| job.mark), cx)
    }
}

fn review_title(pane: &BoardPane, rows: &[ReviewRow<'_>]) -> String {
    let is_conflict = |row: &&ReviewRow<'_>| matches!(row, ReviewRow::Conflict(_));
    let conflicts = rows.iter().filter(is_conflict).count();
    let count = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {more}")),
    };
    let parts = [
        count(conflicts, "conflict to resolve", "conflicts to resolve"),
        count(rows.len() - conflicts, "change", "changes"),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>();
    let text = text.join(" \u{b7} ");
    match pane.chosen_job() {
        Some(job) => format!("{text} by {}", job.title()),
        None => text,
    }
}

/// The side of a diff in whose colours lines are rendered. The sign before the lines is a separate
/// argument of `render_lines`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineSide {
    Removed,
    /// Also the agent's side of a conflict.
    Added,
    /// Muted text without a background of its own: the branch's side of a conflict.
    Unchanged,
}

/// Renders code lines in the colours of `side`, with `sign` before each: at most `MAX_LINES`, then
/// the number of further ones. Returns an empty list without lines.
pub(super) fn render_lines(
    sign: char,
    texts: &[String],
    side: LineSide,
    cx: &Context<ComposerPanel>,
) -> Vec<AnyElement> {
    let colors = cx.theme().colors;
    let (color, ground) = match side {
        LineSide::Removed => (colors.removed, colors.removed_ground),
        LineSide::Added => (colors.added, colors.added_ground),
        LineSide::Unchanged => (colors.muted, gpui_kit::transparent_black()),
    };
    let line = |text: &String| {
        let signed = div().flex_none().w(dp(16.0)).text_color(color);
        div()
            .flex()
            .px(dp(8.0))
            .bg(ground)
            .child(signed.child(sign.to_string()))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(foreign::multi_line(text.clone())),
            )
            .into_any_element()
    };
    let mut all: Vec<_> = texts.iter().take(MAX_LINES).map(line).collect();
    let more = texts.len().saturating_sub(all.len());
    if more > 0 {
        let more = Label::new(format!("and {more} more lines")).tiny().muted();
        all.push(div().px(dp(8.0)).child(more).into_any_element());
    }
    all
}

/// Wraps lines in a code block; `None` if there are none.
pub(super) fn code_block(
    lines: Vec<AnyElement>,
    cx: &Context<ComposerPanel>,
) -> Option<AnyElement> {
    (!lines.is_empty()).then(|| {
        div()
            .flex()
            .flex_col()
            .py(dp(4.0))
            .font(cx.theme().code_font())
            .text_size(dp(12.0))
            .children(lines)
            .into_any_element()
    })
}

/// The name of a hunk for screen readers.
pub(super) fn accessible_label(hunk: &BoardHunk) -> String {
    let verdict = match hunk.verdict {
        HunkVerdict::Open => "not decided",
        HunkVerdict::Accepted => "accepted",
        HunkVerdict::Rejected => "rejected",
    };
    format!(
        "{} line {}, {} lines removed, {} added, {verdict}",
        hunk.path,
        hunk.line,
        hunk.before.len(),
        hunk.after.len()
    )
}

//! Renders the board page: agents, predicted conflicts, the review list and the buttons.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, Context, Hsla, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, px,
};
use ui::foreign::multi_line;
use ui::{
    ActiveTheme as _, Banner, Button, ButtonStyle, EmptyState, Icon, Label, ListRow, Tone, dp,
};

use super::ComposerPanel;
use super::board::BoardPane;
use super::session_rows::dollars;
use crate::actions::{
    AcceptAgent, BringHere, ForkAgent, Land, LandWithErrors, PauseAgent, RemoveAgent, RestoreTurn,
    StopAgent, UndoLanding, UndoRestore,
};
use crate::board::{Board, BoardJob, Conflict, JobState, agent_letter};

/// Maximum number of predicted conflicts shown; the rest is counted.
const MAX_CONFLICTS: usize = 4;

impl ComposerPanel {
    /// Renders the board page.
    pub(super) fn render_board(&self, cx: &mut Context<Self>) -> AnyElement {
        let in_review = self.board.as_ref().is_some_and(|pane| pane.in_review);
        let context = if self.comments_in_list() {
            // Letters are typed into the field of a comment.
            "Composer comment"
        } else if in_review {
            "Composer board review"
        } else {
            "Composer board"
        };
        let parts = match &self.board {
            None => vec![self.render_no_board()],
            Some(pane) if pane.board.jobs.is_empty() => render_empty_board(pane, cx),
            Some(pane) => self.render_full_board(pane, cx),
        };
        // The page has the focus from the first frame on, even before the board is loaded.
        div()
            .id("agent-board")
            .role(Role::Region)
            .aria_label("Board")
            .test_support()
            .track_focus(&self.list_focus)
            .key_context(context)
            .size_full()
            .flex()
            .flex_col()
            .children(parts)
            .into_any_element()
    }

    fn render_full_board(&self, pane: &BoardPane, cx: &mut Context<Self>) -> Vec<AnyElement> {
        let mut parts = vec![self.render_agents(pane, cx)];
        parts.extend(self.render_best_of(pane, cx));
        parts.extend(render_conflicts(&pane.board, pane.job.as_deref(), cx));
        parts.push(self.render_review(pane, cx));
        parts.push(self.render_bar(pane, cx));
        parts
    }

    fn render_no_board(&self) -> AnyElement {
        let (title, detail) = match (&self.error, &self.root) {
            (Some(trouble), _) => ("No board available", trouble.clone()),
            (None, None) => (
                "Open a folder first",
                "Agents work in worktrees of a Git repository.".to_owned(),
            ),
            (None, Some(_)) => ("Loading\u{2026}", String::new()),
        };
        let state = EmptyState::new(title).icon(Icon::GitBranch).detail(detail);
        div().size_full().child(state).into_any_element()
    }

    fn render_agents(&self, pane: &BoardPane, cx: &mut Context<Self>) -> AnyElement {
        let rows = pane.board.jobs.iter().enumerate().map(|(at, job)| {
            let id = job.id().to_owned();
            let is_chosen = pane.job.as_ref() == Some(&id);
            ListRow::new(("board-agent", at), accessible_label(job))
                .lines(2)
                .selected(is_chosen)
                .on_click(cx.listener(move |this, _, _, cx| {
                    let chosen = this.board.as_ref().and_then(|pane| pane.job.clone());
                    let job = (chosen.as_ref() != Some(&id)).then(|| id.clone());
                    this.choose_job(job, cx);
                }))
                .child(agent_mark(job.mark, cx))
                .child(job_lines(job, cx))
        });
        let rows: Vec<_> = rows.collect();
        div()
            .id("board-agents")
            .role(Role::ListBox)
            .aria_label("Agents")
            .test_support()
            .flex_none()
            .max_h(dp(240.0))
            .overflow_y_scroll()
            .p(dp(4.0))
            .children(rows)
            .into_any_element()
    }

    /// Renders the buttons for the selection.
    fn render_bar(&self, pane: &BoardPane, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let accepted = pane.accepted();
        let land = match accepted {
            0 => "Land".to_owned(),
            1 => "Land 1 hunk".to_owned(),
            count => format!("Land {count} hunks"),
        };
        let why = (accepted == 0).then(|| "Accept hunks first: a for one, A for all".into());
        div()
            .flex()
            .flex_none()
            .flex_col()
            .gap(dp(8.0))
            .p(dp(8.0))
            .border_t_1()
            .border_color(colors.border)
            .children(error_banner(&pane.board))
            .children(render_notice(&pane.board, cx))
            .children(render_landing(&pane.board, cx))
            .child(
                div()
                    .flex()
                    .flex_wrap()
                    .gap(dp(8.0))
                    .child(
                        Button::new("board-land", land)
                            .style(ButtonStyle::Primary)
                            .disabled(why)
                            .action(Box::new(Land))
                            .with_keys(),
                    )
                    .child(
                        Button::new("board-accept", "Accept all")
                            .style(ButtonStyle::Plain)
                            .action(Box::new(AcceptAgent))
                            .with_keys(),
                    )
                    .children(job_buttons(pane.chosen_job())),
            )
            .into_any_element()
    }
}

fn render_empty_board(pane: &BoardPane, cx: &Context<ComposerPanel>) -> Vec<AnyElement> {
    let detail = "Choose the number of agents below and describe their task. Each works in its own \
                  worktree; review and land their changes here.";
    let state = EmptyState::new("No agents").icon(Icon::GitBranch);
    let empty = div().flex_1().min_h_0().child(state.detail(detail));
    let mut parts = vec![empty.into_any_element()];
    parts.extend(error_banner(&pane.board).map(gpui_kit::IntoElement::into_any_element));
    parts.extend(render_landing(&pane.board, cx));
    parts
}

fn job_buttons(job: Option<&BoardJob>) -> Vec<Button> {
    let Some(job) = job else {
        return Vec::new();
    };
    let button = |id, label: &'static str| Button::new(id, label).style(ButtonStyle::Ghost);
    let pause = |label| button("board-pause", label).action(Box::new(PauseAgent));
    let stop = || button("board-stop", "Stop").action(Box::new(StopAgent));
    let mut buttons = match job.state() {
        JobState::Paused => vec![pause("Resume"), stop()],
        state if state.is_live() => vec![pause("Pause"), stop()],
        _ => vec![button("board-remove", "Remove").action(Box::new(RemoveAgent))],
    };
    if job.root().is_some() {
        buttons.push(button("board-fork", "Fork\u{2026}").action(Box::new(ForkAgent)));
        buttons.push(button("board-bring", "Copy to checkout").action(Box::new(BringHere)));
    }
    if job.status.turns > 0 && !job.state().is_live() {
        buttons.push(button("board-turn", "Restore turn\u{2026}").action(Box::new(RestoreTurn)));
    }
    buttons.into_iter().map(Button::with_keys).collect()
}

/// Renders an agent's letter in the agent's colour. `mark` is the agent's index. Indices beyond the
/// number of colours start again at the first colour.
pub fn agent_mark(mark: usize, cx: &App) -> AnyElement {
    let agents = cx.theme().agents;
    let color = agents[mark % agents.len()];
    div()
        .flex()
        .flex_none()
        .items_center()
        .justify_center()
        .size(dp(18.0))
        .rounded(px(4.0))
        .border_1()
        .border_color(color)
        .child(
            Label::new(agent_letter(mark).to_string())
                .tiny()
                .strong()
                .color(color),
        )
        .into_any_element()
}

fn job_lines(job: &BoardJob, cx: &Context<ComposerPanel>) -> AnyElement {
    let (icon, color) = state_mark(job.state(), cx);
    let first = div()
        .flex()
        .items_center()
        .gap(dp(8.0))
        .child(
            div()
                .min_w_0()
                .flex_1()
                .child(Label::new(job.title().to_owned())),
        )
        .child(icon.size(ui::IconSize::Small).color(color))
        .child(Label::new(state_label(job.state())).tiny().color(color));
    div()
        .flex()
        .flex_1()
        .flex_col()
        .min_w_0()
        .child(first)
        .child(
            div()
                .min_w_0()
                .child(Label::new(job_summary(job)).small().muted()),
        )
        .into_any_element()
}

/// The label of a state on the board, where it has an activity beside it that says more.
fn state_label(state: &JobState) -> &'static str {
    match state {
        JobState::Interrupted => "stopped",
        JobState::Conflict { .. } => "in conflict",
        state => state.label(),
    }
}

/// Returns the icon of a job's state and its colour.
fn state_mark(state: &JobState, cx: &Context<ComposerPanel>) -> (Icon, Hsla) {
    let colors = cx.theme().colors;
    match state {
        JobState::Queued => (Icon::Clock, colors.muted),
        JobState::Starting | JobState::Working => (Icon::CircleDot, colors.accent),
        JobState::Waiting { .. } => (Icon::Question, colors.warning),
        JobState::Paused => (Icon::Minus, colors.muted),
        JobState::Done => (Icon::CircleCheck, colors.success),
        JobState::Failed { .. } => (Icon::CircleX, colors.error),
        JobState::Stopped | JobState::Interrupted => (Icon::Stop, colors.muted),
        JobState::Landed { .. } => (Icon::GitMerge, colors.success),
        JobState::Conflict { .. } => (Icon::Warning, colors.error),
    }
}

/// Formats a summary: `wt-2 · 3 files +12 −4 · 41 s · $0.02 · runs the tests`.
fn job_summary(job: &BoardJob) -> String {
    let files = match job.files {
        0 => None,
        1 => Some("1 file".to_owned()),
        count => Some(format!("{count} files")),
    };
    let files = files.map(|it| format!("{it} +{} \u{2212}{}", job.lines.0, job.lines.1));
    let checks = job
        .checks
        .map(|(passed, all)| format!("{passed} of {all} checks"));
    let cost = job.status.cost_nano.filter(|nano| *nano > 0).map(dollars);
    let activity = (!job.activity.is_empty()).then(|| job.activity.clone());
    let seconds = job.status.worked_ms / 1000;
    let time = (seconds > 0).then(|| format_seconds(seconds));
    let worktree = job.status.worktree.as_ref();
    let worktree = worktree
        .map(|it| it.lease.clone())
        .filter(|it| !it.is_empty());
    // The id of an external agent may be the path of its program.
    let agent = job.status.task.agent.as_deref();
    let agent = agent
        .and_then(|id| id.rsplit('/').next())
        .map(str::to_owned);
    let all = [agent, worktree, activity, files, checks, time, cost];
    all.into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}

/// Formats a duration in seconds: `42 s`, `3 min`, `2 h 5 min`.
pub(super) fn format_seconds(seconds: u64) -> String {
    match seconds {
        it if it < 60 => format!("{it} s"),
        it if it < 3600 => format!("{} min", it / 60),
        it => format!("{} h {} min", it / 3600, it % 3600 / 60),
    }
}

fn accessible_label(job: &BoardJob) -> String {
    format!(
        "{}, {}, {}, {}",
        agent_letter(job.mark),
        job.title(),
        state_label(job.state()),
        job_summary(job)
    )
}

/// Renders the predicted conflicts.
fn render_conflicts(
    board: &Board,
    job: Option<&str>,
    cx: &Context<ComposerPanel>,
) -> Option<AnyElement> {
    let colors = cx.theme().colors;
    let is_of = |conflict: &&Conflict| job.is_none_or(|job| conflict.involves(job));
    // Conflicts of a landing are in the review list already.
    let is_predicted = |conflict: &&Conflict| {
        let is_same = |it: &Conflict| {
            it.path == conflict.path && it.job == conflict.job && conflict.other.is_none()
        };
        !board.landing_conflicts.iter().any(is_same)
    };
    let found: Vec<_> = board
        .conflicts
        .iter()
        .filter(is_of)
        .filter(is_predicted)
        .collect();
    if found.is_empty() {
        return None;
    }
    let more = found.len().saturating_sub(MAX_CONFLICTS);
    let rows = found.iter().take(MAX_CONFLICTS).map(|conflict| {
        div()
            .flex()
            .gap(dp(8.0))
            .child(
                div()
                    .flex_none()
                    .pt(dp(2.0))
                    .child(Icon::Warning.color(colors.warning)),
            )
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .text_color(colors.text)
                    .text_size(dp(12.0))
                    .child(multi_line(conflict.text.clone())),
            )
    });
    let rows: Vec<_> = rows.collect();
    Some(
        div()
            .id("board-conflicts")
            .role(Role::Alert)
            .aria_label("Predicted conflicts")
            .test_support()
            .flex()
            .flex_none()
            .flex_col()
            .gap(dp(4.0))
            .px(dp(12.0))
            .py(dp(8.0))
            .border_t_1()
            .border_color(colors.border)
            .children(rows)
            .when(more > 0, |this| {
                this.child(Label::new(format!("and {more} more")).small().muted())
            })
            .into_any_element(),
    )
}

/// Returns a banner with the board's error; `None` if it has none.
fn error_banner(board: &Board) -> Option<Banner> {
    let sentence = board.error.clone()?;
    Some(Banner::new("board-trouble", Tone::Error, sentence))
}

/// Renders the result of the user's latest command.
fn render_notice(board: &Board, cx: &Context<ComposerPanel>) -> Option<AnyElement> {
    let notice = board.notice.as_ref()?;
    let undo = notice.can_undo.then(|| {
        Button::new("board-undo-restore", "Undo")
            .icon(Icon::Undo)
            .style(ButtonStyle::Ghost)
            .action(Box::new(UndoRestore))
            .with_keys()
    });
    Some(
        div()
            .id("board-told")
            .role(Role::Status)
            .aria_label(multi_line(notice.text.clone()))
            .test_support()
            .flex()
            .flex_wrap()
            .items_center()
            .gap(dp(8.0))
            .child(Icon::CircleCheck.color(cx.theme().colors.muted))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(multi_line(notice.text.clone())),
            )
            .children(undo)
            .into_any_element(),
    )
}

/// Renders the status of the latest landing.
fn render_landing(board: &Board, cx: &Context<ComposerPanel>) -> Option<AnyElement> {
    let colors = cx.theme().colors;
    let landing = board.landing.as_ref()?;
    let (icon, color) = if landing.is_bad {
        (Icon::CircleAlert, colors.error)
    } else {
        (Icon::GitMerge, colors.success)
    };
    Some(
        div()
            .id("board-landing")
            .role(Role::Status)
            .aria_label(multi_line(landing.text.clone()))
            .test_support()
            .flex()
            .flex_wrap()
            .items_center()
            .gap(dp(8.0))
            .child(icon.color(color))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(multi_line(landing.text.clone())),
            )
            .when(landing.may_allow_errors, |this| {
                this.child(
                    Button::new("board-land-with-errors", "Land anyway")
                        .icon(Icon::GitMerge)
                        .style(ButtonStyle::Ghost)
                        .action(Box::new(LandWithErrors))
                        .with_keys(),
                )
            })
            .when(landing.can_undo, |this| {
                this.child(
                    Button::new("board-undo-landing", "Undo")
                        .icon(Icon::Undo)
                        .style(ButtonStyle::Ghost)
                        .action(Box::new(UndoLanding))
                        .with_keys(),
                )
            })
            .into_any_element(),
    )
}

//! Renders the list of sessions: filter, rows, and the numbers of hidden sessions.

use std::ops::Range;

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, MouseButton,
    ParentElement as _, Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    Window, div, uniform_list,
};
use ui::foreign::one_line;
use ui::{
    ActiveTheme as _, Badge, Button, ButtonStyle, EmptyState, Icon, Label, ListRow, Menu,
    MenuExt as _, TextField, Tone, dp,
};

use super::ComposerPanel;
use crate::actions::{
    ArchiveSession, DeleteSession, ExportSession, Open, RenameSession, ShowArchived,
};
use crate::agents::{SessionActivity, SessionEntry, SessionStatus};
use crate::board::{AwaitedInput, JobState};

/// The state of a session as its row shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowState {
    label: &'static str,
    tone: Tone,
    /// The reason of a failure, or what the session waits for; untrusted text.
    detail: String,
}

impl RowState {
    fn new(label: &'static str, tone: Tone) -> Self {
        Self {
            label,
            tone,
            detail: String::new(),
        }
    }

    fn working() -> Self {
        Self::new("working", Tone::Accent)
    }

    fn waiting(detail: &str) -> Self {
        Self {
            detail: detail.to_owned(),
            ..Self::new("needs you", Tone::Warning)
        }
    }

    fn stored(status: &SessionStatus) -> Self {
        match status {
            SessionStatus::New => Self::new("new", Tone::Neutral),
            SessionStatus::Working => Self::working(),
            SessionStatus::Done => Self::new("done", Tone::Success),
            SessionStatus::Stopped => Self::new("stopped", Tone::Neutral),
            SessionStatus::Interrupted => Self::new("interrupted", Tone::Warning),
            SessionStatus::Failed(why) => Self {
                detail: why.clone(),
                ..Self::new("failed", Tone::Error)
            },
        }
    }

    /// The state of an agent on the board; `None` if its session tells more.
    fn of_job(state: &JobState) -> Option<Self> {
        match state {
            JobState::Queued | JobState::Starting | JobState::Working => Some(Self::working()),
            JobState::Waiting { input } => Some(Self::waiting(match input {
                AwaitedInput::Permission { title, .. } => title,
                AwaitedInput::Answer { text, .. } => text,
            })),
            JobState::Paused => Some(Self::new("paused", Tone::Neutral)),
            JobState::Landed { .. } => Some(Self::new("landed", Tone::Success)),
            JobState::Conflict { .. } => Some(Self::new("conflict", Tone::Warning)),
            JobState::Done
            | JobState::Failed { .. }
            | JobState::Stopped
            | JobState::Interrupted => None,
        }
    }
}

impl ComposerPanel {
    /// The state of a session: of its turn if it runs, or else as stored.
    fn row_state(&self, entry: &SessionEntry) -> RowState {
        let running = self.running.iter().find(|it| it.id == entry.id);
        match running.map(|it| (it.activity, it.waiting_for.as_str())) {
            Some((SessionActivity::Working, _)) => return RowState::working(),
            Some((SessionActivity::WaitingForUser, call)) => return RowState::waiting(call),
            Some((SessionActivity::Idle, _)) | None => {}
        }
        let job = self.jobs().iter().find(|job| {
            let session = job.status.session.as_ref();
            session.is_some_and(|session| *session == entry.id)
        });
        let of_job = job.and_then(|job| RowState::of_job(job.state()));
        of_job.unwrap_or_else(|| RowState::stored(&entry.status))
    }

    /// Renders the list of sessions with its filter.
    pub(super) fn render_sessions(&self, cx: &mut Context<Self>) -> AnyElement {
        let count = self.sessions.list.len();
        let rows = if count == 0 {
            self.render_no_sessions()
        } else {
            uniform_list(
                "session-rows",
                count,
                cx.processor(Self::render_session_rows),
            )
            .track_scroll(&self.sessions.scroll)
            .size_full()
            .into_any_element()
        };
        let menu = Self::session_menu(self.sessions.list.shows_archived());
        let focus = self.list_focus.clone();
        let list = div()
            .id("agent-sessions")
            .role(Role::ListBox)
            .aria_label("Sessions")
            .test_support()
            .track_focus(&self.list_focus)
            .flex_1()
            .min_h_0()
            .px(dp(4.0))
            .child(rows)
            .menu_on_right_click(move |_, _| menu().focus(focus.clone()));
        let error = cx.theme().colors.error;
        let problem = self.sessions.problem.clone().filter(|_| count > 0);
        let problem = problem.map(|it| {
            let sentence = one_line(it);
            div()
                .id("sessions-problem")
                .role(Role::Alert)
                .aria_label(sentence.clone())
                .test_support()
                .px(dp(12.0))
                .pb(dp(4.0))
                .child(Label::new(sentence).color(error))
        });
        div()
            .key_context("Composer sessions")
            .flex()
            .flex_col()
            .size_full()
            .child(
                div().flex_none().p(dp(8.0)).child(
                    TextField::new(&self.sessions.filter, "Filter sessions").icon(Icon::Search),
                ),
            )
            .children(problem)
            .child(list)
            .child(self.render_session_counts(cx))
            .into_any_element()
    }

    fn session_menu(is_archived: bool) -> impl Fn() -> Menu + 'static {
        let archive = if is_archived { "Unarchive" } else { "Archive" };
        move || {
            Menu::new()
                .action("Open", Box::new(Open))
                .separator()
                .action("Rename", Box::new(RenameSession))
                .action(archive, Box::new(ArchiveSession))
                .action("Export as Markdown", Box::new(ExportSession))
                .separator()
                .action("Delete\u{2026}", Box::new(DeleteSession))
        }
    }

    /// Renders the numbers of sessions that are not listed, with the ways to list them.
    fn render_session_counts(&self, _: &Context<Self>) -> AnyElement {
        let list = &self.sessions.list;
        let hidden = list.hidden_by_filter();
        let hidden = (hidden > 0).then(|| {
            div()
                .id("sessions-hidden")
                .role(Role::Status)
                .test_support()
                .aria_label(format!("{hidden} hidden by filter"))
                .child(
                    Label::new(format!("{hidden} hidden by filter"))
                        .small()
                        .muted(),
                )
        });
        let archived = match (list.shows_archived(), list.archived()) {
            (true, _) => Some("Back to sessions".to_owned()),
            (false, 0) => None,
            (false, count) => Some(format!("{count} archived")),
        };
        let archived = archived.map(|label| {
            Button::new("sessions-archived", label)
                .style(ButtonStyle::Plain)
                .action(Box::new(ShowArchived))
        });
        div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(8.0))
            .px(dp(12.0))
            .py(dp(4.0))
            .children(hidden)
            .child(div().flex_1())
            .children(archived)
            .into_any_element()
    }

    fn render_no_sessions(&self) -> AnyElement {
        let list = &self.sessions.list;
        let (title, detail) = match (&self.sessions.problem, self.sessions.is_loading) {
            (Some(problem), _) => ("Cannot list sessions", problem.clone()),
            (None, true) => ("Loading\u{2026}", String::new()),
            (None, false) if list.hidden_by_filter() > 0 => (
                "No session matches",
                "Press Escape to clear the filter.".to_owned(),
            ),
            (None, false) if list.shows_archived() => ("No archived sessions", String::new()),
            (None, false) => (
                "No sessions in this folder yet",
                "Sessions that you start here are saved and listed.".to_owned(),
            ),
        };
        let name = match detail.as_str() {
            "" => title.to_owned(),
            detail => format!("{title}. {detail}"),
        };
        let state = EmptyState::new(title).icon(Icon::Bot).detail(detail);
        div()
            .id("sessions-empty")
            .role(Role::Status)
            .aria_label(one_line(name))
            .test_support()
            .size_full()
            .child(state)
            .into_any_element()
    }

    fn render_session_rows(
        &mut self,
        range: Range<usize>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        range
            .filter_map(|at| Some(self.render_session_row(at, self.sessions.list.get(at)?, cx)))
            .collect()
    }

    fn render_session_row(
        &self,
        at: usize,
        entry: &SessionEntry,
        cx: &Context<Self>,
    ) -> AnyElement {
        let state = self.row_state(entry);
        let about = about(entry, &state);
        let is_unread = entry.is_unread || self.news.contains(&entry.id);
        let unread = if is_unread { "unread, " } else { "" };
        let name = format!("{unread}{}, {}, {about}", entry.title, state.label);
        let renaming = self.sessions.renaming.as_ref();
        let renaming = renaming.filter(|renaming| renaming.id == entry.id);
        let accent = cx.theme().colors.accent;
        let title = match renaming {
            Some(renaming) => {
                TextField::new(&renaming.field, "Name of the session").into_any_element()
            }
            None => Label::new(one_line(entry.title.clone())).into_any_element(),
        };
        let mark = is_unread.then(|| {
            div()
                .flex_none()
                .size(dp(8.0))
                .rounded_full()
                .bg(accent)
                .into_any_element()
        });
        let id = gpui_kit::ElementId::from(gpui_kit::SharedString::from(format!(
            "session-{}",
            entry.id
        )));
        let row = ListRow::new(id, name)
            .lines(2)
            .selected(self.sessions.list.selected_index() == Some(at));
        // A click into the field for the name opens nothing.
        let row = match renaming {
            Some(_) => row,
            None => row.on_click(cx.listener(move |this, _, window, cx| {
                this.sessions.list.select(at);
                this.open_selected_session(window, cx);
            })),
        };
        let row = row.child(
            div()
                .flex()
                .flex_col()
                .flex_1()
                .min_w_0()
                .child(
                    div()
                        .flex()
                        .items_center()
                        .gap(dp(6.0))
                        .min_w_0()
                        .children(mark)
                        .child(div().flex_1().min_w_0().child(title))
                        .child(Badge::new(state.label).tone(state.tone)),
                )
                .child(Label::new(about).small().muted()),
        );
        div()
            .on_mouse_down(
                MouseButton::Right,
                cx.listener(move |this, _, _, cx| {
                    this.sessions.list.select(at);
                    cx.notify();
                }),
            )
            .child(row)
            .into_any_element()
    }
}

/// The second line of a row: what the session waits for, place, model, cost and age.
fn about(entry: &SessionEntry, state: &RowState) -> String {
    let place = entry.agent.as_ref().map_or("Here", |it| &it.branch);
    let cost = entry.cost_nano.filter(|cost| *cost > 0).map(dollars);
    let detail = Some(state.detail.clone());
    let parts = [
        detail,
        Some(place.to_owned()),
        Some(entry.model.clone()),
        cost,
        Some(age(entry.age_ms)),
    ];
    let parts = parts.into_iter().flatten().filter(|it| !it.is_empty());
    one_line(parts.collect::<Vec<_>>().join(" \u{b7} ")).to_string()
}

/// Formats an age, given in milliseconds, in its largest unit.
pub fn age(millis: u64) -> String {
    let minutes = millis / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1_440 => format!("{} h ago", minutes / 60),
        1_440..2_880 => "yesterday".to_owned(),
        _ => format!("{} days ago", minutes / 1_440),
    }
}

/// Formats a cost, given in billionths of a US dollar, in dollars.
pub(super) fn dollars(nano: u64) -> String {
    let dollars = nano as f64 / 1e9;
    match dollars {
        it if it >= 0.1 => format!("${it:.2}"),
        it if it >= 0.001 => format!("${it:.3}"),
        _ => "under $0.001".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::SessionAgent;

    #[test]
    fn a_row_tells_place_model_cost_age_and_what_it_waits_for() {
        let mut entry = SessionEntry {
            id: "s".to_owned(),
            title: "Mend the roof".to_owned(),
            age_ms: 125_000,
            model: "far/big".to_owned(),
            cost_nano: Some(250_000_000),
            status: SessionStatus::Done,
            agent: None,
            is_archived: false,
            is_unread: false,
        };
        let done = RowState::stored(&entry.status);
        assert_eq!(
            about(&entry, &done),
            "Here \u{b7} far/big \u{b7} $0.25 \u{b7} 2 min ago"
        );
        entry.agent = Some(SessionAgent {
            branch: "burin/roof".to_owned(),
            job: None,
        });
        entry.cost_nano = None;
        assert_eq!(
            about(&entry, &RowState::waiting("cargo\ntest")),
            "cargo\u{240a}test \u{b7} burin/roof \u{b7} far/big \u{b7} 2 min ago"
        );
    }

    #[test]
    fn ages_are_in_their_largest_unit() {
        let minutes = [0, 1, 59, 60, 1_439, 1_440, 2_880];
        let ages = minutes.map(|count| age(count * 60_000));
        let expected = [
            "now",
            "1 min ago",
            "59 min ago",
            "1 h ago",
            "23 h ago",
            "yesterday",
            "2 days ago",
        ];
        assert_eq!(ages, expected);
    }
}

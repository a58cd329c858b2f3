//! The page with the list of sessions.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div,
};
use ui::{ActiveTheme as _, EmptyState, Icon, Label, ListRow, dp};

use super::{ComposerPanel, PanelPage, SessionListState};
use crate::actions::ShowSessions;
use crate::agents::SessionActivity;

impl ComposerPanel {
    pub(super) fn show_sessions(
        &mut self,
        _: &ShowSessions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self.page = PanelPage::Sessions;
        self.sessions.is_loading = true;
        self.list_focus.focus(window, cx);
        self.loads.listing = Some(cx.spawn_in(window, async move |this, cx| {
            let listed = agents.sessions(root).await;
            // The window may be gone by then.
            this.update(cx, |this, cx| {
                this.sessions = match listed {
                    Ok(lines) => SessionListState {
                        lines,
                        ..SessionListState::default()
                    },
                    Err(problem) => SessionListState {
                        problem: Some(problem.to_string()),
                        ..SessionListState::default()
                    },
                };
                cx.notify();
            })
            .ok();
        }));
        cx.notify();
    }

    /// Shows the list of sessions, for commands of the window.
    pub fn list_sessions(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.show_sessions(&ShowSessions, window, cx);
    }

    /// Opens the selected session in the panel.
    pub(super) fn open_selected_session(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let line = self.sessions.lines.get(self.sessions.selected);
        let (Some(agents), Some(root), Some(id)) = (
            self.agents.clone(),
            self.root.clone(),
            line.map(|line| line.id.clone()),
        ) else {
            return;
        };
        if self.open.as_ref().is_some_and(|open| open.live.id == id) {
            self.loads.opening = None;
            self.page = PanelPage::Session;
            self.focus_prompt(window, cx);
            cx.notify();
            return;
        }
        self.loads.opening = Some(cx.spawn_in(window, async move |this, cx| {
            let opened = agents.open(root, id).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| match opened {
                Ok(live) => {
                    this.show(live, window, cx);
                    this.page = PanelPage::Session;
                    this.focus_prompt(window, cx);
                }
                Err(error) => {
                    this.sessions.problem = Some(error.to_string());
                    cx.notify();
                }
            })
            .ok();
        }));
    }

    /// Renders the list of sessions.
    pub(super) fn render_sessions(&self, cx: &mut Context<Self>) -> AnyElement {
        let content = if self.sessions.lines.is_empty() {
            vec![self.render_no_sessions()]
        } else {
            self.render_session_rows(cx)
        };
        div()
            .id("agent-sessions")
            .role(Role::ListBox)
            .aria_label("Sessions")
            .test_support()
            .track_focus(&self.list_focus)
            .key_context("Composer sessions")
            .size_full()
            .overflow_y_scroll()
            .p(dp(4.0))
            .children(content)
            .into_any_element()
    }

    fn render_no_sessions(&self) -> AnyElement {
        let (title, detail) = match (&self.sessions.problem, self.sessions.is_loading) {
            (Some(problem), _) => ("Cannot list sessions", problem.clone()),
            (None, true) => ("Loading\u{2026}", String::new()),
            (None, false) => (
                "No sessions in this folder yet",
                "Sessions that you start here are saved and listed.".to_owned(),
            ),
        };
        let state = EmptyState::new(title).icon(Icon::Bot).detail(detail);
        div().size_full().child(state).into_any_element()
    }

    fn render_session_rows(&self, cx: &mut Context<Self>) -> Vec<AnyElement> {
        let error = cx.theme().colors.error;
        let problem = self.sessions.problem.clone();
        let problem = problem.map(|it| Label::new(it).color(error).into_any_element());
        let rows = self.sessions.lines.iter().enumerate().map(|(at, line)| {
            let cost = line.cost_nano.filter(|cost| *cost > 0).map(dollars);
            let state = match self.activity(&line.id) {
                Some(SessionActivity::Working) => "working".to_owned(),
                Some(SessionActivity::WaitingForUser) => "needs your approval or answer".to_owned(),
                Some(SessionActivity::Idle) | None => line.end.clone(),
            };
            let about = [Some(line.model.clone()), cost, Some(state)];
            let about = about.into_iter().flatten().filter(|it| !it.is_empty());
            let about: Vec<String> = about.collect();
            let about = about.join(" \u{b7} ");
            ListRow::new(("session", at), format!("{}, {about}", line.title))
                .lines(2)
                .selected(at == self.sessions.selected)
                .on_click(cx.listener(move |this, _, window, cx| {
                    this.sessions.selected = at;
                    this.open_selected_session(window, cx);
                }))
                .child(
                    div()
                        .flex()
                        .flex_col()
                        .min_w_0()
                        .child(Label::new(line.title.clone()))
                        .child(Label::new(about).small().muted()),
                )
                .into_any_element()
        });
        problem.into_iter().chain(rows).collect()
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

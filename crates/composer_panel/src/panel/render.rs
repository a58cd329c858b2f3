//! Renders the panel: header, the page, and the prompt.

use base::{LineFeeds, printable};
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Render,
    Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div, list,
};
use ui::{
    ActiveTheme as _, Button, ButtonStyle, EmptyState, Icon, IconButton, Label, Menu, MenuExt as _,
    dp,
};

use super::{ComposerPanel, PanelPage, context_meter};
use crate::actions::{
    Copy, DeleteSession, ExportSession, ForkSession, NewSession, OpenTerminal, PinMessage,
    RenameSession, ShowBoard, ShowSessions,
};

impl ComposerPanel {
    fn render_head(&self, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let title = match self.page {
            PanelPage::Sessions => Some("Sessions".to_owned()),
            PanelPage::Board => Some(self.board_title()),
            PanelPage::Changes => Some("Changes".to_owned()),
            PanelPage::Spending => Some("Cost of models".to_owned()),
            PanelPage::Quality => Some("Quality".to_owned()),
            PanelPage::Automations => Some("Automations".to_owned()),
            PanelPage::Session => self.open.as_ref().and_then(|open| {
                let listed = self.sessions.list.find(&open.live.id);
                let listed = listed.map(|entry| entry.title.clone());
                listed.or_else(|| open.transcript.title())
            }),
        };
        div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(4.0))
            .h(dp(32.0))
            .pl(dp(12.0))
            .pr(dp(4.0))
            .border_b_1()
            .border_color(colors.border)
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(Label::new(title.unwrap_or_else(|| "New session".to_owned())).strong()),
            )
            .children(self.render_machine())
            .children(self.render_alarm_chip())
            .child(
                IconButton::new("agent-board-button", Icon::GitBranch, "Board")
                    .pressed(self.page == PanelPage::Board)
                    .action(Box::new(ShowBoard)),
            )
            .child(
                IconButton::new("agent-new", Icon::Plus, "New session")
                    .action(Box::new(NewSession)),
            )
            .child(
                IconButton::new("agent-sessions-button", Icon::Clock, "Sessions")
                    .pressed(self.page == PanelPage::Sessions)
                    .action(Box::new(ShowSessions)),
            )
            .into_any_element()
    }

    fn board_title(&self) -> String {
        let board = self.board.as_ref().map(|pane| &pane.board);
        let working = board.map_or(0, |board| {
            board.jobs.iter().filter(|it| it.state().is_live()).count()
        });
        let project = board.and_then(|board| board.project.clone());
        let working = match working {
            0 => None,
            1 => Some("1 agent works".to_owned()),
            count => Some(format!("{count} agents work")),
        };
        let parts = [Some("Board".to_owned()), project, working];
        parts
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" \u{b7} ")
    }

    fn render_body(&self, cx: &mut Context<Self>) -> AnyElement {
        if self.page == PanelPage::Sessions {
            return self.render_sessions(cx);
        }
        if self.page == PanelPage::Board {
            return self.render_board(cx);
        }
        if self.page == PanelPage::Changes {
            return self.render_changes(cx);
        }
        if self.page == PanelPage::Spending {
            return self.render_spending(cx);
        }
        if self.page == PanelPage::Quality {
            return self.render_quality(cx);
        }
        if self.page == PanelPage::Automations {
            return self.render_automations(cx);
        }
        let Some(open) = &self.open else {
            return self.render_start(cx);
        };
        let (this, focus) = (cx.entity(), self.list_focus.clone());
        let rows = list(open.list.clone(), move |at, _, cx| {
            this.update(cx, |this, cx| this.render_item(at, cx))
        });
        div()
            .id("agent-transcript")
            .role(Role::Log)
            .aria_label("Transcript")
            .test_support()
            .track_focus(&self.list_focus)
            .key_context("Composer transcript")
            .size_full()
            .py(dp(8.0))
            .child(rows.size_full())
            .menu_on_right_click(move |_, _| transcript_menu().focus(focus.clone()))
            .into_any_element()
    }

    /// Renders the page of a session that is being started.
    fn render_starting(&self, prompt: &str) -> AnyElement {
        let prompt = printable(prompt, LineFeeds::Keep).into_owned();
        let state = EmptyState::new("Starting the session\u{2026}").icon(Icon::Bot);
        div()
            .size_full()
            .child(state.detail(prompt))
            .into_any_element()
    }

    fn render_start(&self, cx: &mut Context<Self>) -> AnyElement {
        if let Some(prompt) = self.starts.shown_prompt() {
            return self.render_starting(prompt);
        }
        let is_cut_off = self.is_cut_off();
        let state = match (&self.agents, &self.root) {
            _ if is_cut_off => EmptyState::new("Not connected")
                .detail("Agents that run on the machine go on. The panel shows them once it is connected."),
            (None, _) => EmptyState::new("Agents not available")
                .detail("This window was started without agent support."),
            (_, None) => EmptyState::new("Open a folder first")
                .detail("An agent works inside a single folder."),
            _ => EmptyState::new("What would you like to do?").detail(match self.models.advice.as_str() {
                "" => "Describe the task below. The agent reads, edits and runs commands in this folder; it asks before running commands.",
                advice => advice,
            }.to_owned()),
        };
        let can_demo = !is_cut_off
            && self.root.is_some()
            && self.agents.is_some()
            && !self.models.advice.is_empty();
        div()
            .size_full()
            .child(state.icon(Icon::Bot).children(can_demo.then(|| {
                Button::new("agent-demo", "Try it with the demo model")
                    .style(ButtonStyle::Plain)
                    .on_click(cx.listener(|this, _, window, cx| {
                        this.set_model("demo".to_owned(), cx);
                        if this.prompt.read(cx).value().trim().is_empty() {
                            this.append_to_prompt("Fix the failing test", window, cx);
                        }
                        this.focus_prompt(window, cx);
                    }))
            })))
            .into_any_element()
    }
}

/// The menu of an item of the transcript.
fn transcript_menu() -> Menu {
    Menu::new()
        .action("Fork from here", Box::new(ForkSession))
        .action("Copy", Box::new(Copy))
        .action("Pin or unpin", Box::new(PinMessage))
        .action("Open in terminal", Box::new(OpenTerminal))
        .separator()
        .action("Rename session", Box::new(RenameSession))
        .action("Export session as Markdown", Box::new(ExportSession))
        .action("Delete session\u{2026}", Box::new(DeleteSession))
}

impl Render for ComposerPanel {
    fn render(
        &mut self,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> impl gpui_kit::IntoElement {
        let colors = cx.theme().colors;
        let body = self.render_body(cx);
        let prompt = match self.page {
            PanelPage::Session | PanelPage::Board => Some(self.render_prompt(window, cx)),
            PanelPage::Sessions
            | PanelPage::Changes
            | PanelPage::Spending
            | PanelPage::Quality
            | PanelPage::Automations => None,
        };
        let element = div()
            .id("composer")
            .role(Role::Region)
            .aria_label("Agents")
            .test_support()
            .track_focus(&self.focus)
            .key_context("Composer")
            .on_action(cx.listener(Self::send_action))
            .on_action(cx.listener(Self::queue_action))
            .on_action(cx.listener(Self::focus_queue))
            .on_action(cx.listener(Self::send_queue))
            .on_action(cx.listener(Self::accept_action))
            .on_action(cx.listener(Self::previous_prompt))
            .on_action(cx.listener(Self::next_prompt))
            .on_action(cx.listener(Self::stop))
            .on_action(cx.listener(Self::new_session))
            .on_action(cx.listener(Self::show_sessions))
            .on_action(cx.listener(Self::rename_session))
            .on_action(cx.listener(Self::archive_session))
            .on_action(cx.listener(Self::show_archived))
            .on_action(cx.listener(Self::ask_to_delete_session))
            .on_action(cx.listener(Self::fork_session))
            .on_action(cx.listener(Self::export_session))
            .on_action(cx.listener(Self::choose_model))
            .on_action(cx.listener(Self::next_mode))
            .on_action(cx.listener(Self::allow_once))
            .on_action(cx.listener(Self::allow_for_session))
            .on_action(cx.listener(Self::show_rest))
            .on_action(cx.listener(Self::refuse))
            .on_action(cx.listener(Self::trust_folder))
            .on_action(cx.listener(Self::distrust_folder))
            .on_action(cx.listener(Self::allow_hooks))
            .on_action(cx.listener(Self::select_next))
            .on_action(cx.listener(Self::select_previous))
            .on_action(cx.listener(Self::select_last))
            .on_action(cx.listener(Self::open_item))
            .on_action(cx.listener(Self::open_file))
            .on_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::cancel))
            .on_action(cx.listener(Self::show_board))
            .on_action(cx.listener(Self::next_count))
            .on_action(cx.listener(Self::jump_to_review))
            .on_action(cx.listener(Self::accept_hunk))
            .on_action(cx.listener(Self::reject_hunk))
            .on_action(cx.listener(Self::accept_agent))
            .on_action(cx.listener(Self::undo_verdict))
            .on_action(cx.listener(Self::land))
            .on_action(cx.listener(Self::land_with_errors))
            .on_action(cx.listener(Self::undo_landing))
            .on_action(cx.listener(Self::pause_agent))
            .on_action(cx.listener(Self::stop_agent))
            .on_action(cx.listener(Self::remove_agent))
            .on_action(cx.listener(Self::write_dispute))
            .on_action(cx.listener(Self::give_up_landing))
            .on_action(cx.listener(Self::fork_agent))
            .on_action(cx.listener(Self::bring_here))
            .on_action(cx.listener(Self::send_there))
            .on_action(cx.listener(Self::restore_turn))
            .on_action(cx.listener(Self::undo_restore))
            .on_action(cx.listener(Self::compare_agents))
            .on_action(cx.listener(Self::review_changes))
            .on_action(cx.listener(Self::keep_all_changes))
            .on_action(cx.listener(Self::reject_all_changes))
            .on_action(cx.listener(Self::keep_file_changes))
            .on_action(cx.listener(Self::reject_file_changes))
            .on_action(cx.listener(Self::reject_turn_changes))
            .on_action(cx.listener(Self::restore_selected))
            .on_action(cx.listener(Self::comment_on_change));
        context_meter::with_actions(element, cx)
            .size_full()
            .flex()
            .flex_col()
            .bg(colors.raised)
            .text_color(colors.text)
            .text_size(dp(13.0))
            .child(self.render_head(cx))
            .children(self.render_link_problem())
            .child(div().flex_1().min_h_0().overflow_hidden().child(body))
            .children(self.render_change_bar(cx))
            .children(prompt)
    }
}

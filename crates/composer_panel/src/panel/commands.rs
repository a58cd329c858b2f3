//! Handles the panel's actions and sends commands to the session.

use agent::SessionCommand;
use agent::record::{Delivery, SessionMode};
use agent::session::UserPrompt;
use agent::user_prompts::PermissionDecision;
use gpui_kit::{ClipboardItem, Context, Focusable as _, Window};

use super::board::AgentCount;
use super::questions::through_subagents;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::{
    AllowForSession, AllowOnce, Cancel, Copy, JumpToReview, NewSession, Open, OpenFile, Refuse,
    SelectLast, SelectNext, SelectPrevious, Send, Stop,
};
use crate::transcript::TranscriptEntry;

/// The mode of a session that a prepared prompt begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftMode {
    /// Answers questions; nothing changes.
    Ask,
    /// The mode that the user chose for new sessions.
    Chosen,
}

impl ComposerPanel {
    /// Shows a page with the focus in its list, or returns from it to the session. Returns whether the page is shown
    /// now. The caller notifies.
    pub(super) fn toggle_page(
        &mut self,
        page: PanelPage,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        if self.page == page {
            self.page = PanelPage::Session;
            self.focus_prompt(window, cx);
            return false;
        }
        self.page = page;
        self.list_focus.focus(window, cx);
        true
    }

    pub(super) fn send_action(&mut self, _: &Send, window: &mut Window, cx: &mut Context<Self>) {
        self.send(window, cx);
    }

    /// Sends the prompt: to the open session, or to a new one.
    pub(super) fn send(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.send_with(Delivery::NextRequest, window, cx);
    }

    /// Sends the prompt. `delivery` decides when a running turn's session takes it.
    pub(super) fn send_with(
        &mut self,
        delivery: Delivery,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let text = self.prompt.read(cx).value().trim().to_owned();
        if text.is_empty() && self.images.is_empty() {
            return;
        }
        if let Some(asked) = self.open_question() {
            if self.revealed(&asked.question.text).hidden() == 0 {
                self.answer_question(text, cx);
                self.clear_prompt(window, cx);
            }
            return;
        }
        let is_for_board = self.page == PanelPage::Board
            || self.external.is_some()
            || (!self.has_session() && self.count != AgentCount::InFolder);
        if is_for_board && !self.images.is_empty() {
            self.error = Some(
                "Agents in worktrees take no images yet. Remove the images to send.".to_owned(),
            );
            cx.notify();
            return;
        }
        let Some(images) = self.take_images(cx) else {
            return;
        };
        self.recall.push(&text);
        if is_for_board {
            self.send_to_board(text, window, cx);
            return;
        }
        let prompt = UserPrompt { text, images };
        if let Some(open) = &self.open {
            if open.transcript.is_running() {
                open.queue_prompt(prompt, delivery);
            } else {
                (open.live.send)(SessionCommand::Prompt(prompt));
            }
            open.list.scroll_to_end();
            open.is_stopping.set(false);
            self.error = None;
            self.clear_prompt(window, cx);
            return;
        }
        self.start_session(prompt, window, cx);
    }

    pub(super) fn new_session(
        &mut self,
        _: &NewSession,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.turn_draft_to("", window, cx);
        self.starts.draft_mode = None;
        self.open = None;
        self.meter.leave_session();
        self.starts.hide();
        self.loads.opening = None;
        self.error = None;
        self.page = PanelPage::Session;
        self.focus_prompt(window, cx);
        cx.notify();
    }

    /// Moves the focus to the prompt.
    pub fn focus_prompt(&self, window: &mut Window, cx: &mut Context<Self>) {
        self.prompt.read(cx).focus_handle(cx).focus(window, cx);
    }

    /// Prepares a new session with `text` in its prompt, for the user to complete and send. Text that is already in
    /// the prompt stays before it.
    pub fn draft_prompt(&mut self, text: &str, window: &mut Window, cx: &mut Context<Self>) {
        self.new_session(&NewSession, window, cx);
        self.append_to_prompt(text, window, cx);
    }

    /// Prepares a new session as `draft_prompt` does, with `text` and a mention of `name` in its prompt.
    pub fn draft_with_mention(
        &mut self,
        text: &str,
        name: &str,
        mode: DraftMode,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.draft_prompt(&format!("{text} "), window, cx);
        self.mention_at_caret(name, window, cx);
        self.starts.draft_mode = match mode {
            DraftMode::Ask => Some(SessionMode::Ask),
            DraftMode::Chosen => None,
        };
    }

    /// Adds `text` to the prompt, after the draft, for the open session or a new one, and focuses the
    /// prompt. In the list of sessions, the session page is shown again.
    pub fn add_to_prompt(&mut self, text: &str, window: &mut Window, cx: &mut Context<Self>) {
        if matches!(
            self.page,
            PanelPage::Sessions | PanelPage::Spending | PanelPage::Quality | PanelPage::Automations
        ) {
            self.page = PanelPage::Session;
        }
        self.append_to_prompt(text, window, cx);
        self.focus_prompt(window, cx);
    }

    /// Prepares a new session, for commands of the window.
    pub fn open_new_session(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.new_session(&NewSession, window, cx);
    }

    pub(super) fn stop(&mut self, _: &Stop, window: &mut Window, cx: &mut Context<Self>) {
        self.cancel_session_start(window, cx);
        self.stop_turn();
    }

    /// Stops the running turn of the open session. Does nothing if no session is open.
    pub fn stop_turn(&self) {
        if let Some(open) = &self.open {
            open.is_stopping.set(true);
            (open.live.send)(SessionCommand::Stop);
        }
    }

    pub(super) fn allow_once(&mut self, _: &AllowOnce, _: &mut Window, _: &mut Context<Self>) {
        self.answer_permission(PermissionDecision::Once);
    }

    pub(super) fn allow_for_session(
        &mut self,
        _: &AllowForSession,
        _: &mut Window,
        _: &mut Context<Self>,
    ) {
        self.answer_permission(PermissionDecision::Session);
    }

    pub(super) fn refuse(&mut self, _: &Refuse, _: &mut Window, _: &mut Context<Self>) {
        self.answer_permission(PermissionDecision::Refuse { instead: None });
    }

    /// Answers the pending permission request. Does nothing if no request is pending, or if the
    /// decision would permit a call whose text is still partly hidden.
    pub(super) fn answer_permission(&self, decision: PermissionDecision) {
        let Some(open) = &self.open else {
            return;
        };
        let Some(asking) = open.transcript.pending_approval() else {
            return;
        };
        let is_refusal = matches!(decision, PermissionDecision::Refuse { .. });
        if !is_refusal && self.revealed(&asking.call.details).hidden() > 0 {
            return;
        }
        let decide = SessionCommand::Decide {
            call: asking.call.id.clone(),
            decision,
        };
        (open.live.send)(through_subagents(asking.subagents.into_iter(), decide));
    }

    pub(super) fn select_next(
        &mut self,
        _: &SelectNext,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(1, window, cx);
    }

    pub(super) fn select_previous(
        &mut self,
        _: &SelectPrevious,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(-1, window, cx);
    }

    pub(super) fn select_last(
        &mut self,
        _: &SelectLast,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(isize::MAX, window, cx);
    }

    /// Moves the selection and focuses the list.
    fn select_by(&mut self, step: isize, window: &mut Window, cx: &mut Context<Self>) {
        if self.page == PanelPage::Sessions {
            self.step_session(step, cx);
            return;
        }
        self.list_focus.focus(window, cx);
        let by = |at: Option<usize>, count: usize| match at {
            _ if count == 0 => None,
            Some(at) => Some(at.saturating_add_signed(step).min(count - 1)),
            None => Some(count - 1),
        };
        match (self.page, &mut self.open) {
            (PanelPage::Session, Some(open)) => {
                open.selected = by(open.selected, open.transcript.items().len());
                if let Some(at) = open.selected {
                    open.list.scroll_to_reveal_item(at);
                }
            }
            (PanelPage::Board, _) => self.step_board(step < 0, cx),
            (PanelPage::Changes, _) => self.step_change(step < 0),
            (PanelPage::Automations, _) => self.step_automation(step, cx),
            (PanelPage::Session | PanelPage::Sessions, None)
            | (PanelPage::Sessions, Some(_))
            | (PanelPage::Spending | PanelPage::Quality, _) => {}
        }
        cx.notify();
    }

    pub(super) fn open_item(&mut self, _: &Open, window: &mut Window, cx: &mut Context<Self>) {
        if self.page == PanelPage::Board {
            self.open_on_board(window, cx);
            return;
        }
        if self.page == PanelPage::Sessions {
            self.open_selected_session(window, cx);
            return;
        }
        if self.page == PanelPage::Automations {
            self.open_automation_result(window, cx);
            return;
        }
        if self.page == PanelPage::Changes {
            self.open_change(cx);
            return;
        }
        if let Some(at) = self.open.as_ref().and_then(|open| open.selected) {
            self.toggle_item(at, cx);
        }
    }

    /// Expands or collapses an item of the transcript.
    pub(super) fn toggle_item(&mut self, at: usize, cx: &mut Context<Self>) {
        let Some(open) = &mut self.open else {
            return;
        };
        if !open.opened.remove(&at) {
            open.opened.insert(at);
        }
        open.list.remeasure_items(at..at + 1);
        cx.notify();
    }

    pub(super) fn open_file(&mut self, _: &OpenFile, _: &mut Window, cx: &mut Context<Self>) {
        if self.page == PanelPage::Board {
            self.open_hunk(cx);
            return;
        }
        if self.page == PanelPage::Automations {
            self.open_automation_file(cx);
            return;
        }
        if self.page == PanelPage::Changes {
            self.open_change(cx);
            return;
        }
        let Some((open, at)) = self.open.as_ref().and_then(|it| Some((it, it.selected?))) else {
            return;
        };
        if let Some((path, line)) = open.transcript.items().get(at).and_then(file_of) {
            let path = open.live.root.join(path);
            cx.emit(PanelEvent::OpenFile(path, line));
        }
    }

    pub(super) fn copy(&mut self, _: &Copy, _: &mut Window, cx: &mut Context<Self>) {
        let Some((open, at)) = self.open.as_ref().and_then(|it| Some((it, it.selected?))) else {
            return;
        };
        if let Some(text) = open.transcript.items().get(at).map(item_text) {
            cx.write_to_clipboard(ClipboardItem::new_string(text));
        }
    }

    pub(super) fn cancel(&mut self, _: &Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.dismiss_completion(cx) || self.cancel_comment(window, cx) {
            return;
        }
        let in_review = self.board.as_ref().is_some_and(|pane| pane.in_review);
        if self.cancel_external(cx) || (self.page == PanelPage::Board && self.cancel_fork(cx)) {
            self.list_focus.focus(window, cx);
        } else if self.page == PanelPage::Board && in_review && self.list_focus.is_focused(window) {
            self.jump_to_review(&JumpToReview, window, cx);
        } else if matches!(
            self.page,
            PanelPage::Changes | PanelPage::Spending | PanelPage::Quality | PanelPage::Automations
        ) {
            self.page = PanelPage::Session;
            self.focus_prompt(window, cx);
            cx.notify();
        } else if self.page == PanelPage::Sessions {
            self.cancel_sessions(window, cx);
        } else if self.list_focus.is_focused(window) {
            self.focus_prompt(window, cx);
        } else {
            cx.emit(PanelEvent::Leave);
        }
    }
}

/// The file that an item is about, and a line in it.
fn file_of(item: &TranscriptEntry) -> Option<(&str, Option<u32>)> {
    use agent::tool::ToolDisplay;
    let TranscriptEntry::Call(call) = item else {
        return None;
    };
    call.shown.iter().find_map(|shown| match shown {
        ToolDisplay::Diff { path, .. } => Some((path.as_str(), None)),
        ToolDisplay::Places(places) => places
            .first()
            .map(|(path, line, _)| (path.as_str(), Some(*line))),
        ToolDisplay::Command { .. } | ToolDisplay::Plan(_) | ToolDisplay::Text(_) => None,
    })
}

/// The text to copy for an item.
fn item_text(item: &TranscriptEntry) -> String {
    match item {
        TranscriptEntry::User { text, .. }
        | TranscriptEntry::Text { text, .. }
        | TranscriptEntry::Thought { text, .. }
        | TranscriptEntry::Note { text, .. } => text.clone(),
        TranscriptEntry::Context(entries) => {
            let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
            names.join("\n")
        }
        TranscriptEntry::Call(call) => format!("{}\n{}", call.title, call.answer),
        TranscriptEntry::Compacted(item) => super::compaction::text(item),
        TranscriptEntry::End(end) => super::item::end_sentence(end),
    }
}

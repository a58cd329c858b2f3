//! What the person tells the panel, and what the panel tells the session.

use agent::Command;
use agent::ask::Decision;
use agent::record::{Handover, Mode};
use agent::session::Prompt;
use gpui_kit::{ClipboardItem, Context, Focusable as _, Window};

use super::board::Count;
use super::{ComposerPanel, PanelEvent, Shows};
use crate::actions::{
    AllowForSession, AllowOnce, Cancel, ChooseModel, Copy, JumpToReview, NewSession, NextMode,
    Open, OpenFile, Refuse, SelectLast, SelectNext, SelectPrevious, Send, Stop,
};
use crate::agents::NewSession as Wanted;
use crate::transcript::Item;

impl ComposerPanel {
    pub(super) fn send_action(&mut self, _: &Send, window: &mut Window, cx: &mut Context<Self>) {
        self.send(window, cx);
    }

    /// Says what was typed: to the open session, or to a new one.
    pub(super) fn send(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let text = self.prompt.read(cx).value().trim().to_owned();
        if text.is_empty() {
            return;
        }
        let asked = self.open.as_ref().and_then(|open| open.question.as_ref());
        if asked.is_some_and(|(_, question)| self.whole(&question.text).hidden() > 0) {
            return;
        }
        let question = self.open.as_mut().and_then(|open| open.question.take());
        if let (Some(open), Some((number, _))) = (&self.open, question) {
            (open.live.tell)(Command::Reply {
                question: number,
                text: Some(text),
            });
            self.clear_prompt(window, cx);
            return;
        }
        if self.shows == Shows::Board || (self.open.is_none() && self.count != Count::Here) {
            self.clear_prompt(window, cx);
            self.send_to_board(text, window, cx);
            return;
        }
        let prompt = Prompt {
            text,
            images: Vec::new(),
        };
        if let Some(open) = &self.open {
            let command = match open.transcript.is_running() {
                true => Command::Steer(prompt),
                false => Command::Prompt(prompt),
            };
            (open.live.tell)(command);
            open.list.scroll_to_end();
            self.clear_prompt(window, cx);
            return;
        }
        self.begin(prompt, window, cx);
    }

    fn begin(&mut self, prompt: Prompt, window: &mut Window, cx: &mut Context<Self>) {
        let Some(agents) = self.agents.clone() else {
            return;
        };
        let Some(root) = self.root.clone() else {
            self.trouble = Some("An agent works in a folder: open one first.".to_owned());
            cx.notify();
            return;
        };
        let wanted = Wanted {
            root,
            model: self.model().to_owned(),
            mode: self.mode,
        };
        self.trouble = None;
        self.clear_prompt(window, cx);
        self._loading = Some(cx.spawn_in(window, async move |this, cx| {
            let started = agents.start(wanted).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| match started {
                Ok(live) => {
                    let tell = live.tell.clone();
                    this.show(live, window, cx);
                    tell(Command::Prompt(prompt));
                }
                Err(sentence) => {
                    let text = prompt.text.clone();
                    this.trouble = Some(sentence);
                    this.prompt
                        .update(cx, |state, cx| state.set_value(text, window, cx));
                    cx.notify();
                }
            })
            .ok();
        }));
    }

    pub(super) fn clear_prompt(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.prompt
            .update(cx, |state, cx| state.set_value("", window, cx));
    }

    pub(super) fn new_session(
        &mut self,
        _: &NewSession,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open = None;
        self.trouble = None;
        self.shows = Shows::Session;
        self.focus_prompt(window, cx);
        cx.notify();
    }

    /// Gives the prompt the keyboard.
    pub fn focus_prompt(&self, window: &mut Window, cx: &mut Context<Self>) {
        self.prompt.read(cx).focus_handle(cx).focus(window, cx);
    }

    /// Begins anew, for commands of the window.
    pub fn begin_anew(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.new_session(&NewSession, window, cx);
    }

    pub(super) fn stop(&mut self, _: &Stop, _: &mut Window, _: &mut Context<Self>) {
        self.stop_turn();
    }

    /// Stops what runs.
    pub fn stop_turn(&self) {
        if let Some(open) = &self.open {
            (open.live.tell)(Command::Stop);
        }
    }

    pub(super) fn choose_model(&mut self, _: &ChooseModel, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(PanelEvent::ChooseModel);
    }

    /// Another model answers from the next request on.
    pub fn set_model(&mut self, model: String, cx: &mut Context<Self>) {
        if let Some(open) = &self.open
            && open.transcript.model() != model
        {
            (open.live.tell)(Command::Switch {
                model: model.clone(),
                how: Handover::Full,
            });
        }
        self.model = Some(model);
        cx.notify();
    }

    pub(super) fn next_mode(&mut self, _: &NextMode, _: &mut Window, cx: &mut Context<Self>) {
        self.mode = match self.mode {
            Mode::Build => Mode::Plan,
            Mode::Plan => Mode::Ask,
            Mode::Ask => Mode::Build,
        };
        if let Some(open) = &self.open {
            (open.live.tell)(Command::SetMode(self.mode));
        }
        cx.notify();
    }

    pub(super) fn allow_once(&mut self, _: &AllowOnce, _: &mut Window, _: &mut Context<Self>) {
        self.decide(Decision::Once);
    }

    pub(super) fn allow_for_session(
        &mut self,
        _: &AllowForSession,
        _: &mut Window,
        _: &mut Context<Self>,
    ) {
        self.decide(Decision::Session);
    }

    pub(super) fn refuse(&mut self, _: &Refuse, _: &mut Window, _: &mut Context<Self>) {
        self.decide(Decision::Refuse { instead: None });
    }

    /// Decides about the call that asks: the chosen one, or else the first.
    pub(super) fn decide(&self, decision: Decision) {
        let Some(open) = &self.open else {
            return;
        };
        let Some(asking) = open.transcript.asking() else {
            return;
        };
        let is_refusal = matches!(decision, Decision::Refuse { .. });
        if !is_refusal && self.whole(&asking.call.details).hidden() > 0 {
            return;
        }
        let decide = Command::Decide {
            call: asking.call.id.clone(),
            decision,
        };
        (open.live.tell)(match asking.child {
            Some(session) => Command::Child {
                session: session.to_owned(),
                command: Box::new(decide),
            },
            None => decide,
        });
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

    /// Chooses another thing, and gives the list the keyboard.
    fn select_by(&mut self, step: isize, window: &mut Window, cx: &mut Context<Self>) {
        self.list_focus.focus(window, cx);
        let by = |at: Option<usize>, count: usize| match at {
            _ if count == 0 => None,
            Some(at) => Some(at.saturating_add_signed(step).min(count - 1)),
            None => Some(count - 1),
        };
        match (self.shows, &mut self.open) {
            (Shows::Sessions, _) => {
                let count = self.sessions.lines.len();
                self.sessions.selected = by(Some(self.sessions.selected), count).unwrap_or(0);
            }
            (Shows::Session, Some(open)) => {
                open.selected = by(open.selected, open.transcript.items().len());
                if let Some(at) = open.selected {
                    open.list.scroll_to_reveal_item(at);
                }
            }
            (Shows::Board, _) => self.step_board(step < 0, cx),
            (Shows::Session, None) => {}
        }
        cx.notify();
    }

    pub(super) fn open_item(&mut self, _: &Open, window: &mut Window, cx: &mut Context<Self>) {
        if self.shows == Shows::Board {
            self.open_on_board(window, cx);
            return;
        }
        if self.shows == Shows::Sessions {
            self.open_selected_session(window, cx);
            return;
        }
        if let Some(at) = self.open.as_ref().and_then(|open| open.selected) {
            self.toggle_item(at, cx);
        }
    }

    /// Opens or closes an item of the transcript.
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
        if self.shows == Shows::Board {
            self.open_hunk(cx);
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
        if let Some(text) = open.transcript.items().get(at).map(words_of) {
            cx.write_to_clipboard(ClipboardItem::new_string(text));
        }
    }

    pub(super) fn cancel(&mut self, _: &Cancel, window: &mut Window, cx: &mut Context<Self>) {
        let in_review = self.board.as_ref().is_some_and(|face| face.in_review);
        if self.shows == Shows::Board && self.drop_fork(cx) {
            self.list_focus.focus(window, cx);
        } else if self.shows == Shows::Board && in_review && self.list_focus.is_focused(window) {
            self.jump_to_review(&JumpToReview, window, cx);
        } else if self.shows == Shows::Sessions {
            self.shows = Shows::Session;
            self.focus_prompt(window, cx);
            cx.notify();
        } else if self.list_focus.is_focused(window) {
            self.focus_prompt(window, cx);
        } else {
            cx.emit(PanelEvent::Leave);
        }
    }
}

/// The file that an item is about, and a line in it.
fn file_of(item: &Item) -> Option<(&str, Option<u32>)> {
    use agent::tool::Shown;
    let Item::Call(call) = item else {
        return None;
    };
    call.shown.iter().find_map(|shown| match shown {
        Shown::Diff { path, .. } => Some((path.as_str(), None)),
        Shown::Places(places) => places
            .first()
            .map(|(path, line, _)| (path.as_str(), Some(*line))),
        Shown::Command { .. } | Shown::Plan(_) | Shown::Text(_) => None,
    })
}

/// What copying an item gives.
fn words_of(item: &Item) -> String {
    match item {
        Item::Person { text, .. }
        | Item::Text { text, .. }
        | Item::Thought { text, .. }
        | Item::Note { text, .. } => text.clone(),
        Item::Context(entries) => {
            let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
            names.join("\n")
        }
        Item::Call(call) => format!("{}\n{}", call.title, call.answer),
        Item::End(end) => super::item::end_sentence(end),
    }
}

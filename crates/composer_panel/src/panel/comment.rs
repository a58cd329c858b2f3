//! Comments on changes: the field at a hunk, and the threads and origins that are shown below hunks.
//!
//! Invariant: a field that closes without sending keeps its text as a draft of its hunk, as long as the
//! window lives.
//! Start at `ComposerPanel::comment_on_change`; `ComposerPanel::comment_in_text` is for the text.

use std::collections::HashMap;

use agent::SessionCommand;
use agent::change_origin::ChangeOrigin;
use agent::comments::{CommentState, CommentThread, ReviewComment};
use agent::record::Delivery;
use agent::session::UserPrompt;
use base::{LineFeeds, printable};
use gpui_kit::component::input::{Enter, InputEvent, InputState};
use gpui_kit::{
    AnyElement, AppContext as _, Context, Entity, FocusHandle, Focusable as _,
    InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, Subscription, TestSupportExt as _, Window, div,
};
use ui::foreign::{multi_line, one_line};
use ui::{ActiveTheme as _, Label, TextField, dp};

use super::board::ReviewRow;
use super::folder_changes::board_hunk;
use super::{ComposerPanel, OpenSession, PanelEvent, PanelPage};
use crate::actions::CommentOnChange;
use crate::board::{BoardHunk, Command, JobCommand};

/// The comments that the user writes.
#[derive(Default)]
pub(super) struct HunkComments {
    open: Option<OpenComment>,
    /// The unsent texts, by id of the hunk.
    drafts: HashMap<String, String>,
}

/// A field in which the user writes a comment.
struct OpenComment {
    hunk: BoardHunk,
    /// The commented lines in the present file, from 1; `None` for the whole hunk.
    lines: Option<(u32, u32)>,
    field: Entity<InputState>,
    place: CommentPlace,
    has_focus: bool,
    /// The element that had the focus before.
    back: Option<FocusHandle>,
    _events: Subscription,
}

/// The view that shows the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommentPlace {
    /// A list of changes in the panel.
    List,
    /// The text with the change.
    Text,
}

/// The notes below a hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HunkNotes {
    /// The origin of the hunk as one line; empty if it is unknown.
    pub(super) origin: String,
    /// The comments on it, oldest first.
    pub(super) threads: Vec<CommentThread>,
}

impl OpenSession {
    /// Computes the notes of all hunks again.
    pub(super) fn refresh_notes(&mut self) {
        let changes = &self.folder.changes;
        let threads = changes.threads(self.comments.threads());
        let hunks = changes.hunks.iter().zip(threads);
        let notes = hunks.map(|(hunk, threads)| {
            let calls = hunk.calls.iter().map(|it| (it.turn, it.call.as_str()));
            let origin = self.origins.origin(calls);
            HunkNotes {
                origin: origin.as_ref().map(origin_line).unwrap_or_default(),
                threads: threads.into_iter().cloned().collect(),
            }
        });
        let notes: Vec<HunkNotes> = notes.collect();
        if self.folder.notes != notes {
            self.folder.notes = notes;
            self.folder.list.remeasure();
        }
    }
}

impl ComposerPanel {
    /// Opens the field for a comment on the selected change of the page.
    pub(super) fn comment_on_change(
        &mut self,
        _: &CommentOnChange,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let selected = match self.page {
            PanelPage::Changes => {
                let open = self.open.as_ref();
                open.and_then(|open| open.folder.selected()).map(board_hunk)
            }
            PanelPage::Board => {
                let pane = self.board.as_ref();
                match pane
                    .filter(|it| it.in_review)
                    .and_then(|it| it.chosen_row())
                {
                    Some(ReviewRow::Hunk(hunk)) => Some(hunk.clone()),
                    Some(ReviewRow::Conflict(_)) | None => None,
                }
            }
            PanelPage::Session
            | PanelPage::Sessions
            | PanelPage::Spending
            | PanelPage::Quality
            | PanelPage::Automations => None,
        };
        match selected {
            Some(hunk) => self.open_comment(hunk, None, CommentPlace::List, window, cx),
            // The window looks at the active text.
            None => cx.propagate(),
        }
    }

    /// Opens the field for a comment on a hunk of the list.
    pub(super) fn comment_on(&mut self, id: &str, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(hunk) = self.hunk(id) {
            self.open_comment(hunk, None, CommentPlace::List, window, cx);
        }
    }

    /// Opens the field for a comment on a hunk that a text shows; `lines` are the first and the last
    /// commented line in the file, from 1, unless the comment is about the whole hunk. The text draws
    /// the field, see `comment_field`.
    pub fn comment_in_text(
        &mut self,
        id: &str,
        lines: Option<(u32, u32)>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(hunk) = self.hunk(id) {
            self.open_comment(hunk, lines, CommentPlace::Text, window, cx);
        }
    }

    /// Returns the field for a comment on a hunk, if the hunk's text is to show it.
    pub fn comment_field(&self, hunk: &str) -> Option<Entity<InputState>> {
        let open = self.comments.open.as_ref()?;
        let is_shown = open.place == CommentPlace::Text && open.hunk.id == hunk;
        is_shown.then(|| open.field.clone())
    }

    /// Whether the user writes in the field in a list of the panel.
    pub(super) fn comments_in_list(&self) -> bool {
        let open = self.comments.open.as_ref();
        open.is_some_and(|open| open.place == CommentPlace::List && open.has_focus)
    }

    /// The hunk with this id: of the open session, or of the board.
    fn hunk(&self, id: &str) -> Option<BoardHunk> {
        let here = self.open.iter().flat_map(|open| &open.folder.changes.hunks);
        let here = here.filter(|hunk| hunk.id == id).map(board_hunk).next();
        let on_board = || {
            let hunks = &self.board()?.hunks;
            hunks.iter().find(|hunk| hunk.id == id).cloned()
        };
        here.or_else(on_board)
    }

    fn open_comment(
        &mut self,
        hunk: BoardHunk,
        lines: Option<(u32, u32)>,
        place: CommentPlace,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.leave_comment(cx);
        let draft = self.comments.drafts.remove(&hunk.id).unwrap_or_default();
        let name = format!("Comment on {}", place_of(&hunk, lines));
        let field = cx.new(|cx| {
            InputState::new(window, cx)
                .placeholder(one_line(name))
                .default_value(draft)
        });
        let events =
            cx.subscribe_in(
                &field,
                window,
                |this, _, event: &InputEvent, window, cx| match event {
                    InputEvent::PressEnter { .. } => this.send_comment(window, cx),
                    InputEvent::Focus | InputEvent::Blur => {
                        let has_focus = matches!(event, InputEvent::Focus);
                        if let Some(open) = &mut this.comments.open {
                            open.has_focus = has_focus;
                            cx.notify();
                        }
                    }
                    InputEvent::Change => {}
                },
            );
        let back = window.focused(cx);
        field.update(cx, |field, cx| field.focus(window, cx));
        self.comments.open = Some(OpenComment {
            hunk,
            lines,
            field,
            place,
            has_focus: true,
            back,
            _events: events,
        });
        self.comment_changed(cx);
    }

    /// Sends the comment to the session that made the change. A blank one closes the field.
    fn send_comment(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = self.close_comment(window, cx) else {
            return;
        };
        let words = open.field.read(cx).value();
        if words.trim().is_empty() {
            return;
        }
        let text = open.comment(&words).to_prompt();
        if open.hunk.job.is_empty() {
            self.send_to_session(text);
        } else if let Some(pane) = &self.board {
            let job = open.hunk.job;
            (pane.send)(Command::Job(JobCommand::Steer { job, text }));
        }
    }

    /// Sends a prompt to the open session, or queues it if a turn runs.
    fn send_to_session(&mut self, text: String) {
        let Some(open) = &self.open else {
            return;
        };
        let prompt = UserPrompt {
            text,
            images: Vec::new(),
        };
        if open.transcript.is_running() {
            open.queue_prompt(prompt, Delivery::NextTurn);
        } else {
            open.is_stopping.set(false);
            (open.live.send)(SessionCommand::Prompt(prompt));
        }
    }

    /// Closes the field and keeps its text. Returns `false` if there is none.
    pub fn cancel_comment(&mut self, window: &mut Window, cx: &mut Context<Self>) -> bool {
        let Some(open) = self.close_comment(window, cx) else {
            return false;
        };
        let text = open.field.read(cx).value().to_string();
        self.comments.keep(open.hunk.id, text);
        true
    }

    /// Closes the field, and gives the focus back if the field had it.
    fn close_comment(
        &mut self,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<OpenComment> {
        let open = self.comments.open.take()?;
        let focus = open.field.read(cx).focus_handle(cx);
        if focus.contains_focused(window, cx) {
            match (&open.back, open.place) {
                (Some(back), _) => back.focus(window, cx),
                (None, CommentPlace::List) => self.list_focus.focus(window, cx),
                (None, CommentPlace::Text) => cx.emit(PanelEvent::Leave),
            }
        }
        self.comment_changed(cx);
        Some(open)
    }

    /// Closes the field because its hunk is not shown any more, and keeps its text.
    pub(super) fn leave_comment(&mut self, cx: &mut Context<Self>) {
        if let Some(open) = self.comments.open.take() {
            let text = open.field.read(cx).value().to_string();
            self.comments.keep(open.hunk.id, text);
            self.comment_changed(cx);
        }
    }

    /// Follows the hunk of the field after the changes have changed: a mended hunk keeps the field, and
    /// without a hunk the field closes.
    pub(super) fn follow_commented_hunk(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = &self.comments.open else {
            return;
        };
        let hunk = self.hunk(&open.hunk.id).or_else(|| self.mended(&open.hunk));
        let Some(hunk) = hunk else {
            self.cancel_comment(window, cx);
            return;
        };
        if let Some(open) = &mut self.comments.open {
            open.hunk = hunk;
        }
    }

    /// The hunk that a changed hunk has become: the nearest one of its file.
    fn mended(&self, gone: &BoardHunk) -> Option<BoardHunk> {
        let nearest = |hunk: &BoardHunk| hunk.line.abs_diff(gone.line);
        if gone.job.is_empty() {
            let here = self.open.iter().flat_map(|open| &open.folder.changes.hunks);
            let own = here.filter(|hunk| hunk.path == gone.path).map(board_hunk);
            return own.min_by_key(nearest);
        }
        let hunks = self.board()?.hunks_of(Some(gone.job.as_str()));
        let own = hunks.filter(|hunk| hunk.path == gone.path);
        own.min_by_key(|hunk| nearest(hunk)).cloned()
    }

    /// Redraws the lists and texts after a field opened or closed.
    fn comment_changed(&self, cx: &mut Context<Self>) {
        if let Some(open) = &self.open {
            open.folder.list.remeasure();
        }
        if let Some(pane) = &self.board {
            pane.list.remeasure();
        }
        cx.emit(PanelEvent::BoardChanged);
        cx.notify();
    }

    /// Renders the field for a comment below a hunk of a list, if it is open there.
    pub(super) fn render_comment_field(&self, hunk: &str) -> Option<AnyElement> {
        let open = self.comments.open.as_ref()?;
        let is_shown = open.place == CommentPlace::List && open.hunk.id == hunk;
        is_shown.then(|| comment_field(&open.field))
    }
}

impl HunkComments {
    fn keep(&mut self, hunk: String, text: String) {
        if !text.trim().is_empty() {
            self.drafts.insert(hunk, text);
        }
    }
}

impl OpenComment {
    fn comment(&self, words: &str) -> ReviewComment {
        let hunk = &self.hunk;
        let Some((first, last)) = self.lines else {
            let quote = (&hunk.before[..], &hunk.after[..]);
            return ReviewComment::new(&hunk.path, lines_of(hunk), quote, words);
        };
        let index = |line: u32| (line.saturating_sub(hunk.line) as usize).min(hunk.after.len());
        let added = &hunk.after[index(first)..index(last.saturating_add(1))];
        ReviewComment::new(&hunk.path, (first, last), (&[], added), words)
    }
}

/// Renders the field of a comment.
pub fn comment_field(field: &Entity<InputState>) -> AnyElement {
    div()
        .key_context("HunkComment")
        // The field reports the key, which must not reach the view around it.
        .on_action(|_: &Enter, _, _| {})
        .w_full()
        .px(dp(8.0))
        .py(dp(4.0))
        .child(TextField::new(field, "Comment on the change"))
        .into_any_element()
}

/// The first and the last line of a hunk in the present file, from 1.
fn lines_of(hunk: &BoardHunk) -> (u32, u32) {
    let more = u32::try_from(hunk.after.len()).unwrap_or(u32::MAX);
    (hunk.line, hunk.line.saturating_add(more.saturating_sub(1)))
}

fn place_of(hunk: &BoardHunk, lines: Option<(u32, u32)>) -> String {
    let (first, last) = lines.unwrap_or_else(|| lines_of(hunk));
    if first < last {
        format!("{} lines {first}\u{2013}{last}", hunk.path)
    } else {
        format!("{} line {first}", hunk.path)
    }
}

/// Describes the origin of a hunk in one line.
fn origin_line(origin: &ChangeOrigin) -> String {
    let parts = [
        (!origin.prompt.is_empty()).then(|| format!("\u{201c}{}\u{201d}", origin.prompt)),
        origin.step.as_ref().map(|step| format!("step: {step}")),
        (!origin.call.is_empty()).then(|| origin.call.clone()),
        (!origin.checks.is_empty()).then(|| format!("passed since: {}", origin.checks.join(", "))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    printable(&parts.join(" \u{b7} "), LineFeeds::Escape).into_owned()
}

/// Renders the notes below a hunk: its origin, and the comments with their answers.
pub(super) fn render_notes(
    at: usize,
    notes: &HunkNotes,
    cx: &Context<ComposerPanel>,
) -> Vec<AnyElement> {
    let mut parts = Vec::new();
    if !notes.origin.is_empty() {
        let origin = Label::new(notes.origin.clone()).tiny().muted();
        let line = div()
            .id(("change-origin", at))
            .role(Role::Group)
            .aria_label(format!("Origin: {}", notes.origin))
            .test_support()
            .px(dp(8.0))
            .py(dp(2.0))
            .child(origin);
        parts.push(line.into_any_element());
    }
    let threads = notes.threads.iter().enumerate();
    parts.extend(threads.map(|(number, thread)| render_thread((at, number), thread, cx)));
    parts
}

fn render_thread(
    (at, number): (usize, usize),
    thread: &CommentThread,
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let words = printable(&thread.comment.words, LineFeeds::Keep).into_owned();
    let (state, answer) = state_of(&thread.state);
    let spoken = format!("Comment: {words}, {state}. {answer}");
    let head = div()
        .flex()
        .gap(dp(8.0))
        .child(div().min_w_0().flex_1().child(multi_line(words)))
        .child(Label::new(state).tiny().muted());
    let answer = (!answer.is_empty()).then(|| {
        div()
            .text_color(colors.muted)
            .child(multi_line(printable(&answer, LineFeeds::Keep).into_owned()))
    });
    div()
        .id(("change-comment", at * 1000 + number))
        .role(Role::Comment)
        .aria_label(one_line(spoken))
        .test_support()
        .flex()
        .flex_col()
        .gap(dp(4.0))
        .px(dp(8.0))
        .py(dp(4.0))
        .border_t_1()
        .border_color(colors.border)
        .text_size(dp(12.0))
        .child(head)
        .children(answer)
        .into_any_element()
}

/// The state of a comment in a word or two, and the answer.
fn state_of(state: &CommentState) -> (String, String) {
    match state {
        CommentState::Queued(_) => ("queued".to_owned(), String::new()),
        CommentState::Waiting => ("waiting".to_owned(), String::new()),
        CommentState::Answered(answer) => ("answered".to_owned(), answer.clone()),
        CommentState::Failed(why) => (format!("not answered: {why}"), String::new()),
    }
}

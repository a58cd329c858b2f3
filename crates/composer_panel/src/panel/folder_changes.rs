//! The changes of the open session in the user's folder: their state in the panel, and the actions
//! on them.

use composer::folder_review::{FolderAction, FolderChanges, FolderHunk, ReviewTarget, UndoOutcome};
use futures::StreamExt as _;
use gpui_kit::{Context, ListAlignment, ListState, Task, Window, px};

use super::comment::HunkNotes;
use super::{ComposerPanel, OpenSession, PanelEvent, PanelPage};
use crate::actions::{
    KeepAllChanges, KeepFileChanges, RejectAllChanges, RejectFileChanges, RejectTurnChanges,
    RestoreCheckpoint, ReviewChanges, UndoRestore,
};
use crate::agents::{Error, FolderState};
use crate::board::{BoardHunk, HunkVerdict};
use crate::transcript::TranscriptEntry;

/// The changes of a session in the user's folder, as far as they are known.
pub(super) struct FolderPane {
    pub(super) changes: FolderChanges,
    /// The reason why changes are not recorded, as a sentence.
    pub(super) problem: Option<String>,
    /// The result of the latest action, as a sentence.
    pub(super) notice: Option<String>,
    /// Id of the selected hunk.
    pub(super) row: Option<String>,
    pub(super) list: ListState,
    /// The notes of each hunk.
    pub(super) notes: Vec<HunkNotes>,
    _follow: Task<()>,
    action: Option<Task<()>>,
}

/// The restore of a session's changes that the user has to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreRequest {
    /// Number of the turn whose message is restored, from 1.
    pub turn: u64,
    /// The first line of the message.
    pub message: String,
    /// The files that would change, with the numbers of lines that go and come back.
    pub files: Vec<(String, u32, u32)>,
}

impl FolderPane {
    /// Follows the changes of a session.
    pub(super) fn following(
        panel: &ComposerPanel,
        live: &super::SessionEndpoint,
        window: &Window,
        cx: &mut Context<ComposerPanel>,
    ) -> Self {
        let states = panel.agents.as_ref();
        let states = states.map(|it| it.folder_changes(live.root.clone(), live.id.clone()));
        let id = live.id.clone();
        let follow = cx.spawn_in(window, async move |this, cx| {
            let Some(mut states) = states else {
                return;
            };
            while let Some(state) = states.next().await {
                let taken = this.update_in(cx, |this, window, cx| {
                    let open = this.open.as_mut().filter(|open| open.live.id == id);
                    if let Some(open) = open {
                        open.folder.apply(state);
                        open.refresh_notes();
                        this.follow_commented_hunk(window, cx);
                        cx.emit(PanelEvent::BoardChanged);
                        cx.notify();
                    }
                });
                if taken.is_err() {
                    return;
                }
            }
        });
        Self {
            changes: FolderChanges::default(),
            problem: None,
            notice: None,
            row: None,
            list: ListState::new(0, ListAlignment::Top, px(400.0)),
            notes: Vec::new(),
            _follow: follow,
            action: None,
        }
    }

    fn apply(&mut self, state: FolderState) {
        match state {
            FolderState::Changes(changes) => {
                self.changes = changes;
                self.problem = None;
            }
            FolderState::Unrecorded(why) => self.problem = Some(why),
        }
        let old = self.list.item_count();
        self.list.splice(0..old, self.changes.hunks.len());
        if self.selected().is_none() {
            self.row = self.changes.hunks.first().map(|it| it.id.clone());
        }
    }

    /// The selected hunk.
    pub(super) fn selected(&self) -> Option<&FolderHunk> {
        let row = self.row.as_ref()?;
        self.changes.hunks.iter().find(|it| it.id == *row)
    }

    /// Selects the next or previous hunk, and stops at both ends.
    fn step(&mut self, back: bool) {
        let hunks = &self.changes.hunks;
        let at = hunks
            .iter()
            .position(|it| Some(&it.id) == self.row.as_ref());
        let next = match (at, back) {
            (None, _) => 0,
            (Some(at), true) => at.saturating_sub(1),
            (Some(at), false) => (at + 1).min(hunks.len().saturating_sub(1)),
        };
        if let Some(hunk) = hunks.get(next) {
            self.row = Some(hunk.id.clone());
            self.list.scroll_to_reveal_item(next);
        }
    }

    /// Whether there is something to show.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.hunks.is_empty()
            && !self.changes.can_undo
            && self.problem.is_none()
            && self.notice.is_none()
    }
}

impl OpenSession {
    /// The number of the turn that a message of the user began; `None` for other items.
    fn turn_of(&self, at: usize) -> Option<(u64, String)> {
        let items = self.transcript.items().get(..=at)?;
        let starts = items.iter().filter(|item| {
            matches!(
                item,
                TranscriptEntry::User {
                    is_steering: false,
                    ..
                }
            )
        });
        let turn = starts.count() as u64;
        match items.last() {
            Some(TranscriptEntry::User { text, .. }) if turn > 0 => {
                Some((turn, text.lines().next().unwrap_or_default().to_owned()))
            }
            _ => None,
        }
    }

    /// Whether a message can be restored: the session changed files since.
    pub(super) fn can_restore(&self, at: usize) -> bool {
        self.restore_request(at).is_some()
    }

    fn restore_request(&self, at: usize) -> Option<RestoreRequest> {
        let (turn, message) = self.turn_of(at)?;
        // A turn without changes has no checkpoint; that of the next one marks the same moment.
        let mut turns = self.folder.changes.turns.iter();
        let checkpoint = turns.find(|it| it.turn >= turn)?;
        Some(RestoreRequest {
            turn,
            message,
            files: checkpoint.files.clone(),
        })
    }
}

impl ComposerPanel {
    /// The hunks of the open session in the user's folder, for other views, with the folder.
    pub fn folder_hunks(&self) -> Option<(base::AbsPath, String, Vec<BoardHunk>)> {
        let open = self.open.as_ref()?;
        let title = open.transcript.title();
        let hunks = open.folder.changes.hunks.iter();
        Some((
            open.live.root.clone(),
            title.unwrap_or_else(|| "Agent".to_owned()),
            hunks.map(board_hunk).collect(),
        ))
    }

    /// Whether a hunk belongs to the open session's changes in the user's folder.
    fn folder_target(&self, hunk: &str) -> Option<ReviewTarget> {
        let open = self.open.as_ref()?;
        let mut hunks = open.folder.changes.hunks.iter();
        hunks.find(|it| it.id == hunk).map(target_of)
    }

    /// Keeps or rejects a hunk in the user's folder. Returns whether it is one.
    pub(super) fn decide_folder_hunk(
        &mut self,
        hunk: &str,
        verdict: HunkVerdict,
        window: Option<&mut Window>,
        cx: &mut Context<Self>,
    ) -> bool {
        let Some(target) = self.folder_target(hunk) else {
            return false;
        };
        let action = match verdict {
            HunkVerdict::Accepted => FolderAction::Keep(target),
            HunkVerdict::Open | HunkVerdict::Rejected => FolderAction::Reject(target),
        };
        self.run_folder_action(action, cx);
        if let Some(window) = window {
            self.list_focus.focus(window, cx);
        }
        true
    }

    /// Runs an action on the open session's changes, and shows its result.
    fn run_folder_action(&mut self, action: FolderAction, cx: &mut Context<Self>) {
        let (Some(agents), Some(open)) = (self.agents.clone(), &mut self.open) else {
            return;
        };
        let (root, id) = (open.live.root.clone(), open.live.id.clone());
        let done = agents.change_folder(root, id.clone(), action.clone());
        let before = open.folder.action.take();
        open.folder.notice = None;
        open.folder.action = Some(cx.spawn(async move |this, cx| {
            // One action after the other.
            if let Some(before) = before {
                before.await;
            }
            let outcome = done.await;
            // The window may be gone by then.
            this.update(cx, |this, cx| {
                if let Some(open) = this.open.as_mut().filter(|open| open.live.id == id) {
                    let sentence = sentence_of(&action, &outcome);
                    open.folder.notice = sentence;
                }
                if let Ok(outcome) = outcome
                    && !outcome.buffers.is_empty()
                {
                    cx.emit(PanelEvent::EditBuffers(outcome.buffers));
                }
                cx.notify();
            })
            .ok();
        }));
        cx.notify();
    }

    /// Reports a file that the user saved, with its text before the save ran a formatter.
    pub fn note_saved(&self, path: base::AbsPath, unformatted: Option<String>) {
        if let Some(agents) = &self.agents {
            agents.file_saved(path, unformatted);
        }
    }

    /// Restores the files to the message of a turn, after the user confirmed it.
    pub fn restore_checkpoint(&mut self, turn: u64, cx: &mut Context<Self>) {
        self.run_folder_action(FolderAction::Restore(turn), cx);
    }

    /// Lets the user confirm the restore of the selected message, or else of the latest one with
    /// changes.
    pub fn restore_selected(
        &mut self,
        _: &RestoreCheckpoint,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(open) = &self.open else {
            return;
        };
        let count = open.transcript.items().len();
        let request = match open.selected {
            Some(at) => open.restore_request(at),
            None => (0..count).rev().find_map(|at| open.restore_request(at)),
        };
        match request {
            Some(request) => self.ask_restore(request, cx),
            None => cx.emit(PanelEvent::Problem(
                "No file was changed by this session since that message.".to_owned(),
            )),
        }
    }

    /// Lets the user confirm the restore of the message at an index.
    pub(super) fn restore_item(&mut self, at: usize, cx: &mut Context<Self>) {
        let open = self.open.as_ref();
        if let Some(request) = open.and_then(|open| open.restore_request(at)) {
            self.ask_restore(request, cx);
        }
    }

    fn ask_restore(&mut self, request: RestoreRequest, cx: &mut Context<Self>) {
        if self.is_running() {
            cx.emit(PanelEvent::Problem(
                "The agent is at work: stop it before you restore files.".to_owned(),
            ));
        } else {
            cx.emit(PanelEvent::ConfirmRestore(request));
        }
    }

    /// Shows the page of changes, or returns to the session.
    pub fn review_changes(
        &mut self,
        _: &ReviewChanges,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.page = match self.page {
            PanelPage::Changes => PanelPage::Session,
            _ => PanelPage::Changes,
        };
        self.note_seen(cx);
        self.list_focus.focus(window, cx);
        cx.notify();
    }

    /// Keeps all changes of the open session in the user's folder.
    pub fn keep_all_changes(&mut self, _: &KeepAllChanges, _: &mut Window, cx: &mut Context<Self>) {
        self.run_folder_action(FolderAction::Keep(ReviewTarget::All), cx);
    }

    /// Rejects all changes of the open session in the user's folder, except kept ones.
    pub fn reject_all_changes(
        &mut self,
        _: &RejectAllChanges,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.run_folder_action(FolderAction::Reject(ReviewTarget::All), cx);
    }

    pub(super) fn keep_file_changes(
        &mut self,
        _: &KeepFileChanges,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(path) = self.selected_folder_hunk().map(|it| it.path.clone()) {
            self.run_folder_action(FolderAction::Keep(ReviewTarget::File(path)), cx);
        }
    }

    pub(super) fn reject_file_changes(
        &mut self,
        _: &RejectFileChanges,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(path) = self.selected_folder_hunk().map(|it| it.path.clone()) {
            self.run_folder_action(FolderAction::Reject(ReviewTarget::File(path)), cx);
        }
    }

    /// Rejects all changes of the turn that made the selected hunk.
    pub(super) fn reject_turn_changes(
        &mut self,
        _: &RejectTurnChanges,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let call = self.selected_folder_hunk().and_then(|it| it.calls.last());
        if let Some(turn) = call.map(|call| call.turn) {
            self.run_folder_action(FolderAction::Reject(ReviewTarget::Turn(turn)), cx);
        }
    }

    /// The selected hunk on the page of changes.
    fn selected_folder_hunk(&self) -> Option<&FolderHunk> {
        let open = self
            .open
            .as_ref()
            .filter(|_| self.page == PanelPage::Changes)?;
        open.folder.selected()
    }

    /// Undoes the latest restore or rejection in the user's folder. Returns `false` on the board.
    pub(super) fn undo_folder_action(&mut self, _: &UndoRestore, cx: &mut Context<Self>) -> bool {
        if self.page == PanelPage::Board {
            return false;
        }
        self.run_folder_action(FolderAction::UndoLatest, cx);
        true
    }

    /// Keeps or rejects the selected hunk. Returns `false` unless the page of changes is shown.
    pub(super) fn decide_selected_change(
        &mut self,
        verdict: HunkVerdict,
        cx: &mut Context<Self>,
    ) -> bool {
        if self.page != PanelPage::Changes {
            return false;
        }
        if let Some(id) = self.selected_folder_hunk().map(|it| it.id.clone()) {
            if let Some(open) = &mut self.open {
                open.folder.step(false);
            }
            self.decide_folder_hunk(&id, verdict, None, cx);
        }
        true
    }

    /// Selects the next or previous change.
    pub(super) fn step_change(&mut self, back: bool) {
        if let Some(open) = &mut self.open {
            open.folder.step(back);
        }
    }

    /// Opens the file of the selected change.
    pub(super) fn open_change(&mut self, cx: &mut Context<Self>) {
        let Some(open) = &self.open else {
            return;
        };
        if let Some(hunk) = open.folder.selected() {
            let path = open.live.root.join(&hunk.path);
            cx.emit(PanelEvent::OpenFile(path, Some(hunk.line)));
        }
    }
}

fn target_of(hunk: &FolderHunk) -> ReviewTarget {
    ReviewTarget::Hunk {
        path: hunk.path.clone(),
        hunk: hunk.id.clone(),
    }
}

/// The hunk in the form that the board's review shows.
pub(super) fn board_hunk(hunk: &FolderHunk) -> BoardHunk {
    let call = hunk.calls.last();
    BoardHunk {
        id: hunk.id.clone(),
        job: String::new(),
        path: hunk.path.clone(),
        symbol: call.map(|call| format!("turn {}, {}", call.turn, call.tool)),
        line: hunk.line,
        before: hunk.before.clone(),
        after: hunk.after.clone(),
        note: hunk.note.clone(),
        author: None,
        risk: hunk
            .contested
            .as_ref()
            .map(|who| format!("changed since by {who}")),
        verdict: HunkVerdict::Open,
    }
}

/// The sentence about an action that the user sees; `None` if the list shows it.
fn sentence_of(action: &FolderAction, outcome: &Result<UndoOutcome, Error>) -> Option<String> {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(Error::Board(composer::Error::NothingToUndo)) => {
            return Some(match action {
                FolderAction::UndoLatest => "There is no restore to undo.".to_owned(),
                _ => "The files are already as they were.".to_owned(),
            });
        }
        Err(error) => return Some(format!("{error}.")),
    };
    let files = outcome.paths.len() + outcome.buffers.len();
    let files = match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    let text = match action {
        FolderAction::Keep(_) => return None,
        FolderAction::Reject(_) if outcome.contested.is_empty() => return None,
        FolderAction::Reject(_) => format!("Rejected changes in {files}"),
        FolderAction::Restore(_) => format!("Restored {files}"),
        FolderAction::UndoLatest => format!("Undone: {files} as before"),
    };
    if outcome.contested.is_empty() {
        return Some(format!("{text}."));
    }
    let places: Vec<String> = outcome.contested.iter().map(ToString::to_string).collect();
    Some(format!(
        "{text}. These places stay, because others changed them since: {}.",
        places.join("; ")
    ))
}

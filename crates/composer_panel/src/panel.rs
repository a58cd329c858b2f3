//! The panel entity: its state, and the handling of session events.

mod agent_commands;
mod automations;
mod best_of;
mod board;
mod board_commands;
mod board_view;
mod card;
mod commands;
mod comment;
mod compaction;
mod completion;
mod context_meter;
mod draft;
mod external;
mod folder_changes;
mod folder_view;
mod handover;
mod images;
mod item;
mod kept_drafts;
mod landing_conflict;
mod machine;
mod page;
mod pinning;
mod plan;
mod prompt;
mod quality;
mod questions;
mod queue;
mod recall;
mod render;
mod reveal;
mod review;
mod session_actions;
mod session_news;
mod session_rows;
mod session_settings;
mod sessions;
mod spending;
mod starts;
mod terminal_quotes;
mod trust;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agent::change_origin::CallOrigins;
use agent::comments::CommentThreads;
use agent::record::SessionMode;
use agent::{AgentEvent, SessionCommand};
use base::{AbsPath, LineFeeds, printable};
use composer::folder_review::BufferEdit;
use futures::StreamExt as _;
use gpui_kit::component::input::{InputEvent, TextareaState};
use gpui_kit::component::text::TextViewState;
use gpui_kit::{
    App, AppContext as _, AsyncWindowContext, Context, Entity, EventEmitter, FocusHandle,
    Focusable, ListAlignment, ListState, Subscription, Task, WeakEntity, Window, px,
};
use model::Effort;

pub use board_view::agent_mark;
pub use commands::DraftMode;
pub use comment::comment_field;
pub use folder_changes::RestoreRequest;
pub use handover::{HistoryChoice, HistoryOption};
pub use session_rows::age;

use page::PanelPage;

use crate::agents::{
    AgentCommand, AgentService, ModelList, RunningSession, SessionActivity, SessionChange,
    SessionConnection,
};
use crate::transcript::{ItemChange, Transcript, TranscriptEntry};

/// The agent panel.
pub struct ComposerPanel {
    agents: Option<Arc<dyn AgentService>>,
    root: Option<AbsPath>,
    prompt: Entity<TextareaState>,
    /// The messages at the start of the prompt box that were not sent and came back.
    returned: String,
    models: ModelList,
    /// The user's latest choice, for new sessions.
    model: Option<String>,
    is_awake: bool,
    /// The user's latest choice, for new sessions.
    mode: SessionMode,
    /// The user's latest choice, for new sessions.
    effort: Option<Effort>,
    page: PanelPage,
    sessions: sessions::SessionsPage,
    news: session_news::SessionNews,
    /// All sessions that run in this program, including those of other folders.
    running: Vec<RunningSession>,
    commands: agent_commands::RunningCommands,
    open: Option<OpenSession>,
    board: Option<board::BoardPane>,
    count: board::AgentCount,
    /// The latest error, as a sentence, shown above the prompt.
    error: Option<String>,
    trust: trust::TrustPrompts,
    /// Number of times the user asked for more of a text to be approved, by text.
    reveals: HashMap<String, usize>,
    focus: FocusHandle,
    list_focus: FocusHandle,
    queue: queue::QueuePane,
    completion: completion::PromptCompletion,
    meter: context_meter::ContextPane,
    spending: spending::SpendingPage,
    quality: quality::QualityPage,
    automations: automations::AutomationsPage,
    images: images::PromptImages,
    terminal_quotes: terminal_quotes::TerminalQuotes,
    recall: recall::PromptRecall,
    kept: kept_drafts::KeptDrafts,
    starts: starts::PendingStarts,
    external: external::ExternalChoice,
    comments: comment::HunkComments,
    link: machine::MachineLink,
    loads: PanelLoads,
    _trust: Option<Task<()>>,
    _running: Option<Task<()>>,
    _changes: Option<Task<()>>,
    _problems: Option<Task<()>>,
    _subscriptions: Vec<Subscription>,
}

/// A request of the panel to its window.
#[derive(Clone, Debug, PartialEq)]
pub enum PanelEvent {
    /// Let the user choose a model.
    ChooseModel,
    /// Let the user choose the history that this model gets; `ComposerPanel::switch_model` takes the
    /// result.
    ChooseHistory(String),
    /// Let the user choose the reasoning effort.
    ChooseEffort,
    /// Open a file; lines count from 1.
    OpenFile(AbsPath, Option<u32>),
    /// Show a running command of an agent in a terminal.
    OpenTerminal(AgentCommand),
    /// The prompt mentions this terminal of the window: `PromptSource::Terminal` with this id.
    TerminalMentioned(String),
    /// The state of the board changed.
    BoardChanged,
    /// The user trusts the folder now, or no longer does.
    TrustChanged,
    /// A problem to show to the user, as a sentence.
    Problem(String),
    /// Let the user edit the resolution of a conflict; `ComposerPanel::resolve_with` takes the
    /// result.
    WriteDispute {
        /// The agent whose landing conflicts.
        agent: String,
        /// Path of the file, relative to the root.
        path: String,
        /// The initial text, with conflict markers.
        draft: String,
    },
    /// Let the user choose a turn of an agent; `ComposerPanel::restore` takes the result.
    ChooseTurn {
        /// Id of the agent.
        agent: String,
        /// Number of turns so far.
        turns: u64,
    },
    /// Let the user confirm a restore of files; `ComposerPanel::restore_checkpoint` does it.
    ConfirmRestore(RestoreRequest),
    /// Edit files with unsaved text, in one undo step each.
    EditBuffers(Vec<BufferEdit>),
    /// A session of the folder ended a turn or waits; the window decides whether to notify the user.
    SessionChanged(SessionChange),
    /// Ask the user whether to delete a session; `ComposerPanel::delete_session` deletes it.
    ConfirmDelete {
        /// Id of the session.
        id: String,
        /// Title of the session.
        title: String,
    },
    /// Show a session as Markdown, to be saved.
    ShowExport(String),
    /// Move the focus back to the editor.
    Leave,
}

/// Numbers of agents for the status bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentCounts {
    /// Agents that wait for an approval or an answer.
    pub waiting: usize,
    /// Agents that are working or queued.
    pub working: usize,
    /// Sessions with news that the user has not seen.
    pub unread: usize,
}

/// The running loads. A load replaces an earlier one of the same kind, and cancels no other.
#[derive(Default)]
struct PanelLoads {
    models: Option<Task<()>>,
    /// Opens a session of the list or of the board.
    opening: Option<Task<()>>,
    export: Option<Task<()>>,
}

/// The session that is shown.
struct OpenSession {
    live: SessionEndpoint,
    transcript: Transcript,
    queue: queue::OpenQueue,
    choice: session_settings::SettingsChoice,
    offer: external::SessionOffer,
    list: ListState,
    selected: Option<usize>,
    /// Items toggled by the user; thoughts and calls are collapsed by default.
    opened: HashSet<usize>,
    /// The views of the model's texts that were in sight, by item.
    texts: HashMap<usize, Entity<TextViewState>>,
    /// Oldest first.
    questions: Vec<questions::OpenQuestion>,
    /// Whether the user stopped the running turn.
    is_stopping: Cell<bool>,
    folder: folder_changes::FolderPane,
    /// The comments on changes, with their answers.
    comments: CommentThreads,
    origins: CallOrigins,
    summary_edit: Option<compaction::SummaryEdit>,
    _task: Task<()>,
}

/// The sentence for a prompt that comes back although the user did not stop the turn.
const NOT_SENT: &str = "The message was not sent. It is back in the prompt.";

/// Maximum number of events handled between two frames.
const MAX_BATCH: usize = 4096;

struct SessionEndpoint {
    id: String,
    root: AbsPath,
    send: Arc<dyn Fn(SessionCommand) + Send + Sync>,
}

impl ComposerPanel {
    /// Creates a panel for a folder; without engines it shows an explanation.
    pub fn new(
        agents: Option<Arc<dyn AgentService>>,
        root: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let prompt = cx.new(|cx| {
            TextareaState::new(window, cx)
                .auto_grow(2, 12)
                .submit_on_enter(true)
                .placeholder("Ask, plan, build\u{2026}")
        });
        let subscriptions = vec![
            cx.subscribe_in(&prompt, window, Self::prompt_event),
            cx.on_release(|this, cx| drop(this.saving_drafts(cx))),
            cx.on_app_quit(|this, cx| {
                let saving = this.saving_drafts(cx);
                async move {
                    if let Some(Err(error)) = futures::future::OptionFuture::from(saving).await {
                        log::error!("cannot keep the drafts of prompts: {error}");
                    }
                }
            }),
        ];
        Self {
            agents,
            root,
            prompt,
            returned: String::new(),
            models: ModelList::default(),
            model: None,
            is_awake: false,
            mode: SessionMode::Build,
            effort: None,
            page: PanelPage::Session,
            sessions: sessions::SessionsPage::new(window, cx),
            news: session_news::SessionNews::default(),
            running: Vec::new(),
            commands: agent_commands::RunningCommands::default(),
            open: None,
            board: None,
            count: board::AgentCount::default(),
            error: None,
            trust: trust::TrustPrompts::default(),
            reveals: HashMap::new(),
            focus: cx.focus_handle(),
            list_focus: cx.focus_handle().tab_stop(true),
            queue: queue::QueuePane::new(cx.focus_handle().tab_stop(true)),
            completion: completion::PromptCompletion::default(),
            meter: context_meter::ContextPane::new(cx.focus_handle()),
            spending: spending::SpendingPage::default(),
            quality: quality::QualityPage::default(),
            automations: automations::AutomationsPage::default(),
            images: images::PromptImages::default(),
            terminal_quotes: terminal_quotes::TerminalQuotes::default(),
            recall: recall::PromptRecall::default(),
            kept: kept_drafts::KeptDrafts::default(),
            starts: starts::PendingStarts::default(),
            external: external::ExternalChoice::default(),
            comments: comment::HunkComments::default(),
            link: machine::MachineLink::default(),
            loads: PanelLoads::default(),
            _trust: None,
            _running: None,
            _changes: None,
            _problems: None,
            _subscriptions: subscriptions,
        }
    }

    /// Loads models and trust when the panel is first shown. Nothing is loaded before.
    pub fn wake(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if !std::mem::replace(&mut self.is_awake, true) {
            self.load_models(window, cx);
            self.load_trust(cx);
            self.follow_running(cx);
            self.follow_commands(cx);
            self.follow_changes(cx);
            self.follow_problems(cx);
            self.follow_sessions(sessions::ListReading::Later, cx);
            self.follow_budgets(cx);
            self.follow_alarms(cx);
            self.follow_machine(window, cx);
            self.load_drafts(window, cx);
        }
    }

    /// The available models.
    pub fn models(&self) -> &ModelList {
        &self.models
    }

    /// Returns the latest state of this folder's board, or `None` before the board is opened.
    pub fn board(&self) -> Option<&Arc<crate::board::Board>> {
        self.board.as_ref().map(|pane| &pane.board)
    }

    /// Returns the transcript of the open session, or `None` if no session is open.
    pub fn transcript(&self) -> Option<&Transcript> {
        self.open.as_ref().map(|open| &open.transcript)
    }

    /// Returns whether a turn of the open session is running. Returns false if no session is open.
    pub fn is_running(&self) -> bool {
        self.transcript().is_some_and(Transcript::is_running)
    }

    /// Whether the next prompt joins a session that is open or being started.
    fn has_session(&self) -> bool {
        self.open.is_some() || self.starts.shown_prompt().is_some()
    }

    /// Counts the agents of the board.
    pub fn board_counts(&self) -> AgentCounts {
        let mut counts = AgentCounts::default();
        for job in self.jobs().iter().filter(|job| job.state().is_live()) {
            match job.state() {
                crate::board::JobState::Waiting { .. } => counts.waiting += 1,
                _ => counts.working += 1,
            }
        }
        counts
    }

    /// The agents of the board, as far as it is open.
    fn jobs(&self) -> &[crate::board::BoardJob] {
        self.board().map_or(&[], |board| &board.jobs)
    }

    /// Counts the agents of the open session, of other sessions of this folder and of the board.
    pub fn agent_counts(&self) -> AgentCounts {
        let mut counts = self.board_counts();
        counts.unread = self.news.count();
        let jobs = self.jobs();
        // The open session may belong to an agent of the board, which is already counted.
        let is_on_board = |open: &&OpenSession| {
            let mut roots = jobs.iter().filter_map(crate::board::BoardJob::root);
            roots.any(|root| root == open.live.root)
        };
        for session in self.running_elsewhere() {
            match session.activity {
                SessionActivity::WaitingForUser => counts.waiting += 1,
                SessionActivity::Working => counts.working += 1,
                SessionActivity::Idle => {}
            }
        }
        let open = self.open.as_ref().filter(|open| !is_on_board(open));
        if let Some(open) = open.filter(|open| open.transcript.is_running()) {
            if open.transcript.pending_approval().is_some() || !open.questions.is_empty() {
                counts.waiting += 1
            } else {
                counts.working += 1
            }
        }
        counts
    }

    /// Counts the agents in sessions of this program that work outside of `roots`, such as those
    /// whose window was closed. Zero before the panel was first shown.
    pub fn agents_outside(&self, roots: &[AbsPath]) -> AgentCounts {
        let mut counts = AgentCounts::default();
        let outside = self.running.iter().filter(|it| !roots.contains(&it.folder));
        for session in outside {
            match session.activity {
                SessionActivity::WaitingForUser => counts.waiting += 1,
                SessionActivity::Working => counts.working += 1,
                SessionActivity::Idle => {}
            }
        }
        counts
    }

    /// The running sessions of this folder that are not shown.
    fn running_elsewhere(&self) -> impl Iterator<Item = &RunningSession> {
        let shown = self.open.as_ref().map(|open| open.live.id.as_str());
        let is_elsewhere = move |it: &&RunningSession| {
            Some(it.id.as_str()) != shown && self.root.as_ref() == Some(&it.folder)
        };
        self.running.iter().filter(is_elsewhere)
    }

    /// Switches to another folder. `None` leaves the panel without a folder. Closes the open
    /// session in the panel, but the session's turn goes on in the background, and a session that is
    /// just being started still gets its prompt.
    pub fn set_root(&mut self, root: Option<AbsPath>, window: &mut Window, cx: &mut Context<Self>) {
        if self.root != root {
            self.leave_drafts(window, cx);
            self.leave_comment(cx);
            self.root = root;
            self.open = None;
            self.board = None;
            self.starts.leave_folder();
            self.loads.opening = None;
            self.sessions.leave_folder();
            self.automations.leave_folder();
            self.news.leave_folder();
            self.page = PanelPage::Session;
            if self.is_awake {
                self.load_trust(cx);
                self.follow_sessions(sessions::ListReading::Later, cx);
                self.load_drafts(window, cx);
            }
            cx.notify();
        }
    }

    fn load_models(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(agents) = self.agents.clone() else {
            return;
        };
        self.loads.models = Some(cx.spawn_in(window, async move |this, cx| {
            let models = agents.models().await;
            // The window may be gone by then.
            this.update(cx, |this, cx| {
                for problem in &models.problems {
                    cx.emit(PanelEvent::Problem(problem.clone()));
                }
                this.models = models;
                cx.notify();
            })
            .ok();
        }));
    }

    fn follow_running(&mut self, cx: &mut Context<Self>) {
        let Some(mut running) = self.agents.as_ref().map(|agents| agents.running()) else {
            return;
        };
        self._running = Some(cx.spawn(async move |this, cx| {
            while let Some(sessions) = running.next().await {
                let taken = this.update(cx, |this, cx| {
                    this.running = sessions;
                    cx.notify();
                });
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    fn prompt_event(
        &mut self,
        _: &Entity<TextareaState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::PressEnter { shift: false, .. } => self.enter(window, cx),
            InputEvent::Blur => {
                self.close_completion(cx);
            }
            InputEvent::Change => {
                self.draft_changed(cx);
                self.update_completion(window, cx);
                cx.notify();
            }
            _ => {}
        }
    }

    /// Shows a session on the session page and follows its events. Does not turn to that page.
    fn show(&mut self, live: SessionConnection, window: &mut Window, cx: &mut Context<Self>) {
        let SessionConnection {
            id,
            root,
            send: tell,
            events,
            notices,
            ..
        } = live;
        for notice in notices {
            cx.emit(PanelEvent::Problem(notice));
        }
        self.turn_draft_to(&id, window, cx);
        self.starts.draft_mode = None;
        self.meter.leave_session();
        self.leave_comment(cx);
        // Events that are already there are handled together and drawn once.
        let mut batches = events.ready_chunks(MAX_BATCH);
        let task = cx.spawn_in(
            window,
            async move |this: WeakEntity<Self>, cx: &mut AsyncWindowContext| {
                while let Some(batch) = batches.next().await {
                    let taken = this.update_in(cx, |this, window, cx| {
                        this.apply_events(&batch, window, cx);
                        cx.notify();
                    });
                    if taken.is_err() {
                        return;
                    }
                }
            },
        );
        let live = SessionEndpoint {
            id,
            root,
            send: tell,
        };
        let folder = folder_changes::FolderPane::following(self, &live, window, cx);
        self.open = Some(OpenSession {
            live,
            transcript: Transcript::default(),
            queue: queue::OpenQueue::default(),
            choice: session_settings::SettingsChoice::default(),
            offer: external::SessionOffer::default(),
            list: ListState::new(0, ListAlignment::Bottom, px(400.0)),
            selected: None,
            opened: HashSet::new(),
            texts: HashMap::new(),
            questions: Vec::new(),
            is_stopping: Cell::new(false),
            folder,
            comments: CommentThreads::default(),
            origins: CallOrigins::default(),
            summary_edit: None,
            _task: task,
        });
        self.starts.hide();
        self.note_seen(cx);
        cx.notify();
    }

    fn apply_events(&mut self, events: &[AgentEvent], window: &mut Window, cx: &mut Context<Self>) {
        let mut given_back = Vec::new();
        for event in events {
            match event {
                AgentEvent::GivenBack(prompt) => {
                    given_back.push(prompt.text.clone());
                    self.return_images([prompt]);
                    if self.open.as_ref().is_some_and(|it| !it.is_stopping.get()) {
                        self.error = Some(NOT_SENT.to_owned());
                    }
                }
                event => {
                    let open = self.open.as_mut();
                    let taken = open.and_then(|open| open.queue.apply(event));
                    self.return_images(&taken);
                    given_back.extend(taken.map(|prompt| prompt.text));
                    self.apply_event(event, cx);
                }
            }
        }
        let has_record = events
            .iter()
            .any(|event| matches!(event, AgentEvent::Recorded(_)));
        if let Some(open) = self.open.as_mut().filter(|_| has_record) {
            open.refresh_notes();
        }
        self.return_to_prompt(&given_back, window, cx);
    }

    fn apply_event(&mut self, event: &AgentEvent, cx: &mut Context<Self>) {
        let Some(open) = &mut self.open else {
            return;
        };
        match event {
            AgentEvent::Idle(_) => open.is_stopping.set(false),
            AgentEvent::Recorded(stored) => {
                open.choice.apply(&stored.record);
                open.offer.apply(&stored.record);
                open.comments.apply_record(&stored.record);
                open.origins.apply_record(&stored.record);
            }
            _ => {}
        }
        open.apply_question(event);
        for touched in open.transcript.apply(event) {
            open.update_list(touched, cx);
        }
    }
}

impl OpenSession {
    /// Updates the list and the state of its rows after the items changed.
    fn update_list(&mut self, touched: ItemChange, cx: &mut App) {
        match touched {
            ItemChange::Changed(at) => {
                self.list.remeasure_items(at..at + 1);
                self.refresh_text(at, cx);
            }
            ItemChange::Replaced(old, new) => {
                self.list.splice(old.clone(), new);
                let moved = |at: usize| match at {
                    at if at < old.start => Some(at),
                    at if at < old.end => None,
                    at => Some(at - old.len() + new),
                };
                self.opened = self.opened.iter().filter_map(|at| moved(*at)).collect();
                let texts = std::mem::take(&mut self.texts);
                let kept = texts
                    .into_iter()
                    .filter_map(|(at, text)| Some((moved(at)?, text)));
                self.texts = kept.collect();
                self.selected = self.selected.and_then(moved);
                for at in old.start..old.start + new {
                    self.refresh_text(at, cx);
                }
            }
        }
    }

    /// Updates the view of a text, if it was in sight before.
    fn refresh_text(&mut self, at: usize, cx: &mut App) {
        let Some(state) = self.texts.get(&at) else {
            return;
        };
        if let Some(text) = self.model_text(at) {
            state.update(cx, |state, cx| state.set_text(&text, cx));
        }
    }

    /// Creates the view of a text that comes into sight, so that opening a long transcript parses only
    /// what is shown.
    fn prepare_text(&mut self, at: usize, cx: &mut App) {
        if self.texts.contains_key(&at) {
            return;
        }
        let state = self
            .model_text(at)
            .map(|text| cx.new(|cx| TextViewState::markdown(&text, cx)));
        self.texts.extend(state.map(|state| (at, state)));
    }

    /// The text of the model in an item, with control characters made visible.
    fn model_text(&self, at: usize) -> Option<Cow<'_, str>> {
        match self.transcript.items().get(at)? {
            TranscriptEntry::Text { text, .. } => Some(printable(text, LineFeeds::Keep)),
            _ => None,
        }
    }
}

impl EventEmitter<PanelEvent> for ComposerPanel {}

impl Focusable for ComposerPanel {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.prompt.read(cx).focus_handle(cx)
    }
}

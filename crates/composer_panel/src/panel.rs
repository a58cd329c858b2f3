//! The panel itself: what it holds, and how it takes in what sessions tell.

mod board;
mod board_view;
mod board_wishes;
mod card;
mod commands;
mod contest;
mod dispute;
mod house;
mod item;
mod prompt;
mod reading;
mod render;
mod review;
mod sessions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agent::record::Mode;
use agent::{Command, Event};
use base::{AbsPath, LineFeeds, printable};
use futures::StreamExt as _;
use gpui_kit::component::input::{InputEvent, TextareaState};
use gpui_kit::component::text::TextViewState;
use gpui_kit::{
    App, AppContext as _, AsyncWindowContext, Context, Entity, EventEmitter, FocusHandle,
    Focusable, ListAlignment, ListState, Subscription, Task, WeakEntity, Window, px,
};

pub use board_view::mark;

use crate::agents::{Activity, Agents, Live, ModelList, RunningSession, SessionLine};
use crate::transcript::{Item, Touched, Transcript};

/// The panel.
pub struct ComposerPanel {
    agents: Option<Arc<dyn Agents>>,
    root: Option<AbsPath>,
    prompt: Entity<TextareaState>,
    models: ModelList,
    model: Option<String>,
    is_awake: bool,
    mode: Mode,
    shows: Shows,
    sessions: Sessions,
    /// The sessions that run in this program, of other folders too.
    running: Vec<RunningSession>,
    open: Option<OpenSession>,
    board: Option<board::BoardFace>,
    count: board::Count,
    /// A sentence about something that did not work, above the prompt.
    trouble: Option<String>,
    house: house::House,
    /// How often the person asked for more of a text that is decided on.
    read: HashMap<String, usize>,
    focus: FocusHandle,
    list_focus: FocusHandle,
    _loading: Option<Task<()>>,
    _house: Option<Task<()>>,
    _board: Option<Task<()>>,
    _running: Option<Task<()>>,
    _subscriptions: Vec<Subscription>,
}

/// What the panel asks of the window around it.
#[derive(Clone, Debug, PartialEq)]
pub enum PanelEvent {
    /// A model is to be chosen.
    ChooseModel,
    /// A file is to be opened; lines count from 1.
    OpenFile(AbsPath, Option<u32>),
    /// The board stands otherwise now.
    BoardChanged,
    /// A problem that the person should know of, a sentence.
    Problem(String),
    /// The person wants to write how a dispute ends; `ComposerPanel::settle_with` takes it.
    WriteDispute {
        /// Whose landing it is about.
        agent: String,
        /// The file, below the root.
        path: String,
        /// What to begin with.
        draft: String,
    },
    /// The person chooses a turn of an agent; `ComposerPanel::restore` takes it.
    ChooseTurn {
        /// Whose.
        agent: String,
        /// How many there were.
        turns: u64,
    },
    /// The keyboard goes back to the text.
    Leave,
}

/// How many agents there are that a person may want to hear of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// They wait for the person: for leave, or for an answer.
    pub waiting: usize,
    /// They go on by themselves.
    pub working: usize,
}

/// Which of its two faces it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    Session,
    Sessions,
    Board,
}

/// The sessions of the folder, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sessions {
    lines: Vec<SessionLine>,
    selected: usize,
    is_loading: bool,
    problem: Option<String>,
}

/// A session that is shown.
struct OpenSession {
    live: Handle,
    transcript: Transcript,
    list: ListState,
    selected: Option<usize>,
    /// Which items the person opened; thoughts and calls are closed by themselves.
    opened: HashSet<usize>,
    /// The Markdown of the model's words, by item.
    texts: HashMap<usize, Entity<TextViewState>>,
    question: Option<(u64, agent::ask::Question)>,
    _task: Task<()>,
}

/// The most events that are taken in before the panel is drawn again.
const MAX_BATCH: usize = 4096;

struct Handle {
    id: String,
    root: AbsPath,
    tell: Arc<dyn Fn(Command) + Send + Sync>,
}

impl ComposerPanel {
    /// A panel for a folder; without engines it says what is missing.
    pub fn new(
        agents: Option<Arc<dyn Agents>>,
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
        let subscriptions = vec![cx.subscribe_in(&prompt, window, Self::prompt_event)];
        Self {
            agents,
            root,
            prompt,
            models: ModelList::default(),
            model: None,
            is_awake: false,
            mode: Mode::Build,
            shows: Shows::Session,
            sessions: Sessions::default(),
            running: Vec::new(),
            open: None,
            board: None,
            count: board::Count::default(),
            trouble: None,
            house: house::House::default(),
            read: HashMap::new(),
            focus: cx.focus_handle(),
            list_focus: cx.focus_handle().tab_stop(true),
            _loading: None,
            _house: None,
            _board: None,
            _running: None,
            _subscriptions: subscriptions,
        }
    }

    /// It is shown: from now on it needs to know what there is. Nothing is started before.
    pub fn wake(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if !std::mem::replace(&mut self.is_awake, true) {
            self.load_models(window, cx);
            self.load_house(cx);
            self.follow_running(cx);
        }
    }

    /// The models there are.
    pub fn models(&self) -> &ModelList {
        &self.models
    }

    /// How the agents of this folder stand, where somebody asked for it.
    pub fn board(&self) -> Option<&Arc<crate::board::Board>> {
        self.board.as_ref().map(|face| &face.board)
    }

    /// The model that the next prompt goes to.
    pub fn model(&self) -> &str {
        let of_session = self.open.as_ref().map(|open| open.transcript.model());
        let of_session = of_session.filter(|model| !model.is_empty());
        let chosen = self.model.as_deref();
        chosen.or(of_session).unwrap_or(&self.models.default)
    }

    /// What the open session shows.
    pub fn transcript(&self) -> Option<&Transcript> {
        self.open.as_ref().map(|open| &open.transcript)
    }

    /// Whether an agent works in it.
    pub fn is_running(&self) -> bool {
        self.transcript().is_some_and(Transcript::is_running)
    }

    /// The session and the agents on the board, as far as they are known here.
    pub fn standing(&self) -> Standing {
        let mut standing = Standing::default();
        let board = self.board().map(Arc::as_ref);
        let agents = board.map_or(&[][..], |board| &board.agents);
        for agent in agents.iter().filter(|agent| agent.state.is_live()) {
            match agent.state {
                crate::board::AgentState::Waiting => standing.waiting += 1,
                _ => standing.working += 1,
            }
        }
        // An agent of the board may be the one whose session is open.
        let is_on_board = |open: &&OpenSession| {
            let mut roots = agents.iter().filter_map(|agent| agent.root.as_ref());
            roots.any(|root| *root == open.live.root)
        };
        for session in self.running_elsewhere() {
            match session.activity {
                Activity::WaitingForUser => standing.waiting += 1,
                Activity::Working => standing.working += 1,
                Activity::Idle => {}
            }
        }
        let open = self.open.as_ref().filter(|open| !is_on_board(open));
        if let Some(open) = open.filter(|open| open.transcript.is_running()) {
            match open.transcript.asking().is_some() || open.question.is_some() {
                true => standing.waiting += 1,
                false => standing.working += 1,
            }
        }
        standing
    }

    /// The sessions of this folder that run and are not shown.
    fn running_elsewhere(&self) -> impl Iterator<Item = &RunningSession> {
        let shown = self.open.as_ref().map(|open| open.live.id.as_str());
        let is_elsewhere = move |it: &&RunningSession| {
            Some(it.id.as_str()) != shown && self.root.as_ref() == Some(&it.folder)
        };
        self.running.iter().filter(is_elsewhere)
    }

    /// The activity of a session, where it runs.
    fn activity(&self, id: &str) -> Option<Activity> {
        let running = self.running.iter().find(|it| it.id == id)?;
        Some(running.activity)
    }

    /// Works in another folder from now on. A session that runs goes on in the background.
    pub fn set_root(&mut self, root: Option<AbsPath>, cx: &mut Context<Self>) {
        if self.root != root {
            self.root = root;
            self.open = None;
            self.board = None;
            self.sessions = Sessions::default();
            self.shows = Shows::Session;
            if self.is_awake {
                self.load_house(cx);
            }
            cx.notify();
        }
    }

    fn load_models(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(agents) = self.agents.clone() else {
            return;
        };
        self._loading = Some(cx.spawn_in(window, async move |this, cx| {
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
            InputEvent::PressEnter { shift: false, .. } => self.send(window, cx),
            InputEvent::Change => cx.notify(),
            _ => {}
        }
    }

    /// Shows a session and takes in what it tells from now on.
    fn show(&mut self, live: Live, window: &mut Window, cx: &mut Context<Self>) {
        let Live {
            id,
            root,
            tell,
            events,
            notices,
        } = live;
        for notice in notices {
            cx.emit(PanelEvent::Problem(notice));
        }
        // What is there already is taken in together and drawn once.
        let mut batches = events.ready_chunks(MAX_BATCH);
        let task = cx.spawn_in(
            window,
            async move |this: WeakEntity<Self>, cx: &mut AsyncWindowContext| {
                while let Some(batch) = batches.next().await {
                    let taken = this.update_in(cx, |this, window, cx| {
                        for event in &batch {
                            this.take(event, window, cx);
                        }
                        cx.notify();
                    });
                    if taken.is_err() {
                        return;
                    }
                }
            },
        );
        self.open = Some(OpenSession {
            live: Handle { id, root, tell },
            transcript: Transcript::default(),
            list: ListState::new(0, ListAlignment::Bottom, px(400.0)),
            selected: None,
            opened: HashSet::new(),
            texts: HashMap::new(),
            question: None,
            _task: task,
        });
        self.shows = Shows::Session;
        cx.notify();
    }

    fn take(&mut self, event: &Event, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = &mut self.open else {
            return;
        };
        match event {
            Event::Asking { number, question } => {
                open.question = Some((*number, question.clone()));
            }
            Event::GivenBack(prompt) => {
                let text = prompt.text.clone();
                self.prompt
                    .update(cx, |state, cx| state.set_value(text, window, cx));
                return;
            }
            Event::Idle(_) => open.question = None,
            _ => {}
        }
        for touched in open.transcript.apply(event) {
            open.follow(touched, cx);
        }
    }
}

impl OpenSession {
    /// Makes the list on the screen, and what was opened in it, fit the items.
    fn follow(&mut self, touched: Touched, cx: &mut App) {
        match touched {
            Touched::Changed(at) => {
                self.list.remeasure_items(at..at + 1);
                self.refresh_text(at, cx);
            }
            Touched::Replaced(old, new) => {
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

    fn refresh_text(&mut self, at: usize, cx: &mut App) {
        let Some(Item::Text { text, .. }) = self.transcript.items().get(at) else {
            return;
        };
        let text = &*printable(text, LineFeeds::Keep);
        match self.texts.get(&at) {
            Some(state) => state.update(cx, |state, cx| state.set_text(text, cx)),
            None => {
                let state = cx.new(|cx| TextViewState::markdown(text, cx));
                self.texts.insert(at, state);
            }
        }
    }
}

impl EventEmitter<PanelEvent> for ComposerPanel {}

impl Focusable for ComposerPanel {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.prompt.read(cx).focus_handle(cx)
    }
}

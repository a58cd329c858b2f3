//! Engines that do what a test tells them.

use std::sync::{Arc, Mutex, PoisonError};

use agent::{Command, Event};
use base::AbsPath;
use futures::channel::mpsc;
use futures::future::{BoxFuture, FutureExt as _, ready};
use futures::stream::{BoxStream, StreamExt as _};

use crate::board::{self, Board, Wish};

use super::{
    Agents, Consent, HouseRules, Live, ModelList, NewSession, OpenFiles, RunningSession,
    SessionLine,
};

/// Sessions whose events come from a test, and whose commands it reads.
#[derive(Clone, Default)]
pub struct FakeAgents {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    models: ModelList,
    sessions: Vec<SessionLine>,
    started: Vec<NewSession>,
    opened: Vec<String>,
    told: Vec<Command>,
    house: HouseRules,
    wishes: Vec<Wish>,
    boards: Option<mpsc::UnboundedSender<Arc<Board>>>,
    watched: Vec<String>,
    events: Option<mpsc::UnboundedSender<Event>>,
    running: Vec<mpsc::UnboundedSender<Vec<RunningSession>>>,
    notices: Vec<String>,
    open_files: Option<(AbsPath, OpenFiles)>,
}

impl FakeAgents {
    /// Engines with these models and sessions.
    pub fn new(models: ModelList, sessions: Vec<SessionLine>) -> Self {
        let fake = Self::default();
        fake.with(|state| {
            state.models = models;
            state.sessions = sessions;
        });
        fake
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The latest session tells something.
    pub fn tell(&self, event: Event) {
        self.with(|state| {
            if let Some(events) = &state.events {
                // A panel that let go of it does not hear it.
                events.unbounded_send(event).ok();
            }
        });
    }

    /// What sessions were told since the last time.
    pub fn told(&self) -> Vec<Command> {
        self.with(|state| std::mem::take(&mut state.told))
    }

    /// What was started so far.
    pub fn started(&self) -> Vec<NewSession> {
        self.with(|state| state.started.clone())
    }

    /// Which sessions were opened again so far.
    pub fn opened(&self) -> Vec<String> {
        self.with(|state| state.opened.clone())
    }

    /// The board stands like this now.
    pub fn show(&self, board: Board) {
        self.with(|state| {
            if let Some(boards) = &state.boards {
                // A panel that let go of it does not see it.
                boards.unbounded_send(Arc::new(board)).ok();
            }
        });
    }

    /// What the board was asked for since the last time.
    pub fn wishes(&self) -> Vec<Wish> {
        self.with(|state| std::mem::take(&mut state.wishes))
    }

    /// Which agents of the board were looked at so far.
    pub fn watched(&self) -> Vec<String> {
        self.with(|state| state.watched.clone())
    }

    /// The folder has this to say.
    pub fn set_house(&self, house: HouseRules) {
        self.with(|state| state.house = house);
    }

    /// These sessions run now.
    pub fn set_running(&self, sessions: &[RunningSession]) {
        // A panel that was closed does not see it.
        self.with(|state| {
            state
                .running
                .retain(|it| it.unbounded_send(sessions.to_vec()).is_ok())
        });
    }

    /// Sessions that are started or opened from now on have these notices.
    pub fn set_notices(&self, notices: &[&str]) {
        self.with(|state| state.notices = notices.iter().map(ToString::to_string).collect());
    }

    /// The files that a window said it shows, and their folder.
    pub fn open_files(&self) -> Option<(AbsPath, OpenFiles)> {
        self.with(|state| state.open_files.clone())
    }

    fn live(&self, id: &str, root: AbsPath) -> Live {
        let (sender, events) = mpsc::unbounded();
        self.with(|state| state.events = Some(sender));
        let this = self.clone();
        Live {
            id: id.to_owned(),
            root,
            tell: Arc::new(move |command| this.with(|state| state.told.push(command))),
            events: events.boxed(),
            notices: self.with(|state| state.notices.clone()),
        }
    }
}

impl Agents for FakeAgents {
    fn models(&self) -> BoxFuture<'static, ModelList> {
        ready(self.with(|state| state.models.clone())).boxed()
    }

    fn sessions(&self, _: AbsPath) -> BoxFuture<'static, Result<Vec<SessionLine>, String>> {
        ready(Ok(self.with(|state| state.sessions.clone()))).boxed()
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<Live, String>> {
        let live = self.live("new", session.root.clone());
        self.with(|state| state.started.push(session));
        ready(Ok(live)).boxed()
    }

    fn open(&self, root: AbsPath, id: String) -> BoxFuture<'static, Result<Live, String>> {
        let live = self.live(&id, root);
        self.with(|state| state.opened.push(id));
        ready(Ok(live)).boxed()
    }

    fn running(&self) -> BoxStream<'static, Vec<RunningSession>> {
        let (sender, receiver) = mpsc::unbounded();
        self.with(|state| state.running.push(sender));
        receiver.boxed()
    }

    fn note_open_files(&self, root: AbsPath, files: OpenFiles) {
        self.with(|state| state.open_files = Some((root, files)));
    }

    fn board(&self, _: AbsPath) -> BoxFuture<'static, Result<board::Live, String>> {
        let (sender, boards) = mpsc::unbounded();
        self.with(|state| state.boards = Some(sender));
        let this = self.clone();
        let tell = Arc::new(move |wish| this.with(|state| state.wishes.push(wish)));
        ready(Ok(board::Live { tell, boards })).boxed()
    }

    fn watch(&self, root: AbsPath, id: String) -> BoxFuture<'static, Result<Live, String>> {
        let live = self.live(&id, root);
        self.with(|state| state.watched.push(id));
        ready(Ok(live)).boxed()
    }

    fn house(&self, _: AbsPath) -> BoxFuture<'static, Result<HouseRules, String>> {
        ready(Ok(self.with(|state| state.house.clone()))).boxed()
    }

    fn consent(
        &self,
        _: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<HouseRules, String>> {
        let house = self.with(|state| {
            match consent {
                Consent::Trust => state.house.is_trusted = true,
                Consent::Distrust => state.house.is_trusted = false,
                Consent::Hooks(shown) => state.house.hooks.retain(|it| !shown.contains(it)),
                Consent::Server(shown) | Consent::NoServer(shown) => {
                    state.house.servers.retain(|it| *it != shown);
                }
            }
            state.house.clone()
        });
        ready(Ok(house)).boxed()
    }
}

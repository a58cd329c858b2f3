//! The engines as an `AgentService`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use agent::AgentEvent;
use agent::context::{NamedContext, OpenFiles, named_context};
use agent::drafts::KeptPrompts;
use agent_service::board::BoardConnection;
use agent_service::{
    AccessChange, AgentCommand, AgentCommandId, AgentService, AutomationChange, AutomationEntry,
    CommandConnection, Consent, Error, ExternalAgentEntry, FolderAccess, FolderAction, FolderState,
    FolderTrust, ModelList, NewSession, QualityReport, RunningSession, ServerContent,
    SessionChange, SessionConnection, SessionEntry, SessionMark, SignInStep, SpendNotice, Spending,
    StoredChange, ToolAlarm, UndoOutcome,
};
use base::AbsPath;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, BoxStream, StreamExt as _};
use host::{Clock as _, Dirs, Files as _, RealClock, RealFiles};
use runtime::agent_services::AgentServices;
use runtime::external_agents::install::install;
use runtime::external_agents::{ExternalAgent, directory};
use tokio::sync::watch::Receiver;

use super::connections::{live, view_connection};
use super::models::model_list;
use super::{EngineServices, automations, commands, failed, on_disk, signing_in, stored_sessions};

impl AgentService for EngineServices {
    fn models(&self) -> BoxFuture<'static, ModelList> {
        self.with(|services| async move { Ok(model_list(&services)) })
            .map(|list| {
                list.unwrap_or_else(|error| ModelList {
                    models: Vec::new(),
                    default: String::new(),
                    advice: error.to_string(),
                    problems: Vec::new(),
                })
            })
            .boxed()
    }

    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionEntry>, Error>> {
        self.with(move |services| async move {
            let listed = on_disk(move || services.folder_sessions(&root).map_err(failed)).await?;
            Ok(listed.into_iter().map(stored_sessions::entry).collect())
        })
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        let sessions = self.sessions.clone();
        self.with(move |services| async move {
            let folder = session.root.clone();
            let started = services.start(session.root, session.model, session.mode);
            let started = started.await.map_err(failed)?;
            let id = started.opened.id.to_string();
            let attachment = sessions.adopt(started.opened, folder, started.root);
            Ok(live(id, attachment, Vec::new(), started.notices))
        })
    }

    fn open(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        let (sessions, opening) = (self.sessions.clone(), self.opening.clone());
        self.with(move |services| async move {
            let _opening = opening.lock().await;
            let (attachment, notices) = match sessions.attach(&id) {
                Some(attachment) => (attachment, Vec::new()),
                None => {
                    sessions.wait_until_closed(&id).await;
                    let started = services.resume(&id).await.map_err(failed)?;
                    let attachment = sessions.adopt(started.opened, root, started.root);
                    (attachment, started.notices)
                }
            };
            // What was reported before the view was attached is not among its events.
            services.flush_records().await;
            let session = id.clone();
            let records = on_disk(move || services.records(&session).map_err(failed)).await?;
            let past = records
                .into_iter()
                .map(|it| AgentEvent::Recorded(Arc::new(it)));
            Ok(live(id, attachment, past.collect(), notices))
        })
    }

    fn set_open_files(&self, root: AbsPath, files: OpenFiles) {
        let mut shown = self
            .open_files
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        shown.insert(root, files);
    }

    fn takes_images(&self, model: String) -> BoxFuture<'static, Option<bool>> {
        self.with(move |services| async move { Ok(services.takes_images(&model)) })
            .map(Result::unwrap_or_default)
            .boxed()
    }

    fn spending(&self, days: u64) -> BoxFuture<'static, Result<Spending, Error>> {
        self.with(move |services| on_disk(move || services.spending(days).map_err(failed)))
    }

    fn budget_notices(&self) -> BoxStream<'static, SpendNotice> {
        let notices = self.with(|services| async move { Ok(services.budget_notices()) });
        // Without services nothing is spent.
        stream::once(notices)
            .filter_map(|notices| std::future::ready(notices.ok()))
            .flat_map(|mut notices| stream::poll_fn(move |cx| notices.poll_recv(cx)))
            .map(|notice| SpendNotice {
                at_ms: RealClock::default().wall_ms(),
                scope: notice.scope.to_string(),
                percent: u64::from(notice.percent),
            })
            .boxed()
    }

    fn quality(&self, days: u64) -> BoxFuture<'static, Result<QualityReport, Error>> {
        self.with(move |services| on_disk(move || services.quality(days).map_err(failed)))
    }

    fn tool_alarms(&self) -> BoxStream<'static, ToolAlarm> {
        let alarms = self.with(|services| async move { Ok(services.tool_alarms()) });
        // Without services no tool is called.
        stream::once(alarms)
            .filter_map(|alarms| std::future::ready(alarms.ok()))
            .flat_map(|mut alarms| stream::poll_fn(move |cx| alarms.poll_recv(cx)))
            .map(|alarm| ToolAlarm {
                sentence: format!("{} by {}: {}", alarm.tool, alarm.model, alarm.sentence()),
                tool: alarm.tool,
                model: alarm.model,
            })
            .boxed()
    }

    fn read_file(&self, path: AbsPath, limit: u64) -> BoxFuture<'static, Result<Vec<u8>, Error>> {
        self.with(move |_| on_disk(move || RealFiles.read(&path, limit).map_err(failed)))
    }

    fn named_context(&self, root: AbsPath) -> BoxFuture<'static, Vec<NamedContext>> {
        let config = self.dirs.config.clone();
        self.with(|services| {
            on_disk(move || {
                let is_trusted = services.folder_trust(&root).is_trusted;
                Ok::<_, Error>(named_context(&RealFiles, &root, is_trusted, &config))
            })
        })
        .map(Result::unwrap_or_default)
        .boxed()
    }

    fn server_contents(&self, root: AbsPath) -> BoxFuture<'static, Vec<ServerContent>> {
        self.with(|services| async move { Ok(services.factory().server_contents(&root).await) })
            .map(Result::unwrap_or_default)
            .boxed()
    }

    fn kept_prompts(&self, root: AbsPath) -> BoxFuture<'static, KeptPrompts> {
        let drafts = self.drafts.clone();
        self.with(|_| on_disk(move || Ok::<_, Error>(drafts.load(&root))))
            .map(Result::unwrap_or_default)
            .boxed()
    }

    fn keep_prompts(
        &self,
        root: AbsPath,
        kept: KeptPrompts,
    ) -> BoxFuture<'static, Result<(), Error>> {
        let (drafts, stored) = (self.drafts.clone(), self.stored_drafts.clone());
        let number = self.last_drafts.fetch_add(1, Ordering::Relaxed) + 1;
        self.with(move |_| {
            on_disk(move || {
                let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
                // A later request may have come first.
                let latest = stored.entry(root.clone()).or_default();
                if *latest < number {
                    *latest = number;
                    drafts.save(&root, &kept).map_err(failed)?;
                }
                Ok::<_, Error>(())
            })
        })
    }

    fn running(&self) -> BoxStream<'static, Vec<RunningSession>> {
        let statuses = self.sessions.statuses();
        let next = |(mut statuses, is_first): (Receiver<Vec<RunningSession>>, bool)| async move {
            if !is_first {
                statuses.changed().await.ok()?;
            }
            let now = statuses.borrow_and_update().clone();
            Some((now, (statuses, false)))
        };
        stream::unfold((statuses, true), next).boxed()
    }

    fn running_commands(&self) -> BoxStream<'static, Vec<AgentCommand>> {
        let lists = self.with(|services| async move { Ok(commands::running(services)) });
        // Without services nothing runs.
        stream::once(lists)
            .filter_map(|lists| std::future::ready(lists.ok()))
            .flatten()
            .boxed()
    }

    fn watch_command(&self, id: AgentCommandId, from: u64) -> CommandConnection {
        commands::connection(self.services.get(), &self.sessions, &id, from)
    }

    fn session_changes(&self) -> BoxStream<'static, SessionChange> {
        let mut changes = self.sessions.changes();
        stream::poll_fn(move |cx| changes.poll_recv(cx)).boxed()
    }

    fn stored_changes(&self) -> BoxStream<'static, StoredChange> {
        let changes = self.with(|services| async move { Ok(services.session_changes()) });
        // Without services nothing is stored.
        stream::once(changes)
            .filter_map(|changes| std::future::ready(changes.ok()))
            .flat_map(stored_sessions::changes)
            .boxed()
    }

    fn problems(&self) -> BoxStream<'static, String> {
        let unwritten = self.with(|services| async move { Ok(services.unwritten_records()) });
        // Without services there are no records.
        let unwritten = stream::once(unwritten)
            .filter_map(|unwritten| std::future::ready(unwritten.ok()))
            .flat_map(stored_sessions::unwritten);
        stream::select(unwritten, self.reports.follow()).boxed()
    }

    fn mark_session(&self, id: String, mark: SessionMark) -> BoxFuture<'static, Result<(), Error>> {
        self.with(
            move |services| async move { services.mark_session(&id, &mark).await.map_err(failed) },
        )
    }

    fn fork_session(
        &self,
        root: AbsPath,
        id: String,
        after: u64,
    ) -> BoxFuture<'static, Result<String, Error>> {
        self.with(move |services| async move {
            let forked = services.fork_session(root, &id, after).await;
            forked.map_err(failed)
        })
    }

    fn export_session(&self, id: String) -> BoxFuture<'static, Result<String, Error>> {
        self.with(move |services| on_disk(move || services.export_session(&id).map_err(failed)))
    }

    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<BoardConnection, Error>> {
        self.with_board(root, |composer| {
            let events = composer.events();
            Ok(BoardConnection {
                send: Arc::new(move |command| composer.send(command)),
                events,
            })
        })
    }

    fn watch(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.with_board(root, move |composer| {
            composer.watch(&id).map(view_connection)
        })
    }

    fn folder_changes(&self, root: AbsPath, session: String) -> BoxStream<'static, FolderState> {
        let states = self.with(move |services| async move {
            let folders = services.reviews().folders();
            let changed = folders.is_users_folder(&root).then(|| folders.changed());
            Ok(changed.map(|changed| folder_states(services, root, session, changed)))
        });
        let states = stream::once(states);
        let states = states.filter_map(|states| async move { states.ok().flatten() });
        states.flatten().boxed()
    }

    fn file_saved(&self, path: AbsPath, unformatted: Option<String>) {
        // Without services no session has changed anything.
        if self.services.get().is_some() {
            // The task runs on the engines' runtime; its result is not needed.
            drop(self.with(move |services| {
                on_disk(move || {
                    let folders = services.reviews().folders();
                    folders.note_saved(&path, unformatted.as_deref());
                    Ok::<_, Error>(())
                })
            }));
        }
    }

    fn change_folder(
        &self,
        root: AbsPath,
        session: String,
        action: FolderAction,
    ) -> BoxFuture<'static, Result<UndoOutcome, Error>> {
        self.with(move |services| on_disk(move || services.reviews().run(&root, &session, &action)))
    }

    fn folder_access(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.with(|services| on_disk(move || Ok::<_, Error>(services.folder_access(&root))))
    }

    fn change_access(
        &self,
        root: AbsPath,
        change: AccessChange,
    ) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.with(move |services| async move {
            let changed = services.change_access(root, change).await;
            changed.map_err(failed)
        })
    }

    fn sign_in(&self, root: AbsPath, server: String) -> BoxStream<'static, SignInStep> {
        signing_in::steps(self, root, server)
    }

    fn folder_trust(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        self.with(|services| on_disk(move || Ok::<_, Error>(services.folder_trust(&root))))
    }

    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        self.with(move |services| {
            on_disk(move || {
                let stored = match consent {
                    Consent::Trust => services.set_trusted(&root, true),
                    Consent::Distrust => services.set_trusted(&root, false),
                    Consent::Hooks(shown) => services.allow_hooks(&root, &shown),
                    Consent::Server(shown) => services.decide_server(&root, &shown, true),
                    Consent::DenyServer(shown) => services.decide_server(&root, &shown, false),
                };
                stored.map_err(failed)?;
                Ok::<_, Error>(services.folder_trust(&root))
            })
        })
    }

    fn automations(
        &self,
        root: AbsPath,
    ) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>> {
        let (dirs, clock) = (self.dirs.clone(), self.automation_clock.clone());
        self.with(move |_| on_disk(move || automations::list(&dirs, &root, clock.wall_ms())))
    }

    fn change_automation(
        &self,
        root: AbsPath,
        change: AutomationChange,
    ) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>> {
        let (dirs, clock) = (self.dirs.clone(), self.automation_clock.clone());
        let scheduled = self.automations.clone();
        self.with(move |_| async move {
            match scheduled.get() {
                Some(automations) => automations.change(root.clone(), change).await?,
                None => automations::apply(&dirs, &root, &change, clock.wall_ms())?,
            }
            on_disk(move || automations::list(&dirs, &root, clock.wall_ms())).await
        })
    }

    fn external_agents(&self) -> BoxFuture<'static, Result<Vec<ExternalAgentEntry>, Error>> {
        let dirs = self.dirs.clone();
        self.with(move |_| {
            on_disk(move || {
                let (agents, problems) = directory::list(&RealFiles, &dirs);
                for problem in problems {
                    log::warn!("{problem}");
                }
                let entries = agents.iter().map(|agent| external_agent(agent, &dirs));
                Ok::<_, Error>(entries.collect())
            })
        })
    }

    fn install_agent(&self, id: String) -> BoxFuture<'static, Result<ExternalAgentEntry, Error>> {
        let dirs = self.dirs.clone();
        self.with(move |_| {
            on_disk(move || {
                let agent = install(&dirs, &id).map_err(failed)?;
                Ok::<_, Error>(external_agent(&agent, &dirs))
            })
        })
    }
}

/// The panel's entry of an external agent.
fn external_agent(agent: &ExternalAgent, dirs: &Dirs) -> ExternalAgentEntry {
    ExternalAgentEntry {
        id: agent.id.clone(),
        name: agent.name.clone(),
        is_installed: agent.command.is_some(),
        install_command: agent.install_command(dirs).map(|words| words.join(" ")),
        advice: agent.install.clone(),
        sign_in: agent.sign_in.clone(),
    }
}

/// Streams the changes of a session in a folder: now, and after each announcement of `changed`. Must
/// be called on the engines' runtime; the stream may be read on any thread.
fn folder_states(
    services: Arc<AgentServices>,
    root: AbsPath,
    session: String,
    mut changed: Receiver<u64>,
) -> UnboundedReceiver<FolderState> {
    // Unbounded: the panel takes states as fast as calls end.
    let (sender, receiver) = unbounded();
    tokio::spawn(async move {
        // Only the latest state counts: announcements during a look lead to a single further one.
        loop {
            changed.borrow_and_update();
            let (services, root, session) = (services.clone(), root.clone(), session.clone());
            let look = move || Ok::<_, Error>(services.reviews().changes(&root, &session));
            let state = match on_disk(look).await {
                Ok(Ok(Some(changes))) => Some(FolderState::Changes(changes)),
                Ok(Ok(None)) => None,
                Ok(Err(error)) => Some(FolderState::Unrecorded(error.to_string())),
                Err(error) => Some(FolderState::Unrecorded(error.to_string())),
            };
            let is_read = state.is_none_or(|state| sender.unbounded_send(state).is_ok());
            if !is_read || sender.is_closed() || changed.changed().await.is_err() {
                return;
            }
        }
    });
    receiver
}

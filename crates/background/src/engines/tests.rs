//! Tests the engines of the window with the demo model, in temporary folders.

use agent::AgentEvent;
use agent::record::{SessionMode, SessionRecord, TurnEnd};
use agent::session::UserPrompt;
use agent_service::{
    AccessChange, AgentService as _, NewSession, ServerDecision, SessionChange, SessionChangeKind,
    SessionConnection, SessionEntry, SessionMark, SessionStatus,
};
use futures::StreamExt as _;
use futures::executor::block_on;
use host::{Files as _, RealFiles, TempFolder};

use super::*;

mod automations;
mod board;

struct Setup {
    _folder: TempFolder,
    root: AbsPath,
    engines: EngineServices,
}

impl Setup {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        Self {
            root: folder.path().clone(),
            engines: EngineServices::new(dirs.clone(), Arc::default(), IndexRegistry::new(&dirs)),
            _folder: folder,
        }
    }

    fn start(&self) -> SessionConnection {
        let session = NewSession {
            root: self.root.clone(),
            model: "demo".to_owned(),
            mode: SessionMode::Build,
        };
        block_on(self.engines.start(session)).expect("the demo model needs nothing")
    }

    /// Waits until exactly these sessions run, with these activities.
    fn wait_for(&self, expected: &[(&str, SessionActivity)]) {
        let mut running = self.engines.running();
        let mut expected = expected.to_vec();
        expected.sort_by_key(|it| it.0);
        block_on(async {
            while let Some(now) = running.next().await {
                let now: Vec<_> = now.iter().map(|it| (it.id.as_str(), it.activity)).collect();
                if now == expected {
                    return;
                }
            }
            panic!("the stream of running sessions ended");
        });
    }
}

fn prompt(text: &str) -> SessionCommand {
    SessionCommand::Prompt(UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    })
}

/// Receives events until one satisfies the condition.
fn until(live: &mut SessionConnection, is_wanted: impl Fn(&AgentEvent) -> bool) {
    block_on(async {
        while let Some(event) = live.events.next().await {
            if is_wanted(&event) {
                return;
            }
        }
        panic!("the session ended before");
    });
}

fn is_approval(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Recorded(it) if matches!(it.record, SessionRecord::LeaveAsked { .. }))
}

fn is_end(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Idle(TurnEnd::Done))
}

fn approve(live: &mut SessionConnection) {
    block_on(async {
        while let Some(event) = live.events.next().await {
            match &event {
                AgentEvent::Recorded(stored) => {
                    if let SessionRecord::LeaveAsked { call, .. } = &stored.record {
                        (live.send)(SessionCommand::Decide {
                            call: call.clone(),
                            decision: agent::user_prompts::PermissionDecision::Once,
                        });
                    }
                }
                event if is_end(event) => return,
                _ => {}
            }
        }
        panic!("the session ended before its turn");
    });
}

#[test]
fn turn_continues_while_other_sessions_open() {
    let setup = Setup::new();
    let mut first = setup.start();
    (first.send)(prompt("Fix the failing test"));
    until(&mut first, is_approval);
    let id = first.id.clone();
    drop(first);
    let second = setup.start();
    setup.wait_for(&[
        (&id, SessionActivity::WaitingForUser),
        (&second.id, SessionActivity::Idle),
    ]);

    // Opening the session attaches to the waiting turn, with everything that happened before.
    let mut again = block_on(setup.engines.open(setup.root.clone(), id.clone())).expect("it runs");
    approve(&mut again);
    setup.wait_for(&[
        (&id, SessionActivity::Idle),
        (&second.id, SessionActivity::Idle),
    ]);
    drop(again);
    setup.wait_for(&[(&second.id, SessionActivity::Idle)]);

    // After its end, the session is resumed from its records.
    let mut resumed = block_on(setup.engines.open(setup.root.clone(), id)).expect("it is kept");
    until(
        &mut resumed,
        |event| matches!(event, AgentEvent::Recorded(it) if matches!(it.record, SessionRecord::TurnEnded { .. })),
    );
}

fn entries(setup: &Setup) -> Vec<SessionEntry> {
    block_on(setup.engines.sessions(setup.root.clone())).expect("listed")
}

fn mark(setup: &Setup, id: &str, mark: SessionMark) -> Result<(), Error> {
    block_on(setup.engines.mark_session(id.to_owned(), mark))
}

#[test]
fn a_session_that_ends_without_a_view_is_unread_until_it_is_read() {
    let setup = Setup::new();
    let mut changes = setup.engines.session_changes();
    let mut session = setup.start();
    let id = session.id.clone();
    (session.send)(prompt("Fix the failing test"));
    approve(&mut session);
    let is_end = |it: &SessionChange| matches!(it.kind, SessionChangeKind::Ended { .. });
    let ended = block_on(async {
        while let Some(change) = changes.next().await {
            if is_end(&change) {
                return change;
            }
        }
        panic!("the stream of changes ended");
    });
    assert_eq!((ended.id.as_str(), ended.has_view), (id.as_str(), true));
    assert!(!entries(&setup)[0].is_unread);
    let unwatched = SessionChange {
        has_view: false,
        ..ended
    };
    let applied = setup.engines.with(move |services| async move {
        let applied = stored_sessions::apply(&services, &unwatched).await;
        applied.map_err(failed)
    });
    block_on(applied).expect("marked");
    assert!(entries(&setup)[0].is_unread);
    mark(&setup, &id, SessionMark::Read).expect("marked");
    assert!(!entries(&setup)[0].is_unread);
}

#[test]
fn marks_forks_and_exports_show_in_the_list() {
    let setup = Setup::new();
    let mut session = setup.start();
    let id = session.id.clone();
    (session.send)(prompt("Fix the failing test"));
    until(&mut session, is_approval);
    assert_eq!(entries(&setup)[0].status, SessionStatus::Working);
    let refused = mark(&setup, &id, SessionMark::Deleted).expect_err("it is open");
    assert!(refused.to_string().contains("stop it"), "{refused}");
    // A view that attaches gets the waiting approval once more.
    drop(session);
    let opened = setup.engines.open(setup.root.clone(), id.clone());
    let mut session = block_on(opened).expect("it runs");
    approve(&mut session);
    drop(session);
    setup.wait_for(&[]);
    let title = "My test".to_owned();
    mark(&setup, &id, SessionMark::Renamed { title }).expect("marked");
    let exported = block_on(setup.engines.export_session(id.clone())).expect("exported");
    assert!(exported.starts_with("# My test\n"), "{exported}");
    assert!(exported.contains("Fix the failing test"), "{exported}");
    let forked = setup
        .engines
        .fork_session(setup.root.clone(), id.clone(), 3);
    let fork = block_on(forked).expect("forked");
    let listed = entries(&setup);
    let titles: Vec<&str> = listed.iter().map(|entry| entry.title.as_str()).collect();
    assert_eq!(titles, ["Fork of My test", "My test"]);
    assert_eq!(
        (listed[0].id.as_str(), listed[0].cost_nano),
        (fork.as_str(), Some(0))
    );
    assert_eq!(listed[1].status, SessionStatus::Done);
    // The fork goes on by itself, and the original stays.
    drop(block_on(setup.engines.open(setup.root.clone(), fork)).expect("it opens"));
    mark(&setup, &id, SessionMark::Deleted).expect("deleted");
    assert_eq!(entries(&setup).len(), 1);
    let opened = block_on(setup.engines.open(setup.root.clone(), id));
    assert!(opened.is_err(), "a deleted session cannot be continued");
}

#[test]
fn measurements_do_not_start_the_services_but_wait_for_them() {
    let setup = Setup::new();
    setup.engines.record(Metric {
        name: "tab.measured",
        value: 1.0,
        tags: "{}".to_owned(),
    });
    assert!(setup.engines.services.get().is_none());
    assert_eq!(lock(&setup.engines.kept_metrics).len(), 1);
    block_on(setup.engines.models());
    assert_eq!(lock(&setup.engines.kept_metrics).len(), 0);
}

#[test]
fn measurements_do_not_open_services_that_failed_to_open() {
    let setup = Setup::new();
    let blocked = setup.root.join("a-file");
    RealFiles.create_file(&blocked).expect("a file");
    let dirs = Dirs::under(&blocked);
    let engines = EngineServices::new(dirs.clone(), Arc::default(), IndexRegistry::new(&dirs));
    assert!(block_on(engines.sessions(setup.root.clone())).is_err());
    assert!(!lock(&engines.kept_metrics).begin_opening());
}

#[test]
fn unreadable_permissions_close_every_call_and_are_told_to_the_window() {
    let setup = Setup::new();
    let path = setup.engines.dirs.config.join("permissions.json");
    // A folder in the place of the file cannot be read.
    RealFiles.create_folder(&path).expect("a folder");
    let says = |problems: &[String]| {
        let all = problems.join("\n");
        assert!(all.contains("permissions.json"), "{all}");
        assert!(
            all.contains("every call of an agent needs permission"),
            "{all}"
        );
    };
    says(&block_on(setup.engines.models()).problems);
    says(&setup.start().notices);
    let access = block_on(setup.engines.folder_access(setup.root.clone()));
    says(&access.expect("the other rights").problems);
}

#[test]
fn rights_of_agents_are_read_and_changed() {
    let setup = Setup::new();
    let write = |path: AbsPath, text: &str| {
        let folder = path.parent().expect("a folder");
        RealFiles.create_folder(&folder).expect("a folder");
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("written");
    };
    let root = setup.root.clone();
    let rules = r#"{ "permissions": { "allow": ["Bash(make:*)"] } }"#;
    write(setup.engines.dirs.config.join("permissions.json"), rules);
    let server = r#"{ "mcpServers": { "it": { "command": "/nowhere/server" } } }"#;
    write(root.join(".mcp.json"), server);
    let hooks =
        r#"{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] } }"#;
    write(root.join(".claude/settings.json"), hooks);
    let access = block_on(setup.engines.folder_access(root.clone())).expect("rights");
    let change = |change: AccessChange| {
        block_on(setup.engines.change_access(root.clone(), change)).expect("changed")
    };
    assert_eq!(access.problems, Vec::<String>::new());
    assert!(!access.sandbox.sentences.is_empty());
    let now = change(AccessChange::RemoveRule(access.rules[0].clone()));
    assert_eq!(now.rules, []);
    let shown = access.servers[0].entry.clone();
    let now = change(AccessChange::AllowServer(shown.clone()));
    assert_eq!(now.servers[0].decision, ServerDecision::Allowed);
    let now = change(AccessChange::StartServer("it".to_owned()));
    assert!(
        now.servers[0].status.starts_with("does not work"),
        "{now:?}"
    );
    assert!(!now.servers[0].log.is_empty() || !now.servers[0].is_started);
    let now = change(AccessChange::RefuseServer(shown));
    assert_eq!(now.servers[0].decision, ServerDecision::Refused);
    assert_eq!(now.servers[0].status, "was refused by you");
    let file = access.hooks[0].file.clone();
    assert!(change(AccessChange::AllowHooks(file.clone())).hooks[0].is_allowed);
    assert!(!change(AccessChange::RevokeHooks(file)).hooks[0].is_allowed);
    let trust = |is_trusted| AccessChange::SetTrusted {
        folder: root.clone(),
        is_trusted,
    };
    assert!(change(trust(true)).is_trusted);
    assert!(!change(trust(false)).is_trusted);
}

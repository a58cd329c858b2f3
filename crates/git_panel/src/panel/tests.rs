//! Tests the panel by the keyboard over repositories in memory.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{AbsPath, Platform};
use git::changes::{Operation, OperationKind};
use git::merge::TreePath;
use git_program::{BisectState, BisectVerdict, CommitIdentity, IdentityScope, PromptKind};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Entity, Role, TestAppContext, VisualTestContext};
use settings::{KeymapBase, Settings, builtin, parse_keymap};

use super::{ChangesPanel, ChangesPanelEvent, PanelCommand};
use crate::fake::FakeGit;
use crate::rows::RowKey;
use crate::service::{GitCommand, GitFailureKind, GitPrompt, GitTick, HookReport};
use crate::state::StagedState;

struct PanelStory<'a> {
    git: FakeGit,
    root: AbsPath,
    panel: Entity<ChangesPanel>,
    events: Rc<RefCell<Vec<ChangesPanelEvent>>>,
    cx: &'a mut VisualTestContext,
}

/// A repository whose files differ from HEAD, none staged.
fn changed(paths: &[&str]) -> (FakeGit, AbsPath) {
    let git = FakeGit::default();
    let root = git.add_repository("/p");
    for path in paths {
        let contents = [Some("old\n"), Some("old\n"), Some("new\nmore\n")];
        git.set_contents(&root, path, contents);
    }
    (git, root)
}

/// Opens the panel with the focus in its list.
fn open((git, root): (FakeGit, AbsPath), cx: &mut TestAppContext) -> PanelStory<'_> {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(Platform::Linux, cx);
        ui::set_settings(Arc::new(Settings::builtin()), cx);
        let (name, text) = builtin::keymap(KeymapBase::VsCode, Platform::Linux);
        // Commands of other crates are unknown here.
        ui::install_keymaps(&[parse_keymap(name, text).0], cx);
    });
    let service = Arc::new(git.clone());
    let environment = editor::fixture::environment();
    let (panel, cx) =
        cx.add_window_view(|window, cx| ChangesPanel::new(service, environment, window, cx));
    let events = Rc::new(RefCell::new(Vec::new()));
    let sink = events.clone();
    cx.update(|window, cx| {
        window.activate_window();
        cx.subscribe(&panel, move |_, event: &ChangesPanelEvent, _| {
            sink.borrow_mut().push(event.clone());
        })
        .detach();
    });
    panel.update_in(cx, |panel, window, cx| panel.focus.focus(window, cx));
    let mut story = PanelStory {
        git,
        root,
        panel,
        events,
        cx,
    };
    story.settle();
    story
}

impl PanelStory<'_> {
    /// Lets everything that is due happen, with frames.
    fn settle(&mut self) {
        for _ in 0..4 {
            self.cx.run_until_parked();
            self.cx.executor().advance_clock(Duration::from_millis(600));
        }
        self.cx.run_until_parked();
    }

    fn keys(&mut self, keys: &str) {
        self.cx.simulate_keystrokes(keys);
        self.settle();
    }

    fn input(&mut self, text: &str) {
        self.cx.simulate_input(text);
        self.settle();
    }

    fn command(&mut self, command: PanelCommand) {
        self.panel.update_in(self.cx, |panel, window, cx| {
            panel.command(command, window, cx)
        });
        self.settle();
    }

    /// Returns the rows: groups with the number of their files, files with their checkboxes. `>` precedes the selected
    /// one, and a dot follows a pending one.
    fn rows(&mut self) -> Vec<String> {
        self.panel.read_with(self.cx, |panel, _| {
            let state = &panel.state;
            let rows = state.rows().iter().enumerate();
            rows.map(|(ix, row)| {
                let mark = if state.cursor_ix() == Some(ix) {
                    ">"
                } else {
                    ""
                };
                let RowKey::File(root, _, path) = &row.key else {
                    return format!("{mark}{} {}", row.name, row.count);
                };
                let check = match state.staged_state(root, path) {
                    StagedState::Staged => "x",
                    StagedState::Partly => "-",
                    StagedState::Unstaged => " ",
                };
                let dot = if state.is_pending(root, path) {
                    "."
                } else {
                    ""
                };
                format!("{mark}[{check}] {}{dot}", row.name)
            })
            .collect()
        })
    }

    fn labels(&mut self, role: Role) -> Vec<String> {
        let elements = self.cx.update(|window, _| window.elements());
        elements
            .iter()
            .filter(|it| it.role() == Some(role))
            .filter_map(|it| it.label().map(str::to_owned))
            .collect()
    }

    #[track_caller]
    fn expect_label(&mut self, role: Role, words: &str) {
        let labels = self.labels(role);
        assert!(
            labels.iter().any(|label| label.contains(words)),
            "{words} is not among {labels:?}"
        );
    }

    fn message(&mut self) -> String {
        let root = self.root.clone();
        self.panel.read_with(self.cx, |panel, cx| {
            let message = panel.message(&root).expect("a message");
            message.read(cx).text(cx)
        })
    }

    fn indexed(&self, path: &str) -> Option<String> {
        self.git.indexed(&self.root, path)
    }
}

const STAGED: &str = "new\nmore\n";

#[gpui_kit::test]
fn changes_are_grouped_and_counted(cx: &mut TestAppContext) {
    let (git, root) = changed(&["a.rs"]);
    git.set_contents(&root, "b.rs", [Some("1"), Some("2"), Some("3")]);
    git.set_contents(&root, "c.rs", [None, None, Some("new")]);
    let mut story = open((git, root), cx);
    let rows = story.rows();
    let expected = [
        "Staged 1",
        "[-] b.rs",
        "Changes 2",
        "[ ] a.rs",
        "[-] b.rs",
        "Untracked 1",
        "[ ] c.rs",
    ];
    assert_eq!(rows, expected);
    let name = "a.rs, modified, 2 added, 1 removed, not staged";
    story.expect_label(Role::TreeItem, name);
    let summary = story.panel.read_with(story.cx, |panel, _| panel.summary());
    let summary = summary.expect("the changes were read");
    assert_eq!((summary.branch.as_str(), summary.files), ("main", 3));
}

#[gpui_kit::test]
fn space_stages_and_keeps_its_place(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs", "b.rs", "c.rs"]), cx);
    story.keys("down down space");
    let expected = ["Staged 1", "[x] a.rs", "Changes 2", ">[ ] b.rs", "[ ] c.rs"];
    assert_eq!(story.rows(), expected);
    assert_eq!(story.indexed("a.rs").as_deref(), Some(STAGED));
    story.keys("space");
    assert_eq!(story.indexed("b.rs").as_deref(), Some(STAGED));
    // Space on a staged file unstages it.
    story.keys("home down space");
    assert_eq!(story.indexed("a.rs").as_deref(), Some("old\n"));
}

#[gpui_kit::test]
fn ten_quick_presses_stage_ten_files_in_any_order(cx: &mut TestAppContext) {
    let names: Vec<String> = (0..10).map(|ix| format!("f{ix}.rs")).collect();
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut story = open(changed(&paths), cx);
    story.keys("down down");
    story.git.hold_writes();
    story.keys(&["space"; 10].join(" "));
    let rows = story.rows();
    let pending = rows.iter().filter(|row| row.ends_with('.')).count();
    assert_eq!(pending, 10, "{rows:?}");
    assert!(story.indexed("f0.rs").as_deref() == Some("old\n"));
    assert_eq!(story.git.release_writes(), 10);
    story.settle();
    for path in paths {
        assert_eq!(story.indexed(path).as_deref(), Some(STAGED), "{path}");
    }
    let rows = story.rows();
    assert!(rows.iter().all(|row| !row.ends_with('.')), "{rows:?}");
    assert!(
        rows.iter().any(|row| row.ends_with("Staged 10")),
        "{rows:?}"
    );
}

#[gpui_kit::test]
fn a_failed_write_shows_the_true_state(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs", "b.rs"]), cx);
    let sentence = "index.lock is held by git (4711)";
    story.git.fail_next(GitFailureKind::Locked, sentence);
    story.keys("down down space");
    assert_eq!(story.rows(), ["Changes 2", "[ ] a.rs", ">[ ] b.rs"]);
    story.expect_label(Role::Alert, sentence);
    assert_eq!(story.indexed("a.rs").as_deref(), Some("old\n"));
    // Escape closes the message.
    story.keys("escape");
    assert!(story.labels(Role::Alert).is_empty());
}

#[gpui_kit::test]
fn several_selected_files_are_staged_at_once(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs", "b.rs", "c.rs"]), cx);
    story.keys("down down shift-down space");
    assert_eq!(story.indexed("a.rs").as_deref(), Some(STAGED));
    assert_eq!(story.indexed("b.rs").as_deref(), Some(STAGED));
    assert_eq!(story.indexed("c.rs").as_deref(), Some("old\n"));
    // A group represents all its files.
    story.command(PanelCommand::UnstageAll);
    story.keys("home space");
    assert_eq!(story.indexed("c.rs").as_deref(), Some(STAGED));
}

#[gpui_kit::test]
fn undo_takes_the_latest_staging_back(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs", "b.rs"]), cx);
    story.keys("down down space space ctrl-z");
    assert_eq!(story.indexed("a.rs").as_deref(), Some(STAGED));
    assert_eq!(story.indexed("b.rs").as_deref(), Some("old\n"));
}

#[gpui_kit::test]
fn discarding_is_undone(cx: &mut TestAppContext) {
    let (git, root) = changed(&[]);
    git.set_contents(&root, "new.rs", [None, None, Some("text")]);
    let mut story = open((git, root), cx);
    story.keys("down down delete");
    assert!(story.rows().is_empty());
    story.expect_label(Role::Tree, "Changes");
    story.keys("ctrl-z");
    assert_eq!(story.rows(), ["Untracked 1", "[ ] new.rs"]);
}

#[gpui_kit::test]
fn a_discarded_file_is_replaced_by_its_window(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("down down delete");
    let events = story.events.borrow();
    let replaced = events.iter().find_map(|event| match event {
        ChangesPanelEvent::ReplaceText { path, bytes } => Some((path.printable(), bytes.clone())),
        _ => None,
    });
    assert_eq!(replaced, Some(("/p/a.rs".to_owned(), b"old\n".to_vec())));
}

#[gpui_kit::test]
fn a_commit_takes_message_and_staged_files(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("ctrl-enter");
    story.expect_label(Role::Status, "Nothing is staged");
    story.keys("down down space alt-m");
    story.input("Add a");
    let stored = story.git.stored_draft(&story.root);
    assert_eq!(stored.as_deref(), Some("Add a"));
    story.keys("ctrl-enter");
    let commits = story.git.commits();
    assert_eq!(commits.len(), 1);
    assert_eq!(commits[0].message.as_deref(), Some("Add a"));
    assert!(!commits[0].amend && !commits[0].no_verify);
    assert_eq!(story.message(), "");
    let stored = story.git.stored_draft(&story.root);
    assert_eq!(stored.as_deref(), Some(""));
    assert!(story.rows().is_empty());
}

#[gpui_kit::test]
fn a_suggested_message_replaces_the_text_and_is_undone(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("alt-m");
    story.input("Mine");
    story.command(PanelCommand::SuggestMessage);
    assert_eq!(story.message(), "Suggested");
    story.keys("ctrl-z");
    assert_eq!(story.message(), "Mine");
}

#[gpui_kit::test]
fn a_failed_hook_shows_its_last_lines_and_its_log(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("down down space alt-m");
    story.input("Add a");
    let hook = HookReport {
        hook: "pre-commit".to_owned(),
        last_lines: "error: unused variable".to_owned(),
        log: "checking\nerror: unused variable\n".to_owned(),
    };
    let kind = GitFailureKind::HookFailed(hook);
    story.git.fail_next(kind, "the hook pre-commit failed");
    story.keys("ctrl-enter");
    story.expect_label(Role::Alert, "error: unused variable");
    assert_eq!(story.message(), "Add a", "the message is kept");
    assert!(story.labels(Role::Log).is_empty());
    story.cx.dispatch_action(crate::actions::ToggleLog);
    story.settle();
    story.expect_label(Role::Log, "checking");
}

#[gpui_kit::test]
fn a_commit_without_hooks_asks_first(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("down down space alt-m");
    story.input("Add a");
    story.command(PanelCommand::Commit(super::CommitKind::WithoutHooks));
    assert!(story.git.commits().is_empty());
    story.keys("escape");
    assert!(story.git.commits().is_empty());
    story.command(PanelCommand::Commit(super::CommitKind::WithoutHooks));
    story.keys("alt-y");
    assert!(story.git.commits()[0].no_verify);
}

#[gpui_kit::test]
fn conflicts_come_first_and_are_resolved_on_request(cx: &mut TestAppContext) {
    let (git, root) = changed(&["a.rs", "b.rs"]);
    let operation = Operation {
        kind: OperationKind::Rebase,
        progress: Some((2, 5)),
        branch: Some("topic".to_owned()),
    };
    git.set_conflict(&root, "b.rs", operation);
    let mut story = open((git, root), cx);
    assert_eq!(story.rows()[..2], ["Conflicts 1", "[ ] b.rs"]);
    story.expect_label(Role::Status, "Rebasing topic, step 2 of 5");
    story.keys("down down space");
    assert_eq!(story.indexed("b.rs").as_deref(), Some("old\n"));
    story.keys("alt-y");
    assert_eq!(story.indexed("b.rs").as_deref(), Some(STAGED));
    story.command(PanelCommand::Continue);
    assert_eq!(story.git.take_git_commands(), [GitCommand::Continue]);
}

#[gpui_kit::test]
fn an_untrusted_folder_offers_trust(cx: &mut TestAppContext) {
    let (git, root) = changed(&["a.rs"]);
    git.fail_listing(GitFailureKind::Untrusted, "the folder is not trusted");
    let mut story = open((git, root), cx);
    story.expect_label(Role::Button, "Trust folder");
    assert!(story.rows().is_empty());
}

#[gpui_kit::test]
fn a_folder_without_repository_offers_one(cx: &mut TestAppContext) {
    let git = FakeGit::default();
    let root = AbsPath::new("/p").expect("absolute");
    let mut story = open((git, root), cx);
    story.expect_label(Role::Button, "Initialize repository");
    story.command(PanelCommand::Initialize);
    assert!(
        story
            .panel
            .read_with(story.cx, |panel, _| panel.summary())
            .is_some()
    );
}

#[gpui_kit::test]
fn typed_characters_and_arrows_find_files(cx: &mut TestAppContext) {
    let mut story = open(changed(&["src/main.rs", "readme.md"]), cx);
    story.keys("m a");
    assert_eq!(story.rows()[2], ">[ ] main.rs");
    story.keys("alt-t left");
    assert_eq!(
        story.rows(),
        ["Changes 2", "[ ] readme.md", ">src 1", "[ ] main.rs"]
    );
    story.keys("left");
    assert_eq!(story.rows(), ["Changes 2", "[ ] readme.md", ">src 1"]);
    story.keys("space");
    assert_eq!(story.indexed("src/main.rs").as_deref(), Some(STAGED));
}

#[gpui_kit::test]
fn enter_opens_the_diff_of_the_selected_file(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("down down enter");
    let events = story.events.borrow();
    let opened = events.iter().any(|event| {
        matches!(event, ChangesPanelEvent::OpenDiff { path, .. } if *path == TreePath::new("a.rs"))
    });
    assert!(opened, "{events:?}");
}

#[gpui_kit::test]
fn reported_changes_of_files_are_read(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs", "b.rs"]), cx);
    let contents = [Some("old\n"), Some("old\n"), Some("old\n")];
    story.git.set_contents(&story.root, "a.rs", contents);
    story.git.send_tick(&GitTick::Files {
        repository: story.root.clone(),
        paths: vec![TreePath::new("a.rs")],
    });
    story.settle();
    assert_eq!(story.rows(), ["Changes 1", "[ ] b.rs"]);
}

#[gpui_kit::test]
fn questions_of_git_are_answered(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    let answer = Arc::new(Mutex::new(None));
    let sink = answer.clone();
    let (_running, ended) = async_channel::bounded(1);
    story.git.send_prompt(GitPrompt {
        text: "Username for 'https://h': ".to_owned(),
        kind: PromptKind::Username,
        reply: Box::new(move |text| {
            *sink.lock().expect("not poisoned") = Some(text.as_str().to_owned());
        }),
        ended,
    });
    story.settle();
    story.expect_label(Role::Status, "Username for");
    story.input("me");
    story.keys("enter");
    let answer = answer.lock().expect("not poisoned").clone();
    assert_eq!(answer.as_deref(), Some("me"));
    let labels = story.labels(Role::Status);
    assert!(labels.iter().all(|label| !label.contains("Username")));
}

fn ann() -> CommitIdentity {
    CommitIdentity {
        name: "Ann".to_owned(),
        address: "ann@example.org".to_owned(),
    }
}

#[gpui_kit::test]
fn a_missing_address_is_asked_for_and_the_commit_repeated(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.git.set_configured_name("Ann");
    story.keys("down down space alt-m");
    story.input("Add a");
    let kind = GitFailureKind::IdentityMissing;
    story.git.fail_next(kind, "git does not know you");
    story.keys("ctrl-enter");
    story.expect_label(Role::Group, "name and e-mail address");
    // The name is known, so the address has the keyboard.
    story.keys("enter");
    story.expect_label(Role::Status, "both a name");
    story.input("ann@example.org");
    story.keys("enter");
    let expected = (ann(), IdentityScope::Repository);
    assert_eq!(story.git.take_identities(), [expected]);
    assert_eq!(story.git.commits().len(), 2, "the commit is repeated");
    assert_eq!(story.message(), "");
}

#[gpui_kit::test]
fn an_identity_is_stored_for_all_or_dismissed(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.git.set_configured_name("Ann");
    story.keys("alt-i");
    story.input("ann@example.org");
    story.keys("escape");
    assert!(story.git.take_identities().is_empty());
    story.keys("alt-i");
    story.input("ann@example.org");
    story.keys("ctrl-enter");
    let expected = (ann(), IdentityScope::User);
    assert_eq!(story.git.take_identities(), [expected]);
    story.expect_label(Role::Status, "are stored");
}

#[gpui_kit::test]
fn a_bisection_is_guided_by_keys(cx: &mut TestAppContext) {
    let (git, root) = changed(&["a.rs"]);
    git.set_bisect_state(
        &root,
        BisectState::Testing {
            revisions: 6,
            steps: 3,
        },
    );
    let mut story = open((git, root), cx);
    story.expect_label(Role::Status, "6 commits in about 3 steps");
    // Each call ends before the next one.
    for keys in ["alt-g", "alt-b", "alt-k", "alt-e"] {
        story.keys(keys);
    }
    let mark = GitCommand::BisectMark;
    let expected = [
        mark(BisectVerdict::Good),
        mark(BisectVerdict::Bad),
        mark(BisectVerdict::Skip),
        GitCommand::BisectReset,
    ];
    assert_eq!(story.git.take_git_commands(), expected);
    let found = "1".repeat(40);
    let state = BisectState::Found(found.clone());
    story.git.set_bisect_state(&story.root, state);
    story
        .git
        .send_tick(&GitTick::Repository(story.root.clone()));
    story.settle();
    story.expect_label(Role::Status, "11111111 is the first bad commit");
    story.keys("alt-o");
    let events = story.events.borrow();
    let is_shown = events
        .iter()
        .any(|event| matches!(event, ChangesPanelEvent::ShowCommit(id) if *id == found));
    assert!(is_shown, "{events:?}");
}

#[gpui_kit::test]
fn verdicts_need_a_bisection(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("alt-g");
    story.expect_label(Role::Status, "No bisection is in progress");
    assert!(story.git.take_git_commands().is_empty());
}

#[gpui_kit::test]
fn pull_requests_without_their_program_are_a_sentence(cx: &mut TestAppContext) {
    let mut story = open(changed(&["a.rs"]), cx);
    story.keys("alt-p");
    story.expect_label(Role::Alert, "need the program gh");
    story.git.set_pull_requests(Vec::new());
    story.keys("alt-p");
    story.expect_label(Role::Status, "no open pull requests");
}

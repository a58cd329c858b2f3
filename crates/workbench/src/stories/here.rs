//! Changes of a session in the user's folder, by the keyboard alone: the agent's edits and the
//! actions on them run on a real folder, of which the window's files in memory are a copy.

use std::sync::{Arc, Mutex, PoisonError};

use agent::SessionCommand;
use agent::record::{Delivery, SessionRecord, StoredContent, StoredPart};
use agent::services::Buffers;
use agent::session::QueueCommand;
use base::AbsPath;
use composer::change_history::{AgentCall, ChangeAuthor, ObserveScope};
use composer::folder_review::FolderReview;
use composer_panel::agents::{FakeAgents, ModelEntry, ModelList};
use gpui_kit::TestAppContext;
use host::{FakeClock, FakeFiles, Files as _, RealFiles, TempFolder};
use project::UnsavedTexts;

use super::agents::recorded;
use super::{Story, path, services, start_with};
use crate::windows::OpenRequest;

/// The names of the files of the folder, some of which may be missing.
const NAMES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];
/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A folder with its review, and its copy below `/p` in memory.
#[derive(Clone)]
struct Here {
    root: Arc<TempFolder>,
    _state: Arc<TempFolder>,
    review: Arc<FolderReview>,
    files: FakeFiles,
    calls: Arc<Mutex<u32>>,
}

/// The window's unsaved texts, under the paths of the real folder.
struct Unsaved {
    root: AbsPath,
    texts: Arc<UnsavedTexts>,
}

impl Buffers for Unsaved {
    fn text(&self, file: &AbsPath) -> Option<String> {
        let relative = file.relative_to(&self.root)?;
        self.texts.text(&path("/p").join(relative))
    }
}

fn numbered(name: &str, changed: &[(usize, &str)]) -> String {
    let line = |at: usize| {
        let text = changed.iter().find(|(line, _)| *line == at);
        text.map_or_else(|| format!("{name} {at}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=20).map(line).collect()
}

impl Here {
    fn new(files: &FakeFiles, texts: Arc<UnsavedTexts>) -> Self {
        let root = TempFolder::new().expect("a folder");
        let state = TempFolder::new().expect("a folder");
        for name in &NAMES[..2] {
            let text = numbered(name, &[]);
            RealFiles
                .write_private(&root.path().join(name), text.as_bytes())
                .expect("a file");
        }
        let unsaved = Unsaved {
            root: root.path().clone(),
            texts,
        };
        let review = FolderReview::open(
            root.path(),
            state.path().clone(),
            Arc::new(RealFiles),
            Arc::new(FakeClock::at(1)),
            Some(Arc::new(unsaved)),
        );
        let here = Self {
            root: Arc::new(root),
            _state: Arc::new(state),
            review: Arc::new(review.expect("a review")),
            files: files.clone(),
            calls: Arc::default(),
        };
        here.copy_to_memory();
        here
    }

    fn on_disk(&self, name: &str) -> Option<String> {
        let bytes = RealFiles.read(&self.root.path().join(name), MAX_BYTES);
        bytes
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Changes the window's files as the disk changed.
    fn copy_to_memory(&self) {
        for name in NAMES {
            let file = path("/p").join(name);
            let there = self.files.content(&file);
            match self.on_disk(name) {
                Some(text) if there.as_deref() != Some(text.as_bytes()) => {
                    self.files.write(&file, &text);
                }
                None if there.is_some() => self.files.remove(&file).expect("removed"),
                _ => {}
            }
        }
    }

    /// Lets the agent write a file in a call of a turn.
    fn agent_writes(&self, turn: u64, name: &str, text: &str) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls += 1;
        let author = ChangeAuthor::Agent(AgentCall {
            session: "new".to_owned(),
            turn,
            call: format!("c{calls}"),
            tool: "write_file".to_owned(),
        });
        let mut history = self
            .review
            .history()
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let paths = [name.to_owned()];
        let scope = ObserveScope::Paths(&paths);
        history
            .observe(scope, &ChangeAuthor::Disk)
            .expect("observed");
        history.checkpoint("new", turn).expect("a checkpoint");
        RealFiles
            .write_private(&self.root.path().join(name), text.as_bytes())
            .expect("a file");
        history.observe(scope, &author).expect("observed");
    }

    /// Shows the present changes, as the engines do after each call and action.
    fn show(&self, fake: &FakeAgents) {
        self.copy_to_memory();
        let changes = self.review.changes(&["new".to_owned()]);
        fake.show_changes(changes.expect("changes"));
    }

    /// Lets the panel's actions run on the review.
    fn answer(&self, fake: &FakeAgents) {
        let (this, engine) = (self.clone(), fake.clone());
        fake.answer_folder_actions(move |action| {
            let outcome = this.review.run(&["new".to_owned()], &action);
            let mut outcome = outcome?;
            for edit in &mut outcome.buffers {
                if let Some(relative) = edit.path.relative_to(this.root.path()) {
                    edit.path = path("/p").join(relative);
                }
            }
            this.show(&engine);
            Ok(outcome)
        });
    }
}

fn prompted(turn: u64, text: &str) -> agent::AgentEvent {
    recorded(SessionRecord::Prompted {
        turn,
        parts: vec![StoredPart {
            content: StoredContent::Text {
                text: text.to_owned(),
            },
            opaque: None,
        }],
        is_steering: false,
    })
}

fn open(cx: &mut TestAppContext) -> (Story, FakeAgents, Here) {
    let models = ModelList {
        models: vec![ModelEntry {
            id: "local/coder".to_owned(),
            name: "Coder".to_owned(),
            about: String::new(),
            traits: None,
        }],
        default: "local/coder".to_owned(),
        ..ModelList::default()
    };
    let fake = FakeAgents::new(models, Vec::new());
    let files = FakeFiles::new();
    let services = crate::Services {
        agents: Some(Arc::new(fake.clone())),
        ..services(&files)
    };
    let here = Here::new(&files, services.unsaved.clone());
    here.answer(&fake);
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (story, fake, here)
}

/// A session whose first turn changed two places of `a.txt` and one of `b.txt`.
fn open_edited(cx: &mut TestAppContext) -> (Story, FakeAgents, Here) {
    let (mut story, fake, here) = open(cx);
    story.open_file("a.txt");
    story.keys("ctrl-alt-b");
    story.input("improve it").keys("enter");
    story.settle();
    fake.send_event(prompted(1, "improve it"));
    here.agent_writes(
        1,
        "a.txt",
        &numbered("a.txt", &[(3, "three"), (15, "fifteen")]),
    );
    here.agent_writes(1, "b.txt", &numbered("b.txt", &[(9, "nine")]));
    fake.send_event(agent::AgentEvent::Idle(agent::record::TurnEnd::Done));
    here.show(&fake);
    story.settle();
    (story, fake, here)
}

#[gpui_kit::test]
fn hunks_are_decided_a_message_restored_and_that_undone(cx: &mut TestAppContext) {
    let (mut story, fake, here) = open_edited(cx);
    assert_eq!(
        story.text(),
        numbered("a.txt", &[(3, "three"), (15, "fifteen")])
    );
    story.keys("alt-v").keys("r");
    story.settle();
    let kept = numbered("a.txt", &[(15, "fifteen")]);
    assert_eq!(here.on_disk("a.txt"), Some(kept.clone()));
    assert_eq!(story.text(), kept);
    story.keys("a").keys("a");
    story.settle();
    assert_eq!(here.on_disk("a.txt"), Some(kept.clone()));
    let hunks = |story: &mut Story| {
        story.read(|workbench, cx| {
            let here = workbench.agents().read(cx).folder_hunks();
            here.map_or(0, |(_, _, hunks)| hunks.len())
        })
    };
    assert_eq!(hunks(&mut story), 0);
    // The second message changes a kept line and adds a file.
    fake.send_event(prompted(2, "more"));
    here.agent_writes(
        2,
        "a.txt",
        &numbered("a.txt", &[(6, "six"), (15, "FIFTEEN")]),
    );
    here.agent_writes(2, "c.txt", "new\n");
    fake.send_event(agent::AgentEvent::Idle(agent::record::TurnEnd::Done));
    here.show(&fake);
    story.settle();
    let after = numbered("a.txt", &[(6, "six"), (15, "FIFTEEN")]);
    assert_eq!(story.text(), after);
    // The default leaves the files alone.
    story.keys("escape").keys("alt-up").keys("t");
    assert!(story.is_asking());
    story.keys("enter");
    story.settle();
    assert_eq!(here.on_disk("a.txt"), Some(after.clone()));
    story.keys("alt-up").keys("t").keys("down").keys("enter");
    story.settle();
    assert_eq!(here.on_disk("a.txt"), Some(kept.clone()));
    assert_eq!(here.on_disk("c.txt"), None);
    assert_eq!(story.text(), kept);
    story.keys("alt-up").keys("z");
    story.settle();
    assert_eq!(here.on_disk("a.txt"), Some(after.clone()));
    assert_eq!(here.on_disk("c.txt"), Some("new\n".to_owned()));
    assert_eq!(story.text(), after);
    assert_eq!(hunks(&mut story), 3);
}

#[gpui_kit::test]
fn changes_of_the_session_are_rejected_in_the_text(cx: &mut TestAppContext) {
    let (mut story, _fake, here) = open_edited(cx);
    let seen = super::a11y::names(&mut story, "changes in a text");
    let inline = seen
        .iter()
        .filter(|it| it.starts_with("Change by improve it"));
    assert_eq!(inline.count(), 2, "{seen:?}");
    // From the list to the text, to its second change.
    story.keys("alt-v").keys("down").keys("o");
    story.settle();
    story.keys("alt-n");
    story.settle();
    let rest = numbered("a.txt", &[(3, "three")]);
    assert_eq!(here.on_disk("a.txt"), Some(rest.clone()));
    assert_eq!(story.text(), rest);
}

#[gpui_kit::test]
fn unsaved_text_stays_when_changes_are_rejected(cx: &mut TestAppContext) {
    let (mut story, _fake, here) = open_edited(cx);
    let disk = here.on_disk("a.txt");
    // Typed into the first line of the text, and not saved.
    story.keys("ctrl-alt-b").keys("ctrl-home").input("mine ");
    story.keys("ctrl-alt-b").keys("alt-v").keys("shift-r");
    story.settle();
    assert_eq!(
        here.on_disk("a.txt"),
        disk,
        "the disk beneath unsaved text stays"
    );
    assert_eq!(here.on_disk("b.txt"), Some(numbered("b.txt", &[])));
    assert_eq!(story.text(), format!("mine {}", numbered("a.txt", &[])));
    assert!(story.tabs().contains("a.txt*"), "{}", story.tabs());
}

/// The names of the comments that a list of changes shows.
fn comments(story: &mut Story, about: &str) -> Vec<String> {
    let seen = super::a11y::names(story, about);
    let comments = seen.into_iter().filter(|it| it.starts_with("Comment: "));
    comments.collect()
}

fn answered(turn: u64, text: &str) -> [agent::AgentEvent; 3] {
    let answer = recorded(SessionRecord::Answered {
        turn,
        step: 1,
        model: "local/coder".to_owned(),
        parts: vec![agent::stored_parts::text(text)],
        usage: agent::record::StoredUsage::default(),
        cost_nano: Some(0),
        stop: "end_turn".to_owned(),
    });
    let end = agent::record::TurnEnd::Done;
    let ended = recorded(SessionRecord::TurnEnded {
        turn,
        end: end.clone(),
    });
    [answer, ended, agent::AgentEvent::Idle(end)]
}

#[gpui_kit::test]
fn a_comment_on_a_change_is_answered_at_the_mended_change(cx: &mut TestAppContext) {
    let (mut story, fake, here) = open_edited(cx);
    fake.take_commands();
    // Escape keeps the text of the field, whose letters are no commands of the list.
    story.keys("alt-v").keys("alt-i").input("are you sure?");
    story.keys("escape").keys("alt-i").keys("enter");
    story.settle();
    let commands = fake.take_commands();
    let [SessionCommand::Prompt(sent)] = &commands[..] else {
        panic!("{commands:?}");
    };
    let text = "Comment on `a.txt:3`:\n```diff\n-a.txt 3\n+three\n```\nare you sure?";
    assert_eq!(sent.text, text);
    fake.send_event(prompted(2, text));
    story.settle();
    let waiting = ["Comment: are you sure?, waiting."];
    assert_eq!(comments(&mut story, "a comment that waits"), waiting);
    here.agent_writes(2, "a.txt", &numbered("a.txt", &[(3, "3"), (15, "fifteen")]));
    for event in answered(2, "A digit is better.") {
        fake.send_event(event);
    }
    here.show(&fake);
    story.settle();
    let shown = ["Comment: are you sure?, answered. A digit is better."];
    assert_eq!(comments(&mut story, "a comment that is answered"), shown);
    // A blank comment sends nothing.
    story.keys("alt-i").input("  ").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), []);
    // The thread goes with its change.
    story.keys("a");
    story.settle();
    let none: [&str; 0] = [];
    assert_eq!(comments(&mut story, "changes without comments"), none);
}

#[gpui_kit::test]
fn lines_of_a_change_are_commented_in_the_text(cx: &mut TestAppContext) {
    let (mut story, fake, here) = open_edited(cx);
    here.agent_writes(
        1,
        "a.txt",
        &numbered("a.txt", &[(3, "three\nfour\nfive"), (15, "fifteen")]),
    );
    here.show(&fake);
    story.settle();
    fake.take_commands();
    // The agent works again, so that the comment waits in the queue.
    fake.send_event(prompted(2, "go on"));
    story.settle();
    story.keys("alt-v").keys("o");
    story.settle();
    story.keys("down").keys("shift-down").keys("alt-i");
    story.settle();
    story.input("why?").keys("enter");
    story.settle();
    let commands = fake.take_commands();
    let [SessionCommand::Queue(QueueCommand::Add { prompt, delivery })] = &commands[..] else {
        panic!("{commands:?}");
    };
    assert_eq!(*delivery, Delivery::NextTurn);
    assert_eq!(
        prompt.text,
        "Comment on `a.txt:4`:\n```diff\n+four\n```\nwhy?"
    );
    // The focus is in the text again.
    story.keys("alt-i").keys("escape").keys("ctrl-home");
    story.input("x");
    story.settle();
    assert!(story.text().starts_with("xa.txt 1"), "{}", story.text());
}

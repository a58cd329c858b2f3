//! The engines of the window with the demo model, over folders of their own.

use agent::Command;
use agent::record::{Mode, Record};
use agent::session::Prompt;
use futures::executor::block_on;
use host::TempFolder;

use super::*;

struct Setup {
    _folder: TempFolder,
    root: AbsPath,
    engines: Engines,
}

impl Setup {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::below(&folder.path().join("own"));
        dirs.create().expect("folders");
        Self {
            root: folder.path().clone(),
            engines: Engines::new(dirs, Arc::default()),
            _folder: folder,
        }
    }

    fn start(&self) -> Live {
        let session = NewSession {
            root: self.root.clone(),
            model: "demo".to_owned(),
            mode: Mode::Build,
        };
        block_on(self.engines.start(session)).expect("the demo model needs nothing")
    }

    /// Waits until the sessions that run are these, with their activity.
    fn wait_for(&self, expected: &[(&str, Activity)]) {
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

fn prompt(text: &str) -> Command {
    Command::Prompt(Prompt {
        text: text.to_owned(),
        images: Vec::new(),
    })
}

/// Takes events until one is as wanted.
fn until(live: &mut Live, is_wanted: impl Fn(&Event) -> bool) {
    block_on(async {
        while let Some(event) = live.events.next().await {
            if is_wanted(&event) {
                return;
            }
        }
        panic!("the session ended before");
    });
}

fn is_approval(event: &Event) -> bool {
    matches!(event, Event::Recorded(it) if matches!(it.record, Record::LeaveAsked { .. }))
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::Idle(TurnEnd::Done))
}

fn approve(live: &mut Live) {
    block_on(async {
        while let Some(event) = live.events.next().await {
            match &event {
                Event::Recorded(stored) => {
                    if let Record::LeaveAsked { call, .. } = &stored.record {
                        (live.tell)(Command::Decide {
                            call: call.clone(),
                            decision: agent::ask::Decision::Once,
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
fn a_turn_goes_on_while_other_sessions_are_started_and_opened() {
    let setup = Setup::new();
    let mut first = setup.start();
    (first.tell)(prompt("Fix the failing test"));
    until(&mut first, is_approval);
    let id = first.id.clone();
    drop(first);
    let second = setup.start();
    setup.wait_for(&[
        (&id, Activity::WaitingForUser),
        (&second.id, Activity::Idle),
    ]);

    // Opening it attaches to the turn that waits, with all that happened before.
    let mut again = block_on(setup.engines.open(setup.root.clone(), id.clone())).expect("it runs");
    approve(&mut again);
    setup.wait_for(&[(&id, Activity::Idle), (&second.id, Activity::Idle)]);
    drop(again);
    setup.wait_for(&[(&second.id, Activity::Idle)]);

    // Once it has ended it is resumed from its records.
    let mut resumed = block_on(setup.engines.open(setup.root.clone(), id)).expect("it is kept");
    until(
        &mut resumed,
        |event| matches!(event, Event::Recorded(it) if matches!(it.record, Record::TurnEnded { .. })),
    );
}

//! Feeds without processes: bounds, cuts, control.

use futures::FutureExt as _;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::*;

struct TestFeeds {
    feeds: CommandFeeds,
    changes: mpsc::UnboundedReceiver<ControlChange>,
    sender: mpsc::UnboundedSender<ControlChange>,
}

fn feeds() -> TestFeeds {
    let (sender, changes) = mpsc::unbounded_channel();
    TestFeeds {
        feeds: CommandFeeds::default(),
        changes,
        sender,
    }
}

impl TestFeeds {
    fn open(&self, call: &str) -> Option<Arc<CommandFeed>> {
        self.feeds.open(NewCommand {
            session: "s",
            call,
            command: "cat",
            folder: &AbsPath::new("/p").expect("absolute"),
            sandbox: "sandbox".to_owned(),
            has_terminal: true,
            size: TerminalSize {
                rows: 40,
                columns: 120,
            },
            changes: self.sender.clone(),
        })
    }

    fn watch(&self, feed: &CommandFeed, from: u64) -> CommandWatch {
        let watch = self.feeds.watch(&feed.about().id, from);
        watch.expect("the command is known")
    }
}

/// Returns the events that are ready.
fn ready(watch: &mut CommandWatch) -> Vec<CommandFeedEvent> {
    let mut events = Vec::new();
    while let Some(Some(one)) = watch.next().now_or_never() {
        events.push(one);
    }
    events
}

/// Returns the output among events, which has no gap from `offset` on.
fn output(events: &[CommandFeedEvent], mut offset: u64) -> Vec<u8> {
    let mut all = Vec::new();
    for one in events {
        if let CommandFeedEvent::Output {
            offset: at, bytes, ..
        } = one
        {
            assert_eq!(*at, offset);
            offset += bytes.len() as u64;
            all.extend_from_slice(bytes);
        }
    }
    all
}

/// Returns the number of kept bytes.
fn kept(feed: &CommandFeed) -> u64 {
    let state = feed.lock();
    state.backlog.end() - state.backlog.start()
}

fn last_control(events: &[CommandFeedEvent]) -> Option<CommandControl> {
    let mut controls = events.iter().filter_map(|one| match one {
        CommandFeedEvent::Control(control) => Some(*control),
        _ => None,
    });
    controls.next_back()
}

#[test]
fn a_watcher_gets_the_backlog_then_what_comes() {
    let world = feeds();
    let feed = world.open("c").expect("room");
    feed.push(b"one\n");
    let mut watch = world.watch(&feed, 0);
    feed.push(b"two\n");
    let events = ready(&mut watch);
    assert_eq!(
        events,
        [
            CommandFeedEvent::Attached(feed.about().clone()),
            CommandFeedEvent::Control(CommandControl::Agent),
            CommandFeedEvent::Output {
                offset: 0,
                bytes: b"one\n".to_vec(),
                is_backlog: true,
            },
            CommandFeedEvent::Output {
                offset: 4,
                bytes: b"two\n".to_vec(),
                is_backlog: false,
            },
        ]
    );
    world.feeds.end(&feed, ProcessExit::Exited(3));
    assert_eq!(ready(&mut watch), [CommandFeedEvent::Ended(Some(3))]);
    assert_eq!(watch.next().now_or_never(), Some(None));
}

#[test]
fn random_cuts_lose_and_double_no_byte() {
    for seed in 0..40 {
        let mut random = StdRng::seed_from_u64(seed);
        let world = feeds();
        let feed = world.open("c").expect("room");
        let mut written = Vec::new();
        let mut seen = Vec::new();
        let mut watch = world.watch(&feed, 0);
        for _ in 0..200 {
            let length = random.random_range(0..2_000);
            let bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
            feed.push(&bytes);
            written.extend_from_slice(&bytes);
            match random.random_range(0..4) {
                // The connection breaks, and the watcher comes again with what it has.
                0 => watch = world.watch(&feed, seen.len() as u64),
                1 => {}
                _ => {
                    let events = ready(&mut watch);
                    seen.extend(output(&events, seen.len() as u64));
                }
            }
        }
        let events = ready(&mut watch);
        seen.extend(output(&events, seen.len() as u64));
        assert!(seen == written, "seed {seed}");
    }
}

#[test]
fn a_slow_watcher_misses_what_is_not_kept() {
    let world = feeds();
    let feed = world.open("c").expect("room");
    let mut watch = world.watch(&feed, 0);
    ready(&mut watch);
    for number in 0..100_000 {
        feed.push(format!("line {number}\n").as_bytes());
        assert!(kept(&feed) <= MAX_BACKLOG as u64);
    }
    feed.push(&vec![b'x'; 2 * MAX_BACKLOG]);
    assert_eq!(kept(&feed), MAX_BACKLOG as u64);
    feed.push(b"\nlast\n");
    let events = ready(&mut watch);
    let Some(CommandFeedEvent::Output {
        offset, is_backlog, ..
    }) = events.first()
    else {
        panic!("{events:?}");
    };
    assert!(*offset > 0 && *is_backlog);
    let text = output(&events, *offset);
    assert!(text.len() <= MAX_BACKLOG && text.ends_with(b"x\nlast\n"));
}

#[test]
fn the_number_of_feeds_is_bounded() {
    let world = feeds();
    let first = world.open("first").expect("room");
    for number in 1..MAX_FEEDS {
        assert!(world.open(&number.to_string()).is_some());
    }
    assert!(world.open("too many").is_none());
    assert_eq!(world.feeds.running().borrow().len(), MAX_FEEDS);
    world.feeds.end(&first, ProcessExit::Exited(0));
    assert!(world.feeds.watch(&first.about().id, 0).is_some());
    assert!(world.open("another").is_some());
    assert!(world.feeds.watch(&first.about().id, 0).is_none());
}

#[test]
fn control_goes_to_one_watcher_and_back() {
    let mut world = feeds();
    let feed = world.open("c").expect("room");
    let (mut one, mut two) = (world.watch(&feed, 0), world.watch(&feed, 0));
    let taken = feed.taken();
    one.sender()(CommandInput::TakeOver);
    assert!(*taken.borrow());
    assert_eq!(last_control(&ready(&mut one)), Some(CommandControl::You));
    let control = last_control(&ready(&mut two));
    assert_eq!(control, Some(CommandControl::OtherWindow));
    // Another window of the same user; the agent sees no difference.
    two.sender()(CommandInput::TakeOver);
    two.sender()(CommandInput::TakeOver);
    let control = last_control(&ready(&mut one));
    assert_eq!(control, Some(CommandControl::OtherWindow));
    one.sender()(CommandInput::GiveBack);
    assert!(*taken.borrow(), "it is not the one that has it");
    // Closing its tab gives the command back.
    drop(two);
    assert!(!*taken.borrow());
    assert_eq!(last_control(&ready(&mut one)), Some(CommandControl::Agent));
    let mut changes = std::iter::from_fn(|| world.changes.try_recv().ok());
    assert!(changes.next().is_some_and(|it| it.given_back.is_none()));
    let given_back = changes.next().and_then(|it| it.given_back);
    assert_eq!(given_back.expect("given back").count, 0);
    assert!(changes.next().is_none());
}

#[test]
fn the_end_of_a_command_gives_it_back() {
    let mut world = feeds();
    let feed = world.open("c").expect("room");
    let watch = world.watch(&feed, 0);
    watch.sender()(CommandInput::TakeOver);
    world.feeds.end(&feed, ProcessExit::Signalled(9));
    assert!(!*feed.taken().borrow());
    watch.sender()(CommandInput::TakeOver);
    let changes = std::iter::from_fn(|| world.changes.try_recv().ok());
    assert_eq!(changes.count(), 2, "nothing can be taken after the end");
}

#[test]
fn events_and_inputs_survive_their_text_form() {
    let events = CommandFeedEvent::Output {
        offset: 7,
        bytes: (0..=255).collect(),
        is_backlog: false,
    };
    let text = serde_json::to_string(&events).expect("JSON");
    assert_eq!(
        serde_json::from_str::<CommandFeedEvent>(&text).ok(),
        Some(events)
    );
    let input = CommandInput::Typed(vec![0, 255, 27]);
    let text = serde_json::to_string(&input).expect("JSON");
    assert_eq!(
        serde_json::from_str::<CommandInput>(&text).ok(),
        Some(input)
    );
}

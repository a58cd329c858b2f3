//! The CPU time of keys over a long list of completions, and of an answer that arrives.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use cpu_time::ThreadTime;
use editor::{
    CompletionAnswer, CompletionId, CompletionItem, CompletionKind, CompletionQuery,
    CompletionSource,
};
use gpui_kit::{App, HeadlessAppContext, Task};

use super::{keystroke, open};

/// Number of items in the list that is filtered.
const ITEMS: usize = 20_000;
/// Number of items in a long answer: those of basedpyright in 10 MB.
const LONG_ANSWER: usize = 12_245;
/// Number of items in a short answer, all of which are shown. Its time is mostly that of the frame.
const SHORT_ANSWER: usize = 12;
/// Number of typed words.
const WORDS: usize = 120;

/// A source whose request waits until it is answered.
#[derive(Default)]
struct WaitingSource {
    request: RefCell<Option<(CompletionQuery, async_channel::Sender<CompletionAnswer>)>>,
}

impl CompletionSource for WaitingSource {
    fn request(&self, query: CompletionQuery, cx: &mut App) -> Task<Option<CompletionAnswer>> {
        let (sender, receiver) = async_channel::bounded(1);
        *self.request.borrow_mut() = Some((query, sender));
        cx.spawn(async move |_| receiver.recv().await.ok())
    }
}

impl WaitingSource {
    fn answer(&self, items: &[CompletionItem]) {
        let request = self.request.borrow_mut().take();
        let (query, sender) = request.expect("the key sent a request");
        let answer = CompletionAnswer {
            items: items.to_vec(),
            is_incomplete: false,
            revision: query.snapshot.revision(),
        };
        sender.try_send(answer).expect("the request waits");
    }
}

/// Measures keys that open and filter lists, and prints the figures.
pub(super) fn measure(cx: &mut HeadlessAppContext) {
    let text = "let total = first + second;\n".repeat(2_000);
    let (window, editor) = open("/bench.rs", &text, 1_000, cx);
    let source = Rc::new(WaitingSource::default());
    cx.update(|cx| {
        editor.update(cx, |editor, cx| {
            editor.set_completion_sources(vec![source.clone()], cx);
        });
    });
    let press = |key: char, cx: &mut HeadlessAppContext| {
        let start = ThreadTime::now();
        let pressed = cx.update_window(window, |_, window, cx| {
            window.dispatch_keystroke(keystroke(key), cx);
        });
        pressed.expect("the window is open");
        start.elapsed()
    };
    let mut figures = [const { Vec::new() }; 4];
    for (ix, word) in words().enumerate() {
        let count = [ITEMS, LONG_ANSWER, SHORT_ANSWER][ix / 3 % 3];
        let items = if count == SHORT_ANSWER {
            matching_items(ix)
        } else {
            items(count)
        };
        // A space ends the word before.
        press(' ', cx);
        cx.advance_clock(Duration::from_millis(150));
        cx.run_until_parked();
        let mut keys = word.chars();
        let first = press(keys.next().expect("a word has letters"), cx) + foreground_time(cx);
        source.answer(&items);
        let arrived = foreground_time(cx);
        assert!(
            cx.update(|cx| editor.read(cx).shows_completions()),
            "{word}"
        );
        figures[0].push(first);
        if count != ITEMS {
            figures[if count == LONG_ANSWER { 1 } else { 3 }].push(arrived);
            continue;
        }
        for key in keys {
            figures[2].push(press(key, cx));
            let shown = cx.update(|cx| editor.read(cx).shown_completions());
            assert!(shown.is_some_and(|(rows, _)| rows.len() > 1), "{word}");
            cx.advance_clock(Duration::from_millis(150));
            cx.run_until_parked();
        }
    }
    let [first, arrived, filtered, short] = figures;
    let name = "key that opens a list, on the UI thread until its words are in the scene";
    print(name, first, Some(2.0));
    for (count, times, goal) in [
        (LONG_ANSWER, arrived, Some(1.0)),
        (SHORT_ANSWER, short, None),
    ] {
        let name =
            format!("answer of {count} items, on the UI thread until its rows are in the scene");
        print(&name, times, goal);
    }
    print(
        &format!("key over {ITEMS} items to scene"),
        filtered,
        Some(4.0),
    );
}

/// Runs all ready tasks and returns the time of the foreground tasks. The test scheduler runs
/// background tasks on the same thread, so they are run separately and not timed.
fn foreground_time(cx: &HeadlessAppContext) -> Duration {
    let dispatcher = cx.background_executor().dispatcher().clone();
    let dispatcher = dispatcher.as_test().expect("a scheduler for tests");
    let mut time = Duration::ZERO;
    loop {
        while dispatcher.tick(true) {}
        let start = ThreadTime::now();
        if !dispatcher.tick(false) {
            return time;
        }
        time += start.elapsed();
    }
}

/// Prints the median and the 99th percentile, which has the goal.
fn print(name: &str, mut times: Vec<Duration>, goal: Option<f64>) {
    times.sort();
    for (label, part, goal) in [("p50", 0.5, None), ("p99", 0.99, goal)] {
        let time = times[((times.len() - 1) as f64 * part).round() as usize];
        let goal = goal.map_or_else(|| "null".to_owned(), |goal| goal.to_string());
        println!(
            "{{\"name\": \"{name} {label}\", \"value\": {:.3}, \"unit\": \"ms\", \"n\": {}, \"goal\": {goal}}}",
            time.as_secs_f64() * 1e3,
            times.len(),
        );
    }
}

const VERBS: [&str; 10] = [
    "get", "set", "create", "remove", "update", "collect", "parse", "render", "compute", "find",
];
const NOUNS: [&str; 10] = [
    "item", "buffer", "cursor", "document", "element", "folder", "region", "server", "token",
    "window",
];

fn item(ix: usize) -> CompletionItem {
    let (verb, noun) = (VERBS[ix % 10], NOUNS[ix / 10 % 10]);
    let label = format!("{verb}_{noun}_{ix}");
    CompletionItem::new(CompletionId(ix as u64), label, CompletionKind::Function)
}

fn items(count: usize) -> Vec<CompletionItem> {
    (0..count).map(item).collect()
}

/// Builds the items of a short answer, all of which match the word `ix`.
fn matching_items(ix: usize) -> Vec<CompletionItem> {
    let matching = (0..SHORT_ANSWER).map(|copy| copy * 100 + ix / 3 % 10 * 10 + ix / 2 % 10);
    matching.map(item).collect()
}

fn words() -> impl Iterator<Item = String> {
    (0..WORDS).map(|ix| {
        let (verb, noun) = (VERBS[ix / 2 % 10], NOUNS[ix / 3 % 10]);
        // Initials match as well as prefixes.
        match ix % 3 {
            0 => format!("{verb}{noun}"),
            1 => format!("{}{}", &verb[..2], &noun[..3]),
            _ => format!("{verb}_{}", &noun[..2]),
        }
    })
}

//! The search through everything, and rows of several files edited as one text.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_channel::{Receiver, Sender};
use base::{AbsPath, ByteOffset, Span};
use futures::{FutureExt as _, StreamExt as _};
use gpui_kit::{App, TestAppContext};
use index::{IndexPhase, IndexQuery, IndexStatus, LeftOut, ScoreParts, SearchAnswer, SearchHit};
use text::Snapshot;
use ui::picker::{Picker, PickerDelegate as _};

use super::{Story, path, project, services, start_with};
use crate::actions::{excerpts, file, go, project_search};
use crate::pickers::everything::EverythingPicker;
use crate::pickers::index_menu::IndexMenu;
use crate::windows::OpenRequest;
use crate::workbench::Workbench;
use crate::{CodeIndex, TabItem};

/// A fake index that knows three functions and records its calls.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    is_paused: bool,
    touched: Vec<AbsPath>,
    unsaved: HashMap<AbsPath, String>,
    ticks: Option<Sender<()>>,
    /// Response of the fake reranker.
    twice: Option<(SearchAnswer, Option<String>)>,
    /// Number of requests.
    looks: usize,
}

fn hit(file: &str, row: u32, symbol: &str) -> SearchHit {
    SearchHit {
        path: PathBuf::from(file),
        rows: row..row + 1,
        span: Span::at(ByteOffset(0)),
        symbol: Some(symbol.to_owned()),
        kind: Some(syntax::OutlineKind::Function),
        text: format!("fn {symbol}() {{}}"),
        score: 1.0,
        parts: ScoreParts::default(),
    }
}

impl Fake {
    fn told<R>(&self, ask: impl FnOnce(&mut Told) -> R) -> R {
        ask(&mut self.0.lock().expect("nobody panicked"))
    }
}

impl CodeIndex for Fake {
    fn status(&self) -> IndexStatus {
        IndexStatus {
            phase: IndexPhase::Embedding,
            is_paused: self.told(|told| told.is_paused),
            done: 3,
            files: 4,
            left_out: LeftOut::default(),
            chunks: 7,
            embedded: 3,
            disk_bytes: 2_000,
            memory_bytes: 3_000,
            notes: Vec::new(),
        }
    }

    fn changed(&self) -> Receiver<()> {
        let (sender, receiver) = async_channel::bounded(1);
        self.told(|told| told.ticks = Some(sender));
        receiver
    }

    fn set_paused(&self, is_paused: bool) {
        self.told(|told| told.is_paused = is_paused);
    }

    fn touch(&self, paths: Vec<AbsPath>) {
        self.told(|told| told.touched.extend(paths));
    }

    fn refresh(&self) {}

    fn prefilter(&self) -> Option<Arc<dyn project::search::Prefilter>> {
        None
    }

    fn set_unsaved(&self, path: AbsPath, text: Option<Snapshot>) {
        self.told(|told| match text {
            Some(text) => told.unsaved.insert(path, text.to_string()),
            None => told.unsaved.remove(&path),
        });
    }

    fn search(&self, query: &IndexQuery) -> SearchAnswer {
        let hits = if query.text.contains("five") || query.text.contains("places") {
            vec![hit("src/lib.rs", 4, "five"), hit("src/main.rs", 4, "old")]
        } else {
            Vec::new()
        };
        SearchAnswer {
            hits,
            is_complete: false,
        }
    }

    fn search_twice(&self, _: &IndexQuery) -> Option<(SearchAnswer, Option<String>)> {
        self.told(|told| {
            told.looks += 1;
            told.twice.clone()
        })
    }

    fn symbols(&self, name: &str, _: usize) -> Vec<SearchHit> {
        let known = [
            hit("src/lib.rs", 3, "four"),
            hit("src/lib.rs", 4, "five"),
            hit("src/main.rs", 4, "old"),
        ];
        let fits = |hit: &SearchHit| {
            hit.symbol
                .as_ref()
                .is_some_and(|symbol| symbol.contains(name))
        };
        known.into_iter().filter(fits).collect()
    }
}

fn open(cx: &mut TestAppContext) -> (Story, Fake) {
    let (files, fake) = (project(), Fake::default());
    let index = fake.clone();
    let services = crate::Services {
        index: Some(Arc::new(move |_| Arc::new(index.clone()))),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (story, fake)
}

/// Headings in brackets, and the rows below them, when everything is found.
fn shown(story: &mut Story) -> Vec<String> {
    story.settle();
    shown_now(story)
}

fn shown_now(story: &mut Story) -> Vec<String> {
    story.read(|workbench: &Workbench, cx: &App| {
        let picker = workbench
            .modal()
            .read(cx)
            .active_view::<Picker<EverythingPicker>>();
        let Some(picker) = picker else {
            return vec!["no picker".to_owned()];
        };
        let picker = picker.read(cx);
        let delegate = picker.delegate();
        let mut sections = delegate.sections().into_iter().peekable();
        let mut shown = Vec::new();
        for ix in 0..delegate.count() {
            if let Some((_, title)) = sections.next_if(|(at, _)| *at == ix) {
                shown.push(format!("[{title}]"));
            }
            shown.push(delegate.row_text(ix));
        }
        shown
    })
}

#[gpui_kit::test]
fn one_field_finds_files_symbols_meaning_and_text(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(go::Search).input("five");
    assert_eq!(
        shown(&mut story),
        [
            "[Symbols]",
            "five, src/lib.rs:5",
            "[Meaning]",
            "old, src/main.rs:5",
        ]
    );
    story.keys("enter").settle();
    assert_eq!(story.tabs(), "[lib.rs]");
    story.act(go::Search).input("where are places kept");
    assert_eq!(
        shown(&mut story),
        ["[Meaning]", "five, src/lib.rs:5", "old, src/main.rs:5"]
    );
    story.keys("escape");
    story.act(go::Search).input("main");
    assert_eq!(
        shown(&mut story)[..2],
        ["[Files]".to_owned(), "src/main.rs".to_owned()]
    );
}

#[gpui_kit::test]
fn the_preview_always_belongs_to_the_selected_row(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(go::Search).input("rs");
    let files: Vec<String> = shown(&mut story).into_iter().skip(1).take(3).collect();
    let preview = |story: &mut Story, select: Option<usize>| {
        let workbench = story.workbench.clone();
        story.cx.update(|window, cx| {
            let modal = workbench.read(cx).modal().read(cx);
            let picker = modal
                .active_view::<Picker<EverythingPicker>>()
                .expect("a picker");
            picker.update(cx, |picker, cx| {
                if let Some(ix) = select {
                    picker.select(ix, window, cx);
                }
                picker.delegate().previewed()
            })
        })
    };
    for (ix, file) in files.iter().enumerate().skip(1) {
        assert!(file.ends_with(".rs"), "{files:?}");
        let unread = preview(&mut story, Some(ix));
        assert_eq!(unread, (file.clone(), None), "nothing of another file");
        story.settle();
        let text = story.on_disk(&format!("/p/{file}"));
        let first = text.lines().next().map(str::to_owned);
        assert_eq!(preview(&mut story, None), (file.clone(), first));
    }
    story.input("zzz");
    assert_eq!(preview(&mut story, None), (String::new(), None));
}

#[gpui_kit::test]
fn a_second_look_orders_the_places_anew(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let other = SearchAnswer {
        hits: vec![hit("src/main.rs", 4, "old"), hit("src/lib.rs", 4, "five")],
        is_complete: true,
    };
    fake.told(|told| told.twice = Some((other.clone(), None)));
    let (first, second) = (
        ["[Meaning]", "five, src/lib.rs:5", "old, src/main.rs:5"],
        [
            "[Meaning, after a second look]",
            "old, src/main.rs:5",
            "five, src/lib.rs:5",
        ],
    );
    story.act(go::Search).at_once("?where are places kept");
    assert_eq!(
        shown_now(&mut story),
        first,
        "what is there at once is shown"
    );
    assert_eq!(shown(&mut story), second);
    // After the files changed, the cached list is discarded and read again.
    fake.told(|told| told.twice = None);
    story.files.write(&path("/p/src/new.rs"), "fn new() {}\n");
    assert_eq!(shown(&mut story), first);
    fake.told(|told| told.twice = Some((other.clone(), None)));
    story
        .files
        .write(&path("/p/src/newer.rs"), "fn newer() {}\n");
    assert_eq!(shown(&mut story), second);
    // It does not move what somebody has chosen, with other files either.
    fake.told(|told| told.twice = None);
    story.keys("down");
    story.files.write(&path("/p/src/newest.rs"), "fn it() {}\n");
    assert_eq!(shown(&mut story), second);
    fake.told(|told| told.twice = Some((other.clone(), None)));
    story.keys("escape").act(go::Search);
    story.at_once("?where are the places kept").keys("down");
    assert_eq!(shown(&mut story), first);
    // If reranking fails, the first order stays and the cause is shown.
    fake.told(|told| told.twice = Some((other, Some("nobody answers.".to_owned()))));
    story.keys("escape").act(go::Search);
    story.input("?where do places lie");
    assert_eq!(shown(&mut story), first);
    let status = story.read(|workbench, cx| {
        let picker = workbench
            .modal()
            .read(cx)
            .active_view::<Picker<EverythingPicker>>();
        picker.and_then(|picker| picker.read(cx).delegate().status())
    });
    assert_eq!(status.as_deref(), Some("Reranking failed: nobody answers."));
}

#[gpui_kit::test]
fn what_comes_and_goes_unlisted_has_nothing_asked_anew(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.files.write(&path("/p/.gitignore"), "server.log\n");
    story.act(go::Search).input("?where are places kept");
    shown(&mut story);
    let looks = |fake: &Fake| fake.told(|told| told.looks);
    let before = looks(&fake);
    assert!(before > 0);
    story.files.write(&path("/p/server.log"), "ready\n");
    shown(&mut story);
    assert_eq!(looks(&fake), before);
    story.files.write(&path("/p/server.rs"), "fn serve() {}\n");
    shown(&mut story);
    assert_eq!(looks(&fake), before + 1);
}

#[gpui_kit::test]
fn text_is_looked_for_anew_with_other_files(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(go::Search).input("%needle");
    assert_eq!(shown(&mut story), [""; 0]);
    let file = path("/p/src/haystack.rs");
    story.files.write(&file, "fn needle() {}\n");
    assert_eq!(
        shown(&mut story),
        ["[Text]", "fn needle() {}, src/haystack.rs:1"]
    );
    story.files.delete(&file);
    assert_eq!(shown(&mut story), [""; 0]);
}

#[gpui_kit::test]
fn tab_narrows_the_search(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(go::Search).input("old").keys("tab");
    assert_eq!(shown(&mut story), ["[Symbols]", "old, src/main.rs:5"]);
    story.keys("tab tab");
    let text = shown(&mut story);
    assert_eq!(text[0], "[Text]");
    assert!(text.len() > 3, "{text:?}");
    story.keys("tab escape");
    story.act(go::FindProjectSymbol).input("fo");
    assert_eq!(shown(&mut story), ["[Symbols]", "four, src/lib.rs:4"]);
}

#[gpui_kit::test]
fn results_are_edited_where_they_stand(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.act(go::Search).input("%old").settle();
    story.keys("alt-enter").settle();
    assert_eq!(story.tabs(), "[\u{201c}old\u{201d}]");
    let before = story.text();
    assert!(
        before.contains("old();") && before.contains("// old leaf"),
        "{before}"
    );
    // Both calls and the function at once.
    story.act(editor::MoveFileStart);
    let editor = story.read(|workbench, _| match workbench.active_item() {
        Some(TabItem::Excerpts(editor, _)) => editor.clone(),
        _ => panic!("no excerpts"),
    });
    let at: Vec<Span> = before
        .match_indices("old(")
        .map(|(at, _)| Span::new(ByteOffset(at), ByteOffset(at + 3)))
        .collect();
    assert_eq!(at.len(), 2);
    story.cx.update(|_, cx| {
        editor.update(cx, |editor, cx| {
            editor.select(at, editor::Reveal::Nearest, cx);
        });
    });
    story.input("fresh").settle();
    assert_eq!(story.tabs(), "[\u{201c}old\u{201d}*]");
    assert!(fake.told(|told| told.unsaved.contains_key(&path("/p/src/main.rs"))));
    assert!(story.on_disk("/p/src/main.rs").contains("old();"));
    story.act(file::Save).settle();
    assert_eq!(
        story.on_disk("/p/src/main.rs"),
        "fn main() {\n    fresh();\n}\n\nfn fresh() {}\n"
    );
    assert!(fake.told(|told| told.unsaved.is_empty()));
    story.act(excerpts::OpenSource).settle();
    assert!(story.tabs().contains("[main.rs]"), "{}", story.tabs());
    assert!(story.text().contains("fresh();"));
}

#[gpui_kit::test]
fn all_results_of_the_project_search_open_as_one_text(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(project_search::Show).input("old").settle();
    story.act(project_search::EditResults).settle();
    assert!(
        story.tabs().contains("[\u{201c}old\u{201d}]"),
        "{}",
        story.tabs()
    );
    let text = story.text();
    assert!(text.contains("Some words about old things."), "{text}");
}

#[gpui_kit::test]
fn the_index_is_shown_and_paused(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.act(go::ShowIndex).settle();
    story.keys("enter").settle();
    assert!(fake.told(|told| told.is_paused));
    let rows = story.read(|workbench, cx| {
        let picker = workbench
            .modal()
            .read(cx)
            .active_view::<Picker<IndexMenu>>();
        picker.map(|picker| picker.read(cx).delegate().count())
    });
    assert_eq!(rows, Some(4));
    story.keys("enter").settle();
    assert!(!fake.told(|told| told.is_paused));
}

#[gpui_kit::test]
fn changes_on_the_disk_reach_the_index(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.files.write(&path("/p/src/new.rs"), "fn new() {}\n");
    story.settle();
    assert!(fake.told(|told| told.touched.contains(&path("/p/src/new.rs"))));
}

/// Lets the servers of the shown search answer with symbols, each with its path and row, once something is sent.
fn serve(
    story: &mut Story,
    symbols: &'static [(&'static str, &'static str, usize)],
) -> futures::channel::mpsc::UnboundedSender<()> {
    let (release, released) = futures::channel::mpsc::unbounded::<()>();
    let released = std::rc::Rc::new(std::cell::RefCell::new(Some(released)));
    let ask = move |_: &str, _: &App| {
        let mut released = released.borrow_mut().take()?;
        let answer = async move {
            released.next().await;
            let text = Snapshot::new(&"\n".repeat(20));
            let symbols = symbols.iter().map(|(name, file, row)| {
                let range = lsp::ServerRange::of(&text, Span::from(*row..*row));
                lsp::WorkspaceSymbol {
                    name: (*name).to_owned(),
                    container: None,
                    kind: lsp::SymbolKind::Function,
                    location: lsp::Location {
                        path: path(file),
                        range,
                        selection: range,
                    },
                }
            });
            symbols.collect()
        };
        Some(answer.boxed())
    };
    let workbench = story.workbench.clone();
    story.cx.update(|_, cx| {
        let modal = workbench.read(cx).modal().read(cx);
        let picker = modal.active_view::<Picker<EverythingPicker>>();
        picker.expect("the search").update(cx, |picker, _| {
            picker.delegate_mut().set_servers(std::rc::Rc::new(ask));
        });
    });
    release
}

#[gpui_kit::test]
fn symbols_of_servers_join_without_moving_the_selection(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(go::FindProjectSymbol);
    let release = serve(
        &mut story,
        &[
            ("old", "/p/src/main.rs", 4),
            ("fold", "/p/src/main.rs", 1),
            ("older", "/other/src/main.rs", 1),
        ],
    );
    story.input("o");
    let known = ["[Symbols]", "four, src/lib.rs:4", "old, src/main.rs:5"];
    assert_eq!(
        shown(&mut story),
        known,
        "symbols of the index are there at once"
    );
    story.keys("down");
    release.unbounded_send(()).expect("the search waits");
    let joined = [known[0], known[1], known[2], "fold, src/main.rs:2"];
    assert_eq!(shown(&mut story), joined);
    story.keys("down enter").settle();
    assert_eq!(story.tabs(), "[main.rs]");
}

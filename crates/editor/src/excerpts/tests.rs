//! Tests that excerpts follow their sources, and sources follow edits of excerpts.

use base::{ByteOffset, Row, Span};
use gpui_kit::{AppContext as _, Entity, TestAppContext};
use lsp::{Diagnostic, DiagnosticSeverity, DiagnosticTags};
use text::{Author, Edit, LineEnding, RowSpan};

use super::{Excerpt, Excerpts, ExcerptsEvent};
use crate::fixture;
use crate::model::{DiagnosticOrigin, DiagnosticSet, DocumentModel};

const ONE: &str = "a0\na1\na2\na3\na4\na5\n";
const TWO: &str = "b0\nb1\nb2\nb3";

struct World {
    one: Entity<DocumentModel>,
    two: Entity<DocumentModel>,
    excerpts: Entity<Excerpts>,
}

fn rows(start: u32, end: u32) -> RowSpan {
    RowSpan {
        start: Row(start),
        end: Row(end),
    }
}

impl World {
    /// `a1 a2`, `b0`, `b2 b3`, `a4`.
    fn new(one: &str, two: &str, cx: &mut TestAppContext) -> Self {
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(base::Platform::Linux, cx);
            let one = fixture::model("/p/one.rs", one, fixture::environment(), cx);
            let two = fixture::model("/p/two.rs", two, fixture::environment(), cx);
            let excerpt = |source: &Entity<DocumentModel>, start, end| Excerpt {
                source: source.clone(),
                rows: rows(start, end),
            };
            let wanted = vec![
                excerpt(&one, 1, 3),
                excerpt(&two, 0, 1),
                excerpt(&two, 2, 9),
                excerpt(&one, 4, 5),
            ];
            let excerpts = cx.new(|cx| Excerpts::new(wanted, fixture::environment(), cx));
            Self { one, two, excerpts }
        })
    }

    fn shown(&self, cx: &mut TestAppContext) -> String {
        cx.update(|cx| {
            let excerpts = self.excerpts.read(cx);
            excerpts.combined().read(cx).snapshot().to_string()
        })
    }

    fn text(&self, model: &Entity<DocumentModel>, cx: &mut TestAppContext) -> String {
        cx.update(|cx| model.read(cx).snapshot().to_string())
    }

    /// Replaces a piece of the shown text.
    fn type_over(&self, old: &str, new: &str, cx: &mut TestAppContext) {
        let shown = self.shown(cx);
        let at = shown.find(old).expect("it is shown");
        self.edit_shown(at, at + old.len(), new, cx);
    }

    fn edit_shown(&self, start: usize, end: usize, new: &str, cx: &mut TestAppContext) {
        cx.update(|cx| {
            let shown = self.excerpts.read(cx).combined().clone();
            let edit = Edit::new(Span::new(ByteOffset(start), ByteOffset(end)), new);
            shown.update(cx, |shown, cx| shown.edit(&[edit], Author::User, cx));
        });
        cx.run_until_parked();
    }

    fn edit_source(
        model: &Entity<DocumentModel>,
        span: (usize, usize),
        new: &str,
        cx: &mut TestAppContext,
    ) {
        cx.update(|cx| {
            let edit = Edit::new(Span::new(ByteOffset(span.0), ByteOffset(span.1)), new);
            model.update(cx, |model, cx| model.edit(&[edit], Author::Disk, cx));
        });
        cx.run_until_parked();
    }

    #[track_caller]
    fn assert_holds(&self, what: &str, cx: &mut TestAppContext) {
        let shown = self.shown(cx);
        let expected = cx.update(|cx| {
            let excerpts = self.excerpts.read(cx);
            let parts: Vec<String> = excerpts
                .places
                .iter()
                .map(|place| {
                    let source = excerpts.sources[place.source].read(cx).snapshot();
                    let text = source.text(place.from).into_owned();
                    let shown = excerpts.shown.read(cx).snapshot();
                    assert_eq!(shown.text(place.at), text, "{what}");
                    text
                })
                .collect();
            parts.join("\n")
        });
        assert_eq!(shown, expected, "{what}");
    }
}

#[gpui_kit::test]
fn edits_go_to_the_source_and_come_back(cx: &mut TestAppContext) {
    let world = World::new(ONE, TWO, cx);
    assert_eq!(world.shown(cx), "a1\na2\nb0\nb2\nb3\na4");
    world.type_over("a2", "A2\nnew", cx);
    assert_eq!(world.text(&world.one, cx), "a0\na1\nA2\nnew\na3\na4\na5\n");
    assert_eq!(world.shown(cx), "a1\nA2\nnew\nb0\nb2\nb3\na4");
    world.type_over("b3", "b3!", cx);
    assert_eq!(world.text(&world.two, cx), "b0\nb1\nb2\nb3!");
    // Edits above, within, and at the end of the excerpt.
    World::edit_source(&world.one, (0, 0), "top\n", cx);
    World::edit_source(&world.two, (6, 8), "B2\nand", cx);
    assert_eq!(world.shown(cx), "a1\nA2\nnew\nb0\nB2\nand\nb3!\na4");
    world.assert_holds("after edits of the sources", cx);
    cx.update(|cx| {
        let excerpts = world.excerpts.read(cx);
        assert_eq!(
            excerpts.numbers(Row(0)..Row(8), cx),
            [3, 4, 5, 1, 3, 4, 5, 7]
        );
        let (index, source, row) = excerpts.source_of(Row(5), cx).expect("a row");
        assert_eq!((index, source == world.two, row), (2, true, Row(3)));
    });
}

#[gpui_kit::test]
fn undo_in_the_excerpts_undoes_in_the_sources(cx: &mut TestAppContext) {
    let world = World::new(ONE, TWO, cx);
    world.type_over("a1", "x", cx);
    cx.update(|cx| {
        let shown = world.excerpts.read(cx).combined().clone();
        shown.update(cx, |shown, cx| shown.undo(cx));
    });
    cx.run_until_parked();
    assert_eq!(world.text(&world.one, cx), ONE);
    world.assert_holds("after undo", cx);
    cx.update(|cx| {
        let shown = world.excerpts.read(cx).combined().clone();
        shown.update(cx, |shown, cx| shown.undo(cx));
    });
    cx.run_until_parked();
    assert_eq!(
        world.shown(cx),
        "a1\na2\nb0\nb2\nb3\na4",
        "there is nothing to undo"
    );
}

#[gpui_kit::test]
fn deleting_a_whole_row_joins_no_rows_of_two_excerpts(cx: &mut TestAppContext) {
    let world = World::new(ONE, TWO, cx);
    let refused = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let heard = refused.clone();
    let _heard = cx.update(|cx| {
        cx.subscribe(&world.excerpts, move |_, event, _| {
            if let ExcerptsEvent::Refused(sentence) = event {
                heard.borrow_mut().push(sentence.clone());
            }
        })
    });
    // Deletes the last row of an excerpt with its line break, as Delete Line does.
    world.type_over("a2\n", "", cx);
    assert_eq!(world.text(&world.one, cx), "a0\na1\na3\na4\na5\n");
    assert_eq!(world.shown(cx), "a1\nb0\nb2\nb3\na4");
    assert!(refused.borrow().is_empty());
    // An edit across two excerpts is refused.
    world.type_over("a1\nb0", "joined", cx);
    assert_eq!(world.shown(cx), "a1\nb0\nb2\nb3\na4");
    assert_eq!(world.text(&world.two, cx), TWO);
    assert!(refused.borrow()[0].contains("cannot join lines"));
    world.assert_holds("after what was refused", cx);
}

#[gpui_kit::test]
fn line_endings_of_the_source_are_kept(cx: &mut TestAppContext) {
    let world = World::new("a0\r\na1\r\na2\r\na3\r\na4\r\n", TWO, cx);
    cx.update(|cx| {
        world.one.update(cx, |one, cx| {
            one.mutate(cx, |one| one.buffer_mut().set_line_ending(LineEnding::CrLf));
        });
    });
    world.type_over("a1", "x\ny", cx);
    assert_eq!(
        world.text(&world.one, cx),
        "a0\r\nx\r\ny\r\na2\r\na3\r\na4\r\n"
    );
    world.assert_holds("after a break was typed", cx);
}

#[gpui_kit::test]
fn excerpts_equal_their_sources_whatever_happens(cx: &mut TestAppContext) {
    for seed in 0..20 {
        check_whatever_happens(seed, cx);
    }
}

fn check_whatever_happens(seed: u64, cx: &mut TestAppContext) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    let world = World::new(ONE, TWO, cx);
    for step in 0..60 {
        let texts = ["", "x", "yy\n", "\n", "äö", "p\nq\nr"];
        let new = texts[below(texts.len())];
        let what = below(4);
        let model = [&world.one, &world.two][step % 2];
        let text = match what {
            0 | 1 => world.shown(cx),
            _ => world.text(model, cx),
        };
        let start = below(text.len() + 1);
        let end = (start + below(6)).min(text.len());
        let [start, end] = [start, end].map(|end| text.floor_char_boundary(end));
        match what {
            0 | 1 => world.edit_shown(start, end, new, cx),
            _ => World::edit_source(model, (start, end), new, cx),
        }
        let what = format!("seed {seed}, step {step}: {start}..{end} {new:?} ({what})");
        world.assert_holds(&what, cx);
    }
}

/// Returns the spans and messages of the diagnostics in the combined text.
fn diagnosed(world: &World, cx: &mut TestAppContext) -> Vec<(usize, usize, String)> {
    cx.update(|cx| {
        let shown = world.excerpts.read(cx).combined().read(cx);
        let placed = shown.diagnostics().map(|it| {
            let message = it.diagnostic.message.clone();
            (it.span.start.0, it.span.end.0, message)
        });
        placed.collect()
    })
}

/// Reports errors about the present text of a source.
fn report(model: &Entity<DocumentModel>, spans: &[(usize, usize)], cx: &mut TestAppContext) {
    let items = spans.iter().map(|(start, end)| Diagnostic {
        span: Span::new(ByteOffset(*start), ByteOffset(*end)),
        severity: DiagnosticSeverity::Error,
        message: format!("at {start}"),
        code: None,
        code_url: None,
        source: None,
        tags: DiagnosticTags::default(),
        related: Vec::new(),
    });
    let items = DiagnosticSet::new(items.collect());
    cx.update(|cx| {
        model.update(cx, |model, cx| {
            let revision = model.snapshot().revision();
            model.set_diagnostics(DiagnosticOrigin::Servers, revision, items, cx);
        });
    });
    cx.run_until_parked();
}

#[gpui_kit::test]
fn diagnostics_of_the_sources_show_in_their_excerpts(cx: &mut TestAppContext) {
    let world = World::new(ONE, TWO, cx);
    // In the first excerpt, from it over its end, in the last excerpt, and in none.
    report(&world.one, &[(6, 8), (7, 11), (12, 14), (15, 17)], cx);
    let found = |found: &[(usize, usize, &str)]| -> Vec<_> {
        let found = found.iter();
        found
            .map(|(a, b, text)| (*a, *b, (*text).to_owned()))
            .collect()
    };
    let expected = [(3, 5, "at 6"), (4, 5, "at 7"), (15, 17, "at 12")];
    assert_eq!(diagnosed(&world, cx), found(&expected));
    world.type_over("a1", "longer", cx);
    let expected = [(7, 9, "at 6"), (8, 9, "at 7"), (19, 21, "at 12")];
    assert_eq!(diagnosed(&world, cx), found(&expected));
    report(&world.two, &[(0, 2)], cx);
    assert_eq!(diagnosed(&world, cx).len(), 4);
    report(&world.one, &[], cx);
    assert_eq!(diagnosed(&world, cx), found(&[(10, 12, "at 0")]));
}

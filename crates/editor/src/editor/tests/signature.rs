//! Tests signature help in a view with the default keys and a scripted source.

use std::rc::Rc;

use base::Span;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{App, Task, TestAppContext};
use lsp::{MarkupText, Parameter, Signature, SignatureHelp};
use text::{Author, Edit};

use super::scripted::{Scene, Scripted, language_scene};
use crate::editor::signature::card;
use crate::{
    CompletionAnswer, CompletionId, CompletionItem, CompletionKind, CompletionQuery,
    CompletionSource, LanguageSources, ShowSignatureHelp, SignatureAnswer, SignatureQuery,
    SignatureSource,
};

type Source = Scripted<SignatureQuery, SignatureAnswer>;

impl SignatureSource for Source {
    fn triggers(&self, _: &App) -> Vec<char> {
        vec!['(', ',']
    }

    fn request(&self, query: SignatureQuery, cx: &mut App) -> Task<SignatureAnswer> {
        let answer = self.ask(query);
        cx.spawn(async move |_| {
            let answer = answer.recv().await;
            answer.unwrap_or(SignatureAnswer::Unavailable)
        })
    }
}

/// A source of completions that knows one function.
struct OneFunction;

impl CompletionSource for OneFunction {
    fn request(&self, _: CompletionQuery, _: &mut App) -> Task<Option<CompletionAnswer>> {
        Task::ready(None)
    }

    fn immediate_items(&self, _: &CompletionQuery, _: &App) -> Vec<CompletionItem> {
        let mut item = CompletionItem::new(CompletionId(0), "quux", CompletionKind::Function);
        item.insert.text = "quux($1)$0".into();
        item.insert.is_snippet = true;
        vec![item]
    }
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |signatures: Rc<Source>| LanguageSources {
        signatures: Some(signatures),
        ..LanguageSources::default()
    };
    language_scene("/a.rs", marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Answers the latest request and forgets the others. Returns the query.
    fn answer(&mut self, answer: SignatureAnswer) -> SignatureQuery {
        assert!(!self.source.is_cancelled());
        let query = self.reply(answer);
        self.source.forget();
        query
    }

    /// Returns the shown signature with brackets around the active parameter; empty without a card.
    fn shown(&mut self) -> String {
        self.cx.run_until_parked();
        self.editor.read_with(self.cx, |editor, _| {
            let Some(card) = card(editor) else {
                return String::new();
            };
            let mut label = card.signature().expect("a signature").label.clone();
            let span = card.active_span();
            if !span.is_empty() {
                label.insert(span.end, ']');
                label.insert(span.start, '[');
            }
            match card.position() {
                (_, 1) => label,
                (number, count) => format!("{number}/{count} {label}"),
            }
        })
    }

    fn is_drawn(&mut self, id: &'static str) -> bool {
        self.cx.run_until_parked();
        self.cx.update(|window, _| window.try_find(id).is_some())
    }
}

fn signature(label: &str) -> Signature {
    let parameters = label
        .split_once('(')
        .map_or("", |(_, rest)| rest.trim_end_matches(')'));
    let start = label.len() - 1 - parameters.len();
    let mut at = start;
    let spans = parameters.split(", ").map(|parameter| {
        let span = at..at + parameter.len();
        at = span.end + 2;
        Parameter {
            label_span: span,
            documentation: None,
        }
    });
    Signature {
        label: label.to_owned(),
        documentation: None,
        parameters: spans.collect(),
    }
}

fn call(labels: &[&str], active_signature: usize, active_parameter: usize) -> SignatureAnswer {
    SignatureAnswer::Call(SignatureHelp {
        signatures: labels.iter().map(|label| signature(label)).collect(),
        active_signature,
        active_parameter: Some(active_parameter),
    })
}

const F: &[&str] = &["f(a: u8, b: u8)"];

#[gpui_kit::test]
fn a_trigger_character_opens_the_card(cx: &mut TestAppContext) {
    let mut scene = open("fˇ", cx);
    scene.press("_(");
    let query = scene.answer(call(F, 0, 0));
    assert_eq!((query.offset.0, query.typed), (2, Some('(')));
    assert!(!query.is_retrigger);
    assert_eq!(scene.shown(), "f([a: u8], b: u8)");
    assert!(scene.is_drawn("signature-help"));
    scene.press("_,");
    let query = scene.answer(call(F, 0, 1));
    assert_eq!((query.typed, query.is_retrigger), (Some(','), true));
    assert_eq!(scene.shown(), "f(a: u8, [b: u8])");
}

#[gpui_kit::test]
fn letters_outside_of_calls_ask_nothing(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_f _o left right");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn the_card_follows_the_caret_and_closes_after_the_call(cx: &mut TestAppContext) {
    let mut scene = open("f(1, ˇ2)\n", cx);
    scene.press("ctrl-shift-space");
    let query = scene.answer(call(F, 0, 1));
    assert_eq!(query.typed, None);
    assert_eq!(scene.shown(), "f(a: u8, [b: u8])");
    scene.press("left left");
    let query = scene.answer(call(F, 0, 0));
    assert_eq!((query.offset.0, query.is_retrigger), (3, true));
    assert_eq!(scene.shown(), "f([a: u8], b: u8)");
    scene.press("ctrl-end");
    scene.answer(SignatureAnswer::NoCall);
    assert_eq!(scene.shown(), "");
    scene.press("left");
    assert_eq!(scene.requests(), 0, "a closed card asks nothing");
}

#[gpui_kit::test]
fn a_source_that_cannot_answer_keeps_the_card(cx: &mut TestAppContext) {
    let mut scene = open("fˇ", cx);
    scene.press("_(");
    scene.answer(call(F, 0, 0));
    scene.press("_1");
    scene.answer(SignatureAnswer::Unavailable);
    assert_eq!(scene.shown(), "f([a: u8], b: u8)");
}

#[gpui_kit::test]
fn a_stale_answer_is_dropped(cx: &mut TestAppContext) {
    let mut scene = open("fˇ", cx);
    scene.press("_(");
    let first = scene.source.take();
    scene.press("_1");
    assert!(first.1.is_closed(), "the next key cancels the request");
    scene.answer(call(F, 0, 0));
    // An edit elsewhere, of which the view hears after the answer.
    scene.press("_,");
    let (_, sender) = scene.source.take();
    sender.try_send(call(F, 0, 1)).expect("it is not cancelled");
    scene.model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::at(base::ByteOffset(0)), "g");
        model.edit(&[edit], Author::Disk, cx);
    });
    scene.cx.run_until_parked();
    assert_eq!(scene.shown(), "f([a: u8], b: u8)");
    let query = scene.answer(call(&["gf(a: u8, b: u8)"], 0, 1));
    assert_eq!(query.offset.0, 5);
    assert_eq!(scene.shown(), "gf(a: u8, [b: u8])");
}

#[gpui_kit::test]
fn escape_closes_the_card_and_enter_and_tab_keep_their_meaning(cx: &mut TestAppContext) {
    let mut scene = open("fˇ", cx);
    scene.press("_(");
    scene.answer(call(F, 0, 0));
    scene.press("enter");
    assert_eq!(scene.text(), "f(\n    ˇ\n)");
    scene.answer(call(F, 0, 0));
    scene.press("tab");
    assert_eq!(scene.text(), "f(\n        ˇ\n)");
    scene.answer(call(F, 0, 0));
    scene.press("escape");
    assert_eq!(scene.shown(), "");
    assert!(!scene.is_drawn("signature-help"));
    scene.press("_1");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn up_and_down_choose_among_several_signatures(cx: &mut TestAppContext) {
    let labels = &["f(a: u8)", "f(a: u8, b: u8)", "f(c: u8)"];
    let mut scene = open("a\nfˇ\nb", cx);
    scene.press("_(");
    scene.answer(call(labels, 1, 0));
    assert_eq!(scene.shown(), "2/3 f([a: u8], b: u8)");
    scene.press("down");
    assert_eq!(scene.shown(), "3/3 f([c: u8])");
    scene.press("down");
    assert_eq!(scene.shown(), "1/3 f([a: u8])");
    scene.press("up");
    assert_eq!(scene.shown(), "3/3 f([c: u8])");
    scene.press("_1");
    scene.answer(call(labels, 1, 0));
    assert_eq!(scene.shown(), "3/3 f([c: u8])", "the chosen one stays");
    scene.press("_,");
    scene.answer(call(&["g(a: u8)", "g(b: u8)"], 0, 0));
    assert_eq!(scene.shown(), "1/2 g([a: u8])", "another call");
    assert_eq!(scene.text(), "a\nf(1,ˇ)\nb");
}

#[gpui_kit::test]
fn up_and_down_move_the_caret_with_a_single_signature(cx: &mut TestAppContext) {
    let mut scene = open("a\nfˇ\nb", cx);
    scene.press("_(");
    scene.answer(call(F, 0, 0));
    scene.press("down");
    assert_eq!(scene.text(), "a\nf()\nbˇ");
}

#[gpui_kit::test]
fn an_accepted_function_shows_its_signature_and_the_list_keeps_its_keys(cx: &mut TestAppContext) {
    let mut scene = open("a\nˇ", cx);
    scene.editor.update(scene.cx, |editor, cx| {
        editor.set_completion_sources(vec![Rc::new(OneFunction)], cx);
    });
    scene.press("_q enter");
    assert_eq!(scene.text(), "a\nquux(ˇ)");
    let query = scene.answer(call(&["quux(a: u8)", "quux(b: u8)"], 0, 0));
    assert_eq!(query.typed, Some('('));
    scene.press("_q");
    scene.answer(call(&["quux(a: u8)", "quux(b: u8)"], 0, 0));
    assert!(scene.is_drawn("completion-list") && scene.is_drawn("signature-help"));
    scene.press("down escape");
    assert_eq!(scene.shown(), "1/2 quux([a: u8])", "escape closes the list");
    scene.press("escape");
    assert_eq!(scene.shown(), "");
}

#[gpui_kit::test]
fn documentation_is_kept_while_it_is_the_same(cx: &mut TestAppContext) {
    let mut scene = open("fˇ", cx);
    let documented = |parameter: usize| {
        let SignatureAnswer::Call(mut help) = call(F, 0, parameter) else {
            unreachable!("a call");
        };
        let text = |value: &str| {
            let value = value.to_owned();
            let is_markdown = true;
            Some(MarkupText { value, is_markdown })
        };
        help.signatures[0].documentation = text("Adds *two* numbers.");
        help.signatures[0].parameters[1].documentation = text("The second.");
        SignatureAnswer::Call(help)
    };
    let views = |scene: &mut Scene<'_, Source>| -> Vec<gpui_kit::EntityId> {
        scene.editor.read_with(scene.cx, |editor, _| {
            let card = card(editor).expect("a card");
            card.documentation().map(|view| view.entity_id()).collect()
        })
    };
    scene.press("_(");
    scene.answer(documented(0));
    let first = views(&mut scene);
    assert_eq!(first.len(), 1);
    scene.press("_,");
    scene.answer(documented(1));
    let second = views(&mut scene);
    assert_eq!((second.len(), second[1]), (2, first[0]));
}

#[gpui_kit::test]
fn help_is_asked_for_only_on_request_if_the_setting_is_off(cx: &mut TestAppContext) {
    let mut scene = open("fˇ", cx);
    scene.editor.update(scene.cx, |editor, _| {
        editor.settings.signature_help = false;
    });
    scene.press("_(");
    assert_eq!(scene.requests(), 0);
    scene.cx.dispatch_action(ShowSignatureHelp);
    scene.cx.run_until_parked();
    assert_eq!(scene.requests(), 1);
    scene.press("ctrl-home");
    assert!(!scene.source.is_cancelled(), "it asks for the new place");
}

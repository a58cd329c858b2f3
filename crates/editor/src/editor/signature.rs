//! Signature help: a card with the signature of the call around the caret and its active parameter.
//!
//! Invariant: at most one request is under way; a move of the caret or an edit replaces it, so a
//! stale answer is never shown.
//! Start at `typed` and `carets_moved`; the card is drawn by `element::signature`.

use std::ops::Range;
use std::rc::Rc;

use base::{Bias, ByteOffset, Revision};
use gpui_kit::component::text::TextViewState;
use gpui_kit::{App, Context, Entity, Task, Window};
use lsp::{MarkupText, Signature, SignatureHelp};
use text::{Change, Snapshot};

use super::{Editor, hover};

/// A source of signature help, such as a language server.
pub trait SignatureSource {
    /// Returns the characters after which help is requested.
    fn triggers(&self, cx: &App) -> Vec<char>;

    /// Requests the signatures of the call around the caret. Dropping the task cancels the request.
    fn request(&self, query: SignatureQuery, cx: &mut App) -> Task<SignatureAnswer>;
}

/// A request for signature help.
#[derive(Clone)]
pub struct SignatureQuery {
    /// The text.
    pub snapshot: Snapshot,
    /// Offset of the newest caret.
    pub offset: ByteOffset,
    /// The typed trigger character; `None` if the user asked for help or the caret moved.
    pub typed: Option<char>,
    /// Whether help is shown already.
    pub is_retrigger: bool,
}

/// The answer of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureAnswer {
    /// The signatures of the call around the caret.
    Call(SignatureHelp),
    /// The caret is in no call: the card closes.
    NoCall,
    /// The source cannot answer now: the card stays as it is.
    Unavailable,
}

/// The signature help of a view, with the request for it.
#[derive(Default)]
pub(crate) struct SignatureState {
    source: Option<Rc<dyn SignatureSource>>,
    card: Option<SignatureCard>,
    request: Option<Task<()>>,
}

/// The open card.
pub(crate) struct SignatureCard {
    help: SignatureHelp,
    /// Index of the shown signature.
    shown: usize,
    /// Whether the user chose the shown signature.
    is_chosen: bool,
    /// Offset of the caret when the card opened.
    pub(crate) anchor: ByteOffset,
    /// Documentation of the active parameter and of the signature, with its source text.
    documentation: Vec<(MarkupText, Entity<TextViewState>)>,
}

impl SignatureState {
    /// Maps the position of the card through a change.
    pub(super) fn follow(&mut self, change: &Change) {
        if let Some(card) = &mut self.card {
            card.anchor = change.map(card.anchor, Bias::Left);
        }
    }

    /// Closes the card and cancels the request.
    pub(super) fn reset(&mut self) {
        (self.card, self.request) = (None, None);
    }

    fn is_active(&self) -> bool {
        self.card.is_some() || self.request.is_some()
    }
}

impl SignatureCard {
    /// Returns the shown signature.
    pub(crate) fn signature(&self) -> Option<&Signature> {
        self.help.signatures.get(self.shown)
    }

    /// Returns the number of the shown signature, from 1, and the number of all.
    pub(crate) fn position(&self) -> (usize, usize) {
        (self.shown + 1, self.help.signatures.len())
    }

    /// Returns the active parameter in the label of the shown signature, in bytes; empty if no
    /// parameter is active.
    pub(crate) fn active_span(&self) -> Range<usize> {
        let parameters = self.signature().map(|it| it.parameters.as_slice());
        let active = self.help.active_parameter;
        let parameter = parameters.zip(active).and_then(|(all, ix)| all.get(ix));
        parameter.map_or(0..0, |parameter| parameter.label_span.clone())
    }

    /// Returns the documentation of the active parameter and of the signature.
    pub(crate) fn documentation(&self) -> impl Iterator<Item = &Entity<TextViewState>> {
        self.documentation.iter().map(|(_, view)| view)
    }

    /// Creates the views of the documentation that is not shown yet.
    fn show_documentation(&mut self, cx: &mut Context<Editor>) {
        let known = std::mem::take(&mut self.documentation);
        let signature = self.signature();
        let parameters = signature.map(|it| it.parameters.as_slice());
        let active = parameters.zip(self.help.active_parameter);
        let parameter = active.and_then(|(all, ix)| all.get(ix)?.documentation.as_ref());
        let texts = parameter
            .into_iter()
            .chain(signature.and_then(|it| it.documentation.as_ref()))
            .filter(|text| !text.value.trim().is_empty());
        let views = texts.map(|text| {
            let view = known.iter().find(|(source, _)| source == text);
            let view = view.map(|(_, view)| view.clone());
            let view = view.unwrap_or_else(|| hover::text_view(&text.value, text.is_markdown, cx));
            (text.clone(), view)
        });
        self.documentation = views.collect();
    }
}

/// Sets the source of signature help, and closes the card.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn SignatureSource>>) {
    editor.signature.reset();
    editor.signature.source = source;
}

/// Returns the open card.
pub(crate) fn card(editor: &Editor) -> Option<&SignatureCard> {
    editor.signature.card.as_ref()
}

/// Requests help if the typed `text` is a trigger character of the source.
pub(super) fn typed(editor: &mut Editor, text: &str, cx: &mut Context<Editor>) {
    let mut chars = text.chars();
    if let (Some(char), None) = (chars.next(), chars.next()) {
        ask_if_trigger(editor, char, cx);
    }
}

/// Requests help if the accepted completion ends with a trigger character before the caret.
pub(super) fn completion_inserted(editor: &mut Editor, cx: &mut Context<Editor>) {
    let head = editor.selections.primary().head;
    if head > ByteOffset(0) {
        let before = editor.snapshot.clip(ByteOffset(head.0 - 1), Bias::Left);
        if let Some(char) = editor.snapshot.chars_at(before).next() {
            ask_if_trigger(editor, char, cx);
        }
    }
}

fn ask_if_trigger(editor: &mut Editor, char: char, cx: &mut Context<Editor>) {
    let source = editor.signature.source.as_ref();
    let is_wanted = editor.settings.signature_help && can_show(editor);
    if is_wanted && source.is_some_and(|source| source.triggers(cx).contains(&char)) {
        ask(editor, Some(char), cx);
    }
}

/// Requests help for the new position of the caret, if the card is open or requested.
pub(super) fn carets_moved(editor: &mut Editor, cx: &mut Context<Editor>) {
    if !editor.signature.is_active() {
        return;
    }
    if can_show(editor) {
        ask(editor, None, cx);
    } else {
        close(editor, cx);
    }
}

fn can_show(editor: &Editor) -> bool {
    editor.excerpts.is_none() && editor.marked.is_empty() && editor.selections.len() == 1
}

/// Closes the card and cancels the request.
pub(super) fn close(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.signature.request = None;
    if editor.signature.card.take().is_some() {
        cx.notify();
    }
}

/// Handler of an action: shows the signature of the call around the caret.
pub(crate) fn show_signature(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if editor.signature.source.is_none() || !can_show(editor) {
        return cx.propagate();
    }
    ask(editor, None, cx);
}

/// Handler of an action: closes the card.
pub(crate) fn close_signature(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    if editor.signature.card.is_some() {
        close(editor, cx);
    } else {
        cx.propagate();
    }
}

/// Handler of an action: shows the next signature, after the last one the first.
pub(crate) fn next_signature(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    cycle(editor, 1, cx);
}

/// Handler of an action: shows the previous signature, before the first one the last.
pub(crate) fn previous_signature(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    let count = card(editor).map_or(0, |card| card.help.signatures.len());
    cycle(editor, count.saturating_sub(1), cx);
}

/// Shows the signature `steps` after the shown one.
fn cycle(editor: &mut Editor, steps: usize, cx: &mut Context<Editor>) {
    let card = editor.signature.card.as_mut();
    let Some(card) = card.filter(|card| card.help.signatures.len() > 1) else {
        return cx.propagate();
    };
    card.shown = (card.shown + steps) % card.help.signatures.len();
    card.is_chosen = true;
    card.show_documentation(cx);
    cx.notify();
}

/// Asks the source, and cancels its request that is under way.
fn ask(editor: &mut Editor, typed: Option<char>, cx: &mut Context<Editor>) {
    let Some(source) = editor.signature.source.clone() else {
        return;
    };
    let query = SignatureQuery {
        snapshot: editor.snapshot.clone(),
        offset: editor.selections.primary().head,
        typed,
        is_retrigger: editor.signature.card.is_some(),
    };
    let asked = (query.snapshot.revision(), query.offset);
    editor.signature.request = None;
    let answer = source.request(query, cx);
    editor.signature.request = Some(cx.spawn(async move |this, cx| {
        let answer = answer.await;
        // The view may have been closed.
        this.update(cx, |editor, cx| take_answer(editor, asked, answer, cx))
            .ok();
    }));
}

/// Shows an answer for the caret of a revision, or asks again if either changed.
fn take_answer(
    editor: &mut Editor,
    asked: (Revision, ByteOffset),
    answer: SignatureAnswer,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    editor.signature.request = None;
    let head = editor.selections.primary().head;
    if (editor.snapshot.revision(), head) != asked {
        return ask(editor, None, cx);
    }
    match answer {
        SignatureAnswer::Call(help) => show(editor, help, cx),
        SignatureAnswer::NoCall => close(editor, cx),
        SignatureAnswer::Unavailable => {}
    }
}

/// Opens or updates the card. A signature that the user chose stays while the call is the same.
fn show(editor: &mut Editor, help: SignatureHelp, cx: &mut Context<Editor>) {
    let before = editor.signature.card.take();
    let is_chosen = before
        .as_ref()
        .is_some_and(|card| card.is_chosen && has_same_labels(&card.help, &help));
    let head = editor.selections.primary().head;
    let (shown, anchor, documentation) = match before {
        Some(card) if is_chosen => (card.shown, card.anchor, card.documentation),
        Some(card) => (help.active_signature, card.anchor, card.documentation),
        None => (help.active_signature, head, Vec::new()),
    };
    let mut card = SignatureCard {
        help,
        shown,
        is_chosen,
        anchor,
        documentation,
    };
    card.show_documentation(cx);
    editor.signature.card = Some(card);
    cx.notify();
}

fn has_same_labels(before: &SignatureHelp, after: &SignatureHelp) -> bool {
    let labels = |help: &SignatureHelp| -> Vec<String> {
        let signatures = help.signatures.iter();
        signatures.map(|it| it.label.clone()).collect()
    };
    labels(before) == labels(after)
}

//! The engine of the product over the same keystrokes and the same model, driven like in a window.

use std::collections::BTreeMap;
use std::time::Duration;

use autocomplete::context::EmptyContextSource;
use autocomplete::engine::{
    CompletionEngine, CompletionRequest, EngineEffect, EngineInput, EngineOptions, RequestId,
    TabKind, TabModel,
};
use autocomplete::{ChangeCause, DocumentEdit, EditorState, Suggestion};
use base::{AbsPath, ByteOffset, Row, Span};
use model::{ModelId, StopReason, StreamEvent};
use syntax::{Budget, Language, SyntaxTree, language_for};
use text::{Buffer, EditOrigin, Timestamp};

use super::Score;
use super::future::Future;
use super::keys::Session;
use super::peers::save;

/// Visible rows above and below the caret.
const ROWS: u32 = 30;
/// Bytes before the caret that identify the caret in a prompt.
const TAIL: usize = 200;

struct Driver<'a> {
    session: &'a Session,
    future: &'a Future,
    engine: CompletionEngine,
    buffer: Buffer,
    tree: Option<SyntaxTree>,
    language: Option<Language>,
    path: Option<AbsPath>,
    caret: ByteOffset,
    /// Index of the last event.
    event: usize,
    shown: Option<Suggestion>,
    wake: Option<Duration>,
    /// Pending responses by arrival time.
    answers: BTreeMap<(Duration, RequestId), String>,
    score: Score,
    saved_until: (usize, usize),
}

/// Replays a session.
pub(super) fn replay(session: &Session, future: &Future) -> Score {
    let language = language_for(std::path::Path::new(session.file), "");
    let model = ModelId {
        provider: "loopback".to_owned(),
        model: "future".to_owned(),
    };
    let mut driver = Driver {
        session,
        future,
        engine: CompletionEngine::new(EngineOptions::model(TabModel {
            id: model,
            kind: TabKind::Gap,
            is_serial: false,
        })),
        buffer: Buffer::new(&session.start),
        tree: language.map(SyntaxTree::new),
        language,
        path: AbsPath::new("/project").map(|root| root.join(session.file)),
        caret: ByteOffset(0),
        event: 0,
        shown: None,
        wake: None,
        answers: BTreeMap::new(),
        score: Score::default(),
        saved_until: (usize::MAX, 0),
    };
    language.iter().for_each(Language::prepare);
    let state = driver.state();
    driver.put(Duration::ZERO, EngineInput::Moved { state });
    for (ix, event) in session.events.iter().enumerate() {
        driver.run_until(event.at);
        driver.key(ix);
    }
    driver.score
}

impl Driver<'_> {
    /// Handles wake-ups and responses in order up to a time.
    fn run_until(&mut self, moment: Duration) {
        loop {
            let answer = self.answers.first_key_value().map(|((at, _), _)| *at);
            let next = answer.into_iter().chain(self.wake).min();
            let Some(at) = next.filter(|at| *at < moment) else {
                return;
            };
            if self.wake.is_some_and(|wake| wake <= at) {
                self.wake = None;
                self.put(at, EngineInput::Time);
                continue;
            }
            if let Some(((at, request), text)) = self.answers.pop_first() {
                let piece = StreamEvent::TextDelta(text);
                let stop = StreamEvent::Stop {
                    reason: StopReason::EndTurn,
                    raw: String::new(),
                };
                for event in [piece, stop] {
                    self.put(at, EngineInput::Stream { request, event });
                }
            }
        }
    }

    fn key(&mut self, ix: usize) {
        let event = &self.session.events[ix];
        let start = self.buffer.offset_at_char(event.place);
        let end = self.buffer.offset_at_char(event.place + event.removed);
        if event.is_key() {
            self.score.keys += 1;
            self.judge(ix, start);
        }
        let before = self.buffer.snapshot();
        let origin = EditOrigin::typing(Timestamp(event.at.as_millis() as u64));
        let change = self
            .buffer
            .replace(Span::new(start, end), &event.inserted, &origin);
        let after = self.buffer.snapshot();
        if let Some(tree) = &mut self.tree {
            tree.edit(&before, &after, &change);
            // Even an unfinished tree is the best available.
            drop(tree.parse(&after, &mut Budget::unlimited()));
        }
        self.caret = start + event.inserted.len();
        self.event = ix;
        let edit = DocumentEdit {
            before,
            state: self.state(),
            change,
            cause: ChangeCause::Typed,
        };
        self.put(event.at, EngineInput::Edited(Box::new(edit)));
    }

    /// Counts the keystroke if the visible suggestion begins with it.
    fn judge(&mut self, ix: usize, place: ByteOffset) {
        let event = &self.session.events[ix];
        let edit = self.shown.as_ref().and_then(|shown| shown.edits.first());
        let Some(edit) =
            edit.filter(|it| it.span.start == place && it.new.starts_with(&event.inserted))
        else {
            return;
        };
        self.score.covered += 1;
        let truth = match ix.checked_sub(1) {
            Some(before) if self.session.events[before].run == event.run => {
                self.future.truth(self.session, before, 0)
            }
            _ => return,
        };
        let before = event.run_end - event.inserted.len();
        save(
            &mut self.score,
            &mut self.saved_until,
            (event.run, before),
            &edit.new,
            truth,
        );
    }

    fn put(&mut self, now: Duration, input: EngineInput) {
        for effect in self.engine.handle(now, input, &EmptyContextSource) {
            match effect {
                EngineEffect::Ask { request, body } => {
                    let text = self.answer(&body);
                    let at = now + Future::latency(self.score.calls);
                    self.score.calls += 1;
                    self.answers.insert((at, request), text);
                }
                EngineEffect::Cancel { request } => {
                    self.answers.retain(|(_, it), _| *it != request)
                }
                EngineEffect::Show(shown) => {
                    let is_stale = shown.suggestion.revision != self.buffer.revision();
                    self.score.stale += usize::from(is_stale);
                    self.shown = Some(shown.suggestion);
                }
                EngineEffect::Hide => self.shown = None,
                EngineEffect::Wake { at } => self.wake = Some(at),
                EngineEffect::Note(_) => {}
            }
        }
    }

    /// Returns the model's response to a prompt, whose caret it locates by the text before it.
    fn answer(&self, body: &CompletionRequest) -> String {
        let CompletionRequest::Fim(fim) = body else {
            return String::new();
        };
        let snapshot = self.buffer.snapshot();
        let start = snapshot.clip(self.caret - TAIL, base::Bias::Right);
        let tail = snapshot.text(Span::new(start, self.caret)).into_owned();
        let Some(at) = fim.prefix.rfind(&tail) else {
            return String::new();
        };
        // In a request ahead, the suggestion follows the text.
        let ahead = &fim.prefix[at + tail.len()..];
        if self
            .future
            .truth(self.session, self.event, 0)
            .starts_with(ahead)
        {
            self.future.answer(self.session, self.event, ahead.len())
        } else {
            "wrong_future()".to_owned()
        }
    }

    fn state(&self) -> EditorState {
        let snapshot = self.buffer.snapshot();
        let row = snapshot.point_at(self.caret).row;
        EditorState {
            path: self.path.clone(),
            syntax: self.tree.as_ref().map(SyntaxTree::snapshot),
            language: self.language,
            caret: self.caret,
            rows: (Row(row.0.saturating_sub(ROWS)), Row(row.0 + ROWS)),
            indent: "    ".to_owned(),
            snapshot,
        }
    }
}

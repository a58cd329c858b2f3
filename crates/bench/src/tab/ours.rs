//! The engine of the product over the same keystrokes and the same model, driven like in a window.

use std::collections::HashMap;
use std::time::Duration;

use autocomplete::context::EmptyContextSource;
use autocomplete::engine::{
    CompletionEngine, CompletionRequest, EngineEffect, EngineInput, EngineOptions, RequestId,
    TabEvent, TabKind, TabModel,
};
use autocomplete::{ChangeCause, DocumentEdit, EditorState, Suggestion};
use base::{AbsPath, ByteOffset, Row, Span};
use model::{ModelId, StopReason, StreamEvent};
use syntax::{Budget, Language, SyntaxTree, language_for};
use text::{Buffer, EditOrigin, Timestamp};

use super::Score;
use super::future::Future;
use super::keys::Session;
use super::misses::{MissCause, Proposals, ProposedText};
use super::peers::save;
use super::server::{Server, ServerKind};

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
    server: Server<RequestId>,
    /// Pending responses.
    answers: HashMap<RequestId, ProposedText>,
    proposals: Proposals,
    score: Score,
    saved_until: (usize, usize),
}

/// Replays a session.
pub(super) fn replay(session: &Session, future: &Future, server: ServerKind) -> Score {
    let language = language_for(std::path::Path::new(session.file), "");
    let mut driver = Driver {
        session,
        future,
        engine: CompletionEngine::new(EngineOptions::model(model(server))),
        buffer: Buffer::new(&session.start),
        tree: language.map(SyntaxTree::new),
        language,
        path: AbsPath::new("/project").map(|root| root.join(session.file)),
        caret: ByteOffset(0),
        event: 0,
        shown: None,
        wake: None,
        server: Server::new(server),
        answers: HashMap::new(),
        proposals: Proposals::default(),
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

fn model(server: ServerKind) -> TabModel {
    TabModel {
        id: ModelId {
            provider: "loopback".to_owned(),
            model: "future".to_owned(),
        },
        kind: TabKind::Gap,
        is_serial: server == ServerKind::Serial,
    }
}

impl Driver<'_> {
    /// Handles wake-ups and responses in order up to a time.
    fn run_until(&mut self, moment: Duration) {
        loop {
            let answer = self.server.next_completion();
            let next = answer.into_iter().chain(self.wake).min();
            let Some(at) = next.filter(|at| *at < moment) else {
                return;
            };
            if self.wake.is_some_and(|wake| wake <= at) {
                self.wake = None;
                self.put(at, EngineInput::Time);
                continue;
            }
            if let Some((at, request)) = self.server.take_completed() {
                let Some(answer) = self.answers.remove(&request) else {
                    continue;
                };
                let piece = StreamEvent::TextDelta(answer.text.clone());
                self.proposals.received(answer);
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
            let cause = self.miss_cause(ix);
            self.score.misses.push((ix, cause));
            return;
        };
        self.score.covered += 1;
        self.score.covered_events.insert(ix);
        if ix == 0 || self.session.events[ix - 1].run != event.run {
            return;
        }
        let before = event.run_end - event.inserted.len();
        save(
            &mut self.score,
            &mut self.saved_until,
            self.future,
            (event.run, before),
            &edit.new,
        );
    }

    /// Returns why nothing right is shown before the keystroke `ix`.
    fn miss_cause(&self, ix: usize) -> MissCause {
        let (session, future) = (self.session, self.future);
        let run = |ix: usize| session.events[ix].run;
        if ix == 0 || run(ix - 1) != run(ix) {
            return MissCause::FirstOfRun;
        }
        if self.shown.is_some() {
            return MissCause::WrongShown;
        }
        if let Some(cause) = self.proposals.cause(session, future, ix) {
            return cause;
        }
        let mut answers = self.answers.values();
        if answers.any(|answer| answer.predicts(session, future, ix)) {
            return MissCause::InFlight;
        }
        match (self.answers.is_empty(), self.wake) {
            (false, _) => MissCause::UselessInFlight,
            (true, Some(_)) => MissCause::Delay,
            (true, None) => MissCause::NotAsked,
        }
    }

    fn put(&mut self, now: Duration, input: EngineInput) {
        let mut queries_local = false;
        for effect in self.engine.handle(now, input, &EmptyContextSource) {
            match effect {
                EngineEffect::Ask { request, body } => {
                    let (ahead, text) = self.answer(&body);
                    let latency = Future::latency(self.score.calls);
                    self.score.calls += 1;
                    self.server.ask(now, request, latency);
                    let event = self.event;
                    let answer = ProposedText { event, ahead, text };
                    self.answers.insert(request, answer);
                }
                EngineEffect::Cancel { request } => {
                    self.server.cancel(now, request);
                    self.answers.remove(&request);
                }
                EngineEffect::Show(shown) => {
                    let is_stale = shown.suggestion.revision != self.buffer.revision();
                    self.score.stale += usize::from(is_stale);
                    self.shown = Some(shown.suggestion);
                }
                EngineEffect::Hide => self.shown = None,
                EngineEffect::Wake { at } => self.wake = Some(at),
                EngineEffect::QueryLocal => queries_local = true,
                EngineEffect::Note(TabEvent::Refused { reason, text, .. }) => {
                    let (event, ahead) = (self.event, 0);
                    let text = ProposedText { event, ahead, text };
                    self.proposals.refused(text, reason.name());
                }
                EngineEffect::Note(_) => {}
            }
        }
        if queries_local {
            self.put(now, EngineInput::QueryLocal);
        }
    }

    /// Returns the model's response to a prompt, whose caret it locates by the text before it, and the bytes after the
    /// text at which it begins.
    fn answer(&self, body: &CompletionRequest) -> (usize, String) {
        let CompletionRequest::Fim(fim) = body else {
            return (0, String::new());
        };
        let snapshot = self.buffer.snapshot();
        let start = snapshot.clip(self.caret - TAIL, base::Bias::Right);
        let tail = snapshot.text(Span::new(start, self.caret)).into_owned();
        let Some(at) = fim.prefix.rfind(&tail) else {
            return (0, String::new());
        };
        // In a request ahead, the suggestion follows the text.
        let ahead = &fim.prefix[at + tail.len()..];
        let truth = self.future.truth(self.session, self.event, 0);
        let text = if truth.starts_with(ahead) {
            self.future.answer(self.session, self.event, ahead.len())
        } else {
            "wrong_future()".to_owned()
        };
        (ahead.len(), text)
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

//! A driver for tests: carries out what the machine asks for and checks what must always hold.

use std::collections::BTreeSet;
use std::time::Duration;

use base::{ByteOffset, Span};
use model::{ModelId, StopReason, StreamEvent};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use crate::context::EmptyContextSource;
use crate::engine::{
    CompletionEngine, CompletionRequest, DocumentEdit, EngineEffect, EngineInput, EngineOptions,
    RequestId, TabEvent, TabKind, TabModel, VisibleSuggestion,
};
use crate::samples::state_of;
use crate::{AcceptGranularity, ChangeCause, EditorState, Suggestion};

/// One text with its caret, and the machine beside it.
pub(super) struct World {
    pub(super) engine: CompletionEngine,
    pub(super) buffer: Buffer,
    pub(super) caret: usize,
    pub(super) now: Duration,
    pub(super) asked: Vec<(RequestId, CompletionRequest)>,
    pub(super) open: BTreeSet<RequestId>,
    pub(super) shown: Option<VisibleSuggestion>,
    pub(super) notes: Vec<TabEvent>,
    pub(super) wake: Option<Duration>,
    pub(super) wants_local: bool,
    language: &'static str,
}

impl World {
    /// A text with the caret at `ˇ`, and a model that fills gaps.
    pub(super) fn new(text: &str) -> Self {
        Self::with(text, Some(TabKind::Gap), "")
    }

    pub(super) fn with(text: &str, kind: Option<TabKind>, language: &'static str) -> Self {
        let caret = text.find('ˇ').expect("a caret");
        let model = kind.map(|kind| TabModel {
            id: ModelId::parse("local/tab").expect("a name"),
            kind,
        });
        let mut world = Self {
            engine: CompletionEngine::new(EngineOptions {
                model,
                ..EngineOptions::local()
            }),
            buffer: Buffer::new(&text.replacen('ˇ', "", 1)),
            caret,
            now: Duration::from_secs(1),
            asked: Vec::new(),
            open: BTreeSet::new(),
            shown: None,
            notes: Vec::new(),
            wake: None,
            wants_local: false,
            language,
        };
        let state = world.state();
        world.put(EngineInput::Moved { state });
        world
    }

    pub(super) fn state(&self) -> EditorState {
        state_of(&self.buffer, self.language, ByteOffset(self.caret))
    }

    pub(super) fn text(&self) -> String {
        self.buffer.snapshot().to_string()
    }

    /// Hands something in, carries out what comes back, and checks what must hold.
    pub(super) fn put(&mut self, input: EngineInput) {
        for effect in self.engine.handle(self.now, input, &EmptyContextSource) {
            match effect {
                EngineEffect::Ask { request, what } => {
                    assert!(self.open.insert(request), "a request has one name");
                    self.asked.push((request, what));
                }
                EngineEffect::Cancel { request } => {
                    assert!(self.open.remove(&request), "only what is open is cancelled");
                }
                EngineEffect::Show(shown) => self.shown = Some(shown),
                EngineEffect::Hide => self.shown = None,
                EngineEffect::Wake { at } => self.wake = Some(at),
                EngineEffect::AskLocal => self.wants_local = true,
                EngineEffect::Note(note) => self.notes.push(note),
            }
        }
        assert!(self.open.len() <= 2, "two in flight");
        assert_eq!(self.open.len(), self.engine.in_flight());
        // What lies in another file is looked at when that is opened.
        let here = self
            .shown
            .as_ref()
            .filter(|it| it.suggestion.file.is_none());
        if let Some(shown) = here {
            let snapshot = self.buffer.snapshot();
            assert_eq!(
                shown.suggestion.revision,
                snapshot.revision(),
                "nothing stale is shown"
            );
            assert!(shown.suggestion.applies_to(&snapshot));
        }
        let told = self.shown.as_ref().map(|shown| &shown.suggestion);
        assert_eq!(told, self.engine.current_suggestion());
    }

    /// Replaces a span and puts the caret behind what came.
    pub(super) fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let origin = EditOrigin::typing(Timestamp(0));
        let start = span.start;
        let change = self.buffer.replace(Span::from(span), new, &origin);
        self.caret = start + new.len();
        let edited = Box::new(DocumentEdit {
            before,
            state: self.state(),
            change,
            cause,
        });
        self.put(EngineInput::Edited(edited));
    }

    pub(super) fn type_in(&mut self, text: &str) {
        for ch in text.chars() {
            self.edit(self.caret..self.caret, &ch.to_string(), ChangeCause::Typed);
            self.now += Duration::from_millis(100);
        }
    }

    /// Lets time pass, with alarms where the machine wants them.
    pub(super) fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(at) = self.wake.filter(|at| *at <= until) {
            self.wake = None;
            self.now = self.now.max(at);
            self.put(EngineInput::Time);
        }
        self.now = until;
    }

    /// Answers the oldest open request.
    pub(super) fn answer(&mut self, text: &str) {
        let request = *self.open.first().expect("an open request");
        self.stream(request, StreamEvent::TextDelta(text.to_owned()));
        self.end(request);
    }

    pub(super) fn stream(&mut self, request: RequestId, event: StreamEvent) {
        let is_last = event.is_last();
        if is_last {
            self.open.remove(&request);
        }
        self.put(EngineInput::Stream { request, event });
    }

    pub(super) fn end(&mut self, request: RequestId) {
        if self.open.contains(&request) {
            let event = StreamEvent::Stop {
                reason: StopReason::EndTurn,
                raw: String::new(),
            };
            self.stream(request, event);
        }
    }

    /// Takes what is shown, or some of it.
    pub(super) fn accept(&mut self, part: AcceptGranularity) {
        let Some(shown) = self.shown.clone() else {
            return;
        };
        let edits: Vec<Edit> = shown.suggestion.accept_edits(part);
        let before = self.buffer.snapshot();
        let change = self.buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        self.caret = change.splices.last().map_or(self.caret, |it| it.new.end.0);
        let edited = Box::new(DocumentEdit {
            before,
            state: self.state(),
            change,
            cause: ChangeCause::Accepted,
        });
        self.put(EngineInput::Accepted { part, edited });
    }

    /// What is shown, as text that comes in.
    pub(super) fn ghost(&self) -> Option<String> {
        let suggestion: &Suggestion = &self.shown.as_ref()?.suggestion;
        Some(suggestion.edits.iter().map(|it| it.new.as_ref()).collect())
    }

    pub(super) fn check(&self, ghost: Option<&str>) {
        assert_eq!(self.ghost().as_deref(), ghost, "{}", self.engine.status());
    }
}

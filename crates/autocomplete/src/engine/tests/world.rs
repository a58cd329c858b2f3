//! A driver for tests: carries out the effects of the engine and checks its invariants.

use std::collections::BTreeSet;
use std::time::Duration;

use base::{ByteOffset, Span};
use model::{ModelId, StopReason, StreamEvent};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use crate::context::EmptyContextSource;
use crate::engine::{
    CompletionEngine, CompletionRequest, EngineEffect, EngineInput, EngineOptions, RequestId,
    TabEvent, TabKind, TabModel, VisibleSuggestion,
};
use crate::samples::state_of;
use crate::{AcceptGranularity, ChangeCause, DocumentEdit, EditorState, Suggestion};

/// One text with its caret, and the engine.
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
    language: &'static str,
}

impl World {
    /// A text with the caret at `ˇ`, and a model that fills gaps.
    pub(super) fn new(text: &str) -> Self {
        Self::with(text, Some(TabKind::Gap), "")
    }

    /// A text without the local tier, whose suggestions `suggest_locally` scripts.
    pub(super) fn with(text: &str, kind: Option<TabKind>, language: &'static str) -> Self {
        let model = kind.map(|kind| TabModel {
            id: ModelId::parse("local/tab").expect("a name"),
            kind,
            is_serial: false,
        });
        let options = EngineOptions {
            model,
            has_local_tier: false,
            ..EngineOptions::local()
        };
        Self::with_options(text, options, language)
    }

    /// A text in Rust with the local tier and no model.
    pub(super) fn local(text: &str) -> Self {
        Self::with_options(text, EngineOptions::local(), "Rust")
    }

    fn with_options(text: &str, options: EngineOptions, language: &'static str) -> Self {
        let caret = text.find('ˇ').expect("a caret");
        let mut world = Self {
            engine: CompletionEngine::new(options),
            buffer: Buffer::new(&text.replacen('ˇ', "", 1)),
            caret,
            now: Duration::from_secs(1),
            asked: Vec::new(),
            open: BTreeSet::new(),
            shown: None,
            notes: Vec::new(),
            wake: None,
            language,
        };
        let state = world.state();
        world.put(EngineInput::Moved { state });
        world
    }

    /// Tells the engine whether the server processes one request at a time.
    pub(super) fn set_serial(&mut self, is_serial: bool) {
        let model = TabModel {
            id: ModelId::parse("local/tab").expect("a name"),
            kind: TabKind::Gap,
            is_serial,
        };
        let options = EngineOptions::model(model);
        self.put(EngineInput::Options(options));
    }

    pub(super) fn state(&self) -> EditorState {
        state_of(&self.buffer, self.language, ByteOffset(self.caret))
    }

    pub(super) fn text(&self) -> String {
        self.buffer.snapshot().to_string()
    }

    /// Hands in an input, carries out the effects, and checks the invariants.
    pub(super) fn put(&mut self, input: EngineInput) {
        let effects = self.engine.handle(self.now, input, &EmptyContextSource);
        let queries_local = effects.contains(&EngineEffect::QueryLocal);
        self.carry_out(effects);
        if queries_local {
            self.put(EngineInput::QueryLocal);
        }
    }

    /// Replaces the suggestions of the local tier.
    pub(super) fn suggest_locally(&mut self, suggestions: Vec<Suggestion>) {
        self.engine.replace_local(suggestions);
        self.put(EngineInput::Time);
    }

    fn carry_out(&mut self, effects: Vec<EngineEffect>) {
        for effect in effects {
            match effect {
                EngineEffect::Ask { request, body } => {
                    assert!(self.open.insert(request), "a request id is unique");
                    self.asked.push((request, body));
                }
                EngineEffect::Cancel { request } => {
                    assert!(
                        self.open.remove(&request),
                        "only an open request is cancelled"
                    );
                }
                EngineEffect::Show(shown) => self.shown = Some(shown),
                EngineEffect::Hide => self.shown = None,
                EngineEffect::Wake { at } => self.wake = Some(at),
                EngineEffect::QueryLocal => {}
                EngineEffect::Note(note) => self.notes.push(note),
            }
        }
        assert!(self.open.len() <= 2, "two in flight");
        assert_eq!(self.open.len(), self.engine.in_flight());
        // A suggestion for another file is checked when that file is opened.
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
        let shown = self.shown.as_ref().map(|shown| &shown.suggestion);
        assert_eq!(shown, self.engine.current_suggestion());
    }

    /// Replaces a span and puts the caret after the new text.
    pub(super) fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let origin = EditOrigin::typing(Timestamp(0));
        let start = span.start;
        let change = self.buffer.replace(Span::from(span), new, &origin);
        self.caret = start + new.len();
        let edit = Box::new(DocumentEdit {
            before,
            state: self.state(),
            change,
            cause,
        });
        self.put(EngineInput::Edited(edit));
    }

    /// Inserts a text at the caret in one edit.
    pub(super) fn insert(&mut self, text: &str) {
        self.edit(self.caret..self.caret, text, ChangeCause::Typed);
    }

    pub(super) fn type_in(&mut self, text: &str) {
        for ch in text.chars() {
            self.edit(self.caret..self.caret, &ch.to_string(), ChangeCause::Typed);
            self.now += Duration::from_millis(100);
        }
    }

    /// Lets time pass, and hands in the time at each requested wake-up.
    pub(super) fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(at) = self.wake.filter(|at| *at <= until) {
            self.wake = None;
            self.now = self.now.max(at);
            self.put(EngineInput::Time);
        }
        self.now = until;
    }

    /// Answers the most recent open request.
    pub(super) fn answer(&mut self, text: &str) {
        let request = *self.open.last().expect("an open request");
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

    /// Accepts the visible suggestion, or a part of it.
    pub(super) fn accept(&mut self, part: AcceptGranularity) {
        let Some(shown) = self.shown.clone() else {
            return;
        };
        let edits: Vec<Edit> = shown.suggestion.accept_edits(part);
        let before = self.buffer.snapshot();
        let change = self.buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        self.caret = change.splices.last().map_or(self.caret, |it| it.new.end.0);
        let edit = Box::new(DocumentEdit {
            before,
            state: self.state(),
            change,
            cause: ChangeCause::Accepted,
        });
        self.put(EngineInput::Accepted { part, edit });
    }

    /// Returns the text that the visible suggestion inserts.
    pub(super) fn ghost(&self) -> Option<String> {
        let suggestion: &Suggestion = &self.shown.as_ref()?.suggestion;
        Some(suggestion.edits.iter().map(|it| it.new.as_ref()).collect())
    }

    pub(super) fn check(&self, ghost: Option<&str>) {
        assert_eq!(self.ghost().as_deref(), ghost, "{}", self.engine.status());
    }
}

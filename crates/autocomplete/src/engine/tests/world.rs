//! A driver for tests: carries out what the machine asks for and checks what must always hold.

use std::collections::BTreeSet;
use std::time::Duration;

use base::{ByteOffset, Span};
use model::{Event, ModelId, StopReason};
use text::{Buffer, Edit, Origin, Timestamp};

use crate::context::NoSource;
use crate::engine::{
    Ask, Edited, Effect, Engine, Happened, Input, Options, RequestId, Shown, TabKind, TabModel,
};
use crate::samples::scene_of;
use crate::{Cause, Part, Scene, Suggestion};

/// One text with its caret, and the machine beside it.
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) buffer: Buffer,
    pub(super) caret: usize,
    pub(super) now: Duration,
    pub(super) asked: Vec<(RequestId, Ask)>,
    pub(super) open: BTreeSet<RequestId>,
    pub(super) shown: Option<Shown>,
    pub(super) notes: Vec<Happened>,
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
            engine: Engine::new(Options {
                model,
                ..Options::local()
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
        let scene = world.scene();
        world.put(Input::Moved { scene });
        world
    }

    pub(super) fn scene(&self) -> Scene {
        scene_of(&self.buffer, self.language, ByteOffset(self.caret))
    }

    pub(super) fn text(&self) -> String {
        self.buffer.snapshot().to_string()
    }

    /// Hands something in, carries out what comes back, and checks what must hold.
    pub(super) fn put(&mut self, input: Input) {
        for effect in self.engine.handle(self.now, input, &NoSource) {
            match effect {
                Effect::Ask { request, what } => {
                    assert!(self.open.insert(request), "a request has one name");
                    self.asked.push((request, what));
                }
                Effect::Cancel { request } => {
                    assert!(self.open.remove(&request), "only what is open is cancelled");
                }
                Effect::Show(shown) => self.shown = Some(shown),
                Effect::Hide => self.shown = None,
                Effect::Wake { at } => self.wake = Some(at),
                Effect::AskLocal => self.wants_local = true,
                Effect::Note(note) => self.notes.push(note),
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
            assert!(shown.suggestion.stands_in(&snapshot));
        }
        let told = self.shown.as_ref().map(|shown| &shown.suggestion);
        assert_eq!(told, self.engine.shown());
    }

    /// Replaces a span and puts the caret behind what came.
    pub(super) fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: Cause) {
        let before = self.buffer.snapshot();
        let origin = Origin::typing(Timestamp(0));
        let start = span.start;
        let change = self.buffer.replace(Span::from(span), new, &origin);
        self.caret = start + new.len();
        let edited = Box::new(Edited {
            before,
            scene: self.scene(),
            change,
            cause,
        });
        self.put(Input::Edited(edited));
    }

    pub(super) fn type_in(&mut self, text: &str) {
        for ch in text.chars() {
            self.edit(self.caret..self.caret, &ch.to_string(), Cause::Typed);
            self.now += Duration::from_millis(100);
        }
    }

    /// Lets time pass, with alarms where the machine wants them.
    pub(super) fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(at) = self.wake.filter(|at| *at <= until) {
            self.wake = None;
            self.now = self.now.max(at);
            self.put(Input::Time);
        }
        self.now = until;
    }

    /// Answers the oldest open request.
    pub(super) fn answer(&mut self, text: &str) {
        let request = *self.open.first().expect("an open request");
        self.stream(request, Event::TextDelta(text.to_owned()));
        self.end(request);
    }

    pub(super) fn stream(&mut self, request: RequestId, event: Event) {
        let is_last = event.is_last();
        if is_last {
            self.open.remove(&request);
        }
        self.put(Input::Stream { request, event });
    }

    pub(super) fn end(&mut self, request: RequestId) {
        if self.open.contains(&request) {
            let event = Event::Stop {
                reason: StopReason::EndTurn,
                raw: String::new(),
            };
            self.stream(request, event);
        }
    }

    /// Takes what is shown, or some of it.
    pub(super) fn accept(&mut self, part: Part) {
        let Some(shown) = self.shown.clone() else {
            return;
        };
        let edits: Vec<Edit> = shown.suggestion.taking(part);
        let before = self.buffer.snapshot();
        let change = self.buffer.edit(&edits, &Origin::user(Timestamp(0)));
        self.caret = change.splices.last().map_or(self.caret, |it| it.new.end.0);
        let edited = Box::new(Edited {
            before,
            scene: self.scene(),
            change,
            cause: Cause::Accepted,
        });
        self.put(Input::Accepted { part, edited });
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

//! Stale suggestions in random interleavings of keystrokes, responses, motions and blocks.

use std::time::Duration;

use autocomplete::context::EmptyContextSource;
use autocomplete::engine::{
    BlockReason, CompletionEngine, EngineEffect, EngineInput, EngineOptions, RequestId, TabKind,
    TabModel,
};
use autocomplete::{ChangeCause, DocumentEdit, EditorState};
use base::{ByteOffset, Row, Span};
use model::{ModelId, NextEditFormat, StopReason, StreamEvent};
use text::{Buffer, EditOrigin, Timestamp};

use crate::figure::Figure;
use crate::interleave::Dice;

const INTERLEAVINGS: u64 = 10_000;
const STEPS: usize = 30;
const LETTERS: [&str; 8] = ["a", "b", "(", ")", "\n", " ", "ä", "fn "];

struct World {
    engine: CompletionEngine,
    buffer: Buffer,
    caret: usize,
    now: Duration,
    open: Vec<RequestId>,
    shown: Option<u64>,
    paints: usize,
    stale: usize,
}

pub(super) fn run() -> Figure {
    let (mut paints, mut stale) = (0, 0);
    for seed in 0..INTERLEAVINGS {
        let mut random = Dice::new(seed + 1);
        let kind = match seed % 4 {
            0 => TabKind::NextEdit(NextEditFormat::Sweep),
            _ => TabKind::Gap,
        };
        let mut world = World::new(kind);
        for _ in 0..STEPS {
            world.step(&mut random);
        }
        paints += world.paints;
        stale += world.stale;
    }
    let name = format!("stale suggestions of {paints} shown in {INTERLEAVINGS} interleavings");
    Figure::alone(name, stale as f64, "", paints, Some(0.0))
}

impl World {
    fn new(kind: TabKind) -> Self {
        let id = ModelId {
            provider: "loopback".to_owned(),
            model: "random".to_owned(),
        };
        let mut world = Self {
            engine: CompletionEngine::new(EngineOptions::model(TabModel {
                id,
                kind,
                is_serial: false,
            })),
            buffer: Buffer::new("one two\nthree\n"),
            caret: 4,
            now: Duration::from_secs(1),
            open: Vec::new(),
            shown: None,
            paints: 0,
            stale: 0,
        };
        let state = world.state();
        world.put(EngineInput::Moved { state });
        world
    }

    fn step(&mut self, random: &mut Dice) {
        self.now += Duration::from_millis(random.below(300) as u64);
        match random.below(10) {
            0..4 => {
                let letter = LETTERS[random.below(LETTERS.len())];
                self.edit(self.caret..self.caret, letter, ChangeCause::Typed);
            }
            4 => {
                let from = self.clipped(self.caret.saturating_sub(1 + random.below(5)));
                self.edit(from..self.caret, "", ChangeCause::Typed);
            }
            5 => {
                self.caret = self.clipped(random.below(self.buffer.len().0 + 1));
                let state = self.state();
                self.put(EngineInput::Moved { state });
            }
            6 => {
                let at = self.clipped(random.below(self.buffer.len().0 + 1));
                self.edit(at..at, "other ", ChangeCause::Other);
            }
            7 | 8 => self.answer(random),
            _ => {
                self.put(EngineInput::Blocked(BlockReason::Selection));
                self.put(EngineInput::Unblocked(BlockReason::Selection));
                self.put(EngineInput::Time);
            }
        }
        let revision = self.buffer.revision().0;
        self.stale += usize::from(self.shown.is_some_and(|shown| shown != revision));
    }

    fn answer(&mut self, random: &mut Dice) {
        if self.open.is_empty() {
            return self.put(EngineInput::Time);
        }
        let request = self.open[random.below(self.open.len())];
        let letters = (0..1 + random.below(4)).map(|_| LETTERS[random.below(LETTERS.len())]);
        let event = StreamEvent::TextDelta(letters.collect());
        self.put(EngineInput::Stream { request, event });
        let event = StreamEvent::Stop {
            reason: StopReason::EndTurn,
            raw: String::new(),
        };
        self.put(EngineInput::Stream { request, event });
        self.open.retain(|open| *open != request);
    }

    fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let start = span.start;
        let origin = EditOrigin::typing(Timestamp(0));
        let change = self.buffer.replace(Span::from(span), new, &origin);
        self.caret = start + new.len();
        let edit = DocumentEdit {
            before,
            state: self.state(),
            change,
            cause,
        };
        self.put(EngineInput::Edited(Box::new(edit)));
    }

    fn put(&mut self, input: EngineInput) {
        let mut queries_local = false;
        for effect in self.engine.handle(self.now, input, &EmptyContextSource) {
            match effect {
                EngineEffect::Ask { request, .. } => self.open.push(request),
                EngineEffect::Cancel { request } => self.open.retain(|open| *open != request),
                EngineEffect::Show(shown) => {
                    self.paints += 1;
                    self.shown = Some(shown.suggestion.revision.0);
                }
                EngineEffect::Hide => self.shown = None,
                EngineEffect::QueryLocal => queries_local = true,
                EngineEffect::Wake { .. } | EngineEffect::Note(_) => {}
            }
        }
        if queries_local {
            self.put(EngineInput::QueryLocal);
        }
    }

    fn clipped(&self, offset: usize) -> usize {
        self.buffer
            .snapshot()
            .clip(ByteOffset(offset), base::Bias::Left)
            .0
    }

    fn state(&self) -> EditorState {
        EditorState {
            path: None,
            snapshot: self.buffer.snapshot(),
            syntax: None,
            language: None,
            caret: ByteOffset(self.caret),
            rows: (Row(0), Row(30)),
            indent: "    ".to_owned(),
        }
    }
}

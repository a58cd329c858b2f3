//! Outcomes that the local tier learns from.

use std::time::Duration;

use super::world::World;
use crate::engine::outcome::outcome;
use crate::engine::{EngineInput, TabEvent};
use crate::local::SuggestionOutcome;
use crate::{ChangeCause, SuggestionId, SuggestionSource};

fn kept(after: u64, kept: usize) -> TabEvent {
    TabEvent::Kept {
        id: SuggestionId(1),
        source: SuggestionSource::Continuation,
        after: Duration::from_secs(after),
        bytes: 100,
        kept,
    }
}

#[test]
fn accepted_text_that_is_soon_gone_counts_as_undone() {
    assert_eq!(outcome(&kept(10, 10)), Some(SuggestionOutcome::Undone));
    assert_eq!(outcome(&kept(10, 60)), None);
    assert_eq!(outcome(&kept(30, 0)), None);
}

#[test]
fn a_suggestion_hardly_seen_is_not_judged() {
    let raises_threshold = |seen: u64, is_painted: bool| {
        let mut world =
            World::local("fn k() {\n    remaining_bytes();\n    other();\n    remˇ\n}\n");
        let state = world.state();
        world.put(EngineInput::Requested { state });
        let id = world.shown.as_ref().expect("a suggestion").suggestion.id;
        if is_painted {
            world.engine.note_painted(id);
        }
        world.now += Duration::from_millis(seen);
        let before = world
            .engine
            .local
            .threshold(&SuggestionSource::Continuation);
        world.edit(world.caret..world.caret, "9", ChangeCause::Typed);
        let is_ignored = |event: &TabEvent| matches!(event, TabEvent::Ignored { .. });
        assert!(world.notes.iter().any(is_ignored));
        world
            .engine
            .local
            .threshold(&SuggestionSource::Continuation)
            > before
    };
    assert!(!raises_threshold(300, true));
    assert!(raises_threshold(2_000, true));
    assert!(!raises_threshold(2_000, false), "it was never painted");
}

//! Suggestions of the local tier key by key, and those beside them.

use base::Span;
use text::{Buffer, Change};

use super::stories::offered;
use super::world::World;
use crate::engine::{BlockReason, CycleStep, EngineInput, EngineOptions};
use crate::samples::state_of;
use crate::{ChangeCause, DocumentEdit, EditorState, Suggestion, SuggestionId, SuggestionSource};

/// Options with neither a model nor the local tier.
fn at_threshold(threshold: f32) -> EngineOptions {
    EngineOptions {
        has_local_tier: false,
        threshold: Some(threshold),
        ..EngineOptions::local()
    }
}

#[test]
fn the_local_tier_suggests_in_the_call_of_the_key() {
    let mut world = World::local("fn k() {\n    remaining_bytes();\n    other();\n    ˇ\n}\n");
    for typed in ["r", "e", "m"] {
        world.type_in(typed);
    }
    world.check(Some("aining_bytes"));
    let text = world.text();
    world.put(EngineInput::Blocked(BlockReason::Selection));
    world.check(None);
    world.put(EngineInput::Unblocked(BlockReason::Selection));
    world.check(Some("aining_bytes"));
    assert_eq!(world.text(), text);
}

#[test]
fn an_edit_of_another_text_changes_no_suggestion() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    let other = Buffer::new("elsewhere");
    let before = other.snapshot();
    let state = EditorState {
        path: base::AbsPath::new("/p/other"),
        ..state_of(&other, "", 0.into())
    };
    world.put(EngineInput::EditedElsewhere(Box::new(DocumentEdit {
        change: Change::none(before.revision()),
        before,
        state,
        cause: ChangeCause::Typed,
    })));
    world.check(Some(" x = 1;"));
}

#[test]
fn local_suggestions_show_at_once_and_models_add_alternatives() {
    let mut world = World::new("ˇ\n");
    world.type_in("l");
    let local = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: world.buffer.revision(),
        edits: vec![crate::SuggestedEdit::new(
            Span::from(1..1),
            "ocal()",
            &world.buffer.snapshot(),
        )],
        source: SuggestionSource::Continuation,
        confidence: 0.9,
    };
    world.suggest_locally(vec![local]);
    world.check(Some("ocal()"));
    world.wait(400);
    world.answer("et x = 1;");
    world.check(Some("ocal()"));
    world.put(EngineInput::Cycle(CycleStep::Next));
    world.check(Some("et x = 1;"));
    world.put(EngineInput::Cycle(CycleStep::Next));
    world.check(Some("ocal()"));
}

#[test]
fn the_first_likely_local_suggestion_is_shown() {
    let check = |confidences: &[f32], expected: Option<&str>| {
        let mut world = World::with("ˇ\n", None, "");
        world.put(EngineInput::Options(at_threshold(0.25)));
        world.type_in("l");
        let words = ["ong_and_useful()", "onger", "et"];
        let suggestions = words.iter().zip(confidences).zip(1..);
        let suggestions =
            suggestions.map(|((new, confidence), id)| ending(&world, id, new, *confidence));
        let suggestions = suggestions.collect();
        world.suggest_locally(suggestions);
        world.check(expected);
    };
    check(&[0.4, 0.5, 0.9], Some("ong_and_useful()"));
    check(&[0.1, 0.5, 0.9], Some("onger"));
    check(&[0.1, 0.12, 0.9], Some("et"));
    check(&[0.1, 0.12, 0.05], None);
}

/// A suggestion of the local tier that ends the word after its first letter.
fn ending(world: &World, id: u64, new: &str, confidence: f32) -> Suggestion {
    let text = world.buffer.snapshot();
    Suggestion {
        id: SuggestionId(id),
        file: None,
        revision: text.revision(),
        edits: vec![crate::SuggestedEdit::new(Span::from(1..1), new, &text)],
        source: SuggestionSource::Continuation,
        confidence,
    }
}

#[test]
fn an_explicit_request_cycles_unlikely_suggestions_by_usefulness() {
    let mut world = World::with("ˇ\n", None, "");
    world.put(EngineInput::Options(at_threshold(0.25)));
    world.type_in("l");
    let suggest = |world: &mut World| {
        let words = [("ong_and_useful()", 0.1), ("onger", 0.2), ("et", 0.05)];
        let suggestions = words
            .iter()
            .zip(1..)
            .map(|((new, confidence), id)| ending(world, id, new, *confidence));
        let suggestions = suggestions.collect();
        world.suggest_locally(suggestions);
    };
    suggest(&mut world);
    world.check(None);
    let state = world.state();
    world.put(EngineInput::Requested { state });
    suggest(&mut world);
    world.check(Some("ong_and_useful()"));
    world.put(EngineInput::Cycle(CycleStep::Next));
    world.check(Some("onger"));
    world.put(EngineInput::Cycle(CycleStep::Next));
    world.check(Some("et"));
}

#[test]
fn an_unlikely_suggestion_yields_even_if_partly_typed() {
    let mut world = World::new("ˇ\n");
    let suggestion = |world: &World, id: u64, new: &str, confidence: f32| Suggestion {
        id: SuggestionId(id),
        file: None,
        revision: world.buffer.revision(),
        edits: vec![crate::SuggestedEdit::new(
            Span::from(world.caret..world.caret),
            new,
            &world.buffer.snapshot(),
        )],
        source: SuggestionSource::Continuation,
        confidence,
    };
    world.type_in("l");
    let first = suggestion(&world, 1, "ocal()", 0.3);
    world.suggest_locally(vec![first]);
    world.type_in("o");
    world.check(Some("cal()"));
    world.put(EngineInput::Options(at_threshold(0.5)));
    world.check(None);
    let better = suggestion(&world, 2, "cate()", 0.7);
    world.suggest_locally(vec![better]);
    world.check(Some("cate()"));
}

#[test]
fn cycling_a_single_suggestion_requests_another() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.put(EngineInput::Cycle(CycleStep::Next));
    assert_eq!(world.open.len(), 1);
    world.answer(" y = 2;");
    world.check(Some(" y = 2;"));
    assert_eq!(world.shown.as_ref().map(|it| it.count), Some(2));
}

//! Visible suggestions key by key.

use std::time::Duration;

use base::Span;
use model::{Failure, FailureClass, ModelId, NextEditFormat, StreamEvent};

use super::world::World;
use crate::engine::{BlockReason, CompletionRequest, EngineInput, TabEvent, TabKind};
use crate::samples::suggestion;
use crate::validate::RejectReason;
use crate::{AcceptGranularity, ChangeCause, Suggestion, SuggestionId, SuggestionSource};

/// Types, waits, and answers.
pub(super) fn offered(text: &str, typed: &str, answer: &str) -> World {
    let mut world = World::new(text);
    world.insert(typed);
    world.wait(200);
    world.answer(answer);
    world
}

#[test]
fn a_pause_sends_a_request_and_shows_the_response() {
    let mut world = World::new("ˇ\nend\n");
    world.type_in("let");
    assert!(world.asked.is_empty() || world.open.len() == 1);
    world.wait(400);
    assert_eq!(world.asked.len(), 1);
    let CompletionRequest::Fim(fim) = &world.asked[0].1 else {
        panic!("a gap");
    };
    assert!("let".starts_with(&fim.prefix) && fim.suffix == "\nend\n");
    world.answer(" x = 1;");
    world.check(Some(" x = 1;"));
}

#[test]
fn a_keystroke_sends_a_request_after_its_frame() {
    let mut world = World::new("ˇ\n");
    world.type_in("l");
    world.now -= Duration::from_millis(100);
    assert!(world.asked.is_empty(), "the frame comes first");
    world.wait(16);
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn a_held_key_sends_one_request_once_released() {
    let mut world = World::new("ˇ\n");
    for _ in 0..10 {
        world.edit(world.caret..world.caret, "-", ChangeCause::Typed);
        world.wait(30);
    }
    world.wait(100);
    let [.., (_, CompletionRequest::Fim(last))] = world.asked.as_slice() else {
        panic!("a gap");
    };
    assert_eq!(last.prefix, "----------");
    assert!(world.asked.len() <= 2, "the first key cannot tell");
}

#[test]
fn a_request_slower_than_usual_gets_company_while_typing() {
    let mut world = World::new("ˇ\n");
    for typed in ["l", "e", "t"] {
        world.insert(typed);
        world.wait(100);
        world.answer("");
    }
    world.insert(" ");
    world.wait(50);
    world.insert("x");
    world.wait(40);
    assert_eq!(world.open.len(), 1, "it is not late yet");
    world.wait(100);
    assert_eq!(world.open.len(), 2);
}

#[test]
fn a_word_that_contradicts_an_earlier_response_is_asked_about_once() {
    let mut world = offered("ˇ\n", "let ", "x = 1;");
    world.check(Some("x = 1;"));
    let asked = world.asked.len();
    world.insert("v");
    world.wait(20);
    assert_eq!(
        world.asked.len(),
        asked + 1,
        "its letter is new to the model"
    );
    world.answer("alue = 1;");
    world.check(Some("alue = 1;"));
    world.insert("e");
    world.wait(200);
    assert_eq!(world.asked.len(), asked + 1, "it was wrong within the word");
    world.insert(" ");
    world.wait(20);
    assert_eq!(world.asked.len(), asked + 2, "a new word");
}

#[test]
fn a_refused_response_is_replaced_in_the_next_word() {
    let mut world = World::new("let x = f(a, b);ˇ\n");
    world.edit(8..16, "", ChangeCause::Typed);
    world.wait(200);
    world.answer("f(a, b);");
    world.check(None);
    let asked = world.asked.len();
    world.insert("f");
    world.wait(20);
    assert_eq!(world.asked.len(), asked + 1);
    world.answer("etch();");
    world.check(Some("etch();"));
}

#[test]
fn unused_text_after_finished_suggestions_is_not_requested() {
    let mut world = World::new("ˇ\n");
    let mut requested = 0;
    for round in 0..40 {
        world.insert("\n");
        world.wait(20);
        let row = format!("call{round}()");
        world.answer(&row);
        world.check(Some(&row));
        let asked = world.asked.len();
        world.insert(&row);
        world.wait(2_000);
        requested += world.asked.len() - asked;
        while !world.open.is_empty() {
            world.answer("");
        }
    }
    assert!((1..20).contains(&requested), "{requested}");
}

#[test]
fn a_correction_within_a_word_is_asked_about_at_once() {
    let mut world = World::new("ˇ\n");
    world.insert("l");
    world.wait(20);
    world.answer("engthen");
    world.insert("engthen");
    world.wait(100);
    let asked = world.asked.len();
    world.edit(1..world.caret, "", ChangeCause::Typed);
    world.check(None);
    world.wait(20);
    assert_eq!(world.asked.len(), asked + 1);
}

#[test]
fn blanks_at_the_end_of_a_response_separate_it_from_text() {
    let check = |text: &str, expected: &str| {
        let mut world = World::new(text);
        world.insert("a");
        world.wait(20);
        world.answer("wait ");
        world.check(Some(expected));
    };
    check("ˇfetch(url)\n", "wait ");
    check("ˇ\n", "wait");
}

#[test]
fn typing_through_needs_no_request_and_no_frame() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    let asked = world.asked.len();
    for (typed, left) in [(" ", "x = 1;"), ("x", " = 1;"), (" ", "= 1;")] {
        world.type_in(typed);
        world.check(Some(left));
    }
    assert_eq!(world.asked.len(), asked);
    world.type_in("!");
    world.check(None);
}

#[test]
fn a_late_response_continues_the_typed_text() {
    let mut world = World::new("ˇ\n");
    world.type_in("l");
    world.wait(80);
    assert_eq!(world.asked.len(), 1);
    world.type_in("et");
    assert_eq!(world.asked.len(), 1, "it may still be right");
    world.answer("et x = 1;");
    world.check(Some(" x = 1;"));
}

#[test]
fn a_slow_response_allows_one_more_request() {
    let mut world = World::new("ˇ\n");
    world.type_in("l");
    world.wait(80);
    world.type_in("et");
    assert_eq!(world.open.len(), 1);
    world.wait(3_000);
    assert_eq!(world.open.len(), 2);
    world.type_in(" x");
    world.wait(5_000);
    assert_eq!(world.open.len(), 2);
}

#[test]
fn switching_texts_cancels_requests() {
    let kind = TabKind::NextEdit(NextEditFormat::Sweep);
    let mut world = World::with("one ˇ\n", Some(kind), "");
    world.type_in("two");
    world.wait(400);
    assert_eq!(world.open.len(), 1);
    let mut state = world.state();
    state.path = base::AbsPath::new("/p/other");
    world.put(EngineInput::Moved { state });
    assert!(world.open.is_empty());
}

#[test]
fn a_serial_server_drops_a_contradicted_response_at_once() {
    for is_serial in [false, true] {
        let mut world = World::new("ˇ\n");
        world.set_serial(is_serial);
        world.type_in("l");
        world.wait(80);
        let request = world.asked[0].0;
        world.stream(request, StreamEvent::TextDelta("et x".to_owned()));
        assert!(world.open.contains(&request));
        world.type_in("o");
        assert_eq!(world.open.contains(&request), !is_serial);
        world.check(None);
    }
}

#[test]
fn a_response_is_used_after_a_typing_mistake_and_its_correction() {
    for (is_serial, ghost) in [(false, Some(" x = 1;")), (true, None)] {
        let mut world = World::new("ˇ\n");
        world.set_serial(is_serial);
        world.type_in("let");
        world.wait(80);
        let request = world.asked[0].0;
        let stop = world.caret;
        world.edit(stop - 1..stop, "", ChangeCause::Typed);
        assert_eq!(world.open.contains(&request), !is_serial);
        world.type_in("t");
        if !is_serial {
            world.stream(request, StreamEvent::TextDelta(" x = 1;".to_owned()));
            world.end(request);
        }
        world.check(ghost);
    }
}

#[test]
fn a_late_response_for_an_earlier_position_waits_in_the_cache() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    world.wait(80);
    let request = world.asked[0].0;
    let stop = world.caret;
    world.edit(stop - 1..stop, "", ChangeCause::Typed);
    world.stream(request, StreamEvent::TextDelta(" x = 1;".to_owned()));
    world.end(request);
    world.check(None);
    world.type_in("t");
    world.check(Some(" x = 1;"));
}

#[test]
fn an_outdated_request_gives_way_to_a_new_one() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    world.wait(80);
    let first = world.asked[0].0;
    for _ in 0..2 {
        let stop = world.caret;
        world.edit(stop - 1..stop, "", ChangeCause::Typed);
        world.wait(500);
    }
    assert_eq!(world.asked.len(), 3);
    assert!(!world.open.contains(&first));
    assert_eq!(world.open.len(), 2);
}

#[test]
fn a_serial_server_gets_one_request_at_a_time() {
    let mut world = World::new("ˇ\n");
    world.set_serial(true);
    world.type_in("l");
    world.wait(80);
    world.type_in("et");
    world.wait(5_000);
    world.type_in(" x");
    world.wait(5_000);
    assert_eq!(world.asked.len(), 1);
    world.answer("et x = 1;");
    world.check(Some(" = 1;"));
}

#[test]
fn a_refused_response_is_reported_once() {
    let mut world = World::new("let x = compute();ˇ\n");
    world.edit(8..18, "", ChangeCause::Typed);
    world.wait(1_000);
    world.answer("compute();");
    let refused = |world: &World| {
        let is_refused = |it: &&TabEvent| matches!(it, TabEvent::Refused { .. });
        world.notes.iter().filter(is_refused).count()
    };
    assert_eq!(refused(&world), 1);
    let state = world.state();
    world.put(EngineInput::Requested { state });
    world.type_in("c");
    assert_eq!(refused(&world), 1, "its rest is known");
    let Some(TabEvent::Refused { text, reason, .. }) = world
        .notes
        .iter()
        .find(|it| matches!(it, TabEvent::Refused { .. }))
    else {
        panic!("a refusal");
    };
    assert_eq!((text.as_str(), reason.name()), ("compute();", "just gone"));
}

#[test]
fn a_refused_deletion_is_reported() {
    let mut world = World::new("ˇ\n");
    let refused = |new: &str| {
        let state = world.state();
        let mut suggestion = suggestion(&state, Span::at(state.caret), new);
        suggestion.source = SuggestionSource::Gap(ModelId::parse("local/tab").expect("a name"));
        suggestion
    };
    let (text, deletion) = (refused("f(a]"), refused(""));
    world.engine.record_refused(&text, RejectReason::Breaks);
    world.engine.record_refused(&deletion, RejectReason::Breaks);
    world.engine.record_refused(&deletion, RejectReason::Breaks);
    world.put(EngineInput::Time);
    let refused = world.notes.iter().filter_map(|it| match it {
        TabEvent::Refused { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(refused.collect::<Vec<_>>(), ["f(a]", ""]);
}

#[test]
fn a_response_that_stops_within_a_word_is_shown_up_to_it() {
    let text = "fn compute() {}\nfn f() {\n    ˇ\n}\n";
    let mut world = World::with(text, Some(TabKind::Gap), "rust");
    world.type_in("let");
    world.wait(400);
    world.answer(" x = comp");
    world.check(Some(" x ="));
    let is_refused = |it: &&TabEvent| matches!(it, TabEvent::Refused { .. });
    assert_eq!(world.notes.iter().filter(is_refused).count(), 0);
}

#[test]
fn moving_away_cancels_and_returning_uses_the_cache() {
    let mut world = offered("ˇ\n\n", "let", " x = 1;");
    world.check(Some(" x = 1;"));
    world.caret = 5;
    let state = world.state();
    world.put(EngineInput::Moved { state });
    world.check(None);
    world.caret = 3;
    let state = world.state();
    world.put(EngineInput::Moved { state });
    world.check(Some(" x = 1;"));
}

#[test]
fn text_after_the_suggestion_is_requested_ahead() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.wait(1_000);
    assert_eq!(world.asked.len(), 2, "looked at for a while");
    let CompletionRequest::Fim(fim) = &world.asked[1].1 else {
        panic!("a gap");
    };
    assert_eq!(fim.prefix, "let x = 1;");
    world.answer("\nlet y = 2;");
    world.check(Some(" x = 1;"));
    world.accept(AcceptGranularity::All);
    world.check(Some("\nlet y = 2;"));
    assert_eq!(world.asked.len(), 2, "it was there");
}

#[test]
fn accepting_words_and_lines_keeps_the_rest() {
    let mut world = offered("ˇ\n", "let", " x = 1;\nlet y = 2;");
    world.accept(AcceptGranularity::Word);
    world.check(Some(" = 1;\nlet y = 2;"));
    world.accept(AcceptGranularity::Line);
    world.check(Some("\nlet y = 2;"));
    assert_eq!(world.text(), "let x = 1;\n");
    let accepted = |it: &&TabEvent| matches!(it, TabEvent::Accepted { .. });
    assert_eq!(world.notes.iter().filter(accepted).count(), 2);
}

#[test]
fn blocked_engine_shows_and_requests_nothing() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.put(EngineInput::Blocked(BlockReason::Menu));
    world.check(None);
    world.type_in(" ");
    world.wait(2_000);
    assert_eq!(world.open.len(), 0);
    assert!(world.engine.status().to_string().contains("menu"));
    world.put(EngineInput::Unblocked(BlockReason::Menu));
    world.check(Some("x = 1;"));
}

#[test]
fn a_dismissed_suggestion_does_not_return() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.put(EngineInput::Dismissed);
    world.check(None);
    world.wait(5_000);
    assert_eq!(world.open.len(), 0, "quiet until the next key");
    world.type_in(" ");
    world.check(None);
}

#[test]
fn a_deletion_is_not_offered_again() {
    let mut world = World::new("let x = compute();ˇ\n");
    world.edit(8..18, "", ChangeCause::Typed);
    world.wait(1_000);
    world.answer("compute();");
    world.check(None);
    assert!(world.engine.status().to_string().contains("just removed"));
}

#[test]
fn undo_sends_no_request() {
    let mut world = World::new("let x = 1;ˇ\n");
    world.edit(0..10, "", ChangeCause::Undone);
    world.wait(3_000);
    assert!(world.asked.is_empty());
}

#[test]
fn a_failure_is_reported_and_not_retried() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    world.wait(400);
    let request = *world.open.first().expect("asked");
    let failure = Failure::new(FailureClass::Offline, "The server is not there.");
    world.stream(request, StreamEvent::Failed(failure));
    world.wait(5_000);
    assert!(world.open.is_empty());
    let status = world.engine.status().to_string();
    assert_eq!(status, "local/tab failed: The server is not there.");
}

#[test]
fn first_lines_are_shown_while_the_response_streams() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    world.wait(400);
    let request = *world.open.first().expect("asked");
    world.stream(request, StreamEvent::TextDelta(" x = 1;\nlet y".to_owned()));
    world.check(Some(" x = 1;"));
    world.stream(request, StreamEvent::TextDelta(" = 2;".to_owned()));
    world.end(request);
    world.check(Some(" x = 1;\nlet y = 2;"));
    let shown = |it: &&TabEvent| matches!(it, TabEvent::Shown { .. });
    assert_eq!(
        world.notes.iter().filter(shown).count(),
        1,
        "one suggestion"
    );
}

#[test]
fn hunks_of_a_predicted_edit_are_shown_in_turn() {
    let kind = TabKind::NextEdit(NextEditFormat::Sweep);
    let text = "one = 1\ntwo = 2ˇ\nthree = 3\nfour = 4\nfive = 5\n";
    let mut world = World::with(text, Some(kind), "");
    world.type_in("0");
    world.wait(400);
    let window = "one = 1\ntwo = 20\nthree = 30\nfour = 4\nfive = 50\n";
    world.answer(window);
    world.check(Some("0"));
    world.accept(AcceptGranularity::All);
    world.check(Some("0"));
    world.accept(AcceptGranularity::All);
    assert_eq!(world.text(), window);
}

#[test]
fn kept_text_is_measured_after_ten_and_thirty_seconds() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.accept(AcceptGranularity::All);
    world.edit(6..10, "", ChangeCause::Typed);
    world.now += Duration::from_secs(31);
    world.put(EngineInput::Time);
    let kept: Vec<(usize, usize)> = world
        .notes
        .iter()
        .filter_map(|note| match note {
            TabEvent::Kept { bytes, kept, .. } => Some((*bytes, *kept)),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [(7, 3), (7, 3)]);
}

#[test]
fn a_cross_file_suggestion_hides_when_no_longer_reported() {
    let mut world = World::new("ˇ\n");
    let portal = Suggestion {
        id: SuggestionId(1),
        file: base::AbsPath::new("/p/other"),
        revision: base::Revision(0),
        edits: vec![crate::SuggestedEdit {
            span: Span::from(3..7),
            old: "info".into(),
            new: "warn".into(),
        }],
        source: SuggestionSource::Propagation { places: 1 },
        confidence: 0.9,
    };
    let shown = |world: &World| world.engine.current_suggestion().map(|shown| shown.id);
    world.suggest_locally(vec![portal.clone()]);
    assert_eq!(shown(&world), Some(SuggestionId(1)));
    let again = Suggestion {
        id: SuggestionId(2),
        ..portal
    };
    world.suggest_locally(vec![again]);
    assert_eq!(shown(&world), Some(SuggestionId(1)), "it stays what it was");
    world.suggest_locally(Vec::new());
    assert_eq!(shown(&world), None);
}

#[test]
fn an_early_wake_up_is_scheduled_again() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    let at = world.wake.take().expect("an alarm");
    world.now = at - Duration::from_millis(1);
    world.put(EngineInput::Time);
    assert_eq!(world.wake, Some(at));
    world.wait(400);
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn retired_states_are_handed_out_once_and_held_briefly() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    let spent = world.engine.take_retired();
    // The text at the start and behind each letter, without the one of now.
    let texts: Vec<String> = spent.iter().map(|it| it.snapshot.to_string()).collect();
    assert_eq!(texts, ["\n", "l\n", "le\n"]);
    assert!(world.engine.take_retired().is_empty());
    world.type_in(" much = that;");
    assert_eq!(
        world.engine.take_retired().len(),
        7,
        "of eight that are held"
    );
}

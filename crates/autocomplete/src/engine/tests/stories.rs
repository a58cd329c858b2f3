//! What a person sees, key by key.

use std::time::Duration;

use base::Span;
use model::{Event, Failure, FailureClass, NextEditFormat};

use super::world::World;
use crate::engine::{Ask, Blocked, Happened, Input, Options, TabKind, Turn};
use crate::{Cause, Part, Source, Suggestion, SuggestionId};

/// Types, waits, and answers.
fn offered(text: &str, typed: &str, answer: &str) -> World {
    let mut world = World::new(text);
    world.type_in(typed);
    world.wait(400);
    world.answer(answer);
    world
}

#[test]
fn a_pause_asks_and_an_answer_is_shown() {
    let mut world = World::new("ˇ\nend\n");
    world.type_in("let");
    assert!(world.asked.is_empty() || world.open.len() == 1);
    world.wait(400);
    assert_eq!(world.asked.len(), 1);
    let Ask::Fim(fim) = &world.asked[0].1 else {
        panic!("a gap");
    };
    assert!("let".starts_with(&fim.prefix) && fim.suffix == "\nend\n");
    world.answer(" x = 1;");
    world.check(Some(" x = 1;"));
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
fn an_answer_that_comes_late_goes_on_from_what_was_typed_meanwhile() {
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
fn a_slow_answer_gets_a_second_request_beside_it_and_no_third() {
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
fn another_text_in_front_cancels_what_was_asked_for_the_last() {
    let kind = TabKind::NextEdit(NextEditFormat::Sweep);
    let mut world = World::with("one ˇ\n", Some(kind), "");
    world.type_in("two");
    world.wait(400);
    assert_eq!(world.open.len(), 1);
    let mut scene = world.scene();
    scene.path = base::AbsPath::new("/p/other");
    world.put(Input::Moved { scene });
    assert!(world.open.is_empty());
}

#[test]
fn an_answer_that_is_contradicted_is_cancelled_at_once() {
    let mut world = World::new("ˇ\n");
    world.type_in("l");
    world.wait(80);
    let request = world.asked[0].0;
    world.stream(request, Event::TextDelta("et x".to_owned()));
    assert!(world.open.contains(&request));
    world.type_in("o");
    assert!(!world.open.contains(&request), "its socket is closed");
    world.check(None);
}

#[test]
fn moving_away_cancels_and_coming_back_knows() {
    let mut world = offered("ˇ\n\n", "let", " x = 1;");
    world.check(Some(" x = 1;"));
    world.caret = 5;
    let scene = world.scene();
    world.put(Input::Moved { scene });
    world.check(None);
    world.caret = 3;
    let scene = world.scene();
    world.put(Input::Moved { scene });
    world.check(Some(" x = 1;"));
}

#[test]
fn the_text_behind_is_asked_for_before_it_is_there() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.wait(1_000);
    assert_eq!(world.asked.len(), 2, "looked at for a while");
    let Ask::Fim(fim) = &world.asked[1].1 else {
        panic!("a gap");
    };
    assert_eq!(fim.prefix, "let x = 1;");
    world.answer("\nlet y = 2;");
    world.check(Some(" x = 1;"));
    world.accept(Part::All);
    world.check(Some("\nlet y = 2;"));
    assert_eq!(world.asked.len(), 2, "it was there");
}

#[test]
fn words_and_lines_are_taken_and_the_rest_stays() {
    let mut world = offered("ˇ\n", "let", " x = 1;\nlet y = 2;");
    world.accept(Part::Word);
    world.check(Some(" = 1;\nlet y = 2;"));
    world.accept(Part::Line);
    world.check(Some("\nlet y = 2;"));
    assert_eq!(world.text(), "let x = 1;\n");
    let accepted = |it: &&Happened| matches!(it, Happened::Accepted { .. });
    assert_eq!(world.notes.iter().filter(accepted).count(), 2);
}

#[test]
fn nothing_is_shown_or_asked_while_blocked() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.put(Input::Blocked(Blocked::Menu));
    world.check(None);
    world.type_in(" ");
    world.wait(2_000);
    assert_eq!(world.open.len(), 0);
    assert!(world.engine.status().to_string().contains("menu"));
    world.put(Input::Unblocked(Blocked::Menu));
    world.check(Some("x = 1;"));
}

#[test]
fn what_was_dismissed_stays_away() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.put(Input::Dismissed);
    world.check(None);
    world.wait(5_000);
    assert_eq!(world.open.len(), 0, "quiet until the next key");
    world.type_in(" ");
    world.check(None);
}

#[test]
fn a_deletion_is_not_offered_again() {
    let mut world = World::new("let x = compute();ˇ\n");
    world.edit(8..18, "", Cause::Typed);
    world.wait(1_000);
    world.answer("compute();");
    world.check(None);
    assert!(world.engine.status().to_string().contains("just went away"));
}

#[test]
fn undoing_asks_nobody() {
    let mut world = World::new("let x = 1;ˇ\n");
    world.edit(0..10, "", Cause::Undone);
    world.wait(3_000);
    assert!(world.asked.is_empty());
}

#[test]
fn a_failure_is_told_and_not_repeated() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    world.wait(400);
    let request = *world.open.first().expect("asked");
    let failure = Failure::new(FailureClass::Offline, "The server is not there.");
    world.stream(request, Event::Failed(failure));
    world.wait(5_000);
    assert!(world.open.is_empty());
    let status = world.engine.status().to_string();
    assert_eq!(
        status,
        "local/tab cannot be asked: The server is not there."
    );
}

#[test]
fn the_local_tier_is_shown_in_the_same_call_and_models_beside_it() {
    let mut world = World::new("ˇ\n");
    world.type_in("l");
    assert!(world.wants_local);
    let local = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: world.buffer.revision(),
        edits: vec![crate::Replacement::new(
            Span::from(1..1),
            "ocal()",
            &world.buffer.snapshot(),
        )],
        source: Source::Continuation,
        confidence: 0.9,
    };
    world.put(Input::Local {
        revision: world.buffer.revision(),
        suggestions: vec![local],
    });
    world.check(Some("ocal()"));
    world.wait(400);
    world.answer("et x = 1;");
    world.check(Some("ocal()"));
    world.put(Input::Cycle(Turn::Next));
    world.check(Some("et x = 1;"));
    world.put(Input::Cycle(Turn::Next));
    world.check(Some("ocal()"));
}

#[test]
fn of_what_the_local_tier_tells_the_first_that_is_likely_enough_is_shown() {
    let check = |confidences: &[f32], expected: Option<&str>| {
        let mut world = World::with("ˇ\n", None, "");
        world.put(Input::Options(Options {
            threshold: 0.25,
            ..Options::local()
        }));
        world.type_in("l");
        let words = ["ong_and_useful()", "onger", "et"];
        let suggestions = words.iter().zip(confidences).zip(1..);
        let suggestions = suggestions.map(|((new, confidence), id)| Suggestion {
            id: SuggestionId(id),
            file: None,
            revision: world.buffer.revision(),
            edits: vec![crate::Replacement::new(
                Span::from(1..1),
                new,
                &world.buffer.snapshot(),
            )],
            source: Source::Continuation,
            confidence: *confidence,
        });
        let suggestions = suggestions.collect();
        world.put(Input::Local {
            revision: world.buffer.revision(),
            suggestions,
        });
        world.check(expected);
    };
    check(&[0.4, 0.5, 0.9], Some("ong_and_useful()"));
    check(&[0.1, 0.5, 0.9], Some("onger"));
    check(&[0.1, 0.12, 0.9], Some("et"));
    check(&[0.1, 0.12, 0.05], None);
}

#[test]
fn who_asks_by_hand_goes_through_what_is_unlikely_from_the_most_useful_on() {
    let mut world = World::with("ˇ\n", None, "");
    world.put(Input::Options(Options {
        threshold: 0.25,
        ..Options::local()
    }));
    world.type_in("l");
    let tell = |world: &mut World| {
        let revision = world.buffer.revision();
        let words = [("ong_and_useful()", 0.1), ("onger", 0.2), ("et", 0.05)];
        let suggestions = words
            .iter()
            .zip(1..)
            .map(|((new, confidence), id)| Suggestion {
                id: SuggestionId(id),
                file: None,
                revision,
                edits: vec![crate::Replacement::new(
                    Span::from(1..1),
                    new,
                    &world.buffer.snapshot(),
                )],
                source: Source::Continuation,
                confidence: *confidence,
            });
        let suggestions = suggestions.collect();
        world.put(Input::Local {
            revision,
            suggestions,
        });
    };
    tell(&mut world);
    world.check(None);
    let scene = world.scene();
    world.put(Input::Requested { scene });
    tell(&mut world);
    world.check(Some("ong_and_useful()"));
    world.put(Input::Cycle(Turn::Next));
    world.check(Some("onger"));
    world.put(Input::Cycle(Turn::Next));
    world.check(Some("et"));
}

#[test]
fn what_became_unlikely_gives_way_though_some_of_it_was_typed() {
    let mut world = World::new("ˇ\n");
    let offer = |world: &World, id: u64, new: &str, confidence: f32| Suggestion {
        id: SuggestionId(id),
        file: None,
        revision: world.buffer.revision(),
        edits: vec![crate::Replacement::new(
            Span::from(world.caret..world.caret),
            new,
            &world.buffer.snapshot(),
        )],
        source: Source::Continuation,
        confidence,
    };
    let put = |world: &mut World, offers: Vec<Suggestion>| {
        let revision = world.buffer.revision();
        world.put(Input::Local {
            revision,
            suggestions: offers,
        });
    };
    world.type_in("l");
    let first = offer(&world, 1, "ocal()", 0.3);
    put(&mut world, vec![first]);
    world.type_in("o");
    world.check(Some("cal()"));
    world.put(Input::Options(Options {
        threshold: 0.5,
        ..Options::local()
    }));
    world.check(None);
    let better = offer(&world, 2, "cate()", 0.7);
    put(&mut world, vec![better]);
    world.check(Some("cate()"));
}

#[test]
fn one_alternative_asks_for_another() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.put(Input::Cycle(Turn::Next));
    assert_eq!(world.open.len(), 1);
    world.answer(" y = 2;");
    world.check(Some(" y = 2;"));
    assert_eq!(world.shown.as_ref().map(|it| it.count), Some(2));
}

#[test]
fn first_lines_are_shown_before_the_answer_ends() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    world.wait(400);
    let request = *world.open.first().expect("asked");
    world.stream(request, Event::TextDelta(" x = 1;\nlet y".to_owned()));
    world.check(Some(" x = 1;"));
    world.stream(request, Event::TextDelta(" = 2;".to_owned()));
    world.end(request);
    world.check(Some(" x = 1;\nlet y = 2;"));
    let shown = |it: &&Happened| matches!(it, Happened::Shown { .. });
    assert_eq!(
        world.notes.iter().filter(shown).count(),
        1,
        "one suggestion"
    );
}

#[test]
fn hunks_of_a_predicted_edit_come_one_after_the_other() {
    let kind = TabKind::NextEdit(NextEditFormat::Sweep);
    let text = "one = 1\ntwo = 2ˇ\nthree = 3\nfour = 4\nfive = 5\n";
    let mut world = World::with(text, Some(kind), "");
    world.type_in("0");
    world.wait(400);
    let window = "one = 1\ntwo = 20\nthree = 30\nfour = 4\nfive = 50\n";
    world.answer(window);
    world.check(Some("0"));
    world.accept(Part::All);
    world.check(Some("0"));
    world.accept(Part::All);
    assert_eq!(world.text(), window);
}

#[test]
fn what_is_kept_is_told_after_ten_and_thirty_seconds() {
    let mut world = offered("ˇ\n", "let", " x = 1;");
    world.accept(Part::All);
    world.edit(6..10, "", Cause::Typed);
    world.now += Duration::from_secs(31);
    world.put(Input::Time);
    let kept: Vec<(usize, usize)> = world
        .notes
        .iter()
        .filter_map(|note| match note {
            Happened::Kept { bytes, kept, .. } => Some((*bytes, *kept)),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [(7, 3), (7, 3)]);
}

#[test]
fn a_place_in_another_file_that_is_told_no_more_is_not_shown_any_more() {
    let mut world = World::new("ˇ\n");
    let portal = Suggestion {
        id: SuggestionId(1),
        file: base::AbsPath::new("/p/other"),
        revision: base::Revision(0),
        edits: vec![crate::Replacement {
            span: Span::from(3..7),
            old: "info".into(),
            new: "warn".into(),
        }],
        source: Source::Propagation { places: 1 },
        confidence: 0.9,
    };
    let tell = |world: &mut World, suggestions: Vec<Suggestion>| {
        let revision = world.buffer.revision();
        world.put(Input::Local {
            revision,
            suggestions,
        });
    };
    let shown = |world: &World| world.engine.shown().map(|shown| shown.id);
    tell(&mut world, vec![portal.clone()]);
    assert_eq!(shown(&world), Some(SuggestionId(1)));
    let again = Suggestion {
        id: SuggestionId(2),
        ..portal
    };
    tell(&mut world, vec![again]);
    assert_eq!(shown(&world), Some(SuggestionId(1)), "it stays what it was");
    tell(&mut world, Vec::new());
    assert_eq!(shown(&world), None);
}

#[test]
fn an_alarm_that_comes_too_soon_is_set_again() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    let at = world.wake.take().expect("an alarm");
    world.now = at - Duration::from_millis(1);
    world.put(Input::Time);
    assert_eq!(world.wake, Some(at));
    world.wait(400);
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn texts_that_are_spent_are_handed_out_once_and_held_no_longer_than_a_few_inputs() {
    let mut world = World::new("ˇ\n");
    world.type_in("let");
    let spent = world.engine.take_spent();
    // The text at the start and behind each letter, without the one of now.
    let texts: Vec<String> = spent.iter().map(|it| it.snapshot.to_string()).collect();
    assert_eq!(texts, ["\n", "l\n", "le\n"]);
    assert!(world.engine.take_spent().is_empty());
    world.type_in(" much = that;");
    assert_eq!(world.engine.take_spent().len(), 7, "of eight that are held");
}

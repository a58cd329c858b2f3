//! Random sessions: keys, deletions, undoing, early, late, right and wrong responses, blocks, motions.
//! `World::put` checks after every step that nothing stale is shown, that at most two requests are in
//! flight, and that none is forgotten.

use std::time::Duration;

use model::StreamEvent;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::world::World;
use crate::engine::{BlockReason, CycleStep, EngineInput, TabKind};
use crate::{AcceptGranularity, ChangeCause};
use model::NextEditFormat;

const LETTERS: &[&str] = &["a", "b", "(", ")", "\n", " ", ";", "ä", "fn ", "ab"];

fn step(world: &mut World, rng: &mut StdRng) {
    let len = world.buffer.len().0;
    world.now += Duration::from_millis(rng.random_range(0..200));
    match rng.random_range(0..100) {
        0..35 => {
            let letter = LETTERS[rng.random_range(0..LETTERS.len())];
            world.edit(world.caret..world.caret, letter, ChangeCause::Typed);
        }
        35..50 => {
            if let Some(ghost) = world.ghost()
                && let Some(ch) = ghost.chars().next()
            {
                world.edit(
                    world.caret..world.caret,
                    &ch.to_string(),
                    ChangeCause::Typed,
                );
            }
        }
        50..58 => {
            let text = world.text();
            let start =
                text.floor_char_boundary(world.caret.saturating_sub(rng.random_range(1..6)));
            world.edit(start..world.caret, "", ChangeCause::Typed);
        }
        58..62 => {
            let text = world.text();
            world.caret = text.floor_char_boundary(rng.random_range(0..=len));
            let state = world.state();
            world.put(EngineInput::Moved { state });
        }
        62..65 => {
            let at = world.text().floor_char_boundary(rng.random_range(0..=len));
            world.edit(at..at, "other ", ChangeCause::Other);
        }
        65..85 => answer(world, rng),
        85..89 => world.wait(rng.random_range(0..900)),
        89..92 => {
            let parts = [
                AcceptGranularity::All,
                AcceptGranularity::Word,
                AcceptGranularity::Line,
            ];
            world.accept(parts[rng.random_range(0..3)]);
        }
        92..93 => world.put(EngineInput::Dismissed),
        93..95 => world.put(EngineInput::Cycle(CycleStep::Next)),
        95..97 => {
            let state = world.state();
            world.put(EngineInput::Requested { state });
        }
        _ => {
            world.put(EngineInput::Blocked(BlockReason::Menu));
            assert!(world.shown.is_none() && world.open.is_empty());
            if rng.random_bool(0.8) {
                world.put(EngineInput::Unblocked(BlockReason::Menu));
            }
        }
    }
}

fn answer(world: &mut World, rng: &mut StdRng) {
    let open: Vec<_> = world.open.iter().copied().collect();
    let Some(request) = open.get(rng.random_range(0..open.len().max(1))).copied() else {
        return;
    };
    let pieces = rng.random_range(0..3);
    for _ in 0..pieces {
        let text: String = (0..rng.random_range(1..5))
            .map(|_| LETTERS[rng.random_range(0..LETTERS.len())])
            .collect();
        if world.open.contains(&request) {
            world.stream(request, StreamEvent::TextDelta(text));
        }
    }
    if rng.random_bool(0.7) {
        world.end(request);
    }
}

#[test]
fn nothing_stale_is_shown_in_ten_thousand_interleavings() {
    let mut shown = 0;
    for seed in 0..10_000 {
        let mut rng = StdRng::seed_from_u64(seed);
        let kind = match seed % 4 {
            0 => TabKind::NextEdit(NextEditFormat::Sweep),
            _ => TabKind::Gap,
        };
        let mut world = World::with("one ˇtwo\nthree\n", Some(kind), "");
        for _ in 0..20 {
            step(&mut world, &mut rng);
            shown += usize::from(world.shown.is_some());
        }
    }
    assert!(shown > 500, "suggestions were shown: {shown}");
}

#[test]
fn nothing_deleted_comes_back_in_random_sessions() {
    let mut refused = 0;
    for seed in 0..200 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut world = World::new("alpha beta gamma ˇ\ndelta\n");
        for _ in 0..rng.random_range(0..8) {
            world.type_in(["x", "yz", " "][rng.random_range(0..3)]);
        }
        let text = world.text();
        let end = world.caret;
        let start = text.floor_char_boundary(end.saturating_sub(rng.random_range(2..12)));
        let gone = text[start..end].to_owned();
        world.edit(start..end, "", ChangeCause::Typed);
        if gone.trim().is_empty() {
            continue;
        }
        world.wait(1_000);
        if world.open.is_empty() {
            continue;
        }
        world.answer(&gone);
        let again = world
            .ghost()
            .is_some_and(|ghost| ghost.contains(gone.trim()));
        assert!(!again, "seed {seed}: {gone:?} in {:?}", world.ghost());
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

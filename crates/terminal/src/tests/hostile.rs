//! Streams that try to steal, forge, run or exhaust something. `BURIN_SOAK` raises their number.
//!
//! Invariant of every stream: no panic, only well-formed answers to the program, bounded memory, a sound grid, and the
//! same result however its bytes are split.

mod invariants;
mod streams;

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use self::invariants::{
    assert_bounded, assert_equal, assert_events_harmless, assert_grid_sound, assert_replies_allowed,
};
use self::streams::{Attack, HostileStep, attacks};
use crate::emulator::{Emulator, EmulatorOptions};
use crate::paste::prepare_paste;
use crate::performer::ClipboardAccess;
use crate::test_terminal::{feed, options, size};

/// Streams of each attack in the gate, and under `cargo xtask soak`.
const RUNS: [u64; 2] = [16, 1_000];
/// Lines of the scrollback.
const SCROLLBACK: u32 = 100;

const ACCESSES: [ClipboardAccess; 3] = [
    ClipboardAccess::None,
    ClipboardAccess::Write,
    ClipboardAccess::WriteAndRead,
];

fn emulator(columns: u16, rows: u16, clipboard: ClipboardAccess) -> Emulator {
    let mut emulator = Emulator::new(EmulatorOptions {
        scrollback: SCROLLBACK,
        clipboard,
        ..options(columns, rows)
    });
    emulator.set_cell_pixels(8, 16);
    emulator
}

/// Feeds the steps, the bytes in pieces of random lengths.
fn feed_split(emulator: &mut Emulator, steps: &[HostileStep], random: &mut StdRng) {
    for step in steps {
        let mut rest = match step {
            HostileStep::Resize(columns, rows) => {
                emulator.resize(size(*columns, *rows));
                continue;
            }
            HostileStep::Output(bytes) => bytes.as_slice(),
        };
        // Long strings are not split into thousands of pieces.
        let longest = (rest.len() / 50).max(9);
        while !rest.is_empty() {
            let length = random.random_range(1..=rest.len().min(longest));
            feed(emulator, &rest[..length]);
            rest = &rest[length..];
        }
    }
    emulator.end_update(Duration::ZERO);
}

/// Runs streams that consist mainly of one attack.
fn check(name: &str, attack: Attack) {
    let resize_chance = if name.starts_with("resize") {
        0.9
    } else {
        0.05
    };
    let is_soak = std::env::var_os("BURIN_SOAK").is_some();
    for seed in 0..RUNS[usize::from(is_soak)] {
        let label = format!("{name}, seed {seed}");
        let random = &mut StdRng::seed_from_u64(seed);
        let clipboard = ACCESSES[random.random_range(0..ACCESSES.len())];
        let (columns, rows) = (random.random_range(2..40), random.random_range(1..10));
        let steps = streams::stream(attack, resize_chance, random);
        let mut one = emulator(columns, rows, clipboard);
        let mut other = emulator(columns, rows, clipboard);
        feed_split(&mut one, &steps, random);
        feed_split(&mut other, &steps, random);
        assert_bounded(&mut one, SCROLLBACK, &label);
        assert_grid_sound(&mut one, &label);
        assert_equal(&mut one, &mut other, &label);
        let replies = one.take_replies();
        assert_replies_allowed(&replies, &label);
        assert_eq!(replies, other.take_replies(), "{label}");
        for emulator in [&mut one, &mut other] {
            assert_events_harmless(&emulator.take_events(), clipboard, &label);
        }
        let paste = prepare_paste("evil\x1b[201~\u{9b}201~\r\x03", &one.modes());
        let pasted = paste.bytes.strip_prefix(b"\x1b[200~");
        let pasted = pasted.and_then(|it| it.strip_suffix(b"\x1b[201~"));
        let pasted = pasted.unwrap_or(&paste.bytes);
        assert!(
            !pasted.contains(&0x1b) && !pasted.contains(&0x03),
            "{label}"
        );
    }
}

macro_rules! streams_of {
    ($($test:ident: $attack:path;)*) => {
        $(
            #[test]
            fn $test() {
                check(stringify!($test), $attack);
            }
        )*
    };
}

streams_of! {
    titles_are_not_reported: attacks::titles;
    clipboards_are_used_as_permitted: attacks::clipboards;
    endless_strings_are_cut: attacks::endless_strings;
    forged_commands_are_not_trusted: attacks::forged_commands;
    folders_of_other_machines_are_ignored: attacks::foreign_folders;
    lying_links_are_bounded_and_open_nothing: attacks::lying_links;
    terminators_of_pastes_change_nothing: attacks::paste_terminators;
    thousands_of_marks_are_bounded: attacks::mark_floods;
    resize_storms_keep_the_grid_sound: attacks::resize_storms;
    updates_without_end_show_their_output: attacks::endless_updates;
    floods_of_bells_are_bounded: attacks::bell_floods;
    colors_are_reported_without_other_text: attacks::color_queries;
    window_sizes_are_reported_as_numbers: attacks::window_queries;
    capabilities_are_not_reported: attacks::capability_queries;
    deep_keyboard_stacks_are_bounded: attacks::keyboard_stacks;
    wide_characters_at_the_edge_stay_paired: attacks::wide_characters;
    zero_width_floods_are_bounded: attacks::zero_width_floods;
    cut_characters_are_replaced: attacks::cut_characters;
    controls_of_eight_bits_do_no_harm: attacks::eight_bit_controls;
}

#[test]
fn an_unfinished_string_holds_bounded_memory() {
    for (start, limit) in [("\x1b]2;", 64 << 10), ("\x1b]52;c;", 1 << 20)] {
        let mut emulator = emulator(20, 3, ClipboardAccess::Write);
        feed(&mut emulator, start);
        let mut longest = 0;
        for _ in 0..40 {
            feed(&mut emulator, "z".repeat(32 << 10));
            longest = longest.max(emulator.unfinished_bytes());
        }
        assert!(longest <= limit, "{start:?} holds {longest} bytes");
        assert!(longest >= limit / 2, "{start:?} was cut at {longest} bytes");
    }
}

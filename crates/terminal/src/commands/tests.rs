//! Marks of the shell, from bytes to commands.

use std::time::Duration;

use crate::commands::{CommandLineSource, CommandState, MAX_COMMANDS};
use crate::emulator::Emulator;
use crate::event::TerminalEvent;
use crate::test_terminal::{NONCE, fed, feed, size};

/// A prompt, a command line, its output and its end.
fn command(line: &str, output: &str, code: i32) -> String {
    format!("\x1b]133;A\x07$ \x1b]133;B\x07{line}\r\n\x1b]133;C\x07{output}\x1b]133;D;{code}\x07")
}

fn output_of(emulator: &mut Emulator, ix: usize) -> Option<String> {
    let id = emulator.commands().iter().nth(ix)?.id;
    Some(emulator.command_output(id, 1 << 20)?.text)
}

/// Returns the text of the logical line of each prompt.
fn prompts(emulator: &Emulator) -> Vec<String> {
    let lines = emulator
        .commands()
        .iter()
        .map(|command| command.prompt.line);
    lines
        .map(|line| {
            emulator
                .logical_line(line)
                .map_or(String::new(), |line| line.text)
        })
        .collect()
}

#[test]
fn a_command_has_its_line_output_code_and_duration() {
    let mut emulator = fed(40, 10, "");
    let start = "\x1b]133;A\x07$ \x1b]133;B\x07make all\r\n\x1b]133;C\x07";
    emulator.feed(start.as_bytes(), Duration::from_secs(5));
    emulator.feed(b"one\r\ntwo\r\n\x1b]133;D;3\x07", Duration::from_secs(9));
    let command = emulator.commands().last().expect("a command").clone();
    assert_eq!(command.state, CommandState::Finished(Some(3)));
    assert_eq!(command.duration, Some(Duration::from_secs(4)));
    let line = command.line.expect("a line");
    assert_eq!(
        (line.text.as_str(), line.source),
        ("make all", CommandLineSource::Screen)
    );
    assert_eq!(output_of(&mut emulator, 0).as_deref(), Some("one\ntwo"));
    let events = emulator.take_events();
    assert!(
        events.contains(&TerminalEvent::CommandEnded(command.id)),
        "{events:?}"
    );
}

#[test]
fn a_command_line_is_trusted_with_the_nonce_alone() {
    for (nonce, source) in [
        (Some(NONCE), CommandLineSource::Shell),
        (Some("forged"), CommandLineSource::Screen),
        (None, CommandLineSource::Screen),
    ] {
        let nonce = nonce.map_or(String::new(), |nonce| format!(";{nonce}"));
        let emulator = fed(
            40,
            10,
            format!(
                "\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]633;E;rm \\x3b \\\\{nonce}\x07\x1b]133;C\x07"
            ),
        );
        let line = emulator
            .commands()
            .last()
            .and_then(|last| last.line.clone());
        let line = line.expect("a line");
        let expected = match source {
            CommandLineSource::Shell => "rm ; \\",
            CommandLineSource::Screen => "ls",
        };
        assert_eq!(
            (line.text.as_str(), line.source),
            (expected, source),
            "{nonce}"
        );
    }
}

#[test]
fn wrapped_output_is_joined_and_blanks_are_trimmed() {
    let long = "abcdefghij".repeat(5);
    let mut emulator = fed(20, 10, command("x", &format!("{long}   \r\n  y  \r\n"), 0));
    let expected = format!("{long}\n  y");
    assert_eq!(
        output_of(&mut emulator, 0).as_deref(),
        Some(expected.as_str())
    );
}

#[test]
fn a_capped_output_names_the_position_of_the_rest() {
    let lines: String = (0..100).map(|ix| format!("line {ix}\r\n")).collect();
    let mut emulator = fed(20, 10, command("x", &lines, 0));
    let id = emulator.commands().last().expect("a command").id;
    let first = emulator.command_output(id, 50).expect("an output");
    assert!(first.text.ends_with("line 7"), "{}", first.text);
    let rest = emulator.text_since(first.rest.expect("a rest"), 1 << 20);
    assert!(rest.text.starts_with("line 8\n"), "{}", rest.text);
    assert_eq!(rest.rest, None);
}

#[test]
fn marks_follow_lines_through_trimming() {
    let mut emulator = fed(20, 5, "");
    for ix in 0..400 {
        let output: String = (0..9).map(|line| format!("o{ix}.{line}\r\n")).collect();
        feed(&mut emulator, command(&format!("c{ix}"), &output, 0));
    }
    // 4,000 lines were printed, and 1,000 are kept.
    let prompts = prompts(&emulator);
    assert_eq!(prompts.last().map(String::as_str), Some("$ c399"));
    assert!((100..=102).contains(&prompts.len()), "{}", prompts.len());
    let first = 400 - prompts.len();
    let kept = prompts
        .iter()
        .enumerate()
        .filter(|(_, text)| !text.is_empty());
    for (ix, text) in kept {
        assert_eq!(*text, format!("$ c{}", first + ix));
    }
    let last = output_of(&mut emulator, prompts.len() - 1);
    assert!(last.is_some_and(|text| text.starts_with("o399.0\n") && text.ends_with("o399.8")));
}

#[test]
fn marks_follow_their_text_through_reflow() {
    let mut emulator = fed(30, 6, "");
    for ix in 0..20 {
        let line = format!("command {ix} {}", "w".repeat(ix * 3));
        feed(
            &mut emulator,
            command(&line, &format!("out {ix} {}\r\n", "z".repeat(50)), 0),
        );
    }
    let before = prompts(&emulator);
    let outputs: Vec<_> = (0..20).map(|ix| output_of(&mut emulator, ix)).collect();
    for columns in [7, 100, 2, 31, 30] {
        emulator.resize(size(columns, 4));
        let after = prompts(&emulator);
        // A very narrow line exceeds the number of rows that are joined.
        let is_same = |(before, after): (&String, &String)| before == after || columns == 2;
        assert!(
            before.iter().zip(&after).all(is_same),
            "{columns}: {after:?}"
        );
        let now: Vec<_> = (0..20).map(|ix| output_of(&mut emulator, ix)).collect();
        assert_eq!(now, outputs, "{columns} columns");
    }
}

#[test]
fn marks_follow_their_text_behind_the_alternate_screen() {
    let mut emulator = fed(
        30,
        6,
        command("first", &format!("{}\r\n", "q".repeat(70)), 0),
    );
    feed(
        &mut emulator,
        "\x1b]133;A\x07$ \x1b]133;B\x07vim\r\n\x1b]133;C\x07\x1b[?1049hVIM",
    );
    emulator.resize(size(10, 6));
    assert_eq!(crate::test_terminal::text(&mut emulator).trim(), "VIM");
    assert_eq!(output_of(&mut emulator, 0), Some("q".repeat(70)));
    feed(&mut emulator, "\x1b[?1049l");
    assert_eq!(prompts(&emulator), ["$ first", "$ vim"]);
    assert_eq!(output_of(&mut emulator, 0), Some("q".repeat(70)));
}

#[test]
fn a_prompt_printed_again_is_one_command() {
    let mut emulator = fed(40, 10, command("a", "", 0));
    for _ in 0..5 {
        feed(&mut emulator, "\r\x1b[J\x1b]133;A\x07$ \x1b]133;B\x07");
    }
    assert_eq!(emulator.commands().iter().count(), 2);
    assert!(emulator.modes().is_prompt_open);
    feed(&mut emulator, "b\r\n\x1b]133;C\x07");
    assert!(!emulator.modes().is_prompt_open);
}

#[test]
fn an_open_prompt_stays_through_resizes() {
    let typed = "a command line that is longer than the narrow sizes";
    let prompt = format!("\x1b]133;A;redraw=0\x07two rows\r\n$ \x1b]133;B\x07{typed}");
    let mut emulator = fed(70, 10, format!("{}{prompt}", command("a", "b\r\n", 0)));
    let whole = "$ a\nb\ntwo rows\n$ ".to_owned() + typed;
    for (columns, rows) in [(20, 10), (90, 4), (9, 24), (70, 1), (70, 10)] {
        emulator.resize(size(columns, rows));
        let shown = emulator.text_since(crate::position::CellPosition::default(), 1 << 10);
        assert_eq!(shown.text, whole, "{columns} × {rows}");
        let last = emulator.commands().last().expect("a prompt");
        assert_eq!(last.state, CommandState::Editing);
    }
}

#[test]
fn prompts_of_further_lines_start_no_command() {
    let emulator = fed(
        40,
        10,
        "\x1b]133;A\x07$ \x1b]133;B\x07if\r\n\x1b]133;A;k=s\x07> ",
    );
    assert_eq!(emulator.commands().iter().count(), 1);
    assert_eq!(
        emulator.commands().last().map(|last| last.state),
        Some(CommandState::Editing)
    );
}

#[test]
fn ten_thousands_of_marks_are_bounded() {
    let mut emulator = fed(40, 10, "");
    for ix in 0..12_000 {
        feed(&mut emulator, command("", "", ix));
    }
    assert!(emulator.commands().iter().count() <= MAX_COMMANDS);
    assert!(emulator.take_events().len() < 10);
    let last = emulator.commands().last().map(|last| last.state);
    assert_eq!(last, Some(CommandState::Finished(Some(11_999))));
}

#[test]
fn prompts_above_and_below_a_line_are_found() {
    let mut emulator = fed(40, 10, "");
    for ix in 0..3 {
        feed(&mut emulator, command(&format!("c{ix}"), "out\r\n", 0));
    }
    let log = emulator.commands();
    let lines: Vec<_> = log.iter().map(|command| command.prompt.line).collect();
    let above = log
        .prompt_above(lines[1])
        .map(|command| command.prompt.line);
    let below = log
        .prompt_below(lines[1])
        .map(|command| command.prompt.line);
    assert_eq!((above, below), (Some(lines[0]), Some(lines[2])));
    assert_eq!(log.prompt_above(lines[0]), None);
    assert_eq!(log.prompt_below(lines[2]), None);
    let at = log.at(lines[1].below(1)).map(|command| command.prompt.line);
    assert_eq!(at, Some(lines[1]));
}

#[test]
fn marks_on_the_alternate_screen_are_ignored() {
    let emulator = fed(40, 10, "\x1b[?1049h\x1b]133;A\x07$ \x1b]133;B\x07");
    assert_eq!(emulator.commands().iter().count(), 0);
}

#[test]
fn marks_in_a_synchronized_update_get_their_own_positions() {
    let emulator = fed(
        40,
        10,
        format!(
            "\x1b[?2026h{}{}\x1b[?2026l",
            command("a", "1\r\n", 0),
            command("b", "2\r\n", 0)
        ),
    );
    assert_eq!(prompts(&emulator), ["$ a", "$ b"]);
}

#[test]
fn clearing_the_scrollback_keeps_later_marks_on_their_lines() {
    let mut emulator = fed(40, 4, "");
    for ix in 0..10 {
        feed(&mut emulator, command(&format!("c{ix}"), "out\r\n", 0));
    }
    feed(&mut emulator, "\x1b[3J");
    let shown: Vec<_> = prompts(&emulator)
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(shown, ["$ c9"]);
    feed(&mut emulator, command("new", "\n\n\n\n\n", 0));
    assert_eq!(prompts(&emulator).last().map(String::as_str), Some("$ new"));
}

#[test]
fn clear_keeps_the_open_prompt() {
    let mut emulator = fed(
        40,
        4,
        "a\r\nb\r\nc\r\nd\r\n\x1b]133;A\x07two\r\n$ \x1b]133;B\x07ls",
    );
    emulator.clear();
    assert_eq!(crate::test_terminal::text(&mut emulator), "two\n$ ls");
    assert_eq!(emulator.snapshot().scroll.history, 0);
    assert_eq!(prompts(&emulator), ["two"]);
    feed(&mut emulator, "x");
    assert_eq!(crate::test_terminal::text(&mut emulator), "two\n$ lsx");
}

/// Returns an emulator of 10 rows with a heading and the commands c0 to c3, each with one line of output.
fn four_commands() -> Emulator {
    let commands = (0..4).map(|ix| command(&format!("c{ix}"), &format!("out {ix}\r\n"), 0));
    fed(
        40,
        10,
        format!("heading\r\n{}", commands.collect::<String>()),
    )
}

/// Returns the texts of the prompts that are expected to be there.
fn of_commands(numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(|ix| format!("$ c{ix}")).collect()
}

#[test]
fn marks_follow_inserted_and_deleted_lines() {
    let mut emulator = four_commands();
    assert_eq!(prompts(&emulator), of_commands(&[0, 1, 2, 3]));
    // Before the output of c0: the rows below move down.
    feed(&mut emulator, "\x1b[3;1H\x1b[L");
    assert_eq!(prompts(&emulator), of_commands(&[0, 1, 2, 3]));
    assert_eq!(output_of(&mut emulator, 1).as_deref(), Some("out 1"));
    feed(&mut emulator, "\x1b[2M");
    assert_eq!(prompts(&emulator), of_commands(&[0, 1, 2, 3]));
    assert_eq!(output_of(&mut emulator, 2).as_deref(), Some("out 2"));
    // The prompt of c1 itself.
    feed(&mut emulator, "\x1b[M");
    assert_eq!(prompts(&emulator), of_commands(&[0, 2, 3]));
}

#[test]
fn marks_follow_scrolls_of_a_region() {
    // The sequence, and the commands that are left.
    let cases: [(&str, &[usize]); 9] = [
        ("\x1b[2;9r\x1b[S", &[1, 2, 3]),
        ("\x1b[2;9r\x1b[3S", &[2, 3]),
        ("\x1b[4;9r\x1b[T", &[0, 1, 2, 3]),
        ("\x1b[4;9r\x1b[2T", &[0, 1, 2]),
        ("\x1b[2;9r\x1b[2;1H\x1bM", &[0, 1, 2, 3]),
        ("\x1b[4;7r\x1b[7;1H\n", &[0, 2, 3]),
        ("\x1b[4;7r\x1b[7;40Hxx", &[0, 2, 3]),
        ("\x1b[4;7r\x1b[7;1H\x1bE", &[0, 2, 3]),
        ("\x1b[1;3r\x1b[3;1H\n\n", &[0, 1, 2, 3]),
    ];
    for (sequence, left) in cases {
        let mut emulator = four_commands();
        feed(&mut emulator, sequence);
        assert_eq!(prompts(&emulator), of_commands(left), "{sequence:?}");
        feed(
            &mut emulator,
            format!("\x1b[r\x1b[10;1H\r\n{}", command("new", "", 0)),
        );
        let last = prompts(&emulator).pop();
        assert_eq!(last.as_deref(), Some("$ new"), "{sequence:?}");
    }
}

#[test]
fn marks_follow_their_rows_through_random_scrolls() {
    use rand::rngs::StdRng;
    use rand::{Rng as _, SeedableRng as _};
    let operations = ["L", "M", "S", "T"];
    for seed in 0..200 {
        let random = &mut StdRng::seed_from_u64(seed);
        let mut emulator = four_commands();
        for _ in 0..12 {
            let (top, bottom) = (random.random_range(1..10), random.random_range(2..=10));
            let (row, count) = (random.random_range(1..=10), random.random_range(1..4));
            let operation = operations[random.random_range(0..operations.len())];
            let region = format!("\x1b[{top};{bottom}r\x1b[{row};1H");
            let scroll = match random.random_range(0..4) {
                0 => "\n".to_owned(),
                1 => "\x1bM".to_owned(),
                _ => format!("\x1b[{count}{operation}"),
            };
            feed(&mut emulator, region + &scroll);
        }
        // Each mark is on the row of a prompt, and they are in order.
        let left = prompts(&emulator);
        let is_prompt = |text: &String| text.starts_with("$ c");
        assert!(left.iter().all(is_prompt), "seed {seed}: {left:?}");
        assert!(left.is_sorted(), "seed {seed}: {left:?}");
        let shown = crate::test_terminal::rows(&mut emulator);
        let shown = shown.iter().filter(|row| is_prompt(row)).count();
        assert!(left.len() >= shown, "seed {seed}: {left:?}");
    }
}

#[test]
fn the_end_of_an_output_is_read_without_its_beginning() {
    let mut emulator = fed(20, 5, command("c", "one\r\ntwo\r\nthree\r\n", 0));
    let id = emulator.commands().last().expect("a command").id;
    let mut check = |cap: usize, expected: (&str, u64)| {
        let end = emulator.output_end(Some(id), cap).expect("an output");
        assert_eq!((end.text.as_str(), end.omitted_rows), expected, "{cap}");
    };
    check(1_000, ("one\ntwo\nthree", 0));
    check(14, ("one\ntwo\nthree", 0));
    check(13, ("two\nthree", 1));
    check(6, ("three", 2));
    check(3, ("", 3));
    // The scrollback has 1,000 lines; the last part is that of the whole output.
    let output: String = (0..3_000).map(|ix| format!("{ix}\r\n")).collect();
    feed(&mut emulator, command("long", &output, 0));
    let id = emulator.commands().last().expect("a command").id;
    let end = emulator.output_end(Some(id), 10).expect("an output");
    assert_eq!(end.text, "2998\n2999");
    assert_eq!(end.omitted_rows, 2_998);
    let end = emulator.output_end(Some(id), 1 << 20).expect("an output");
    assert!(end.text.ends_with("\n2998\n2999"));
    let kept = end.text.lines().count() as u64;
    assert_eq!(end.omitted_rows, 3_000 - kept);
    // Without a command, the prompt and the command line belong to the text.
    let mut emulator = fed(20, 10, command("x", "one\r\n", 1));
    let text = emulator.output_end(None, 1_000).expect("a text");
    assert!(text.text.starts_with("$ x\none"), "{}", text.text);
}

//! Tests random sequences of commands: selections stay valid, and undo restores every text.

use base::{Bias, ByteOffset, Row, Span};
use text::Snapshot;

use crate::clipboard::{CopiedText, PasteIndent, copy, cut, paste};
use crate::command::Command;
use crate::fixture::Fixture;
use crate::motion::Motion;

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count.max(1) as u64) as usize
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

const TEXTS: &[&str] = &[
    "",
    "ˇ",
    "aˇ",
    "fn f(a: [u8; 3]) {\n    if a { \"b\" }\n\n}\nˇ",
    "a\r\n\tbˇ\r\n\r\n  c\r\n",
    "ˇé e\u{301} 文字 👩‍👩‍👧 \u{301}\n\u{200d}\u{301}\n\tx\u{301}",
    "foo foo_bar fooBar\nfoo\nˇfoo  ",
    "\r\r\n\n\rˇ\n",
    "one ˇtwo\nthree\nfour ˇfive\nsix",
];

const TYPED: &[&str] = &[
    "a",
    "(",
    ")",
    "{",
    "}",
    "\"",
    "'",
    " ",
    "\u{301}",
    "文",
    "\n",
    "é",
    "👩‍👩‍👧",
    "x y",
    "*",
];

fn random_command(random: &mut Random, all: &[Command], len: usize) -> Command {
    let mut offset = || ByteOffset(random.below(len + 2));
    let (from, to) = (offset(), offset());
    match random.below(12) {
        0..=2 => Command::Insert(random.pick(TYPED).to_owned()),
        3 => Command::ToggleCaret(from),
        4 => Command::SelectBetween {
            from,
            to,
            unit: random.pick(&[
                crate::SelectionUnit::Character,
                crate::SelectionUnit::Word,
                crate::SelectionUnit::Row,
            ]),
            keep_others: random.below(2) == 0,
        },
        5 => Command::Move(Motion::Offset(from)),
        _ => random.pick(all),
    }
}

/// Returns up to two folds from the end of a row to the end or the start of a later one.
fn random_folds(random: &mut Random, snapshot: &Snapshot) -> Vec<Span> {
    let mut folds = Vec::new();
    for _ in 0..random.below(3) {
        let first = Row(random.below(snapshot.row_count() as usize) as u32);
        let last = (first + random.below(4) as u32).min(snapshot.last_row());
        let end = match random.below(2) {
            0 => snapshot.row_end(last),
            _ => snapshot.row_start(last),
        };
        let start = snapshot.row_end(first);
        folds.push(Span::new(start, end.max(start)));
    }
    folds
}

fn assert_sound(fixture: &Fixture, what: &str) {
    let snapshot = fixture.buffer.snapshot();
    let selections = fixture.selections.as_slice();
    assert!(!selections.is_empty(), "{what}");
    for selection in selections {
        for offset in [selection.anchor, selection.head] {
            assert!(offset <= snapshot.len(), "{what}");
            assert_eq!(snapshot.clip(offset, Bias::Left), offset, "{what}");
            let border = crate::motion::on_border(&snapshot, offset);
            assert_eq!(border, offset, "{what}: {}", fixture.marked());
        }
    }
    for pair in selections.windows(2) {
        assert!(pair[0].end() <= pair[1].start(), "{what}");
        assert!(
            pair[0].end() < pair[1].start() || !pair[0].is_empty() && !pair[1].is_empty(),
            "{what}"
        );
    }
}

fn run(seed: u64, steps: usize, language: Option<&str>) {
    let mut random = Random(seed);
    let all = Command::all();
    let mut fixture = Fixture::new(random.pick(TEXTS));
    if let Some(language) = language {
        fixture = fixture.language(language);
    }
    fixture.options.hard_tabs = random.below(3) == 0;
    fixture.wrap = random.pick(&[None, Some(3), Some(12)]);
    let mut clipboard = CopiedText::plain("x\n  y");
    for step in 0..steps {
        fixture.folds = random_folds(&mut random, &fixture.buffer.snapshot());
        let what = match random.below(15) {
            0 => {
                clipboard = fixture.with(copy).unwrap_or(clipboard);
                let fit = random.pick(&[PasteIndent::Keep, PasteIndent::Fit]);
                let plan = fixture.with(|ctx| paste(ctx, &clipboard, fit));
                fixture.apply(plan);
                "paste".to_owned()
            }
            1 => {
                if let Some((copied, plan)) = fixture.with(cut) {
                    clipboard = copied;
                    fixture.apply(plan);
                }
                "cut".to_owned()
            }
            _ => {
                let command = random_command(&mut random, &all, fixture.buffer.len().0);
                let before = fixture.marked();
                println!("{step}: {before:?} {command:?}");
                let plan = fixture.plan(&command);
                let has_edits = !plan.edits.is_empty();
                fixture.apply(plan);
                if !has_edits {
                    let is_border = |offset| {
                        crate::motion::on_border(&fixture.buffer.snapshot(), offset) == offset
                    };
                    assert!(
                        fixture
                            .selections
                            .iter()
                            .all(|selection| is_border(selection.head)),
                        "seed {seed} step {step}: {before} {command:?}"
                    );
                }
                format!("{before:?} {command:?}")
            }
        };
        assert_sound(&fixture, &format!("seed {seed} step {step}: {what}"));
        if fixture.buffer.len().0 > 2_000 {
            break;
        }
    }
    let texts = std::mem::take(&mut fixture.texts);
    let first = texts.first().cloned().unwrap_or_default();
    while fixture.buffer.undo().is_some() {}
    assert_eq!(fixture.buffer.snapshot().to_string(), first, "seed {seed}");
}

/// Factor for the number of rounds, such as `BURIN_ROUNDS=50` for a longer run.
fn rounds() -> u64 {
    let asked = std::env::var("BURIN_ROUNDS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(1)
}

#[test]
fn random_commands_leave_sound_selections() {
    for seed in 1..=150 * rounds() {
        println!("seed {seed}");
        run(
            u64::wrapping_mul(seed, 6_364_136_223_846_793_005) | 1,
            80,
            None,
        );
    }
}

#[test]
fn random_commands_in_languages() {
    for (ix, language) in ["Rust", "Python", "Markdown", "HTML", "CSS"]
        .iter()
        .cycle()
        .take(25 * rounds() as usize)
        .enumerate()
    {
        println!("seed {ix} {language}");
        run(
            u64::wrapping_mul(ix as u64 + 7, 2_862_933_555_777_941_757) | 1,
            40,
            Some(language),
        );
    }
}

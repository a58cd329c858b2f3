//! Output of the kinds that vtebench prints, generated from a seed.

use crate::interleave::Dice;

use super::SIZE;

/// A kind of output.
pub(super) struct Payload {
    pub(super) name: &'static str,
    append: fn(&mut Vec<u8>, &mut Dice),
}

pub(super) const PAYLOADS: [Payload; 8] = [
    Payload {
        name: "dense cells",
        append: dense,
    },
    Payload {
        name: "light cells",
        append: light,
    },
    Payload {
        name: "medium cells",
        append: medium,
    },
    Payload {
        name: "scrolling",
        append: scrolling,
    },
    Payload {
        name: "scrolling in a region",
        append: scrolling_in_region,
    },
    Payload {
        name: "cursor motion",
        append: cursor_motion,
    },
    Payload {
        name: "unicode",
        append: unicode,
    },
    Payload {
        name: "synchronized updates",
        append: synchronized,
    },
];

impl Payload {
    /// Returns about `bytes` bytes, the same in each run. They leave the terminal without open updates and regions.
    pub(super) fn bytes(&self, bytes: usize) -> Vec<u8> {
        let mut dice = Dice::new(self.name.len() as u64 * 104_729);
        let mut payload = Vec::with_capacity(bytes + (64 << 10));
        while payload.len() < bytes {
            (self.append)(&mut payload, &mut dice);
        }
        payload.extend_from_slice(b"\x1b[m\x1b[r\x1b[40;1H\r\n");
        payload
    }
}

fn push(payload: &mut Vec<u8>, text: &str) {
    payload.extend_from_slice(text.as_bytes());
}

fn letter(dice: &mut Dice) -> char {
    char::from(b'!' + dice.below(94) as u8)
}

/// A screen on which every cell has a style of its own.
fn dense(payload: &mut Vec<u8>, dice: &mut Dice) {
    push(payload, "\x1b[H");
    for _ in 0..usize::from(SIZE.rows) * usize::from(SIZE.columns) {
        let (foreground, background) = (dice.below(156), dice.below(156));
        let letter = letter(dice);
        let style = format!("\x1b[38;5;{foreground};48;5;{background};1;3;4m{letter}");
        push(payload, &style);
    }
}

/// A screen of letters without styles.
fn light(payload: &mut Vec<u8>, dice: &mut Dice) {
    push(payload, "\x1b[H\x1b[m");
    for _ in 0..usize::from(SIZE.rows) * usize::from(SIZE.columns) {
        payload.push(letter(dice) as u8);
    }
}

/// A screen with a few styles in each row, as editors and pagers print it.
fn medium(payload: &mut Vec<u8>, dice: &mut Dice) {
    push(payload, "\x1b[H");
    for row in 1..=SIZE.rows {
        push(payload, &format!("\x1b[{row};1H"));
        let mut columns = 0;
        while columns < usize::from(SIZE.columns) {
            let length = (3 + dice.below(18)).min(usize::from(SIZE.columns) - columns);
            push(payload, &format!("\x1b[3{}m", dice.below(8)));
            (0..length).for_each(|_| payload.push(letter(dice) as u8));
            columns += length;
        }
    }
}

/// Short lines that scroll the screen.
fn scrolling(payload: &mut Vec<u8>, _: &mut Dice) {
    push(payload, &"y\r\n".repeat(1_000));
}

/// Short lines that scroll the rows between a heading and a status line.
fn scrolling_in_region(payload: &mut Vec<u8>, _: &mut Dice) {
    let bottom = SIZE.rows - 2;
    push(payload, &format!("\x1b[3;{bottom}r\x1b[{bottom};1H"));
    push(payload, &"y\r\n".repeat(1_000));
    push(payload, "\x1b[r");
}

/// Single letters in random cells.
fn cursor_motion(payload: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..1_000 {
        let row = 1 + dice.below(SIZE.rows.into());
        let column = 1 + dice.below(SIZE.columns.into());
        let letter = letter(dice);
        push(payload, &format!("\x1b[{row};{column}H{letter}"));
    }
}

/// Words of several scripts, with wide characters, accents and emoji.
fn unicode(payload: &mut Vec<u8>, dice: &mut Dice) {
    const WORDS: [&str; 10] = [
        "na\u{ef}ve",
        "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
        "\u{6f22}\u{5b57}",
        "\u{d55c}\u{ae00}",
        "e\u{301}a\u{308}",
        "\u{1f680}",
        "\u{2500}\u{2502}\u{256d}\u{256f}",
        "\u{3b1}\u{3b2}\u{3b3}",
        "\u{65e5}\u{672c}\u{8a9e}",
        "\u{2192}\u{21d2}\u{2211}",
    ];
    for _ in 0..400 {
        push(payload, WORDS[dice.below(WORDS.len())]);
        let separator = if dice.below(12) == 0 { "\r\n" } else { " " };
        push(payload, separator);
    }
}

/// Screens of medium density, each in a synchronized update.
fn synchronized(payload: &mut Vec<u8>, dice: &mut Dice) {
    push(payload, "\x1b[?2026h");
    medium(payload, dice);
    push(payload, "\x1b[?2026l");
}

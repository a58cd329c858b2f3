//! Hostile streams, generated from a seed.

pub(super) mod attacks;

use rand::Rng as _;
use rand::rngs::StdRng;

/// Text that streams put into everything; it must never reach the program as input.
pub(super) const PAYLOAD: &str = "evil7f";
/// Part of the paths that are on other machines, or are not valid.
pub(super) const FOREIGN: &str = "foreign7f";

/// Bytes after which a stream ends. It stays below the size of a synchronized update, which depends on reads.
const MAX_STREAM: usize = 900_000;

/// A part of a stream.
pub(super) enum HostileStep {
    /// Output of the program.
    Output(Vec<u8>),
    /// A resize by the user, to columns and rows.
    Resize(u16, u16),
}

/// Returns one piece of output.
pub(super) type Attack = fn(&mut StdRng) -> Vec<u8>;

/// Output that is not hostile, between the attacks.
const PLAIN: &[&str] = &[
    "plain text ",
    "\r\n",
    "漢字",
    "\x1b[H",
    "\x1b[2J",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[31m",
    "\x1b[m",
    "\x1b[2;3r",
    "\x1b[r",
    "\x1b]133;A\x07$ \x1b]133;B\x07",
    "\x1b]133;C\x07output\r\n\x1b]133;D;0\x07",
];

/// Returns a stream that consists mainly of one attack. Small pieces of others are between, and resizes follow pieces
/// with a probability of `resize_chance`.
pub(super) fn stream(attack: Attack, resize_chance: f64, random: &mut StdRng) -> Vec<HostileStep> {
    let mut steps = Vec::new();
    let mut length = 0;
    for _ in 0..random.random_range(4..40) {
        let bytes = match random.random_range(0..10) {
            0..7 => attack(random),
            7 => attacks::SMALL[random.random_range(0..attacks::SMALL.len())](random),
            _ => PLAIN[random.random_range(0..PLAIN.len())].into(),
        };
        length += bytes.len();
        steps.push(HostileStep::Output(bytes));
        if random.random_bool(resize_chance) {
            let (columns, rows) = (random.random_range(0..45), random.random_range(0..12));
            steps.push(HostileStep::Resize(columns, rows));
        }
        if length > MAX_STREAM {
            break;
        }
    }
    steps
}

/// Returns one of several texts, in which `{}` is replaced by the payload.
fn one_of(random: &mut StdRng, texts: &[&str]) -> Vec<u8> {
    let text = texts[random.random_range(0..texts.len())];
    text.replace("{}", PAYLOAD).into_bytes()
}

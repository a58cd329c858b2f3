//! Files to edit: generated ones in several languages, and those of this repository.

use std::io::Read as _;

use flate2::read::GzDecoder;
use rand::Rng;
use rand::rngs::StdRng;

/// The language of a generated file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Language {
    Rust,
    Python,
    Script,
    Go,
}

impl Language {
    pub(super) const ALL: [Self; 4] = [Self::Rust, Self::Python, Self::Script, Self::Go];

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Rust | Self::Python => "    ",
            Self::Script => "  ",
            Self::Go => "\t",
        }
    }
}

const WORDS: [&str; 24] = [
    "total", "index", "buffer", "request", "cursor", "parser", "window", "session", "handler",
    "token", "border", "weight", "folder", "record", "signal", "branch", "marker", "column",
    "result", "planet", "socket", "engine", "filter", "vector",
];

fn word(random: &mut StdRng) -> &'static str {
    WORDS[random.random_range(0..WORDS.len())]
}

/// Returns a statement, sometimes one that occurs in many places.
pub(super) fn statement(language: Language, random: &mut StdRng) -> String {
    let (a, b, c) = (word(random), word(random), word(random));
    let number = random.random_range(0..40);
    let end = if matches!(language, Language::Python | Language::Go) {
        ""
    } else {
        ";"
    };
    match random.random_range(0..8) {
        0 => format!("return {a}{end}"),
        1 => format!("{a}.{b}(\"{c} {number}\"){end}"),
        2 => format!("log(\"{a}: {b}\", '{c}'){end}"),
        3 => format!("{a}_{b} = {c}[{number}]{end}"),
        _ => format!("{a}_{number} = {b}({c}, {number}){end}"),
    }
}

fn block(language: Language, depth: usize, lines: &mut Vec<String>, random: &mut StdRng) {
    let indent = language.unit().repeat(depth);
    for _ in 0..random.random_range(2..6) {
        if depth < 4 && random.random_bool(0.25) {
            let (a, b) = (word(random), word(random));
            let (open, close) = match language {
                Language::Python => (":", ""),
                _ => (" {", "}"),
            };
            lines.push(format!("{indent}if {a} < {b}{open}"));
            block(language, depth + 1, lines, random);
            if !close.is_empty() {
                lines.push(format!("{indent}{close}"));
            }
        } else {
            lines.push(format!("{indent}{}", statement(language, random)));
        }
        if random.random_bool(0.2) {
            lines.push(String::new());
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
}

/// Returns the lines of a generated file.
pub(super) fn made_up(language: Language, random: &mut StdRng) -> Vec<String> {
    let mut lines = Vec::new();
    let is_double = language == Language::Python && random.random_bool(0.5);
    for number in 0..random.random_range(3..9) {
        let (a, b) = (word(random), word(random));
        match language {
            Language::Python => lines.push(format!("def {a}_{number}({b}):")),
            Language::Rust => lines.push(format!("fn {a}_{number}({b}: u32) {{")),
            Language::Script => lines.push(format!("function {a}_{number}({b}) {{")),
            Language::Go => lines.push(format!("func {a}_{number}({b} int) {{")),
        }
        block(language, 1, &mut lines, random);
        if language != Language::Python {
            lines.push("}".to_owned());
        }
        lines.push(String::new());
        if is_double {
            lines.push(String::new());
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Source files of this repository as of one commit, as lists of lines. Each has at least a few
/// lines. They are stored as test data, so that random edits do not depend on later changes of the
/// repository.
#[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
pub(super) fn real() -> Vec<Vec<String>> {
    let packed = std::fs::read(test_support::data("sources/rust.txt.gz")).expect("test data");
    let mut texts = String::new();
    GzDecoder::new(&packed[..])
        .read_to_string(&mut texts)
        .expect("packed text");
    let lines = texts
        .split('\u{c}')
        .map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.filter(|lines| lines.len() > 20).collect()
}

//! Random JSON in the shapes of the protocol, mostly valid, for a hostile server.

mod annotations;
mod protocol;

use rand::Rng;
use rand::rngs::StdRng;

pub(super) use annotations::ANNOTATIONS;
pub(super) use protocol::{ANSWERS, SERVER_MESSAGES};

/// The shape of a value in the protocol.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Null,
    Flag,
    /// A number, usually small.
    Number,
    Text,
    Uri,
    Position,
    Range,
    /// The name of a method that a capability registers.
    Method,
    /// The numbers of semantic tokens, usually five for each.
    Tokens,
    /// Any of several shapes.
    Or(&'static [Shape]),
    List(&'static Shape),
    /// An object with required and optional members.
    Object(&'static [Member], &'static [Member]),
    /// An object whose names are URIs.
    ByUri(&'static Shape),
    /// A value that the client must not look into.
    Any,
}

pub(super) type Member = (&'static str, Shape);

/// Returns the JSON text of a value; it may be wrong, or no JSON.
pub(super) fn random_value(rng: &mut StdRng, shape: Shape) -> String {
    let wrong = [0, 200, 40, 10][rng.random_range(0..4)];
    let mut writer = Writer {
        rng,
        json: String::new(),
        wrong,
    };
    writer.write(shape, 0);
    writer.json
}

/// Writes random values.
struct Writer<'a> {
    rng: &'a mut StdRng,
    json: String,
    /// One part in this many is wrong; 0 for valid values.
    wrong: u32,
}

const METHODS: &[&str] = &[
    "workspace/didChangeWatchedFiles",
    "textDocument/diagnostic",
    "textDocument/didSave",
    "textDocument/hover",
    "textDocument/completion",
    "workspace/executeCommand",
    "workspace/didChangeWorkspaceFolders",
    "textDocument/nonsense",
];
const URIS: &[&str] = &[
    "file:///w/a.rs",
    "file:///w/b.rs",
    "file:///w/%C3%A9%20.rs",
    "file:///etc/passwd",
    "file:///w/../../etc/passwd",
    "file://host/a",
    "untitled:1",
    "file:///w/%zz[",
    "file:///w/a.rs#L3,7",
    "https://example.org/a",
    "javascript:a",
    "",
];
/// Texts as they are written in JSON.
const TEXTS: &[&str] = &[
    "x",
    "",
    "é🦀",
    r"\ud800",
    r"\udc00\ud800",
    r"\u0000\u202e",
    r"$1 ${2:a} \\ \r\n",
    "**/*.rs",
    "[",
    "{a,{b,c}}",
    "begin",
    "report",
    "end",
    "full",
    "unchanged",
    "create",
    "rename",
    "delete",
    "quickfix",
    "markdown",
    "imports",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-32801",
    "-32802",
    "2147483648",
    "4294967295",
    "18446744073709551615",
    "-9223372036854775808",
    "99999999999999999999999999",
    "1.5",
    "1e400",
    "-0.0",
];

impl Writer<'_> {
    /// Writes a value of a shape, or a wrong one.
    fn write(&mut self, shape: Shape, depth: usize) {
        if self.is_wrong() {
            return self.write_wrong(depth);
        }
        match shape {
            Shape::Null => self.json.push_str("null"),
            Shape::Flag => self.pick(&["true", "false"]),
            Shape::Number => self.number(),
            Shape::Text => self.text(TEXTS),
            Shape::Uri => self.text(URIS),
            Shape::Method => self.text(METHODS),
            Shape::Position => self.object(
                &[("line", Shape::Number), ("character", Shape::Number)],
                &[],
                depth,
            ),
            Shape::Range => self.object(
                &[("start", Shape::Position), ("end", Shape::Position)],
                &[],
                depth,
            ),
            Shape::Tokens => self.tokens(),
            Shape::Or(shapes) => {
                let shape = shapes[self.rng.random_range(0..shapes.len())];
                self.write(shape, depth);
            }
            Shape::List(item) => self.list(*item, depth),
            Shape::Object(required, optional) => self.object(required, optional, depth),
            Shape::ByUri(value) => self.by_uri(*value, depth),
            Shape::Any => self.pick(&["null", "7", r#"{"a":[1,{"b":"\ud800"}]}"#, r#""d""#]),
        }
    }

    fn is_wrong(&mut self) -> bool {
        self.wrong > 0 && self.rng.random_range(0..self.wrong) == 0
    }

    /// Writes a value of another shape, or deep, long or huge values.
    fn write_wrong(&mut self, depth: usize) {
        match self.rng.random_range(0..12) {
            0 => self.json.push_str("null"),
            1 => self.number(),
            2 => self.text(TEXTS),
            3 => self.json.push_str("[]"),
            4 => self.json.push_str("{}"),
            5 => self.json.push_str("true"),
            6 if depth < 3 => self.write(Shape::List(&Shape::Range), depth + 1),
            7 => {
                let levels = self.rng.random_range(1..300);
                self.json += &("[".repeat(levels) + &"]".repeat(levels));
            }
            8 => {
                let length = self.rng.random_range(0..20_000);
                self.json += &format!("\"{}\"", "y".repeat(length));
            }
            // Not JSON.
            9 => self.pick(&["nul", "\"", "{]", "\u{1}", "+1", "NaN"]),
            10 => self.write(Shape::Range, depth),
            _ => self.write(Shape::Any, depth),
        }
    }

    fn pick(&mut self, texts: &[&str]) {
        let text = texts[self.rng.random_range(0..texts.len())];
        self.json.push_str(text);
    }

    fn number(&mut self) {
        // Most numbers are positions in a short text.
        let end = if self.rng.random_range(0..4) == 0 {
            NUMBERS.len()
        } else {
            4
        };
        self.pick(&NUMBERS[..end]);
    }

    fn text(&mut self, texts: &[&str]) {
        self.json.push('"');
        self.pick(texts);
        self.json.push('"');
    }

    fn list(&mut self, item: Shape, depth: usize) {
        let count = match self.rng.random_range(0..40) {
            0 if depth < 2 => self.rng.random_range(0..600),
            _ => self.rng.random_range(0..4),
        };
        let count = if depth > 5 { 0 } else { count };
        self.json.push('[');
        for ix in 0..count {
            if ix > 0 {
                self.json.push(',');
            }
            self.write(item, depth + 1);
        }
        self.json.push(']');
    }

    fn tokens(&mut self) {
        let count = self.rng.random_range(0..8) * 5 + usize::from(self.is_wrong());
        self.json.push('[');
        for ix in 0..count {
            if ix > 0 {
                self.json.push(',');
            }
            self.number();
        }
        self.json.push(']');
    }

    fn object(&mut self, required: &[Member], optional: &[Member], depth: usize) {
        self.json.push('{');
        let mut is_first = true;
        for (ix, (name, shape)) in required.iter().chain(optional).enumerate() {
            let is_optional = ix >= required.len();
            let is_left_out = is_optional && (depth > 5 || self.rng.random_range(0..2) == 0);
            if is_left_out || self.is_wrong() {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.json.push(',');
            }
            self.json += &format!("\"{name}\":");
            self.write(*shape, depth + 1);
        }
        self.json.push('}');
    }

    fn by_uri(&mut self, value: Shape, depth: usize) {
        self.json.push('{');
        for ix in 0..self.rng.random_range(0..3) {
            if ix > 0 {
                self.json.push(',');
            }
            self.text(URIS);
            self.json.push(':');
            self.write(value, depth + 1);
        }
        self.json.push('}');
    }
}

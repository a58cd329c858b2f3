//! What a shell command line would run: its simple commands with their words, without running any of it.
//!
//! Invariant: a line of which any part is not understood has no answer at all; nothing is guessed.
//! Limits: says what is written, not what it comes to: aliases, functions of the same name and the values of
//! variables are not known.
//! Start at `read`.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// The longest line that is looked at, in bytes.
const LONGEST: usize = 64 << 10;
/// The deepest nesting.
const DEEPEST: usize = 200;
/// How often the parser may report before it is given up.
const PATIENCE: usize = 10_000;

/// All that a line would run, in the order written, with what stands in substitutions, loops and functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellLine {
    /// The simple commands.
    pub commands: Vec<SimpleCommand>,
    /// Files that are read or written by `<` and `>`.
    pub redirects: Vec<Redirect>,
    /// Variables that are set for the rest of the line, or exported.
    pub assignments: Vec<String>,
}

/// A command with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Variables that are set for it alone.
    pub assignments: Vec<String>,
    /// Its name and arguments; at least one.
    pub words: Vec<Word>,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Without quotes and backslashes; what is not known before it runs stands as it is written.
    pub text: String,
    /// Whether it is just that, but for the globs in it.
    pub is_known: bool,
    /// Whether it holds globs or braces outside of quotes.
    pub has_globs: bool,
}

/// A file that is read or written by the shell itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Whether it is written.
    pub is_write: bool,
    /// Which.
    pub target: Word,
}

impl SimpleCommand {
    /// The texts of its words.
    pub fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// Reads a line of bash. `None` where it does not parse as a whole.
pub fn read(line: &str) -> Option<ShellLine> {
    if line.len() > LONGEST || line.contains('\0') {
        return None;
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut reports = 0;
    let mut progress = |_: &ParseState| {
        reports += 1;
        match reports > PATIENCE {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = line.as_bytes();
    let tree = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(options),
    )?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut reader = Reader {
        text: line,
        line: ShellLine::default(),
    };
    reader.node(root, 0)?;
    Some(reader.line)
}

struct Reader<'a> {
    text: &'a str,
    line: ShellLine,
}

impl Reader<'_> {
    fn node(&mut self, node: Node<'_>, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match node.kind() {
            "command" => self.command(node)?,
            "declaration_command" | "unset_command" => {
                let word = Word {
                    text: node.kind().trim_end_matches("_command").to_owned(),
                    is_known: true,
                    has_globs: false,
                };
                self.push(Vec::new(), vec![word]);
            }
            "file_redirect" => self.redirect(node)?,
            "variable_assignment"
                if node.parent().is_none_or(|above| above.kind() != "command") =>
            {
                let name = node.child_by_field_name("name")?;
                self.line.assignments.push(self.source(name).to_owned());
            }
            _ => {}
        }
        // Substitutions may stand anywhere, within words too.
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.node(child, depth + 1)?;
        }
        Some(())
    }

    fn command(&mut self, node: Node<'_>) -> Option<()> {
        let (mut assignments, mut words) = (Vec::new(), Vec::new());
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    let name = child.child_by_field_name("name")?;
                    assignments.push(self.source(name).to_owned());
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment" => {}
                _ => words.push(self.word(child)),
            }
        }
        match words.is_empty() {
            // Only redirections or assignments: nothing is run.
            true => self.line.assignments.extend(assignments),
            false => self.push(assignments, words),
        }
        Some(())
    }

    fn push(&mut self, assignments: Vec<String>, words: Vec<Word>) {
        self.line
            .commands
            .push(SimpleCommand { assignments, words });
    }

    fn redirect(&mut self, node: Node<'_>) -> Option<()> {
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .map(|child| child.kind())
            .find(|kind| kind.contains(['<', '>']))?;
        let Some(target) = node.child_by_field_name("destination") else {
            // `2>&-` closes.
            return Some(());
        };
        let target = self.word(target);
        let is_number = target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit());
        if operator.ends_with('&') && is_number {
            return Some(());
        }
        let is_write = operator.contains('>');
        self.line.redirects.push(Redirect { is_write, target });
        Some(())
    }

    fn word(&self, node: Node<'_>) -> Word {
        let mut word = Word {
            is_known: true,
            ..Word::default()
        };
        self.piece(node, &mut word, 0);
        word
    }

    /// Adds what a piece of a word comes to.
    fn piece(&self, node: Node<'_>, word: &mut Word, depth: usize) {
        let source = self.source(node);
        match node.kind() {
            _ if depth > DEEPEST => word.is_known = false,
            "command_name" | "concatenation" => self.pieces(node, word, depth),
            "word" | "number" | "test_operator" | "special_character" => unescape(source, word),
            "raw_string" => word.text.push_str(source.trim_matches('\'')),
            "string" => {
                let inner = source
                    .strip_prefix('"')
                    .and_then(|inner| inner.strip_suffix('"'));
                let is_plain = node
                    .named_children(&mut node.walk())
                    .all(|child| child.kind() == "string_content");
                match inner {
                    Some(inner) if is_plain => unquote(inner, word),
                    _ => unknown(source, word),
                }
            }
            kind if node.child_count() == 0 && !kind.contains("expansion") => {
                unescape(source, word)
            }
            _ => unknown(source, word),
        }
    }

    fn pieces(&self, node: Node<'_>, word: &mut Word, depth: usize) {
        if node.child_count() == 0 {
            return unescape(self.source(node), word);
        }
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.piece(child, word, depth + 1);
        }
    }

    fn source(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

fn unknown(source: &str, word: &mut Word) {
    word.is_known = false;
    word.text.push_str(source);
}

/// Plain letters outside of quotes.
fn unescape(source: &str, word: &mut Word) {
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(escaped) => word.text.push(escaped),
            },
            '$' | '`' => {
                word.is_known = false;
                word.text.push(letter);
            }
            '*' | '?' | '[' | '{' => {
                word.has_globs = true;
                word.text.push(letter);
            }
            _ => word.text.push(letter),
        }
    }
}

/// What stands within double quotes.
fn unquote(inner: &str, word: &mut Word) {
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.text.push(escaped),
                Some(other) => word.text.extend(['\\', other]),
            },
            '$' | '`' => {
                word.is_known = false;
                word.text.push(letter);
            }
            _ => word.text.push(letter),
        }
    }
}

#[cfg(test)]
mod tests;

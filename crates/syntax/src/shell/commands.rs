//! The grammar of commands: lists, pipelines, loops, functions and redirections.

use super::{
    HereDocument, Redirect, ShellAssignment, ShellInput, ShellReader, ShellWord, SimpleCommand,
};

/// Terminator of a list of commands. The terminator itself is not consumed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// The end of the text.
    Text,
    /// A closing parenthesis.
    Bracket,
    /// One of these reserved words.
    Words(&'static [&'static str]),
    /// `;;`, `;&` or `esac`.
    Case,
}

const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "[[", "{", "}", "!", "in",
];

/// Builtins whose arguments bash reads as assignments, where they look like such.
const DECLARING: &[&str] = &[
    "export", "declare", "typeset", "local", "readonly", "alias", "eval", "let",
];

impl ShellReader {
    /// Parses the whole text. Returns `None` if a part is not understood, or if the body of a
    /// here-document is missing.
    pub(super) fn parse_line(&mut self) -> Option<()> {
        self.list(ListEnd::Text)?;
        self.pending.is_empty().then_some(())
    }

    /// A list of commands up to its end.
    pub(super) fn list(&mut self, end: ListEnd) -> Option<()> {
        self.nested(|reader| {
            loop {
                reader.skip_lines()?;
                if reader.is_at(end) {
                    return Some(());
                }
                reader.chain()?;
                reader.skip_blanks();
                match reader.peek() {
                    Some(';') if !reader.starts_with(";;") && !reader.starts_with(";&") => {
                        reader.at += 1
                    }
                    Some('&') if !reader.starts_with("&&") => reader.at += 1,
                    Some('\n') => {}
                    _ if reader.is_at(end) => return Some(()),
                    _ => return None,
                }
            }
        })
    }

    /// Whether the terminator is next.
    fn is_at(&self, end: ListEnd) -> bool {
        match end {
            ListEnd::Text => self.peek().is_none(),
            ListEnd::Bracket => self.peek() == Some(')'),
            ListEnd::Words(words) => words.iter().any(|word| self.is_reserved(word)),
            ListEnd::Case => {
                self.starts_with(";;") || self.starts_with(";&") || self.is_reserved("esac")
            }
        }
    }

    /// Returns whether the next whole word is `word`, without quotes.
    fn is_reserved(&self, word: &str) -> bool {
        let after = self.peek_at(word.chars().count());
        self.starts_with(word) && after.is_none_or(ends_word)
    }

    /// Consumes the reserved word if it is the next whole word; returns `None` otherwise.
    fn take_reserved(&mut self, word: &str) -> Option<()> {
        if self.is_reserved(word) && self.take(word) {
            Some(())
        } else {
            None
        }
    }

    /// Skips blanks, joined lines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') if self.begins_word() => {
                    while self.peek().is_some_and(|letter| letter != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Whether a word would begin here.
    fn begins_word(&self) -> bool {
        self.at == 0 || ends_word(self.letters[self.at - 1])
    }

    /// Passes over blanks and line feeds.
    fn skip_lines(&mut self) -> Option<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('\n') => self.line_feed()?,
                _ => return Some(()),
            }
        }
    }

    /// Consumes a line feed and the here-documents after it.
    fn line_feed(&mut self) -> Option<()> {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            self.here_document(&document)?;
        }
        Some(())
    }

    /// `a && b || c`.
    fn chain(&mut self) -> Option<()> {
        loop {
            self.pipeline()?;
            self.skip_blanks();
            if !self.take("&&") && !self.take("||") {
                return Some(());
            }
            self.skip_lines()?;
        }
    }

    /// Parses a pipeline with the `time` and `!` before it. Returns `None` if it is not understood.
    fn pipeline(&mut self) -> Option<()> {
        loop {
            self.skip_blanks();
            if self.take_reserved("time").is_some() {
                self.skip_blanks();
                self.take_reserved("-p");
                self.skip_blanks();
                self.take_reserved("--");
            } else if self.take_reserved("!").is_none() {
                break;
            }
        }
        let was_piped = self.is_piped;
        let done = self.pipes();
        self.is_piped = was_piped;
        done
    }

    /// Parses commands joined by `|` or `|&`, and notes that all but the first read from a pipe.
    /// Returns `None` if one is not understood.
    fn pipes(&mut self) -> Option<()> {
        loop {
            self.command()?;
            self.skip_blanks();
            if self.starts_with("||") || !(self.take("|&") || self.take("|")) {
                return Some(());
            }
            self.is_piped = true;
            self.skip_lines()?;
        }
    }

    /// Parses a simple or compound command with its redirections. Returns `None` if it is not
    /// understood, such as `((` and a stray reserved word.
    fn command(&mut self) -> Option<()> {
        let first = self.line.commands.len();
        let found = RESERVED.iter().find(|word| self.is_reserved(word));
        match found.copied() {
            Some("{") => self.braces()?,
            Some("if") => self.conditional()?,
            Some(word @ ("while" | "until")) => {
                self.take(word);
                self.list(ListEnd::Words(&["do"]))?;
                self.body()?;
            }
            Some(word @ ("for" | "select")) => {
                self.take(word);
                self.each()?;
            }
            Some("case") => self.case()?,
            Some("[[") => self.condition()?,
            Some("function") => {
                self.take("function");
                self.skip_blanks();
                let name = self.expect_word()?;
                self.skip_blanks();
                if self.take("(") {
                    self.skip_blanks();
                    self.take(")").then_some(())?;
                }
                return self.function(&name);
            }
            Some(_) => return None,
            // Arithmetic or two nested subshells; the following text decides.
            None if self.starts_with("((") => return None,
            None if self.peek() == Some('(') => self.subshell()?,
            None => return self.simple(),
        }
        self.redirects_behind(first)
    }

    /// Parses `{ …; }`. Returns `None` if it is not understood.
    fn braces(&mut self) -> Option<()> {
        self.take_reserved("{")?;
        self.list(ListEnd::Words(&["}"]))?;
        self.take_reserved("}")
    }

    /// Parses `( … )`. Returns `None` if it is not understood.
    fn subshell(&mut self) -> Option<()> {
        self.take("(").then_some(())?;
        self.list(ListEnd::Bracket)?;
        self.take(")").then_some(())
    }

    /// Parses `if … fi`. Returns `None` if it is not understood.
    fn conditional(&mut self) -> Option<()> {
        self.take_reserved("if")?;
        loop {
            self.list(ListEnd::Words(&["then"]))?;
            self.take_reserved("then")?;
            self.list(ListEnd::Words(&["elif", "else", "fi"]))?;
            if self.take_reserved("elif").is_none() {
                break;
            }
        }
        if self.take_reserved("else").is_some() {
            self.list(ListEnd::Words(&["fi"]))?;
        }
        self.take_reserved("fi")
    }

    /// Parses a loop body: `do … done`.
    fn body(&mut self) -> Option<()> {
        self.take_reserved("do")?;
        self.list(ListEnd::Words(&["done"]))?;
        self.take_reserved("done")
    }

    /// The rest of `for name in words; do … done`.
    fn each(&mut self) -> Option<()> {
        self.skip_blanks();
        let name = self.expect_word()?;
        let is_name = name.is_certain() && is_name(&name.text);
        is_name.then_some(())?;
        self.line.assignments.push(ShellAssignment {
            name: name.text,
            value: ShellWord::default(),
        });
        self.skip_lines()?;
        if self.take_reserved("in").is_some() {
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(';' | '\n') => break,
                    _ => drop(self.expect_word()?),
                }
            }
        }
        self.skip_blanks();
        self.take(";");
        self.skip_lines()?;
        self.body()
    }

    /// Parses `case … esac`. Returns `None` if it is not understood.
    fn case(&mut self) -> Option<()> {
        self.take_reserved("case")?;
        self.skip_blanks();
        self.expect_word()?;
        self.skip_lines()?;
        self.take_reserved("in")?;
        loop {
            self.skip_lines()?;
            if self.take_reserved("esac").is_some() {
                return Some(());
            }
            self.take("(");
            loop {
                self.skip_blanks();
                self.expect_word()?;
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.take(")").then_some(())?;
            self.list(ListEnd::Case)?;
            let goes_on = self.take(";;&") || self.take(";;") || self.take(";&");
            if !goes_on && !self.is_reserved("esac") {
                return None;
            }
        }
    }

    /// `[[ … ]]`, as a command of that name.
    fn condition(&mut self) -> Option<()> {
        self.take_reserved("[[")?;
        let mut words = vec![literal("[[")];
        let mut is_pattern = false;
        loop {
            self.skip_lines()?;
            if self.take_reserved("]]").is_some() {
                words.push(literal("]]"));
                break;
            }
            let operators = ["&&", "||", "(", ")", "<", ">"];
            let found = operators.iter().find(|operator| self.starts_with(operator));
            match found {
                Some(operator)
                    if !is_pattern && !self.starts_with("<(") && !self.starts_with(">(") =>
                {
                    self.take(operator);
                    words.push(literal(operator));
                }
                _ => {
                    let word = if is_pattern {
                        self.pattern()?
                    } else {
                        self.expect_word()?
                    };
                    is_pattern = word.text == "=~";
                    words.push(word);
                }
            }
        }
        self.push(Vec::new(), words, ShellInput::Inherited);
        Some(())
    }

    /// The part of a function behind its name.
    fn function(&mut self, name: &ShellWord) -> Option<()> {
        self.line.effects.push(name.text.clone());
        self.skip_lines()?;
        // Only what groups commands can be a body here.
        let is_group = self.is_reserved("{") || self.peek() == Some('(') && !self.starts_with("((");
        if is_group {
            self.nested(Self::command)
        } else {
            None
        }
    }

    /// Parses a simple command, assignments alone, or a definition of the form `name() { …; }`.
    /// Returns `None` if it is empty or not understood.
    fn simple(&mut self) -> Option<()> {
        let start = self.at;
        let (mut assignments, mut words) = (Vec::new(), Vec::<ShellWord>::new());
        let mut input = ShellInput::Inherited;
        let mut here = None;
        loop {
            self.skip_blanks();
            if self.is_redirect()? {
                self.redirect(&mut input, &mut here)?;
                continue;
            }
            match self.peek() {
                None | Some(';' | '&' | '|' | '\n' | ')') => break,
                Some('(') => {
                    let is_function = words.len() == 1 && assignments.is_empty();
                    is_function.then_some(())?;
                    self.at += 1;
                    self.skip_blanks();
                    self.take(")").then_some(())?;
                    let name = words.remove(0);
                    return self.function(&name);
                }
                _ => {}
            }
            let declares = words
                .first()
                .is_some_and(|name| DECLARING.contains(&name.text.as_str()));
            let assignment = if words.is_empty() || declares {
                self.assignment()?
            } else {
                None
            };
            match assignment {
                None => words.push(self.expect_word()?),
                Some(assignment) if words.is_empty() => assignments.push(assignment),
                Some(assignment) => {
                    self.line.assignments.push(assignment.clone());
                    let ShellAssignment { name, value } = assignment;
                    words.push(ShellWord {
                        text: format!("{name}={}", value.text),
                        ..value
                    });
                }
            }
        }
        if words.is_empty() && self.at == start {
            return None;
        } else if words.is_empty() {
            self.line.assignments.extend(assignments)
        } else {
            if let Some(number) = here {
                self.fed.push((self.line.commands.len(), number));
            }
            self.push(assignments, words, input);
        }
        Some(())
    }

    fn push(
        &mut self,
        assignments: Vec<ShellAssignment>,
        words: Vec<ShellWord>,
        input: ShellInput,
    ) {
        let input = match input {
            ShellInput::Inherited if self.is_piped => ShellInput::Other,
            input => input,
        };
        self.line.commands.push(SimpleCommand {
            assignments,
            words,
            input,
        });
    }

    /// `NAME=value`, if that is next.
    fn assignment(&mut self) -> Option<Option<ShellAssignment>> {
        let mut end = self.at;
        while let Some(letter) = self.letters.get(end)
            && (letter.is_ascii_alphanumeric() || *letter == '_')
        {
            end += 1;
        }
        let name = self.slice(self.at, end);
        if !is_name(&name) {
            return Some(None);
        }
        let start = self.at;
        self.at = end;
        // Here bash reads a subscript up to its bracket, through blanks and operators.
        if self.peek() == Some('[') {
            return None;
        }
        if !self.take("+=") && !self.take("=") {
            self.at = start;
            return Some(None);
        }
        let value = match self.peek() {
            Some('(') => {
                self.at += 1;
                self.array()?;
                ShellWord::default()
            }
            None => literal(""),
            Some(letter)
                if ends_word(letter) && !self.starts_with("<(") && !self.starts_with(">(") =>
            {
                literal("")
            }
            Some(_) => self.expect_word()?,
        };
        Some(Some(ShellAssignment { name, value }))
    }

    /// Parses the rest of an array after `=(`, without keeping its words. Returns `None` if it has
    /// subscripts or does not end.
    fn array(&mut self) -> Option<()> {
        loop {
            self.skip_lines()?;
            match self.peek()? {
                ')' => {
                    self.at += 1;
                    return Some(());
                }
                // `[1]=x`: a subscript.
                '[' => return None,
                _ => drop(self.expect_word()?),
            }
        }
    }

    /// Whether a redirection is next. `{name}>` sets a variable and is not understood.
    fn is_redirect(&self) -> Option<bool> {
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        if rest.first() == Some(&'{') {
            let close = rest.iter().position(|it| *it == '}');
            let after = close.and_then(|close| rest.get(close + 1));
            if matches!(after, Some('<' | '>')) {
                return None;
            }
        }
        let operator = rest.get(digits..).unwrap_or_default();
        let is_substitution = digits == 0 && matches!(operator, ['<' | '>', '(', ..]);
        Some(match operator {
            _ if is_substitution => false,
            ['<' | '>', ..] => true,
            ['&', '>', ..] => digits == 0,
            _ => false,
        })
    }

    /// Parses a redirection, which must be next. Sets `input` if it redirects the standard input,
    /// and `here` to the number of a here-document. Returns `None` if it is not understood.
    fn redirect(&mut self, input: &mut ShellInput, here: &mut Option<usize>) -> Option<()> {
        while self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            self.at += 1;
        }
        if self.take("<<<") {
            self.skip_blanks();
            *input = ShellInput::Text(self.expect_word()?);
            return Some(());
        }
        if self.take("<<") {
            *input = ShellInput::Other;
            *here = Some(self.here_begins()?);
            return Some(());
        }
        const OPERATORS: [&str; 10] = ["&>>", "&>", ">>", ">|", ">&", "<>", "<&", "<", ">", ""];
        let operator = OPERATORS.iter().find(|operator| self.take(operator))?;
        if operator.is_empty() {
            return None;
        }
        if operator.ends_with('&') && self.take("-") {
            return Some(());
        }
        self.skip_blanks();
        let target = self.expect_word()?;
        if operator.starts_with('<') {
            *input = ShellInput::Other;
        }
        let is_number = target
            .text
            .trim_end_matches('-')
            .bytes()
            .all(|it| it.is_ascii_digit());
        if operator.len() == 2 && operator.ends_with('&') && target.is_known && is_number {
            return Some(());
        }
        let is_write = operator.contains('>');
        self.line.redirects.push(Redirect { is_write, target });
        Some(())
    }

    /// The redirections of a compound command whose own commands begin at `first`.
    fn redirects_behind(&mut self, first: usize) -> Option<()> {
        loop {
            self.skip_blanks();
            if !self.is_redirect()? {
                return Some(());
            }
            let mut input = ShellInput::Inherited;
            self.redirect(&mut input, &mut None)?;
            if input != ShellInput::Inherited {
                for command in self.line.commands.iter_mut().skip(first) {
                    if command.input == ShellInput::Inherited {
                        command.input = ShellInput::Other;
                    }
                }
            }
        }
    }

    /// The operator and the end of a here-document; its body comes behind the next line feed.
    fn here_begins(&mut self) -> Option<usize> {
        let strips_tabs = self.take("-");
        self.skip_blanks();
        let start = self.at;
        let end = self.expect_word()?;
        end.is_known.then_some(())?;
        let written = self.slice(start, self.at);
        let number = self.bodies.len();
        self.bodies.push(ShellWord::default());
        self.pending.push(HereDocument {
            number,
            is_literal: written.contains(['\'', '"', '\\']),
            end: end.text,
            strips_tabs,
        });
        Some(number)
    }

    /// Reads the body of a here-document, which begins here; a missing end counts as the end of the
    /// text. Returns `None` if an expansion in it is not understood.
    fn here_document(&mut self, document: &HereDocument) -> Option<()> {
        let mut body = String::new();
        loop {
            if self.peek().is_none() {
                // Bash goes on with a warning where the end is missing.
                break;
            }
            let start = self.at;
            while self.peek().is_some_and(|letter| letter != '\n') {
                self.at += 1;
            }
            let row = self.slice(start, self.at);
            self.at += 1;
            let row = if document.strips_tabs {
                row.trim_start_matches('\t')
            } else {
                &row
            };
            if row == document.end {
                break;
            }
            body.push_str(row);
            body.push('\n');
        }
        self.at = self.at.min(self.letters.len());
        let word = if document.is_literal {
            ShellWord {
                text: body,
                is_known: true,
                ..ShellWord::default()
            }
        } else {
            self.expanded(body)?
        };
        self.bodies[document.number] = word;
        Some(())
    }
}

/// Whether a letter outside of quotes ends a word.
pub(super) fn ends_word(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

/// Whether a text can name a variable: ASCII letters, digits and underscores, with no digit in
/// front.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !text.is_empty()
        && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn literal(text: &str) -> ShellWord {
    ShellWord {
        text: text.to_owned(),
        is_known: true,
        ..ShellWord::default()
    }
}

//! Lines that a model writes in place of others: `// ... existing code ...`, `# rest unchanged`.
//!
//! In new text such a line would replace what it stands for, so an edit that adds one is refused. A
//! line that the old text has as well stays what it is, and so do an ellipsis that is code (a Python
//! body, a spread) and prose that merely uses these words.
//! Start at `added`; `leaves_out` serves blocks whose old text leaves lines out as well.

mod words;

use std::collections::HashMap;

use crate::diff::diff_lines;
use crate::fold;

use self::words::{Names, Phrase};

/// Longer lines say more than that something stays.
const LONGEST: usize = 160;
/// What begins a comment, longest first.
const OPENERS: [&str; 20] = [
    "<%--", "{{!--", "--[[", "<!--", "{/*", "\"\"\"", "'''", "//!", "///", "/**", "/*", "//", "--",
    "(*", "{-", "{#", ";;", "#", ";", "%",
];
/// What ends one.
const CLOSERS: [&str; 11] = [
    "--%>", "--}}", "]]", "-->", "*/}", "*/", "*)", "-}", "#}", "\"\"\"", "'''",
];
/// Comments within which dots alone belong to an example.
const DOCUMENTATION: [&str; 3] = ["///", "//!", "*"];

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Style {
    /// A programming language, or unknown.
    #[default]
    Code,
    /// Text for people, in which `#` begins a heading and `*` an item.
    Prose,
}

impl Style {
    /// Judges by the extension of the path.
    pub(crate) fn of_path(path: &str) -> Self {
        const PROSE: [&str; 9] = [
            "md", "markdown", "mdx", "rst", "txt", "adoc", "asciidoc", "org", "tex",
        ];
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
        match extension.is_some_and(|extension| PROSE.contains(&extension.as_str())) {
            true => Self::Prose,
            false => Self::Code,
        }
    }
}

/// The first line of `new` that stands for lines of `old`, trimmed.
pub(crate) fn added<'a>(old: &[String], new: &'a [String], style: Style) -> Option<&'a str> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for line in old {
        *known.entry(line.trim()).or_default() += 1;
    }
    let mut candidates = Vec::new();
    for (ix, line) in new.iter().enumerate() {
        match known.get_mut(line.trim()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => candidates.extend(Placeholder::of(line, style).map(|found| (ix, found))),
        }
    }
    if candidates.is_empty() {
        return None;
    }
    let change = Change::new(old, new);
    let mut candidates = candidates.into_iter();
    let (ix, _) = candidates.find(|(ix, found)| change.loses(*ix, *found, style))?;
    Some(new[ix].trim())
}

/// Whether the whole line stands for lines that are left out.
pub(crate) fn leaves_out(line: &str) -> bool {
    Placeholder::of(line, Style::Code).is_some_and(|found| {
        found.extent == Extent::Whole && matches!(found.kind, Kind::Certain | Kind::Dots { .. })
    })
}

/// How much of a line stands for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    /// A comment behind or between code.
    Part,
}

/// How a line says that it stands for others, the clearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// By dots, and words that say so.
    Certain,
    /// By a statement: "unchanged", "same as before".
    Statement,
    /// By a name for what is left out, which may also be a heading: "existing methods".
    Name(Names),
    /// By dots around other words.
    DottedWords,
    /// By dots alone.
    Dots { is_example: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placeholder {
    kind: Kind,
    extent: Extent,
}

impl Placeholder {
    fn of(line: &str, style: Style) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.len() > LONGEST {
            return None;
        }
        if let Some(kind) = whole(line, style) {
            let extent = Extent::Whole;
            return Some(Self { kind, extent });
        }
        let kind = part(line, style)?;
        let extent = Extent::Part;
        Some(Self { kind, extent })
    }
}

/// The line as one that stands for others altogether.
fn whole(line: &str, style: Style) -> Option<Kind> {
    let (said, opener) = uncommented(line, style);
    let (said, is_bracketed) = unbracketed(said);
    let is_comment = opener.is_some() || is_bracketed;
    let dots = Dots::of(said);
    if dots.text.is_empty() {
        let is_example = opener.is_some_and(|opener| DOCUMENTATION.contains(&opener));
        let is_dots = dots.before || dots.after;
        return is_dots.then_some(Kind::Dots { is_example });
    }
    if !is_comment && !dots.is_apart(said) {
        return None;
    }
    let phrase = Phrase::of(dots.text, is_comment)?;
    let kind = dots.kind(&phrase)?;
    match (style, kind) {
        // Text for people may end in dots within code, too.
        (Style::Code, Kind::Certain) if !is_comment && !dots.before => Some(Kind::Statement),
        (Style::Code, Kind::Certain | Kind::DottedWords) => Some(kind),
        (Style::Code, Kind::Statement) => (is_comment || phrase.count() > 2).then_some(kind),
        (Style::Code, _) => is_comment.then_some(kind),
        // A sentence may well end in dots.
        (Style::Prose, Kind::Certain) => (is_comment || dots.before).then_some(kind),
        (Style::Prose, _) => None,
    }
}

/// A comment behind or between code, or dots between braces.
fn part(line: &str, style: Style) -> Option<Kind> {
    if style == Style::Prose || uncommented(line, style).1.is_some() {
        return None;
    }
    let dots = Kind::Dots { is_example: false };
    if ["{ ... }", "{...}", "{ … }", "{…}"]
        .iter()
        .any(|dots| line.contains(dots) && !line.contains(['"', '\'', '`']))
    {
        return Some(dots);
    }
    OPENERS.iter().find_map(|opener| {
        let mut places = line.match_indices(opener).filter(|(at, _)| *at > 0);
        places.find_map(|(at, _)| {
            let (before, rest) = line.split_at(at);
            let is_code = ['"', '\'']
                .iter()
                .any(|quote| before.matches(*quote).count() % 2 == 1);
            let is_apart = before.ends_with([' ', '\t', '{', '(', '[', ';', ',', '>']);
            if is_code || !is_apart {
                return None;
            }
            let comment = CLOSERS.iter().find_map(|closer| {
                let end = rest[opener.len()..].find(closer)? + opener.len() + closer.len();
                Some(&rest[..end])
            });
            match whole(comment.unwrap_or(rest), style)? {
                // Behind code a name is a remark on it.
                Kind::Name(_) | Kind::DottedWords => None,
                kind => Some(kind),
            }
        })
    })
}

/// A line without what makes it a comment, and what that begins with.
fn uncommented(line: &str, style: Style) -> (&str, Option<&'static str>) {
    let mut said = line;
    let mut first = None;
    while let Some(opener) = opener_of(said, style) {
        first = first.or(Some(opener));
        said = said[opener.len()..].trim_start();
    }
    if first.is_none() && style == Style::Code && said.starts_with("* ") {
        // Within a comment of several lines.
        first = Some("*");
        said = said[1..].trim_start();
    }
    if first.is_some() {
        while let Some(rest) = CLOSERS.iter().find_map(|closer| said.strip_suffix(closer)) {
            said = rest.trim_end();
        }
    }
    (said, first)
}

fn opener_of(text: &str, style: Style) -> Option<&'static str> {
    let openers: &[&'static str] = match style {
        Style::Code => &OPENERS,
        Style::Prose => &["<!--", "{/*", "/*", "//"],
    };
    let opens = |opener: &&&str| {
        let rest = text.strip_prefix(**opener);
        // `#name` and `--name` are code.
        let is_free = !matches!(**opener, "#" | "--" | "%" | ";");
        rest.is_some_and(|rest| is_free || !rest.starts_with(|sign: char| sign.is_alphanumeric()))
    };
    openers.iter().find(opens).copied()
}

/// A text without brackets around all of it.
fn unbracketed(text: &str) -> (&str, bool) {
    let mut said = text;
    for (open, close) in [('(', ')'), ('[', ']'), ('<', '>'), ('{', '}')] {
        let inner = said
            .strip_prefix(open)
            .and_then(|said| said.strip_suffix(close));
        // One word in brackets is code, and so are quotes and operators.
        let is_said = |inner: &&str| {
            let is_dotted = inner.contains("...") && !inner.ends_with(char::is_alphanumeric);
            let has_words = inner.contains([' ', '…']) || is_dotted;
            has_words && !inner.contains(['"', '\'', '`', '=', '|', '&', ';', '$'])
        };
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close]) && is_said(inner))
        {
            said = inner.trim();
        }
    }
    (said, said.len() < text.len())
}

/// The dots around a text.
struct Dots<'a> {
    text: &'a str,
    before: bool,
    after: bool,
}

impl<'a> Dots<'a> {
    fn of(said: &'a str) -> Self {
        let dotted = |text: &str, rest: &str| {
            let dots = text.len() - rest.len();
            dots >= 3 && (text.contains("...") || text.contains('…'))
        };
        let rest = said.trim_start_matches(['.', '…']);
        let before = dotted(said, rest);
        let text = rest.trim_end_matches(['.', '…']);
        let after = dotted(rest, text);
        Self {
            text: if before {
                text.trim()
            } else {
                said.trim_end_matches(['.', '…']).trim()
            },
            before,
            after,
        }
    }

    /// Whether this cannot be code: `...rest` spreads a variable.
    fn is_apart(&self, said: &str) -> bool {
        let is_spread = self.before && !self.after && !self.text.contains(' ');
        let is_spaced = said.trim_start_matches(['.', '…']).starts_with(' ');
        !is_spread || is_spaced
    }

    fn kind(&self, phrase: &Phrase) -> Option<Kind> {
        let says_so = phrase.is_statement || phrase.names.is_some();
        let says_all = phrase.is_statement || phrase.names == Some(Names::Rest);
        let is_certain = match (self.before, self.after) {
            (true, true) => says_so && phrase.unknown <= 3,
            (true, false) => says_so && phrase.unknown == 0 && !phrase.goes_on,
            (false, true) => says_all && phrase.unknown == 0,
            (false, false) => false,
        };
        if is_certain {
            return Some(Kind::Certain);
        }
        if self.before && says_so && phrase.unknown <= 2 && !phrase.goes_on {
            return Some(Kind::DottedWords);
        }
        if phrase.unknown == 0 && phrase.is_statement {
            return Some(Kind::Statement);
        }
        match phrase.names {
            Some(Names::Rest) if phrase.is_rest_of() && phrase.unknown <= 2 => {
                Some(Kind::Name(Names::Rest))
            }
            Some(names) if phrase.unknown == 0 => Some(Kind::Name(names)),
            _ if self.before && self.after && phrase.count() <= 6 => Some(Kind::DottedWords),
            _ if self.before && phrase.unknown == 0 => Some(Kind::DottedWords),
            _ => None,
        }
    }
}

/// What a change takes away and brings, by places.
struct Change<'a> {
    old: &'a [String],
    new: &'a [String],
    runs: Vec<crate::diff::Run>,
}

impl<'a> Change<'a> {
    fn new(old: &'a [String], new: &'a [String]) -> Self {
        Self {
            runs: diff_lines(old, new),
            old,
            new,
        }
    }

    /// Whether lines are lost to the one at `ix`.
    fn loses(&self, ix: usize, found: Placeholder, style: Style) -> bool {
        let filled = |lines: &[String]| lines.iter().filter(|line| !fold::is_blank(line)).count();
        let run = self.runs.iter().find(|run| run.new.contains(&ix));
        let gone = run.map_or(0, |run| filled(&self.old[run.old.clone()]));
        let come = run.map_or(0, |run| filled(&self.new[run.new.clone()]));
        match (found.extent, found.kind) {
            (_, Kind::Certain) => style == Style::Code || gone > 0,
            (Extent::Part, Kind::Dots { .. }) => gone > 0 && gone >= come,
            (Extent::Part, Kind::Statement) => gone > come,
            (Extent::Part, _) => false,
            (_, Kind::Dots { is_example }) => {
                let is_body = self.new[ix].trim() == "..." && self.is_body(ix);
                let is_code = !is_example && !is_body;
                is_code && gone > 0 && (style == Style::Code || gone > come)
            }
            (_, Kind::Statement | Kind::DottedWords) => gone > 0,
            (_, Kind::Name(Names::Rest)) => gone > 0 && (gone > come || !self.heads(ix)),
            (_, Kind::Name(Names::Others)) => gone > come && !self.heads(ix),
        }
    }

    /// Whether dots are the only line of a block, as in Python.
    fn is_body(&self, ix: usize) -> bool {
        let depth = fold::indent(&self.new[ix]).len();
        let is_filled = |line: &&String| !fold::is_blank(line);
        let above = self.new[..ix].iter().rev().find(is_filled);
        let below = self.new[ix + 1..].iter().find(is_filled);
        let opens = above.is_some_and(|line| {
            let line = line.trim_end();
            let is_shallower = fold::indent(line).len() < depth;
            let is_documented = line.ends_with("\"\"\"") || line.ends_with("'''");
            (is_shallower && line.ends_with(':')) || is_documented
        });
        opens && below.is_none_or(|line| fold::indent(line).len() < depth)
    }

    /// Whether code follows at once, so that the line may be its heading.
    fn heads(&self, ix: usize) -> bool {
        let depth = fold::indent(&self.new[ix]);
        self.new.get(ix + 1).is_some_and(|line| {
            let is_closing = line.trim_start().starts_with([')', ']', '}', '<']);
            !fold::is_blank(line) && !is_closing && fold::indent(line) == depth
        })
    }
}

#[cfg(test)]
mod tests;

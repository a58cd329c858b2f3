//! Detects lines that a model writes in place of existing ones: `// ... existing code ...`, `# rest
//! unchanged`.
//!
//! In new text such a line would replace the lines it abbreviates, so an edit that adds one is
//! refused. A line that the old text also contains is kept, and so are an ellipsis that is code (a
//! Python body, a spread) and prose that merely uses these words.
//!
//! Start at `added`; `leaves_out` serves blocks whose old text leaves lines out as well.

mod phrase;

use std::collections::HashMap;

use crate::diff::diff_lines;
use crate::fold;

use self::phrase::{OmittedNoun, Phrase};

/// Maximum length of a placeholder line, in bytes.
const MAX_LINE_BYTES: usize = 160;
/// Comment openers, the longest first.
const OPENERS: [&str; 20] = [
    "<%--", "{{!--", "--[[", "<!--", "{/*", "\"\"\"", "'''", "//!", "///", "/**", "/*", "//", "--",
    "(*", "{-", "{#", ";;", "#", ";", "%",
];
/// Character sequences that close a comment.
const CLOSERS: [&str; 11] = [
    "--%>", "--}}", "]]", "-->", "*/}", "*/", "*)", "-}", "#}", "\"\"\"", "'''",
];
/// Comments in which dots alone belong to an example.
const DOCUMENTATION: [&str; 3] = ["///", "//!", "*"];

/// Whether a file contains code or prose, which determines the lines that count as placeholders for
/// omitted lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum PlaceholderStyle {
    /// A programming language, or unknown.
    #[default]
    Code,
    /// Prose, in which `#` begins a heading and `*` a list item.
    Prose,
}

impl PlaceholderStyle {
    /// Determines the kind of text from the extension of the path. A file with an unknown extension
    /// counts as code.
    pub(crate) fn of_path(path: &str) -> Self {
        const PROSE: [&str; 9] = [
            "md", "markdown", "mdx", "rst", "txt", "adoc", "asciidoc", "org", "tex",
        ];
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
        if extension.is_some_and(|extension| PROSE.contains(&extension.as_str())) {
            Self::Prose
        } else {
            Self::Code
        }
    }
}

/// Returns the first line of `new`, trimmed, that is a placeholder for omitted lines of `old`, such
/// as `// ... rest unchanged`. Ignores placeholders that `old` contains, too. Returns `None` if
/// there is no such line.
pub(crate) fn added<'a>(
    old: &[String],
    new: &'a [String],
    style: PlaceholderStyle,
) -> Option<&'a str> {
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
    let change = BlockDiff::new(old, new);
    let mut candidates = candidates.into_iter();
    let (ix, _) = candidates.find(|(ix, found)| change.loses(*ix, *found, style))?;
    Some(new[ix].trim())
}

/// Whether the whole line is a placeholder for omitted lines, such as `...`.
pub(crate) fn leaves_out(line: &str) -> bool {
    Placeholder::of(line, PlaceholderStyle::Code).is_some_and(|found| {
        found.extent == PlaceholderExtent::Whole
            && matches!(
                found.kind,
                PlaceholderKind::Certain | PlaceholderKind::Dots { .. }
            )
    })
}

/// Part of a line that is a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceholderExtent {
    Whole,
    /// A comment after or between code.
    Part,
}

/// Form of a placeholder, the clearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceholderKind {
    /// Dots, and words that say so.
    Certain,
    /// A statement: "unchanged", "same as before".
    Statement,
    /// A name for the omitted part, which may also be a heading: "existing methods".
    Name(OmittedNoun),
    /// Dots around other words.
    DottedWords,
    /// Dots without any words.
    Dots { is_example: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placeholder {
    kind: PlaceholderKind,
    extent: PlaceholderExtent,
}

impl Placeholder {
    /// Detects a placeholder that is a line, or a comment within it. `None` if there is none, or if
    /// the trimmed line is longer than `MAX_LINE_BYTES`.
    fn of(line: &str, style: PlaceholderStyle) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.len() > MAX_LINE_BYTES {
            return None;
        }
        if let Some(kind) = whole_line_kind(line, style) {
            let extent = PlaceholderExtent::Whole;
            return Some(Self { kind, extent });
        }
        let kind = partial_kind(line, style)?;
        let extent = PlaceholderExtent::Part;
        Some(Self { kind, extent })
    }
}

/// Classifies a line that consists of a placeholder only.
fn whole_line_kind(line: &str, style: PlaceholderStyle) -> Option<PlaceholderKind> {
    let (said, opener) = uncommented(line, style);
    let (said, is_bracketed) = unbracketed(said);
    let is_comment = opener.is_some() || is_bracketed;
    let dots = Dots::of(said);
    if dots.text.is_empty() {
        let is_example = opener.is_some_and(|opener| DOCUMENTATION.contains(&opener));
        let is_dots = dots.before || dots.after;
        return is_dots.then_some(PlaceholderKind::Dots { is_example });
    }
    if !is_comment && !dots.is_apart(said) {
        return None;
    }
    let phrase = Phrase::parse(dots.text, is_comment)?;
    let kind = dots.kind(&phrase)?;
    match (style, kind) {
        // Text in code for the user may end in dots, too.
        (PlaceholderStyle::Code, PlaceholderKind::Certain) if !is_comment && !dots.before => {
            Some(PlaceholderKind::Statement)
        }
        (PlaceholderStyle::Code, PlaceholderKind::Certain | PlaceholderKind::DottedWords) => {
            Some(kind)
        }
        (PlaceholderStyle::Code, PlaceholderKind::Statement) => {
            (is_comment || phrase.count() > 2).then_some(kind)
        }
        (PlaceholderStyle::Code, _) => is_comment.then_some(kind),
        // A sentence may well end in dots.
        (PlaceholderStyle::Prose, PlaceholderKind::Certain) => {
            (is_comment || dots.before).then_some(kind)
        }
        (PlaceholderStyle::Prose, _) => None,
    }
}

/// Classifies a comment after or between code, or dots between braces.
fn partial_kind(line: &str, style: PlaceholderStyle) -> Option<PlaceholderKind> {
    if style == PlaceholderStyle::Prose || uncommented(line, style).1.is_some() {
        return None;
    }
    let dots = PlaceholderKind::Dots { is_example: false };
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
            match whole_line_kind(comment.unwrap_or(rest), style)? {
                // After code, a name is a remark about it.
                PlaceholderKind::Name(_) | PlaceholderKind::DottedWords => None,
                kind => Some(kind),
            }
        })
    })
}

/// Strips the comment markers of a line, and returns the opener.
fn uncommented(line: &str, style: PlaceholderStyle) -> (&str, Option<&'static str>) {
    let mut said = line;
    let mut first = None;
    while let Some(opener) = opener_of(said, style) {
        first = first.or(Some(opener));
        said = said[opener.len()..].trim_start();
    }
    if first.is_none() && style == PlaceholderStyle::Code && said.starts_with("* ") {
        // Inside a multi-line comment.
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

/// Returns the comment opener that a text starts with; `None` if there is none, or if the text is
/// code that starts with the same characters, such as `#name`.
fn opener_of(text: &str, style: PlaceholderStyle) -> Option<&'static str> {
    let openers: &[&'static str] = match style {
        PlaceholderStyle::Code => &OPENERS,
        PlaceholderStyle::Prose => &["<!--", "{/*", "/*", "//"],
    };
    let opens = |opener: &&&str| {
        let rest = text.strip_prefix(**opener);
        // `#name` and `--name` are code.
        let is_free = !matches!(**opener, "#" | "--" | "%" | ";");
        rest.is_some_and(|rest| is_free || !rest.starts_with(|sign: char| sign.is_alphanumeric()))
    };
    openers.iter().find(opens).copied()
}

/// Strips brackets around the whole text.
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

/// Dots around a text.
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

    /// Classifies a text by its dots and its words, with `phrase` as the text between the dots;
    /// `None` if it does not say that something is left out.
    fn kind(&self, phrase: &Phrase) -> Option<PlaceholderKind> {
        let says_so = phrase.is_statement || phrase.names.is_some();
        let says_all = phrase.is_statement || phrase.names == Some(OmittedNoun::Rest);
        let is_certain = match (self.before, self.after) {
            (true, true) => says_so && phrase.unknown <= 3,
            (true, false) => says_so && phrase.unknown == 0 && !phrase.goes_on,
            (false, true) => says_all && phrase.unknown == 0,
            (false, false) => false,
        };
        if is_certain {
            return Some(PlaceholderKind::Certain);
        }
        if self.before && says_so && phrase.unknown <= 2 && !phrase.goes_on {
            return Some(PlaceholderKind::DottedWords);
        }
        if phrase.unknown == 0 && phrase.is_statement {
            return Some(PlaceholderKind::Statement);
        }
        match phrase.names {
            Some(OmittedNoun::Rest) if phrase.is_rest_of() && phrase.unknown <= 2 => {
                Some(PlaceholderKind::Name(OmittedNoun::Rest))
            }
            Some(names) if phrase.unknown == 0 => Some(PlaceholderKind::Name(names)),
            _ if self.before && self.after && phrase.count() <= 6 => {
                Some(PlaceholderKind::DottedWords)
            }
            _ if self.before && phrase.unknown == 0 => Some(PlaceholderKind::DottedWords),
            _ => None,
        }
    }
}

/// Removed and added lines of a change.
struct BlockDiff<'a> {
    old: &'a [String],
    new: &'a [String],
    runs: Vec<crate::diff::DiffRun>,
}

impl<'a> BlockDiff<'a> {
    fn new(old: &'a [String], new: &'a [String]) -> Self {
        Self {
            runs: diff_lines(old, new),
            old,
            new,
        }
    }

    /// Whether the line at `ix` replaces existing lines.
    fn loses(&self, ix: usize, found: Placeholder, style: PlaceholderStyle) -> bool {
        let filled = |lines: &[String]| lines.iter().filter(|line| !fold::is_blank(line)).count();
        let run = self.runs.iter().find(|run| run.new.contains(&ix));
        let gone = run.map_or(0, |run| filled(&self.old[run.old.clone()]));
        let come = run.map_or(0, |run| filled(&self.new[run.new.clone()]));
        match (found.extent, found.kind) {
            (_, PlaceholderKind::Certain) => style == PlaceholderStyle::Code || gone > 0,
            (PlaceholderExtent::Part, PlaceholderKind::Dots { .. }) => gone > 0 && gone >= come,
            (PlaceholderExtent::Part, PlaceholderKind::Statement) => gone > come,
            (PlaceholderExtent::Part, _) => false,
            (_, PlaceholderKind::Dots { is_example }) => {
                let is_body = self.new[ix].trim() == "..." && self.is_body(ix);
                let is_code = !is_example && !is_body;
                is_code && gone > 0 && (style == PlaceholderStyle::Code || gone > come)
            }
            (_, PlaceholderKind::Statement | PlaceholderKind::DottedWords) => gone > 0,
            (_, PlaceholderKind::Name(OmittedNoun::Rest)) => {
                gone > 0 && (gone > come || !self.heads(ix))
            }
            (_, PlaceholderKind::Name(OmittedNoun::Others)) => gone > come && !self.heads(ix),
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

    /// Whether code follows directly, so that the line may be its heading.
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

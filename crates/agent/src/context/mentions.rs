//! Parses `@` mentions in a prompt. Only the words matter here; `attach` and `sources` resolve them.

use std::ops::Range;

use crate::prompt_sources::PromptSource;

/// A mention in a text. The mentioned thing may not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Byte range of the mention, including the `@`.
    pub at: Range<usize>,
    /// Possible meaning of the mention.
    pub kind: MentionKind,
}

/// The possible meanings of a mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// A file, folder, rule, skill or symbol, depending on which of them exists.
    Name {
        /// Name without quotes and line numbers.
        name: String,
        /// First and last line, counted from 1.
        lines: Option<(u32, u32)>,
    },
    /// Uncommitted changes of the working tree.
    Diff,
    /// A terminal, without its name.
    Terminal,
    /// Codebase search results for the prompt.
    Codebase,
    /// A page on the web.
    Web {
        /// Address of the page.
        url: String,
    },
    /// A text that only the running program has: problems, another session, the guide, a resource of
    /// an MCP server.
    Source(PromptSource),
}

/// Returns the mentions of a text, in order. Mail addresses, code between backticks and an `@`
/// inside a word are not mentions.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let code = code_spans(text);
    let mut at = 0;
    while let Some(offset) = text[at..].find('@') {
        let begin = at + offset;
        at = begin + 1;
        if let Some(span) = code.iter().find(|span| span.contains(&begin)) {
            at = span.end.max(at);
            continue;
        }
        if text[..begin].ends_with(is_word) {
            continue;
        }
        if let Some(mention) = mention(text, begin) {
            at = mention.at.end;
            found.push(mention);
        }
    }
    found
}

/// Returns whether an `@` after this character is part of a word.
fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '+' | '-' | '@' | '/' | '\\')
}

/// Parses the mention whose `@` is at byte `begin` of `text`. `None` if no name follows, if a
/// quoted name is empty or not closed on its line, or if `@web` is not followed by an address.
fn mention(text: &str, begin: usize) -> Option<Mention> {
    let rest = &text[begin + 1..];
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted
            .find(['"', '\n'])
            .filter(|end| quoted[*end..].starts_with('"'))?;
        let name = quoted[..end].to_owned();
        let after = begin + 1 + 1 + end + 1;
        if let Some(source) = PromptSource::named(&name) {
            let at = begin..after;
            let kind = MentionKind::Source(source);
            return Some(Mention { at, kind });
        }
        let (lines, length) = lines_at(&text[after..]);
        let kind = MentionKind::Name { name, lines };
        let at = begin..after + length;
        return (end > 0).then_some(Mention { at, kind });
    }
    let word = rest.split(ends_word).next().unwrap_or_default();
    let word = trim_end(word);
    if word.is_empty() || !word.starts_with(begins_name) {
        return None;
    }
    let end = begin + 1 + word.len();
    if word == "web" {
        return Some(web(text, begin, end)).flatten();
    }
    let kind = match word {
        "diff" | "changes" => MentionKind::Diff,
        "terminal" => MentionKind::Terminal,
        "codebase" => MentionKind::Codebase,
        "problems" => MentionKind::Source(PromptSource::Problems { file: None }),
        "docs" => MentionKind::Source(PromptSource::Guide { name: None }),
        _ if word.starts_with("http://") || word.starts_with("https://") => MentionKind::Web {
            url: word.to_owned(),
        },
        _ => PromptSource::named(word).map_or_else(|| named(word), MentionKind::Source),
    };
    Some(Mention {
        at: begin..end,
        kind,
    })
}

/// Parses the address after `@web`, which takes the bytes `begin..end` of `text`; spaces may
/// precede it. `None` if it does not begin with `http://` or `https://`.
fn web(text: &str, begin: usize, end: usize) -> Option<Mention> {
    let rest = text[end..].trim_start_matches(' ');
    let skipped = text.len() - end - rest.len();
    let url = trim_end(rest.split(ends_word).next().unwrap_or_default());
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return None;
    }
    Some(Mention {
        at: begin..end + skipped + url.len(),
        kind: MentionKind::Web {
            url: url.to_owned(),
        },
    })
}

/// Parses `src/a.rs:10-20`, `src/a.rs:10`, `src/a.rs#L10-L20`, or a plain name.
fn named(word: &str) -> MentionKind {
    let cut = word.rfind([':', '#']).unwrap_or(word.len());
    let (name, tail) = word.split_at(cut);
    let (lines, length) = lines_at(tail);
    if lines.is_some() && length == tail.len() && !name.is_empty() {
        return MentionKind::Name {
            name: name.to_owned(),
            lines,
        };
    }
    MentionKind::Name {
        name: word.to_owned(),
        lines: None,
    }
}

/// Parses a line range at the start of a text; also returns its length in bytes.
fn lines_at(text: &str) -> (Option<(u32, u32)>, usize) {
    let Some(rest) = text.strip_prefix(':').or_else(|| text.strip_prefix('#')) else {
        return (None, 0);
    };
    let Some((first, rest)) = number(rest) else {
        return (None, 0);
    };
    let last = rest.strip_prefix('-').and_then(number);
    let (last, rest) = last.unwrap_or((first, rest));
    if first == 0 || last == 0 {
        return (None, 0);
    }
    let lines = (first.min(last), first.max(last));
    (Some(lines), text.len() - rest.len())
}

/// Parses a decimal number, with or without a leading `L`, at the start of a text; also returns the
/// text after it. `None` if there is no digit or the number exceeds `u32`.
fn number(text: &str) -> Option<(u32, &str)> {
    let text = text.strip_prefix(['L', 'l']).unwrap_or(text);
    let digits = text.len()
        - text
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let number = text[..digits].parse().ok()?;
    Some((number, &text[digits..]))
}

/// Returns whether an unquoted mention ends before this character.
fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '"' | '`' | '<' | '>' | '|' | '@' | ';')
}

/// Returns whether an unquoted mention may begin with this character, right after the `@`.
fn begins_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '/' | '~' | '-' | '(' | '[')
}

/// Trims the punctuation of the surrounding sentence. A bracket stays if the word opens it.
fn trim_end(word: &str) -> &str {
    let mut word = word;
    loop {
        let trimmed = word.trim_end_matches(['.', ',', ':', '!', '?', '\'', '*']);
        let trimmed = [('(', ')'), ('[', ']'), ('{', '}')]
            .iter()
            .find(|(open, close)| {
                trimmed.ends_with(*close)
                    && trimmed.matches(*open).count() < trimmed.matches(*close).count()
            })
            .map_or(trimmed, |_| &trimmed[..trimmed.len() - 1]);
        if trimmed.len() == word.len() {
            return word;
        }
        word = trimmed;
    }
}

/// Returns the ranges of inline code and code blocks; an unclosed block extends to the end.
fn code_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('`') {
        let begin = at + offset;
        let ticks = text[begin..].len() - text[begin..].trim_start_matches('`').len();
        let fence = &text[begin..begin + ticks];
        let inner = begin + ticks;
        let close = text[inner..].find(fence).map(|end| inner + end + ticks);
        let end = match close {
            Some(end) if ticks >= 3 || !text[inner..end].contains("\n\n") => end,
            None if ticks >= 3 => text.len(),
            _ => {
                at = inner;
                continue;
            }
        };
        spans.push(begin..end);
        at = end;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_by_example() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = mentions(text)
                .iter()
                .map(|mention| {
                    assert!(text[mention.at.clone()].starts_with('@'), "{text}");
                    match &mention.kind {
                        MentionKind::Name { name, lines: None } => name.clone(),
                        MentionKind::Name {
                            name,
                            lines: Some((first, last)),
                        } => format!("{name}|{first}-{last}"),
                        MentionKind::Diff => "DIFF".to_owned(),
                        MentionKind::Terminal => "TERMINAL".to_owned(),
                        MentionKind::Codebase => "CODEBASE".to_owned(),
                        MentionKind::Web { url } => format!("WEB {url}"),
                        MentionKind::Source(source) => format!("{source:?}"),
                    }
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("look at @src/main.rs please", &["src/main.rs"]);
        check("@src/main.rs:10-20", &["src/main.rs|10-20"]);
        check("@src/main.rs:20-10.", &["src/main.rs|10-20"]);
        check("@src/main.rs:7, and", &["src/main.rs|7-7"]);
        check("@src/main.rs#L3-L9", &["src/main.rs|3-9"]);
        check("@src/main.rs:0", &["src/main.rs:0"]);
        check("(see @src/main.rs).", &["src/main.rs"]);
        check("@src/ and @docs/a.md!", &["src/", "docs/a.md"]);
        check("@docs/ and @docs/a.md:3", &["docs/", "docs/a.md|3-3"]);
        check(
            "@docs, @docs:safety#folder-trust. @\"docs:undo a landing\"",
            &[
                "Guide { name: None }",
                "Guide { name: Some(\"safety#folder-trust\") }",
                "Guide { name: Some(\"undo a landing\") }",
            ],
        );
        check("@\"my file.txt\" is", &["my file.txt"]);
        check("@\"my file.txt\":3-4 is", &["my file.txt|3-4"]);
        check("@\"open", &[]);
        check("@\"\"", &[]);
        check("mail me@example.org or a.b+c@d.de", &[]);
        check("a @ b, @, @!", &[]);
        check("use `@Override` here, not @Override", &["Override"]);
        check("```\n@decorator\n```\n@real", &["real"]);
        check("```\n@decorator", &[]);
        check("a ` tick and @name", &["name"]);
        check("@diff @terminal @changes", &["DIFF", "TERMINAL", "DIFF"]);
        check("how, @codebase?", &["CODEBASE"]);
        check("@https://a.org/x?y=1.", &["WEB https://a.org/x?y=1"]);
        check("@web https://a.org/x and", &["WEB https://a.org/x"]);
        check("@web pages", &[]);
        check("@problems, then", &["Problems { file: None }"]);
        check(
            "@problems:src/a.rs. @\"problems:my file.rs\"",
            &[
                "Problems { file: Some(\"src/a.rs\") }",
                "Problems { file: Some(\"my file.rs\") }",
            ],
        );
        check(
            "@\"terminal:cargo test #7-3\"",
            &["Terminal { id: \"7-3\" }"],
        );
        check(
            "@session:18f-1-0 @\"session:Fix it #18f-1-0\"",
            &["Session { id: \"18f-1-0\" }", "Session { id: \"18f-1-0\" }"],
        );
        check(
            "@mcp:notes:note:///a/b.md.",
            &["Resource { server: \"notes\", uri: \"note:///a/b.md\" }"],
        );
        check("@mcp:notes", &["mcp:notes"]);
        check("@Cart.total()", &["Cart.total()"]);
        check("@app/[id]/page.tsx", &["app/[id]/page.tsx"]);
        check("@types/node@20", &["types/node"]);
        check("@größe.md und @日本", &["größe.md", "日本"]);
        check("see @a.rs; @b.rs", &["a.rs", "b.rs"]);
        check("", &[]);
    }

    #[test]
    fn random_text_never_panics() {
        let mut random = 7_u64;
        let letters = [
            '@', '"', ':', '#', 'L', '1', '-', 'a', '`', '\n', ' ', '.', '(', ')', 'ß', '/',
        ];
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push(letters[(random >> 40) as usize % letters.len()]);
            }
            let mut end = 0;
            for mention in mentions(&text) {
                assert!(
                    mention.at.start >= end && mention.at.end <= text.len(),
                    "{text:?}"
                );
                assert!(text.is_char_boundary(mention.at.end), "{text:?}");
                end = mention.at.end;
            }
        }
    }
}

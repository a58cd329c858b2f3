//! Changes the case of selections and the spelling of names.
//!
//! Start at `change_case`.

use base::Span;
use text::EditKind;

use crate::context::{CaretPlan, CommandContext};
use crate::draft::{SelectionEdit, replace_each};
use crate::words::WordScanner;

/// Target spelling of a text, by its case and the way its words are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSpelling {
    /// `UPPER CASE`.
    Upper,
    /// `lower case`.
    Lower,
    /// `Title Case`.
    Title,
    /// `snake_case`.
    Snake,
    /// `camelCase`.
    Camel,
    /// `PascalCase`.
    Pascal,
    /// `kebab-case`.
    Kebab,
    /// `SCREAMING_SNAKE_CASE`.
    ScreamingSnake,
    /// Each letter in the other case.
    Toggled,
}

/// Changes the spelling of the selections, or of the words at the carets. If a word has several
/// carets, changes the word only once.
pub(crate) fn change_case(ctx: &CommandContext, spelling: NameSpelling) -> CaretPlan {
    let words = WordScanner::of(ctx);
    let mut covered = Span::default();
    replace_each(ctx, EditKind::Other, |selection| {
        let span = if selection.is_empty() {
            words.word_at(selection.head)
        } else {
            selection.span()
        };
        // Two carets in one word change it once.
        if selection.is_empty() && (span.is_empty() || covered.overlaps(span)) {
            return SelectionEdit {
                anchor: 0,
                head: 0,
                ..SelectionEdit::caret_at(selection.head)
            };
        }
        covered = span;
        let text = respelled(&ctx.snapshot.text(span), spelling);
        let len = text.len();
        match (selection.is_empty(), selection.is_reversed()) {
            (true, _) => SelectionEdit::caret_behind(span, text),
            (false, true) => SelectionEdit {
                span,
                text,
                anchor: len,
                head: 0,
            },
            (false, false) => SelectionEdit {
                span,
                text,
                anchor: 0,
                head: len,
            },
        }
    })
}

/// Returns the text in another spelling; all but case applies to each row as one name.
pub fn respelled(text: &str, spelling: NameSpelling) -> String {
    match spelling {
        NameSpelling::Upper => text.to_uppercase(),
        NameSpelling::Lower => text.to_lowercase(),
        NameSpelling::Title => title(text),
        NameSpelling::Toggled => text.chars().flat_map(toggled).collect(),
        _ => each_row(text, |row| name(row, spelling)),
    }
}

fn title(text: &str) -> String {
    let mut spelt = String::with_capacity(text.len());
    let mut is_inside = false;
    for char in text.chars() {
        if is_inside {
            spelt.extend(char.to_lowercase())
        } else {
            spelt.extend(char.to_uppercase())
        }
        // An apostrophe or a combining mark continues the word.
        is_inside = char.is_alphanumeric()
            || is_inside
                && (char == '\'' || char == '’' || !char.is_ascii() && !char.is_whitespace());
    }
    spelt
}

fn toggled(char: char) -> Vec<char> {
    if char.is_uppercase() {
        char.to_lowercase().collect()
    } else {
        char.to_uppercase().collect()
    }
}

/// Applies `spell` to every row as one name; line endings stay.
fn each_row(text: &str, spell: impl Fn(&str) -> String) -> String {
    let rows = text.split_inclusive('\n').map(|row| {
        let body = row.trim_end_matches(['\n', '\r']);
        spell(body) + &row[body.len()..]
    });
    rows.collect()
}

/// Spells a row as one name, keeping surrounding blanks and punctuation.
fn name(row: &str, spelling: NameSpelling) -> String {
    let is_part = |char: char| char.is_alphanumeric();
    let Some(start) = row.find(is_part) else {
        return row.to_owned();
    };
    let end = row.rfind(is_part).map_or(row.len(), |last| {
        last + row[last..].chars().next().map_or(0, char::len_utf8)
    });
    let parts = name_words(&row[start..end]);
    let spelt: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(ix, part)| spell_part(part, ix, spelling))
        .collect();
    let glue = match spelling {
        NameSpelling::Snake | NameSpelling::ScreamingSnake => "_",
        NameSpelling::Kebab => "-",
        _ => "",
    };
    [&row[..start], &spelt.join(glue), &row[end..]].concat()
}

fn spell_part(part: &str, ix: usize, spelling: NameSpelling) -> String {
    match spelling {
        NameSpelling::ScreamingSnake => part.to_uppercase(),
        NameSpelling::Camel if ix > 0 => capitalised(part),
        NameSpelling::Pascal => capitalised(part),
        _ => part.to_lowercase(),
    }
}

/// Returns the text with its first letter in upper case and the rest in lower case.
pub(crate) fn capitalised(part: &str) -> String {
    let mut chars = part.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).collect()
}

/// Splits a name into words, whatever its spelling.
fn name_words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for (ix, char) in chars.iter().enumerate() {
        if !char.is_alphanumeric() && char.is_ascii() {
            parts.extend((!part.is_empty()).then(|| std::mem::take(&mut part)));
            continue;
        }
        let previous = ix.checked_sub(1).map(|ix| chars[ix]);
        let starts_part = char.is_uppercase()
            && previous.is_some_and(|previous| {
                !previous.is_uppercase()
                    || chars.get(ix + 1).is_some_and(|next| next.is_lowercase())
            });
        if starts_part && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        part.push(*char);
    }
    parts.extend((!part.is_empty()).then_some(part));
    parts
}

//! Changing the letters of what is selected: capitals, and the ways to spell names.
//!
//! Start at `change_case`.

use base::Span;
use text::EditKind;

use crate::context::{Context, Plan};
use crate::draft::{Swap, replace_each};
use crate::words::Words;

/// How a text is to be spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Upper,
    Lower,
    Title,
    Snake,
    Camel,
    Pascal,
    Kebab,
    ScreamingSnake,
    Toggled,
}

/// Spells the selections, or the words at the carets, another way.
pub(crate) fn change_case(ctx: &Context, spelling: Spelling) -> Plan {
    let words = Words::of(ctx);
    let mut taken = Span::default();
    replace_each(ctx, EditKind::Other, |selection| {
        let span = match selection.is_empty() {
            true => words.word_at(selection.head),
            false => selection.span(),
        };
        // Two carets in one word change it once.
        if selection.is_empty() && (span.is_empty() || taken.overlaps(span)) {
            return Swap {
                anchor: 0,
                head: 0,
                ..Swap::caret_at(selection.head)
            };
        }
        taken = span;
        let text = spelt(&ctx.snapshot.text(span), spelling);
        let len = text.len();
        match (selection.is_empty(), selection.is_reversed()) {
            (true, _) => Swap::caret_behind(span, text),
            (false, true) => Swap {
                span,
                text,
                anchor: len,
                head: 0,
            },
            (false, false) => Swap {
                span,
                text,
                anchor: 0,
                head: len,
            },
        }
    })
}

fn spelt(text: &str, spelling: Spelling) -> String {
    match spelling {
        Spelling::Upper => text.to_uppercase(),
        Spelling::Lower => text.to_lowercase(),
        Spelling::Title => title(text),
        Spelling::Toggled => text.chars().flat_map(toggled).collect(),
        _ => each_row(text, |row| name(row, spelling)),
    }
}

fn title(text: &str) -> String {
    let mut spelt = String::with_capacity(text.len());
    let mut is_inside = false;
    for char in text.chars() {
        match is_inside {
            true => spelt.extend(char.to_lowercase()),
            false => spelt.extend(char.to_uppercase()),
        }
        // An apostrophe or a combining mark goes on with the word.
        is_inside = char.is_alphanumeric()
            || is_inside
                && (char == '\'' || char == '’' || !char.is_ascii() && !char.is_whitespace());
    }
    spelt
}

fn toggled(char: char) -> Vec<char> {
    match char.is_uppercase() {
        true => char.to_lowercase().collect(),
        false => char.to_uppercase().collect(),
    }
}

/// Rows are names of their own; their endings stay.
fn each_row(text: &str, spell: impl Fn(&str) -> String) -> String {
    let rows = text.split_inclusive('\n').map(|row| {
        let body = row.trim_end_matches(['\n', '\r']);
        spell(body) + &row[body.len()..]
    });
    rows.collect()
}

/// A row of text as one name, the blanks and marks around it kept.
fn name(row: &str, spelling: Spelling) -> String {
    let is_part = |char: char| char.is_alphanumeric();
    let Some(start) = row.find(is_part) else {
        return row.to_owned();
    };
    let end = row.rfind(is_part).map_or(row.len(), |last| {
        last + row[last..].chars().next().map_or(0, char::len_utf8)
    });
    let parts = parts(&row[start..end]);
    let spelt: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(ix, part)| spell_part(part, ix, spelling))
        .collect();
    let glue = match spelling {
        Spelling::Snake | Spelling::ScreamingSnake => "_",
        Spelling::Kebab => "-",
        _ => "",
    };
    [&row[..start], &spelt.join(glue), &row[end..]].concat()
}

fn spell_part(part: &str, ix: usize, spelling: Spelling) -> String {
    match spelling {
        Spelling::ScreamingSnake => part.to_uppercase(),
        Spelling::Camel if ix > 0 => capitalised(part),
        Spelling::Pascal => capitalised(part),
        _ => part.to_lowercase(),
    }
}

/// The same letters with a capital first and small ones behind.
pub(crate) fn capitalised(part: &str) -> String {
    let mut chars = part.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).collect()
}

/// The words a name is made of, whichever way it is spelt.
fn parts(name: &str) -> Vec<String> {
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

//! Text that is wrong at a caret, made from the text that is right there.

use autocomplete::EditorState;
use base::{Bias, ByteOffset, Row, Span};
use syntax::{Budget, SyntaxScope, SyntaxTree};
use text::Snapshot;

use super::local_tier::OpenFile;
use crate::interleave::Dice;

/// Bytes behind the caret that are read.
const BEHIND: usize = 2_000;
/// Rows above the caret that are read.
const ABOVE: u32 = 40;
const CLOSERS: [char; 3] = [')', ']', '}'];

/// A caret with the text around it and the right text.
pub(super) struct Caret<'a> {
    state: EditorState,
    /// Right text, up to the end of the hunk.
    left: &'a str,
    /// The caret's row up to the caret.
    begun: String,
    /// Rows above it, the nearest first, without blank ones.
    above: Vec<String>,
    behind: String,
}

impl<'a> Caret<'a> {
    pub(super) fn new(open: &OpenFile, left: &'a str) -> Self {
        let state = open.state();
        let snapshot = &state.snapshot;
        let row = snapshot.point_at(state.caret).row;
        let end = snapshot.clip(state.caret + BEHIND, Bias::Left);
        let above = (row.0.saturating_sub(ABOVE)..row.0).rev();
        let above = above.map(|row| snapshot.row_text(Row(row)).trim_end().to_owned());
        Self {
            left,
            begun: snapshot
                .text(Span::new(snapshot.row_start(row), state.caret))
                .into_owned(),
            above: above.filter(|row| !row.trim().is_empty()).collect(),
            behind: snapshot.text(Span::new(state.caret, end)).into_owned(),
            state,
        }
    }

    /// Returns the right text up to the end of the row.
    pub(super) fn line(&self) -> &'a str {
        self.left.lines().next().unwrap_or_default().trim_end()
    }

    /// Returns the closing brackets that do not match the innermost bracket that is open some bytes behind the caret in
    /// the right text. `None` outside of code, and where a pair other than brackets is open.
    fn mismatched_closers(&self, ahead: usize) -> Option<Vec<char>> {
        let (now, caret) = (&self.state.snapshot, self.state.caret);
        let before = now.text(Span::new(ByteOffset(0), caret));
        let behind = now.text(Span::new(caret, now.len()));
        let right = Snapshot::new(&format!("{before}{}{behind}", self.left));
        let mut tree = SyntaxTree::new(self.state.language?);
        // The parse is complete, because its budget is not limited.
        drop(tree.parse(&right, &mut Budget::unlimited()));
        let syntax = tree.snapshot();
        let place = caret + ahead;
        if syntax.scope_at(&right, place) != SyntaxScope::Code {
            return None;
        }
        let pair = syntax.enclosing_brackets(&right, Span::at(place));
        let matching = pair.map(|pair| right.text(pair.close).into_owned());
        let mut closers = CLOSERS.to_vec();
        if let Some(matching) = matching {
            closers.retain(|closer| !matching.starts_with(*closer));
        }
        (closers.len() == 2 || pair.is_none()).then_some(closers)
    }
}

/// Returns the rest of the row with a closing bracket that does not match the innermost open one, so that no text
/// behind it can make it right. `None` outside of code.
pub(super) fn unbalanced(caret: &Caret<'_>, dice: &mut Dice) -> Option<String> {
    let line = caret.line();
    if !has_words(line) {
        return None;
    }
    let is_between_words = |(at, ch): &(usize, char)| *at > 0 && !is_word(*ch);
    let places = line.char_indices().filter(is_between_words);
    let places: Vec<usize> = places.map(|(at, _)| at).chain([line.len()]).collect();
    let at = places[dice.below(places.len())];
    let closers = caret.mismatched_closers(at)?;
    let closer = closers[dice.below(closers.len())];
    Some(format!("{}{closer}{}", &line[..at], &line[at..]))
}

/// Returns the whole row although its beginning is typed.
pub(super) fn joined_wrongly(caret: &Caret<'_>) -> Option<String> {
    let begun = caret.begun.trim_start();
    let line = caret.line();
    (has_words(begun) && has_words(line)).then(|| format!("{begun}{line}"))
}

/// Returns the rest of the hunk and the text behind it up to the end of one to three rows, which is there already.
pub(super) fn repeats_suffix(caret: &Caret<'_>, dice: &mut Dice) -> Option<String> {
    let mut rows = 1 + dice.below(3);
    // Unless the hunk ends with a whole row, the first row behind it belongs to the right text.
    let is_whole_row = caret.left.ends_with('\n');
    let mut end = 0;
    for (ix, row) in caret.behind.split_inclusive('\n').enumerate() {
        end += row.len();
        rows -= usize::from(has_words(row) && (ix > 0 || is_whole_row));
        if rows == 0 {
            break;
        }
    }
    let behind = &caret.behind[..end];
    let behind = if is_whole_row {
        behind
    } else {
        behind.trim_end()
    };
    (rows == 0 && has_words(caret.left)).then(|| format!("{}{behind}", caret.left))
}

/// Returns one to three rows right above, where a row begins that does not start like them.
pub(super) fn repeats_above(caret: &Caret<'_>, dice: &mut Dice) -> Option<String> {
    if !caret.begun.trim().is_empty() {
        return None;
    }
    let rows = 1 + dice.below(3);
    let mut above: Vec<&str> = caret.above.iter().take(rows).map(String::as_str).collect();
    above.reverse();
    let text = above.join("\n").trim_start().to_owned();
    let right = caret.left.trim_start();
    let is_wrong = !right.starts_with(text.lines().next()?);
    (above.len() == rows && has_words(&text) && is_wrong).then_some(text)
}

/// Returns the rest of the row up to the middle of a word.
pub(super) fn cut_in_word(caret: &Caret<'_>, dice: &mut Dice) -> Option<String> {
    let line = caret.line();
    let is_within = |at: &usize| {
        let word_before = line[..*at].chars().rev().take_while(|ch| is_word(*ch));
        let word_behind = line[*at..].chars().take_while(|ch| is_word(*ch));
        word_before.count() >= 2 && word_behind.count() >= 2
    };
    let places: Vec<usize> = line
        .char_indices()
        .map(|(at, _)| at)
        .filter(is_within)
        .collect();
    let at = places.get(dice.below(places.len()))?;
    Some(line[..*at].to_owned())
}

/// Returns rows of code in another language.
pub(super) fn other_language(caret: &Caret<'_>, dice: &mut Dice) -> Option<String> {
    let own = caret.state.language.map_or("", |language| language.name());
    let others: Vec<&str> = FOREIGN
        .iter()
        .filter(|(languages, _)| !languages.contains(&own))
        .flat_map(|(_, texts)| texts.iter().copied())
        .collect();
    others
        .get(dice.below(others.len()))
        .map(|it| (*it).to_owned())
}

/// Returns the rest of the row up to a closing bracket whose opening one is typed, and that bracket, which the editor has
/// put behind the caret already.
pub(super) fn duplicated_closer(caret: &Caret<'_>) -> Option<(String, String)> {
    let line = caret.line();
    let mut depth = 0;
    let closer = line.char_indices().find(|(_, ch)| match ch {
        '(' | '[' | '{' => {
            depth += 1;
            false
        }
        ')' | ']' | '}' => {
            depth -= 1;
            depth < 0
        }
        _ => false,
    });
    let (at, closer) = closer?;
    let opener = match closer {
        ')' => '(',
        ']' => '[',
        _ => '{',
    };
    let is_open = caret.begun.contains(opener);
    let text = line[..at + closer.len_utf8()].to_owned();
    (is_open && !line.contains(['"', '\'', '`'])).then(|| (text, closer.to_string()))
}

fn has_words(text: &str) -> bool {
    text.chars().filter(|ch| ch.is_alphanumeric()).count() >= 4
}

fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Code by the languages in which it is valid.
static FOREIGN: [(&[&str], &[&str]); 6] = [
    (
        &["Rust"],
        &[
            "let mut entries: Vec<&str> = text.lines().map(|line| line.trim()).collect();",
            "match self.state.take() {\n    Some(state) => state.finish()?,\n    None => return Ok(()),\n}",
        ],
    ),
    (
        &["Python"],
        &[
            "for name, value in sorted(options.items()):\n    print(f\"{name}: {value!r}\")",
            "def total(self, *values: int) -> int:\n    return sum(v for v in values if v is not None)",
        ],
    ),
    (
        &["TypeScript", "TSX", "JavaScript"],
        &[
            "const result = await fetch(url, { method: 'POST', body }).then((it) => it.json());",
            "export default function render({ items = [] }) {\n  return items.map((it) => `${it.name}!`);\n}",
        ],
    ),
    (
        &["Go"],
        &[
            "if err := json.Unmarshal(data, &options); err != nil {\n\treturn nil, err\n}",
            "func (s *Server) Close() error {\n\tdefer s.mu.Unlock()\n\treturn s.listener.Close()\n}",
        ],
    ),
    (
        &["Ruby"],
        &[
            "items.each do |item|\n  puts \"#{item.name}: #{item.price}\" unless item.hidden?\nend",
            "def total(*values) = values.compact.sum { |value| value.to_i }",
        ],
    ),
    (
        &["C", "C++"],
        &[
            "for (size_t i = 0; i < count; i++) {\n    *buffer++ = (unsigned char)values[i];\n}",
            "#define MAX_ENTRIES (1u << 12)\nstatic struct entry *entries[MAX_ENTRIES];",
        ],
    ),
];

//! The removed lines of a change with their syntax colours, for the diffs of Git and the review of agents' changes.
//!
//! Invariant: a text that is too long, or that takes too long to parse, has no colours.
//! `ParsedBase` highlights the lines of a parsed text, `render` draws them.

use std::ops::Range;
use std::path::Path;

use base::Row;
use editor::BlockPlace;
use gpui_kit::{
    App, Div, HighlightStyle, ParentElement as _, Styled as _, StyledText, combine_highlights, div,
};
use syntax::{HighlightKind, Language, SyntaxSnapshot, language_for, parse_whole};
use text::{RowSpan, Snapshot};
use ui::{ActiveTheme as _, Label};

use super::changed_words::ChangedWords;

/// Maximum length of a highlighted text, in bytes.
const MAX_BYTES: usize = 256 << 10;
/// Maximum length of removed lines that are highlighted on the UI thread, in bytes.
const MAX_LINES: usize = 8 << 10;
/// Maximum parse of a whole text, in progress checks of the parser: about a second.
const MAX_STEPS: u32 = 100_000;
/// Maximum parse on the UI thread, in progress checks of the parser: some milliseconds.
const MAX_LINE_STEPS: u32 = 500;
/// Spaces that replace a tab.
const TAB: &str = "    ";

/// The syntax highlights of a line, as byte ranges with their kinds; sorted and disjoint.
pub(super) type LineKinds = Vec<(Range<usize>, HighlightKind)>;

/// The marks of removed lines.
pub(super) struct RemovedMarks<'m> {
    /// The words that differ.
    pub(super) words: &'m ChangedWords,
    /// The kinds of the parts of each line; empty if they are not known.
    pub(super) kinds: &'m [LineKinds],
    /// The lines that were added again elsewhere.
    pub(super) moved: &'m [Range<usize>],
}

/// The text before a change, parsed.
pub(super) struct ParsedBase {
    text: Snapshot,
    syntax: SyntaxSnapshot,
}

impl ParsedBase {
    /// Parses the text of a file; `None` without a known language. Takes up to a second, so it runs on a background thread.
    pub(super) fn new(path: &Path, text: &str) -> Option<Self> {
        let first = text.lines().next().unwrap_or_default();
        let language = language_for(path, first).filter(|_| text.len() <= MAX_BYTES)?;
        language.prepare();
        Self::parse(language, text, MAX_STEPS)
    }

    fn parse(language: Language, text: &str, max_steps: u32) -> Option<Self> {
        let text = Snapshot::new(text);
        let syntax = parse_whole(language, &text, max_steps)?;
        Some(Self { text, syntax })
    }

    /// Returns the highlights of each row.
    pub(super) fn kinds_in(&self, rows: RowSpan) -> Vec<LineKinds> {
        let rows = rows.start.0..rows.end.0.min(self.text.row_count());
        rows.map(|row| self.kinds_of(Row(row))).collect()
    }

    fn kinds_of(&self, row: Row) -> LineKinds {
        let start = self.text.row_start(row);
        let span = base::Span::new(start, self.text.row_end(row));
        let highlights = self.syntax.highlights(&self.text, span).into_iter();
        let parts = highlights.map(|it| {
            let range = it.span.start.0 - start.0..it.span.end.0 - start.0;
            (range, it.kind)
        });
        parts.collect()
    }
}

/// Parses removed lines alone, without the rest of their file, and returns their highlights. Returns `None` while the
/// queries of the language are not compiled; an editor that opens the file compiles them in the background.
pub(super) fn kinds_in_lines(path: &Path, lines: &[String]) -> Option<Vec<LineKinds>> {
    let text = lines.join("\n");
    let Some(language) = language_for(path, "").filter(|_| text.len() <= MAX_LINES) else {
        return Some(Vec::new());
    };
    if !language.is_prepared() {
        return None;
    }
    let rows = RowSpan {
        start: Row(0),
        end: Row(lines.len() as u32),
    };
    let parsed = ParsedBase::parse(language, &text, MAX_LINE_STEPS);
    Some(parsed.map_or_else(Vec::new, |parsed| parsed.kinds_in(rows)))
}

/// Renders at most `max` removed lines verbatim, then the number of the others.
pub(super) fn render(
    lines: &[String],
    marks: &RemovedMarks<'_>,
    max: usize,
    place: &BlockPlace,
    cx: &App,
) -> Vec<Div> {
    let theme = cx.theme();
    let row = |is_moved: bool| {
        let ground = if is_moved {
            theme.colors.info.opacity(0.15)
        } else {
            theme.colors.removed_ground
        };
        div()
            .flex_none()
            .h(place.line_height)
            .line_height(place.line_height)
            .pl(place.gutter)
            .overflow_hidden()
            .whitespace_nowrap()
            .font(theme.code_font())
            .text_size(theme.code_size())
            .bg(ground)
            .text_color(theme.colors.text)
    };
    let shown = lines.iter().take(max).enumerate();
    let shown = shown.map(|(ix, line)| {
        let kinds = marks.kinds.get(ix).map_or(&[][..], Vec::as_slice);
        let is_moved = marks.moved.iter().any(|lines| lines.contains(&ix));
        row(is_moved).child(styled_line(line, marks.words.removed_in(ix), kinds, cx))
    });
    let mut rows: Vec<Div> = shown.collect();
    let more = lines.len() - rows.len();
    if more > 0 {
        let more = format!("and {more} more removed lines");
        rows.push(row(false).child(Label::new(more).small().muted()));
    }
    rows
}

/// Returns a removed line in its colours, with a background behind its changed words.
fn styled_line(
    line: &str,
    words: &[Range<usize>],
    kinds: &[(Range<usize>, HighlightKind)],
    cx: &App,
) -> StyledText {
    let spaced = line.replace('\t', TAB);
    let shown = ui::foreign::one_line(spaced.clone());
    if *shown != *spaced {
        // Escaped control characters shift the offsets, so the line has no styles.
        return StyledText::new(shown);
    }
    let theme = cx.theme();
    let ground = HighlightStyle {
        background_color: Some(theme.colors.removed_ground),
        ..HighlightStyle::default()
    };
    let words = with_spaces(line, words.iter().map(|word| (word.clone(), ground)));
    let kinds = kinds
        .iter()
        .filter_map(|(part, kind)| Some((part.clone(), theme.syntax(kind.name())?)));
    let kinds = with_spaces(line, kinds);
    StyledText::new(shown).with_highlights(combine_highlights(kinds, words))
}

/// Converts sorted byte ranges of a line to ranges of the line in which spaces replace the tabs.
fn with_spaces<T>(
    line: &str,
    parts: impl Iterator<Item = (Range<usize>, T)>,
) -> Vec<(Range<usize>, T)> {
    let (mut tabs, mut counted) = (0, 0);
    let mut moved = |at: usize| {
        tabs += line[counted..at].matches('\t').count();
        counted = at;
        at + (TAB.len() - 1) * tabs
    };
    let parts = parts.map(|(part, style)| (moved(part.start)..moved(part.end), style));
    parts.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::Row;
    use text::RowSpan;

    use super::{MAX_BYTES, ParsedBase, kinds_in_lines, with_spaces};

    fn rows(start: u32, end: u32) -> RowSpan {
        RowSpan {
            start: Row(start),
            end: Row(end),
        }
    }

    /// Returns the parts of the rows that have a kind, joined by bars.
    #[track_caller]
    fn check(path: &str, text: &str, shown: RowSpan, expected: &[&str]) {
        let parsed = ParsedBase::new(Path::new(path), text).expect("a language");
        let lines = text.lines().skip(shown.start.0 as usize);
        let parts = lines.zip(parsed.kinds_in(shown)).map(|(line, kinds)| {
            let parts = kinds.into_iter().map(|(part, _)| line[part].to_owned());
            parts.collect::<Vec<_>>().join("|")
        });
        assert_eq!(parts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn removed_lines_have_the_colours_of_their_text() {
        check(
            "a.rs",
            "/* one\ntwo */\nfn f() {}\n",
            rows(1, 3),
            &["two */", "fn|f|()|{}"],
        );
        assert!(ParsedBase::new(Path::new("a.unknown"), "fn").is_none());
        let long = "x\n".repeat(MAX_BYTES);
        assert!(ParsedBase::new(Path::new("a.rs"), &long).is_none());
    }

    #[test]
    fn lines_without_their_text_are_coloured_alone() {
        let lines = ["fn f() {}".to_owned(), "let a = 1;".to_owned()];
        // Compiles the queries of the language; in the app, the editor of the file does that.
        assert!(ParsedBase::new(Path::new("a.rs"), "").is_some());
        let kinds = kinds_in_lines(Path::new("a.rs"), &lines).expect("kinds");
        assert_eq!(kinds.len(), 2);
        assert_eq!(kinds[1][0].0, 0..3);
        assert_eq!(kinds_in_lines(Path::new("a.unknown"), &lines), Some(vec![]));
    }

    #[test]
    fn lines_are_coloured_once_the_queries_are_compiled() {
        // No other test of this program uses the language.
        let (path, lines) = (Path::new("a.lua"), ["local a = 1".to_owned()]);
        assert_eq!(kinds_in_lines(path, &lines), None);
        assert!(ParsedBase::new(path, "").is_some());
        let kinds = kinds_in_lines(path, &lines).expect("kinds");
        assert_eq!(kinds[0][0].0, 0..5);
    }

    #[test]
    fn tabs_move_the_parts_behind_them() {
        let parts = [(1..2, 'a'), (3..4, 'b')].into_iter();
        assert_eq!(with_spaces("\ta\tb", parts), [(4..5, 'a'), (9..10, 'b')]);
    }
}

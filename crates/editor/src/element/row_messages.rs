//! Messages after the ends of rows, such as those of diagnostics.
//!
//! Invariant: their cost depends on the visible rows. Start at `Decorator::add_row_messages`.

use std::sync::Arc;

use base::{LineFeeds, Row, printable};
use gpui_kit::{Context, Hsla, Pixels, Point, ShapedLine, TextRun, Window, point};
use lsp::{Diagnostic, DiagnosticSeverity};
use settings::InlineDiagnostics;
use text::Snapshot;
use ui::ActiveTheme as _;

use super::diagnostics::{MAX_VISIBLE, severity_color};
use super::layout::{Decorator, VisibleRow};
use crate::editor::Editor;
use crate::frame::{Geometry, Palette};
use crate::model::PlacedDiagnostic;

/// Cells between the end of a row and its message.
const GAP: f32 = 3.0;
/// Minimum and maximum number of characters of a message; with less room, it is not shown.
const MIN_CHARS: usize = 10;
const MAX_CHARS: usize = 200;
/// Opacity of the messages.
const FADE: f32 = 0.75;

/// A message after the end of a visible row.
pub(crate) struct RowMessage {
    /// Its left end, at the top of the row.
    pub(crate) origin: Point<Pixels>,
    pub(crate) line: ShapedLine,
}

impl Decorator<'_> {
    /// Adds the message of the worst diagnostic of each visible row, as far as the settings want it.
    pub(super) fn add_row_messages(&mut self, window: &Window, cx: &Context<Editor>) {
        let mildest = match self.editor.settings.inline_diagnostics {
            InlineDiagnostics::Off => return,
            InlineDiagnostics::Errors => DiagnosticSeverity::Error,
            InlineDiagnostics::All => DiagnosticSeverity::Information,
        };
        let model = self.editor.model.read(cx);
        let mut found = model.diagnostics_in(self.layout.span);
        found.truncate(MAX_VISIBLE);
        let messages = worst_of_rows(&found, &self.editor.snapshot, mildest);
        let colors = cx.theme().colors;
        let (geometry, palette) = (&self.layout.geometry, &*self.layout.palette);
        for visible in self.layout.rows.iter().filter(|row| row.shape.is_last) {
            let row = messages.binary_search_by_key(&visible.buffer_row, |(row, _)| *row);
            let message = row.ok().and_then(|ix| messages.get(ix));
            let Some((_, diagnostic)) = message else {
                continue;
            };
            let color = severity_color(diagnostic.severity, &colors).opacity(FADE);
            let shaped = shape_message(
                diagnostic.message.trim(),
                color,
                visible,
                (geometry, palette),
                window,
            );
            self.layout.messages.extend(shaped);
        }
    }
}

/// Shapes the first line of a text after the end of a visible row; `None` if there is too little room.
pub(super) fn shape_message(
    text: &str,
    color: Hsla,
    visible: &VisibleRow,
    (geometry, palette): (&Geometry, &Palette),
    window: &Window,
) -> Option<RowMessage> {
    let x = geometry.x_of(visible.shape.end_cell?) + Pixels::from(GAP * palette.advance);
    let room = f32::from(geometry.text.right() - x) / palette.advance;
    let text = cut_message(text, room.max(0.0) as usize)?;
    let run = TextRun {
        len: text.len(),
        font: palette.font.clone(),
        color,
        background_color: None,
        underline: None,
        strikethrough: None,
    };
    let system = window.text_system();
    Some(RowMessage {
        origin: point(x, geometry.y_of(visible.y)),
        line: system.shape_line(text.into(), palette.size, &[run], None),
    })
}

/// Returns the rows in which diagnostics begin, sorted, each with the worst one that is at least as bad as `mildest`.
fn worst_of_rows(
    found: &[PlacedDiagnostic],
    snapshot: &Snapshot,
    mildest: DiagnosticSeverity,
) -> Vec<(Row, Arc<Diagnostic>)> {
    let serious = found
        .iter()
        .filter(|placed| placed.diagnostic.severity <= mildest);
    let mut rows: Vec<_> = serious
        .map(|placed| {
            let row = snapshot.point_at(placed.span.start).row;
            (row, placed.diagnostic.clone())
        })
        .collect();
    rows.sort_by_key(|(row, diagnostic)| (*row, diagnostic.severity));
    rows.dedup_by_key(|(row, _)| *row);
    rows
}

/// Returns the first line of a text, cut to the number of characters for which there is room; `None` if that is too
/// few.
fn cut_message(text: &str, room: usize) -> Option<String> {
    if room < MIN_CHARS {
        return None;
    }
    let line = text.lines().next()?;
    let line = printable(line, LineFeeds::Escape);
    let limit = room.min(MAX_CHARS);
    if line.chars().take(limit + 1).count() <= limit {
        return Some(line.into_owned());
    }
    let start = line.chars().take(limit - 1);
    Some(start.chain(['\u{2026}']).collect())
}

#[cfg(test)]
mod tests {
    use base::Span;
    use lsp::DiagnosticTags;

    use super::*;

    fn placed(at: usize, severity: DiagnosticSeverity, message: &str) -> PlacedDiagnostic {
        let span = Span::from(at..at + 1);
        let diagnostic = Diagnostic {
            span,
            severity,
            message: message.to_owned(),
            code: None,
            code_url: None,
            source: None,
            tags: DiagnosticTags::default(),
            related: Vec::new(),
        };
        PlacedDiagnostic {
            span,
            diagnostic: Arc::new(diagnostic),
        }
    }

    #[test]
    fn a_row_shows_its_worst_diagnostic() {
        use DiagnosticSeverity::{Error, Hint, Information, Warning};
        let snapshot = Snapshot::new("abc\nabc\nabc\n");
        let found = [
            placed(0, Warning, "a"),
            placed(1, Error, "b"),
            placed(4, Information, "c"),
            placed(8, Hint, "d"),
        ];
        let check = |mildest, expected: &[(u32, &str)]| {
            let rows = worst_of_rows(&found, &snapshot, mildest);
            let rows: Vec<_> = rows
                .iter()
                .map(|(row, it)| (row.0, it.message.as_str()))
                .collect();
            assert_eq!(rows, expected);
        };
        check(Error, &[(0, "b")]);
        check(Information, &[(0, "b"), (1, "c")]);
    }

    #[test]
    fn a_message_is_cut_to_its_room() {
        let found = placed(
            0,
            DiagnosticSeverity::Error,
            "mismatched types\nexpected u8",
        );
        let cut = |room| cut_message(&found.diagnostic.message, room);
        assert_eq!(cut(40).as_deref(), Some("mismatched types"));
        assert_eq!(cut(16).as_deref(), Some("mismatched types"));
        assert_eq!(cut(12).as_deref(), Some("mismatched \u{2026}"));
        assert_eq!(cut(9), None);
    }
}

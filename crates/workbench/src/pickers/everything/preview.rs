//! Highlighted preview of the rows around the selected result, beside the list.

use std::path::Path;
use std::sync::Arc;

use base::{AbsPath, Row, Span};
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, HighlightStyle, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, StyledText,
    TestSupportExt as _, div,
};
use host::Files;
use syntax::{Budget, ParseStatus, SyntaxTree};
use text::{RowSpan, Snapshot};
use ui::{ActiveTheme as _, Elide, Label, dp};

/// Number of rows shown.
const ROWS: u32 = 22;
/// Rows of context above the result.
const ABOVE: u32 = 3;
/// Bytes of a row that are shown.
const WIDE: usize = 160;
/// Largest file read for a preview, in bytes.
const LARGEST: u64 = 2 << 20;

/// Rows of a file, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Preview {
    path: SharedString,
    /// Rows to highlight, if any.
    meant: Option<RowSpan>,
    lines: Vec<PreviewLine>,
    /// Reason for an empty preview.
    reason: Option<SharedString>,
}

#[derive(Clone, Debug)]
struct PreviewLine {
    number: u32,
    text: String,
    colours: Vec<(std::ops::Range<usize>, syntax::HighlightKind)>,
    is_meant: bool,
}

/// Source of the text.
pub(super) enum PreviewText {
    Open(Snapshot),
    OnDisk(Arc<dyn Files>),
}

/// Reads and highlights the rows around a result; without one, the start of the file. Runs in the
/// background.
pub(super) fn read(
    path: &AbsPath,
    shown: String,
    meant: Option<RowSpan>,
    text: PreviewText,
) -> Preview {
    let snapshot = match text {
        PreviewText::Open(snapshot) => Ok(snapshot),
        PreviewText::OnDisk(files) => match files.read(path, LARGEST) {
            Ok(bytes) if bytes.contains(&0) => Err("This file is not text".to_owned()),
            Ok(bytes) => Ok(Snapshot::new(&String::from_utf8_lossy(&bytes))),
            Err(error) => Err(error.to_string()),
        },
    };
    match snapshot {
        Ok(snapshot) => Preview {
            lines: preview_lines(path.as_path(), &snapshot, meant),
            ..Preview::of(shown, meant)
        },
        Err(reason) => Preview {
            reason: Some(reason.into()),
            ..Preview::of(shown, meant)
        },
    }
}

fn preview_lines(path: &Path, snapshot: &Snapshot, meant: Option<RowSpan>) -> Vec<PreviewLine> {
    let first = meant.map_or(0, |rows| rows.start.0.saturating_sub(ABOVE));
    let end = (first + ROWS).min(snapshot.row_count());
    let start_text = snapshot.row_text(Row(0));
    let tree = syntax::language_for(path, &start_text).and_then(|language| {
        let mut tree = SyntaxTree::new(language);
        match tree.parse(snapshot, &mut Budget::unlimited()) {
            ParseStatus::Done | ParseStatus::Unsettled => Some(tree.snapshot()),
            ParseStatus::Running | ParseStatus::Pending(_) => None,
        }
    });
    (first..end)
        .map(|row| {
            let span = snapshot.row_span(Row(row));
            let text = snapshot.text(span);
            let cut = text.floor_char_boundary(WIDE);
            let shown = Span::new(span.start, span.start + cut);
            let colours = tree.as_ref().map(|tree| tree.highlights(snapshot, shown));
            let within = |at: base::ByteOffset| (at.0.max(span.start.0) - span.start.0).min(cut);
            let colours = colours.unwrap_or_default().into_iter();
            let colours = colours
                .map(|colour| {
                    (
                        within(colour.span.start)..within(colour.span.end),
                        colour.kind,
                    )
                })
                .filter(|(range, _)| !range.is_empty());
            PreviewLine {
                number: row + 1,
                colours: colours.collect(),
                text: text[..cut].to_owned(),
                is_meant: meant.is_some_and(|rows| rows.contains(Row(row))),
            }
        })
        .collect()
}

impl Preview {
    /// Creates a preview whose file is not read yet.
    pub(super) fn of(path: impl Into<SharedString>, meant: Option<RowSpan>) -> Self {
        Self {
            path: path.into(),
            meant,
            ..Self::default()
        }
    }

    /// Returns whether the preview shows these rows of this file.
    pub(super) fn is_of(&self, path: &str, meant: Option<RowSpan>) -> bool {
        self.path == path && self.meant == meant
    }

    /// Returns the path and the first row, for tests.
    #[cfg(test)]
    pub(super) fn first_line(&self) -> (String, Option<String>) {
        let first = self.lines.first().map(|line| line.text.clone());
        (self.path.to_string(), first)
    }

    /// Draws the preview.
    pub(super) fn render(&self, cx: &App) -> AnyElement {
        let theme = cx.theme();
        let c = theme.colors;
        let size = dp(12.0);
        let rows = self.lines.iter().map(|line| {
            let colours = line.colours.iter().filter_map(|(range, kind)| {
                let style: HighlightStyle = theme.syntax(kind.name())?;
                Some((range.clone(), style))
            });
            // Tabs have no width outside the editor.
            let has_tabs = line.text.contains('\t');
            let text: SharedString = if has_tabs {
                line.text.replace('\t', "    ").into()
            } else {
                line.text.clone().into()
            };
            let text = StyledText::new(text);
            let text = if has_tabs {
                text
            } else {
                text.with_highlights(colours.collect::<Vec<_>>())
            };
            div()
                .flex()
                .flex_none()
                .h(dp(18.0))
                .line_height(dp(18.0))
                .when(line.is_meant, |row| row.bg(c.hover))
                .child(
                    div()
                        .flex_none()
                        .w(dp(44.0))
                        .pr(dp(12.0))
                        .text_right()
                        .text_color(c.line_number)
                        .child(line.number.to_string()),
                )
                .child(div().flex_none().whitespace_nowrap().child(text))
        });
        let reason = self
            .reason
            .clone()
            .map(|reason| div().p(dp(12.0)).child(Label::new(reason).small().muted()));
        div()
            .id("preview")
            .role(Role::Group)
            .aria_label(format!("Preview of {}", self.path))
            .test_support()
            .size_full()
            .flex()
            .flex_col()
            .overflow_hidden()
            .child(
                div()
                    .flex_none()
                    .h(dp(28.0))
                    .px(dp(12.0))
                    .flex()
                    .items_center()
                    .child(
                        Label::new(self.path.clone())
                            .small()
                            .muted()
                            .elide(Elide::Middle(56)),
                    ),
            )
            .child(
                div()
                    .flex_1()
                    .min_h_0()
                    .overflow_hidden()
                    .font(theme.code_font())
                    .text_size(size)
                    .text_color(c.text)
                    .children(rows),
            )
            .children(reason)
            .into_any_element()
    }
}

#[cfg(test)]
mod tests {
    use base::Row;
    use text::{RowSpan, Snapshot};

    use super::preview_lines;

    #[test]
    fn rows_around_the_place_are_coloured() {
        let text = "// first\n".to_owned() + &"fn f() { g(1) }\n".repeat(40);
        let meant = RowSpan {
            start: Row(10),
            end: Row(12),
        };
        let path = std::path::Path::new("/p/a.rs");
        let shown = preview_lines(path, &Snapshot::new(&text), Some(meant));
        assert_eq!((shown[0].number, shown.len()), (8, 22));
        let marked: Vec<u32> = shown
            .iter()
            .filter(|line| line.is_meant)
            .map(|line| line.number)
            .collect();
        assert_eq!(marked, [11, 12]);
        assert_eq!(shown[0].colours[0].0, 0..2, "a keyword");
        let start = preview_lines(path, &Snapshot::new(&text), None);
        assert_eq!(start[0].colours[0].0, 0..8, "a comment");
    }
}

//! Content and layout of a picker row.

use gpui_kit::{
    AnyElement, IntoElement, ParentElement as _, SharedString, Styled as _, div, relative,
};

use crate::foreign::one_line;
use crate::key_hint::KeyHint;
use crate::label::{Elide, Label};
use crate::theme::dp;

/// A row with a title and further parts.
#[derive(Default)]
pub struct PickerRow {
    title: SharedString,
    title_matches: Vec<usize>,
    detail: Option<SharedString>,
    detail_matches: Vec<usize>,
    start: Option<AnyElement>,
    end: Option<SharedString>,
    keys: Option<SharedString>,
    muted: bool,
    is_prose: bool,
    /// Number of levels by which the row is indented.
    level: u8,
}

/// Maximum chars of a detail on its own line.
const DETAIL: usize = 72;
/// Maximum chars of a title and its detail on one line.
const LINE: usize = 84;
/// Length in chars above which a title is elided in favour of its detail.
const TITLE: usize = 58;
const TITLE_SHARE: f32 = 0.7;
/// Width of a level of indentation.
const INDENT: f32 = 12.0;

impl PickerRow {
    /// Creates a row with a title.
    pub fn new(title: impl Into<SharedString>) -> Self {
        Self {
            title: one_line(title),
            ..Self::default()
        }
    }

    /// Highlights query matches, by byte offsets of the title.
    pub fn matches(mut self, offsets: impl IntoIterator<Item = usize>) -> Self {
        self.title_matches = offsets.into_iter().collect();
        self
    }

    /// Sets secondary text: beside the title, or below it in rows of two lines. Elided in the
    /// middle.
    pub fn detail(mut self, detail: impl Into<SharedString>) -> Self {
        self.detail = Some(one_line(detail));
        self
    }

    /// Treats the detail as sentences, which are elided at the end.
    pub fn prose(mut self) -> Self {
        self.is_prose = true;
        self
    }

    /// Highlights query matches at these byte offsets of the detail.
    pub fn detail_matches(mut self, offsets: impl IntoIterator<Item = usize>) -> Self {
        self.detail_matches = offsets.into_iter().collect();
        self
    }

    /// Sets the element before the title.
    pub fn start(mut self, start: impl IntoElement) -> Self {
        self.start = Some(start.into_any_element());
        self
    }

    /// Indents the row, as an entry of a tree, by levels below the outermost.
    pub fn level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// Sets the text at the end.
    pub fn end_text(mut self, end: impl Into<SharedString>) -> Self {
        self.end = Some(one_line(end));
        self
    }

    /// Sets the key binding at the end.
    pub fn keys(mut self, keys: Option<SharedString>) -> Self {
        self.keys = keys;
        self
    }

    /// Mutes the row: it is listed but cannot be confirmed.
    pub fn muted(mut self) -> Self {
        self.muted = true;
        self
    }

    /// Returns the accessible label.
    pub(super) fn spoken(&self) -> SharedString {
        match &self.detail {
            Some(detail) => format!("{}, {detail}", self.title).into(),
            None => self.title.clone(),
        }
    }

    /// Returns the elision of the detail: in the middle for paths.
    fn elide(&self, lines: u8) -> Elide {
        match (self.is_prose, lines) {
            (true, _) => Elide::End,
            (false, 1) => Elide::Middle(LINE - self.title.chars().count().min(TITLE)),
            (false, _) => Elide::Middle(DETAIL),
        }
    }

    /// Returns the elements of a row with this many lines.
    pub(super) fn row_elements(self, lines: u8) -> Vec<AnyElement> {
        let elide = self.elide(lines);
        let mut title = Label::new(self.title).matches(self.title_matches);
        if self.muted {
            title = title.muted();
        }
        let detail = self.detail.map(|detail| {
            Label::new(detail)
                .small()
                .muted()
                .matches(self.detail_matches)
                .elide(elide)
        });
        let share = match detail {
            Some(_) => TITLE_SHARE,
            None => 1.0,
        };
        let words = if lines > 1 {
            div().flex().flex_col().child(title).children(detail)
        } else {
            div()
                .flex()
                .items_center()
                .gap(dp(8.0))
                .child(div().flex_none().max_w(relative(share)).child(title))
                .children(detail)
        };
        let mut parts = Vec::new();
        if self.level > 0 {
            let width = dp(INDENT * f32::from(self.level));
            parts.push(div().flex_none().w(width).into_any_element());
        }
        parts.extend(self.start);
        parts.push(
            words
                .flex_1()
                .min_w_0()
                .overflow_hidden()
                .into_any_element(),
        );
        parts.extend(
            self.end
                .map(|end| Label::new(end).small().muted().into_any_element()),
        );
        parts.extend(self.keys.map(|keys| KeyHint::text(keys).into_any_element()));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_what_its_title_leaves_and_prose_ends() {
        let row = |title: &str| PickerRow::new(title.to_owned()).detail("a/b/c.rs");
        assert_eq!(row("lib.rs").elide(1), Elide::Middle(78));
        assert_eq!(row(&"w".repeat(200)).elide(1), Elide::Middle(26));
        assert_eq!(row(&"w".repeat(200)).elide(2), Elide::Middle(72));
        assert_eq!(row("lib.rs").prose().elide(1), Elide::End);
    }
}

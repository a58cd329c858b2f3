//! What one row of a picker looks like.

use gpui_kit::{
    AnyElement, IntoElement, ParentElement as _, SharedString, Styled as _, div, relative,
};

use crate::foreign::one_line;
use crate::key_hint::KeyHint;
use crate::label::{Elide, Label};
use crate::theme::dp;

/// A title, and what stands around it.
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
}

/// Chars of a detail on a line of its own.
const DETAIL: usize = 72;
/// Chars that a title and its detail have on one line.
const LINE: usize = 84;
/// Chars of a title beyond which it gives way to its detail, and the share of the line that is then its.
const TITLE: usize = 58;
const TITLE_SHARE: f32 = 0.7;

impl PickerRow {
    /// A row of that title.
    pub fn new(title: impl Into<SharedString>) -> Self {
        Self {
            title: one_line(title),
            ..Self::default()
        }
    }

    /// Marks what the query met, by byte offsets of the title.
    pub fn matches(mut self, offsets: impl IntoIterator<Item = usize>) -> Self {
        self.title_matches = offsets.into_iter().collect();
        self
    }

    /// Secondary text: beside the title, or below it where rows have two lines. Its middle gives way.
    pub fn detail(mut self, detail: impl Into<SharedString>) -> Self {
        self.detail = Some(one_line(detail));
        self
    }

    /// The detail is made of sentences, of which the end gives way.
    pub fn prose(mut self) -> Self {
        self.is_prose = true;
        self
    }

    /// Marks what the query met in the detail.
    pub fn detail_matches(mut self, offsets: impl IntoIterator<Item = usize>) -> Self {
        self.detail_matches = offsets.into_iter().collect();
        self
    }

    /// A picture at the start.
    pub fn start(mut self, start: impl IntoElement) -> Self {
        self.start = Some(start.into_any_element());
        self
    }

    /// Text at the end.
    pub fn end(mut self, end: impl Into<SharedString>) -> Self {
        self.end = Some(one_line(end));
        self
    }

    /// Keys at the end.
    pub fn keys(mut self, keys: Option<SharedString>) -> Self {
        self.keys = keys;
        self
    }

    /// Something that is there but cannot be taken.
    pub fn muted(mut self) -> Self {
        self.muted = true;
        self
    }

    /// What a screen reader says.
    pub(super) fn spoken(&self) -> SharedString {
        match &self.detail {
            Some(detail) => format!("{}, {detail}", self.title).into(),
            None => self.title.clone(),
        }
    }

    /// How much of a detail is left out in its middle, as a path's.
    fn elide(&self, lines: u8) -> Elide {
        match (self.is_prose, lines) {
            (true, _) => Elide::End,
            (false, 1) => Elide::Middle(LINE - self.title.chars().count().min(TITLE)),
            (false, _) => Elide::Middle(DETAIL),
        }
    }

    /// The parts of a row of so many lines.
    pub(super) fn parts(self, lines: u8) -> Vec<AnyElement> {
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
        let mut parts: Vec<AnyElement> = self.start.into_iter().collect();
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

//! Text that is elided to fit: at the end for titles, in the middle for paths.

use std::ops::Range;

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    App, FontWeight, HighlightStyle, Hsla, IntoElement, ParentElement as _, RenderOnce,
    SharedString, Styled as _, StyledText, Window, div,
};

use crate::foreign::one_line;
use crate::theme::{ActiveTheme as _, dp};

/// Part of a text to elide if it is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elide {
    /// The end, for titles.
    #[default]
    End,
    /// The middle, for paths. The number is the available length in chars.
    Middle(usize),
}

/// A single line of text.
#[derive(IntoElement)]
pub struct Label {
    text: SharedString,
    size: f32,
    color: Option<Hsla>,
    muted: bool,
    weight: Option<FontWeight>,
    mono: bool,
    elide: Elide,
    matches: Vec<usize>,
}

impl Label {
    /// Creates a label in the default text size.
    pub fn new(text: impl Into<SharedString>) -> Self {
        Self {
            text: one_line(text),
            size: 13.0,
            color: None,
            muted: false,
            weight: None,
            mono: false,
            elide: Elide::End,
            matches: Vec::new(),
        }
    }

    /// Uses the size of secondary text.
    pub fn small(mut self) -> Self {
        self.size = 12.0;
        self
    }

    /// Uses the size of line numbers and list headings.
    pub fn tiny(mut self) -> Self {
        self.size = 11.0;
        self
    }

    /// Uses the muted text colour.
    pub fn muted(mut self) -> Self {
        self.muted = true;
        self
    }

    /// Uses a colour of the theme.
    pub fn color(mut self, color: Hsla) -> Self {
        self.color = Some(color);
        self
    }

    /// Uses a semibold weight.
    pub fn strong(mut self) -> Self {
        self.weight = Some(FontWeight::SEMIBOLD);
        self
    }

    /// Uses the code font.
    pub fn mono(mut self) -> Self {
        self.mono = true;
        self
    }

    /// Sets the part to elide.
    pub fn elide(mut self, elide: Elide) -> Self {
        self.elide = elide;
        self
    }

    /// Highlights the characters that match a query, by byte offset.
    pub fn matches(mut self, offsets: impl IntoIterator<Item = usize>) -> Self {
        self.matches = offsets.into_iter().collect();
        self
    }
}

impl RenderOnce for Label {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let theme = cx.theme();
        let color = self.color.or(self.muted.then_some(theme.colors.muted));
        let (text, matches) = match self.elide {
            Elide::Middle(room) => elide_matches(&self.text, &self.matches, room),
            Elide::End => (self.text, self.matches),
        };
        let style = HighlightStyle {
            color: Some(theme.colors.link),
            font_weight: Some(FontWeight::SEMIBOLD),
            ..HighlightStyle::default()
        };
        let runs = ranges(&text, &matches)
            .into_iter()
            .map(move |range| (range, style));
        div()
            .min_w_0()
            .truncate()
            .text_size(dp(self.size))
            .when_some(color, |div, color| div.text_color(color))
            .when_some(self.weight, |div, weight| div.font_weight(weight))
            .when(self.mono, |div| {
                div.font_family(theme.fonts.code_family.clone())
            })
            .child(StyledText::new(text).with_highlights(runs))
    }
}

/// Elides the middle of a text longer than `room` chars with `…`. A path keeps its last component
/// if that fits. The text is unchanged if it has at most `room` chars or if `room` is less than 3.
pub fn elide_middle(text: &str, room: usize) -> String {
    elided_range(text, room).map_or_else(
        || text.to_owned(),
        |cut| format!("{}…{}", &text[..cut.start], &text[cut.end..]),
    )
}

/// Returns the bytes to remove so that `room` chars with an ellipsis remain. Returns `None` if the
/// text has at most `room` chars, or if `room` is less than 3.
fn elided_range(text: &str, room: usize) -> Option<Range<usize>> {
    let count = text.chars().count();
    if count <= room || room < 3 {
        return None;
    }
    let offset = |at: usize| {
        text.char_indices()
            .nth(at)
            .map_or(text.len(), |(offset, _)| offset)
    };
    let keep = room - 1;
    let name = text
        .rfind(['/', '\\'])
        .map_or(0, |slash| text[slash..].chars().count());
    let tail = name.clamp(keep.div_ceil(2), keep - 1);
    Some(offset(keep - tail)..offset(count - tail))
}

/// Elides the text like `elide_middle`, and moves `matches`, the byte offsets of chars, with it.
/// Offsets in the removed part are dropped.
fn elide_matches(
    text: &SharedString,
    matches: &[usize],
    room: usize,
) -> (SharedString, Vec<usize>) {
    let Some(cut) = elided_range(text, room) else {
        return (text.clone(), matches.to_vec());
    };
    let moved = matches.iter().filter_map(|&offset| {
        if offset < cut.start {
            Some(offset)
        } else if offset >= cut.end {
            Some(offset - cut.end + cut.start + '…'.len_utf8())
        } else {
            None
        }
    });
    (elide_middle(text, room).into(), moved.collect())
}

/// Joins adjacent chars into ranges, ignoring offsets that are not char boundaries of the text.
fn ranges(text: &str, offsets: &[usize]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for &start in offsets {
        let Some(char) = text.get(start..).and_then(|rest| rest.chars().next()) else {
            continue;
        };
        let end = start + char.len_utf8();
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            Some(last) if last.end > start => {}
            _ => ranges.push(start..end),
        }
    }
    ranges
}

#[cfg(test)]
mod tests;

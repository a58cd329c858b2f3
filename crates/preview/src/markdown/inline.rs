//! Text with styles and links.

use std::ops::Range;

/// A text with styles and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InlineText {
    /// The text without markup.
    pub text: String,
    /// The parts with a style, in bytes of the text: in its order, not empty, without overlap.
    pub spans: Vec<InlineSpan>,
    /// The targets of links, by the numbers in the styles.
    pub links: Vec<String>,
}

/// A part of a text with a style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineSpan {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// The style of all of them.
    pub style: InlineStyle,
}

/// The style of a part of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InlineStyle {
    /// Whether it is bold.
    pub is_strong: bool,
    /// Whether it is italic.
    pub is_emphasis: bool,
    /// Whether it is struck out.
    pub is_struck: bool,
    /// Whether it is code or a formula.
    pub is_code: bool,
    /// Number of the link that it belongs to.
    pub link: Option<usize>,
}

/// An image of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineImage {
    /// The target as it is written.
    pub target: String,
    /// The text for those who do not see it.
    pub alt: String,
    /// The target of the link around it.
    pub link: Option<String>,
}

/// A text or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InlinePart {
    Text(InlineText),
    Images(Vec<InlineImage>),
}

/// Collects the content of a paragraph, a heading or a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct InlineBuilder {
    parts: Vec<InlinePart>,
    text: InlineText,
    strong: usize,
    emphasis: usize,
    struck: usize,
    /// Destinations of the links whose end was not parsed yet, outermost first.
    links: Vec<String>,
    /// The image whose end was not parsed yet.
    image: Option<InlineImage>,
}

/// A change of the style.
#[derive(Clone, Copy, Debug)]
pub(super) enum StyleChange {
    Strong,
    Emphasis,
    Struck,
}

impl InlineBuilder {
    pub(super) fn push(&mut self, text: &str) {
        self.push_styled(text, false);
    }

    pub(super) fn push_code(&mut self, text: &str) {
        self.push_styled(text, true);
    }

    fn push_styled(&mut self, text: &str, is_code: bool) {
        if let Some(image) = &mut self.image {
            image.alt.push_str(text);
            return;
        }
        if text.is_empty() {
            return;
        }
        let start = self.text.text.len();
        self.text.text.push_str(text);
        let style = InlineStyle {
            is_strong: self.strong > 0,
            is_emphasis: self.emphasis > 0,
            is_struck: self.struck > 0,
            is_code,
            link: self.link_number(),
        };
        if style == InlineStyle::default() {
            return;
        }
        let range = start..self.text.text.len();
        match self.text.spans.last_mut() {
            Some(last) if last.range.end == start && last.style == style => {
                last.range.end = range.end;
            }
            _ => self.text.spans.push(InlineSpan { range, style }),
        }
    }

    /// Returns the number of the innermost link in the open text.
    fn link_number(&mut self) -> Option<usize> {
        let target = self.links.last()?;
        let links = &mut self.text.links;
        if links.last() != Some(target) {
            links.push(target.clone());
        }
        Some(links.len() - 1)
    }

    pub(super) fn open(&mut self, change: StyleChange) {
        *self.count(change) += 1;
    }

    pub(super) fn close(&mut self, change: StyleChange) {
        let count = self.count(change);
        *count = count.saturating_sub(1);
    }

    fn count(&mut self, change: StyleChange) -> &mut usize {
        match change {
            StyleChange::Strong => &mut self.strong,
            StyleChange::Emphasis => &mut self.emphasis,
            StyleChange::Struck => &mut self.struck,
        }
    }

    pub(super) fn open_link(&mut self, target: &str) {
        self.links.push(target.to_owned());
    }

    pub(super) fn close_link(&mut self) {
        self.links.pop();
    }

    pub(super) fn open_image(&mut self, target: &str) {
        // An image within the text for those who do not see another one has no place.
        if self.image.is_none() {
            self.image = Some(InlineImage {
                target: target.to_owned(),
                alt: String::new(),
                link: self.links.last().cloned(),
            });
        }
    }

    pub(super) fn close_image(&mut self) {
        if let Some(image) = self.image.take() {
            self.push_image(image);
        }
    }

    pub(super) fn push_image(&mut self, image: InlineImage) {
        self.end_text();
        match self.parts.last_mut() {
            Some(InlinePart::Images(images)) => images.push(image),
            _ => self.parts.push(InlinePart::Images(vec![image])),
        }
    }

    /// Returns the target of the innermost link.
    pub(super) fn link(&self) -> Option<String> {
        self.links.last().cloned()
    }

    /// Returns the parts, and is empty afterwards. Styles that are still open stay open.
    pub(super) fn take(&mut self) -> Vec<InlinePart> {
        self.end_text();
        std::mem::take(&mut self.parts)
    }

    /// Returns the content as one text, images as their descriptions, and is empty afterwards.
    pub(super) fn take_text(&mut self) -> InlineText {
        let mut whole = InlineText::default();
        for part in self.take() {
            match part {
                InlinePart::Text(text) => whole.append(text),
                InlinePart::Images(images) => {
                    for image in images {
                        whole.text.push_str(&image.alt);
                    }
                }
            }
        }
        whole
    }

    fn end_text(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.trim();
        if !text.text.is_empty() {
            self.parts.push(InlinePart::Text(text));
        }
    }
}

impl InlineText {
    fn append(&mut self, other: Self) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let (start, first_link) = (self.text.len(), self.links.len());
        self.text.push_str(&other.text);
        self.links.extend(other.links);
        self.spans.extend(other.spans.into_iter().map(|mut span| {
            span.range = span.range.start + start..span.range.end + start;
            span.style.link = span.style.link.map(|link| link + first_link);
            span
        }));
    }

    /// Removes blanks at both ends, which the markup around images leaves.
    fn trim(&mut self) {
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        let start = end - self.text.trim_start().len();
        self.text.drain(..start);
        for span in &mut self.spans {
            let clip = |at: usize| at.min(end).saturating_sub(start);
            span.range = clip(span.range.start)..clip(span.range.end);
        }
        self.spans.retain(|span| !span.range.is_empty());
    }
}

//! Text with styles and links.

use gpui_kit::{
    AnyElement, Context, ElementId, FontStyle, FontWeight, HighlightStyle, Hsla, InteractiveText,
    IntoElement as _, StrikethroughStyle, StyledText, UnderlineStyle, px,
};
use preview::{InlineStyle, InlineText};
use settings::Colors;
use ui::foreign::multi_line;
use ui::{ActiveTheme as _, Tooltip};

use super::MarkdownPreview;
use super::links::tooltip_text;

/// Maximum length of a text that is drawn, in bytes.
const MAX_TEXT: usize = 64 << 10;

impl MarkdownPreview {
    /// Renders a text; a click on a link follows it.
    pub(super) fn render_inline(
        &self,
        id: impl Into<ElementId>,
        text: &InlineText,
        cx: &Context<Self>,
    ) -> AnyElement {
        let shown = shown_text(text);
        let colors = cx.theme().colors;
        let code_family = cx.theme().fonts.code_family.clone();
        let (mut highlights, mut families) = (Vec::new(), Vec::new());
        let mut links = Vec::new();
        for span in text
            .spans
            .iter()
            .take_while(|span| span.range.end <= shown.len())
        {
            let style = span.style;
            highlights.push((span.range.clone(), highlight(style, &colors)));
            if style.is_code {
                families.push((span.range.clone(), code_family.clone()));
            }
            if let Some(link) = style.link.and_then(|link| text.links.get(link)) {
                links.push((span.range.clone(), link.clone()));
            }
        }
        let styled = StyledText::new(shown)
            .with_highlights(highlights)
            .with_font_family_overrides(families);
        if links.is_empty() {
            return styled.into_any_element();
        }
        let ranges = links.iter().map(|(range, _)| range.clone()).collect();
        let (clicked, hovered) = (links.clone(), links);
        let view = cx.weak_entity();
        InteractiveText::new(id, styled)
            .on_click(ranges, move |ix, _, cx| {
                if let Some((_, target)) = clicked.get(ix) {
                    // The view may have been closed.
                    view.update(cx, |view, cx| view.open_link(target, cx)).ok();
                }
            })
            .tooltip(move |at, window, cx| {
                let link = hovered.iter().find(|(range, _)| range.contains(&at));
                link.map(|(_, target)| Tooltip::text(tooltip_text(target))(window, cx))
            })
            .into_any_element()
    }
}

/// Returns the text as it is drawn: hidden characters would show another text than the one that is read, and they would
/// shift the styles, so each is replaced by one of the same length.
fn shown_text(text: &InlineText) -> String {
    let mut end = text.text.len().min(MAX_TEXT);
    while !text.text.is_char_boundary(end) {
        end -= 1;
    }
    let part = &text.text[..end];
    if multi_line(part.to_owned()).as_ref() == part {
        return part.to_owned();
    }
    let visible = |char: char| {
        let own = char.to_string();
        let is_hidden = char != '\n' && multi_line(own.clone()).as_ref() != own;
        match (is_hidden, char.len_utf8()) {
            (false, _) => own,
            (true, 3) => "\u{fffd}".to_owned(),
            (true, length) => "?".repeat(length),
        }
    };
    part.chars().map(visible).collect()
}

fn highlight(style: InlineStyle, colors: &Colors<Hsla>) -> HighlightStyle {
    HighlightStyle {
        color: style.link.map(|_| colors.link),
        font_weight: style.is_strong.then_some(FontWeight::BOLD),
        font_style: style.is_emphasis.then_some(FontStyle::Italic),
        background_color: style.is_code.then_some(colors.sunken),
        underline: style.link.map(|_| UnderlineStyle {
            thickness: px(1.0),
            color: Some(colors.link),
            wavy: false,
        }),
        strikethrough: style.is_struck.then_some(StrikethroughStyle {
            thickness: px(1.0),
            color: None,
        }),
        ..HighlightStyle::default()
    }
}

#[cfg(test)]
mod tests {
    use preview::InlineText;

    use super::{MAX_TEXT, shown_text};

    fn shown(text: &str) -> String {
        shown_text(&InlineText {
            text: text.to_owned(),
            ..InlineText::default()
        })
    }

    #[test]
    fn hidden_characters_become_visible_ones_of_their_length() {
        assert_eq!(shown("plain\ntext"), "plain\ntext");
        let text = "a\u{202e}b\u{7}c";
        let visible = shown(text);
        assert_eq!(visible, "a\u{fffd}b?c");
        assert_eq!(visible.len(), text.len());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = format!("x{}", "\u{e9}".repeat(MAX_TEXT));
        assert_eq!(shown(&text).len(), MAX_TEXT - 1);
    }
}

//! The little of HTML that means something in a preview: line breaks, images, comments.

use super::InlineImage;

/// Maximum length of a tag that is read.
const MAX_TAG: usize = 4 << 10;

/// The meaning of a piece of HTML within a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HtmlPiece {
    LineBreak,
    Image(InlineImage),
    /// A comment, or a tag that only changes the looks of the text in it.
    Nothing,
    /// Anything else, which is shown as it is written.
    Other,
}

/// Tags around text that is shown without them.
const SILENT: &[&str] = &[
    "a", "abbr", "b", "center", "del", "details", "div", "em", "i", "ins", "kbd", "p", "picture",
    "s", "small", "source", "span", "strong", "sub", "summary", "sup", "u",
];

/// Returns the meaning of a tag or a comment.
pub(super) fn piece(html: &str) -> HtmlPiece {
    let html = html.trim();
    if html.starts_with("<!--") {
        return HtmlPiece::Nothing;
    }
    let name = tag_name(html);
    match name.as_str() {
        "br" => HtmlPiece::LineBreak,
        "img" => image(html).map_or(HtmlPiece::Nothing, HtmlPiece::Image),
        name if SILENT.contains(&name) => HtmlPiece::Nothing,
        _ => HtmlPiece::Other,
    }
}

/// Returns the images of a block of HTML if it has nothing else that is visible.
pub(super) fn only_images(html: &str) -> Option<Vec<InlineImage>> {
    let mut images = Vec::new();
    let mut rest = html;
    loop {
        let Some(start) = rest.find('<') else {
            return rest.trim().is_empty().then_some(images);
        };
        if !rest[..start].trim().is_empty() {
            return None;
        }
        rest = &rest[start..];
        let end = match rest.strip_prefix("<!--") {
            Some(comment) => comment.find("-->").map(|at| at + 7),
            None => rest.find('>').map(|at| at + 1),
        }?;
        match piece(&rest[..end]) {
            HtmlPiece::Image(image) => images.push(image),
            HtmlPiece::Nothing | HtmlPiece::LineBreak => {}
            HtmlPiece::Other => return None,
        }
        rest = &rest[end..];
    }
}

/// Returns the name of a tag in small letters; empty for other texts.
fn tag_name(html: &str) -> String {
    let inner = html.strip_prefix("</").or_else(|| html.strip_prefix('<'));
    let inner = inner.unwrap_or_default();
    let end = inner.find(|it: char| !it.is_ascii_alphanumeric());
    inner[..end.unwrap_or(inner.len())].to_ascii_lowercase()
}

/// Returns the image of an `img` tag.
fn image(tag: &str) -> Option<InlineImage> {
    Some(InlineImage {
        target: attribute(tag, "src")?,
        alt: attribute(tag, "alt").unwrap_or_default(),
        link: None,
    })
}

/// Returns the value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    if tag.len() > MAX_TAG {
        return None;
    }
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower[from..].find(name) {
        let at = from + found;
        from = at + name.len();
        let is_start = lower[..at].ends_with(|it: char| it.is_ascii_whitespace());
        let rest = tag[from..].trim_start();
        let Some(value) = rest.strip_prefix('=').filter(|_| is_start) else {
            continue;
        };
        let value = value.trim_start();
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let inner = value.strip_prefix(quote)?;
            inner.split(quote).next()
        });
        let bare = || {
            value
                .split(|it: char| it.is_ascii_whitespace() || it == '>')
                .next()
        };
        return quoted.or_else(bare).map(str::to_owned);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{HtmlPiece, only_images, piece};

    #[test]
    fn only_breaks_and_images_mean_something() {
        assert_eq!(piece("<br/>"), HtmlPiece::LineBreak);
        assert_eq!(piece("<!-- x -->"), HtmlPiece::Nothing);
        assert_eq!(piece("</KBD>"), HtmlPiece::Nothing);
        assert_eq!(piece("<script>"), HtmlPiece::Other);
        assert_eq!(piece("<img alt='x'>"), HtmlPiece::Nothing);
        let HtmlPiece::Image(image) = piece("<IMG data-src=no alt='a b' SRC=\"c.png\" width=3>")
        else {
            panic!("an image");
        };
        assert_eq!(
            (image.target.as_str(), image.alt.as_str()),
            ("c.png", "a b")
        );
    }

    #[test]
    fn a_block_with_nothing_but_images_shows_them() {
        let html = "<p align=\"center\">\n  <img src=a.png><br>\n <!-- > --> <a href=\"x\"><img src='b.svg'/></a>\n</p>";
        let images = only_images(html).expect("images");
        let targets: Vec<&str> = images.iter().map(|it| it.target.as_str()).collect();
        assert_eq!(targets, ["a.png", "b.svg"]);
        for html in [
            "<p>text <img src=a.png></p>",
            "<iframe src=x>",
            "<img src=a",
            "<!-- open",
        ] {
            assert_eq!(only_images(html), None, "{html}");
        }
    }
}

//! Colours that are written in a text, such as `#ff0000` in a style sheet.

use base::{AbsPath, Span};
use serde_json::{Value, json};

use crate::answer::{Reading, read_list};
use crate::range::WireRange;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;

/// Maximum number of colours in one answer.
const MAX_COLORS: usize = 20_000;

/// A part of a text that names a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentColor {
    /// The part, in the request's text.
    pub span: Span,
    /// The colour that it names.
    pub color: ColorValue,
}

/// A colour in sRGB, each part from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorValue {
    /// The red part.
    pub red: u8,
    /// The green part.
    pub green: u8,
    /// The blue part.
    pub blue: u8,
    /// The opacity.
    pub alpha: u8,
}

impl ColorValue {
    /// Reads a colour, whose parts are numbers from 0 to 1; others are clamped.
    fn of(color: &Value) -> Option<Self> {
        let part = |name: &str| {
            let part = color.get(name)?.as_f64()?;
            Some((part.clamp(0.0, 1.0) * 255.0).round() as u8)
        };
        Some(Self {
            red: part("red")?,
            green: part("green")?,
            blue: part("blue")?,
            alpha: part("alpha").unwrap_or(u8::MAX),
        })
    }
}

impl LanguageServer {
    /// Asks for the colours of the text that was passed on last, sorted by their places.
    pub fn document_colors(&self, path: &AbsPath) -> Option<Request<Vec<DocumentColor>>> {
        let method = "textDocument/documentColor";
        let params = |_: &RequestDocument| Some(json!({}));
        self.ask_document(method, path, params, |json, document, violations| {
            let colors = read_list::<_, MAX_COLORS>(json, violations, |item, violations| {
                read_color(item, &mut Reading::new(document, violations))
            });
            let mut colors: Vec<DocumentColor> = colors?.into_iter().flatten().collect();
            colors.sort_by_key(|color| color.span);
            Ok(colors)
        })
    }
}

/// Reads a colour; `None` if it is malformed, `Some(None)` if it lies beyond the text.
fn read_color(item: &Value, reading: &mut Reading<'_>) -> Option<Option<DocumentColor>> {
    let range = WireRange::of(item.get("range")?)?;
    let color = ColorValue::of(item.get("color")?)?;
    let span = reading.wire_span(range).filter(|span| !span.is_empty());
    Some(span.map(|span| DocumentColor { span, color }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_color;
    use crate::answer::Reading;
    use crate::testing::{document, violations_of};

    /// Checks the place and the colour; `None` for a malformed item.
    fn check(item: Value, expected: Option<Option<(usize, [u8; 4])>>) {
        let document = document("a: #f00;");
        let read = |it: &mut _| read_color(&item, &mut Reading::new(&document, it));
        let (color, _) = violations_of(read);
        let color = color.map(|color| {
            color.map(|it| {
                let value = it.color;
                (
                    it.span.start.0,
                    [value.red, value.green, value.blue, value.alpha],
                )
            })
        });
        assert_eq!(color, expected, "{item}");
    }

    #[test]
    fn parts_of_a_color_are_clamped() {
        let range = |line: u32| json!({ "start": { "line": line, "character": 3 }, "end": { "line": line, "character": 7 } });
        let color = |red: f64| json!({ "red": red, "green": 0, "blue": 0.5, "alpha": 1 });
        let item = |line: u32, color: Value| json!({ "range": range(line), "color": color });
        check(item(0, color(1.0)), Some(Some((3, [255, 0, 128, 255]))));
        check(item(0, color(7.0)), Some(Some((3, [255, 0, 128, 255]))));
        check(item(0, color(-1.0)), Some(Some((3, [0, 0, 128, 255]))));
        let opaque = json!({ "red": 0, "green": 0, "blue": 0 });
        check(item(0, opaque), Some(Some((3, [0, 0, 0, 255]))));
        check(item(9, color(1.0)), Some(None));
        check(item(0, json!({ "red": "x" })), None);
        check(json!({ "color": color(1.0) }), None);
    }
}

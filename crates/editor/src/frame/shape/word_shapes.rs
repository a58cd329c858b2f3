//! Cache of shaped words: a keystroke shapes the word it is typed into, not its row.
//!
//! Words are separated by blanks only. Ligatures form across other characters, such as `=>`, so
//! this shapes a word exactly as its row would.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use gpui_kit::{FontId, FontStyle, GlyphId, TextRun};

use super::Shaper;

/// Longer words, in bytes, are not cached: they rarely repeat.
const LONGEST: usize = 64;

/// Words cached per font; if there are more, the cache is cleared.
const MAX_WORDS: usize = 8_192;

/// A glyph of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapedLetter {
    /// Byte offset in the word.
    pub(super) index: u32,
    /// Position from the font, in pixels from the start of the word.
    pub(super) x: f32,
    pub(super) font: FontId,
    pub(super) id: GlyphId,
    pub(super) is_emoji: bool,
}

/// A cache of shaped words for one palette, by look and text.
#[derive(Default)]
pub(crate) struct WordShapes {
    palette: (u64, u32),
    looks: Vec<(Look, ShapedWords)>,
}

type ShapedWords = HashMap<Box<str>, Rc<[ShapedLetter]>>;

/// Font variant within a palette: weight and slant.
type Look = (u32, FontStyle);

impl WordShapes {
    /// Returns the glyphs of a word in one font.
    pub(super) fn shape(
        &mut self,
        word: &str,
        run: &TextRun,
        shaper: &Shaper<'_>,
    ) -> Rc<[ShapedLetter]> {
        if word.len() > LONGEST {
            return shape(word, run, shaper);
        }
        let key = shaper.palette.key();
        if self.palette != key {
            self.palette = key;
            self.looks.clear();
        }
        let look = (run.font.weight.0.to_bits(), run.font.style);
        let at = self.looks.iter().position(|(known, _)| *known == look);
        let at = at.unwrap_or_else(|| {
            self.looks.push((look, HashMap::new()));
            self.looks.len() - 1
        });
        let known = &mut self.looks[at].1;
        if let Some(letters) = known.get(word) {
            return letters.clone();
        }
        if known.len() >= MAX_WORDS {
            known.clear();
        }
        let letters = shape(word, run, shaper);
        known.insert(word.into(), letters.clone());
        letters
    }
}

fn shape(word: &str, run: &TextRun, shaper: &Shaper<'_>) -> Rc<[ShapedLetter]> {
    let run = TextRun {
        len: word.len(),
        ..run.clone()
    };
    let text_system = shaper.window.text_system();
    let layout = text_system.layout_line(word, shaper.palette.size, &[run], None);
    let letters = layout.runs.iter().flat_map(|run| {
        run.glyphs.iter().map(|glyph| ShapedLetter {
            index: u32::try_from(glyph.index).unwrap_or(u32::MAX),
            x: f32::from(glyph.position.x),
            font: run.font_id,
            id: glyph.id,
            is_emoji: glyph.is_emoji,
        })
    });
    letters.collect()
}

/// Iterates over the words of a text.
pub(super) fn of(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text.as_bytes()[at..];
        let start = at + rest.iter().position(|byte| *byte != b' ')?;
        let rest = &text.as_bytes()[start..];
        let end = start
            + rest
                .iter()
                .position(|byte| *byte == b' ')
                .unwrap_or(rest.len());
        at = end;
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn words_stand_between_blanks() {
        let check = |text: &str, expect: &[&str]| {
            let words: Vec<&str> = of(text).map(|word| &text[word]).collect();
            assert_eq!(words, expect, "{text:?}");
        };
        check("", &[]);
        check("   ", &[]);
        check("  let a=>b;  é ", &["let", "a=>b;", "é"]);
        check("x", &["x"]);
    }
}

//! Words that were shaped before: a key shapes the word it is typed into, not its row.
//!
//! Words are what stands between blanks. Letters join across anything else, such as `=>`, so that no word is
//! shaped otherwise than its row would be.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use gpui_kit::{FontId, FontStyle, GlyphId, TextRun};

use super::Shaper;

/// Longer words, in bytes, are shaped anew: they are hardly seen twice.
const LONGEST: usize = 64;

/// Words kept for each look; when there are more, all are forgotten.
const MOST: usize = 8_192;

/// A letter of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    /// Its byte in the word.
    pub(super) index: u32,
    /// Where the font puts it, in pixels from the start of the word.
    pub(super) x: f32,
    pub(super) font: FontId,
    pub(super) id: GlyphId,
    pub(super) is_emoji: bool,
}

/// The shapes of words in one palette.
#[derive(Default)]
pub(crate) struct Words {
    palette: (u64, u32),
    looks: Vec<(Look, Known)>,
}

type Known = HashMap<Box<str>, Rc<[Letter]>>;

/// What tells the fonts of a palette from each other: weight and slant.
type Look = (u32, FontStyle);

impl Words {
    /// The letters of a word in one font.
    pub(super) fn shape(&mut self, word: &str, run: &TextRun, shaper: &Shaper<'_>) -> Rc<[Letter]> {
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
        if known.len() >= MOST {
            known.clear();
        }
        let letters = shape(word, run, shaper);
        known.insert(word.into(), letters.clone());
        letters
    }
}

fn shape(word: &str, run: &TextRun, shaper: &Shaper<'_>) -> Rc<[Letter]> {
    let run = TextRun {
        len: word.len(),
        ..run.clone()
    };
    let text_system = shaper.window.text_system();
    let layout = text_system.layout_line(word, shaper.palette.size, &[run], None);
    let letters = layout.runs.iter().flat_map(|run| {
        run.glyphs.iter().map(|glyph| Letter {
            index: u32::try_from(glyph.index).unwrap_or(u32::MAX),
            x: f32::from(glyph.position.x),
            font: run.font_id,
            id: glyph.id,
            is_emoji: glyph.is_emoji,
        })
    });
    letters.collect()
}

/// What stands between the blanks of a text.
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

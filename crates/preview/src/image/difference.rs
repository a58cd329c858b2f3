//! The differences between two images.

use super::{ImageError, Pixels, check_size};

/// The pixels in which two images differ.
#[derive(Clone, Debug)]
pub struct ImageDifference {
    /// A picture as large as both images: differing pixels have the given colour, the others are pale and grey.
    pub pixels: Pixels,
    /// Number of pixels that differ; those that only one image has are among them.
    pub changed: u64,
    /// Number of pixels of the picture.
    pub total: u64,
}

impl ImageDifference {
    /// Compares two images, laid upon each other at the left and the top; refuses those that are too large together.
    pub fn of(before: &Pixels, after: &Pixels, colour: [u8; 3]) -> Result<Self, ImageError> {
        let width = before.width().max(after.width());
        let height = before.height().max(after.height());
        check_size(width, height)?;
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        let mut changed = 0;
        for y in 0..height {
            for x in 0..width {
                let (old, new) = (before.at(x, y), after.at(x, y));
                if is_same(old, new) {
                    rgba.extend_from_slice(&pale(new.unwrap_or_default()));
                } else {
                    changed += 1;
                    let [red, green, blue] = colour;
                    rgba.extend_from_slice(&[red, green, blue, u8::MAX]);
                }
            }
        }
        let total = u64::from(width) * u64::from(height);
        let pixels = Pixels::new(width, height, rgba).unwrap_or_else(|| after.clone());
        Ok(Self {
            pixels,
            changed,
            total,
        })
    }
}

/// Returns whether two pixels look the same; the colour of an invisible one is of no account.
fn is_same(before: Option<[u8; 4]>, after: Option<[u8; 4]>) -> bool {
    let is_invisible = |it: Option<[u8; 4]>| it.is_some_and(|it| it[3] == 0);
    before == after || is_invisible(before) && is_invisible(after)
}

/// Returns a pixel as a faint grey.
fn pale([red, green, blue, alpha]: [u8; 4]) -> [u8; 4] {
    let weighted = u32::from(red) * 3 + u32::from(green) * 6 + u32::from(blue);
    let grey = u8::try_from(weighted / 10).unwrap_or(u8::MAX);
    [grey, grey, grey, alpha / 4]
}

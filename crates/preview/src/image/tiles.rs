//! Cuts an image into tiles that are drawn: halved where the image is shown small, and with larger pixels where it is
//! shown large, so that these keep their edges.
//!
//! Invariant: a tile has at most `TILE`×`TILE` pixels, and the tiles in sight cover the view once.

use std::ops::Range;
use std::sync::Arc;

use super::Pixels;

/// Side of a tile in pixels.
const TILE: u32 = 512;
/// Maximum factor by which the pixels of a tile are enlarged; the rest is left to the drawing.
const MAX_FACTOR: u32 = 16;

/// An image with its halves, quarters and so on.
#[derive(Clone, Debug)]
pub struct TilePyramid {
    levels: Vec<Arc<Pixels>>,
}

/// The place of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileKey {
    /// The number of times that the image is halved.
    level: u8,
    /// The side of an image pixel in pixels of the tile.
    factor: u32,
    column: u32,
    row: u32,
}

/// A part of an image as it is drawn.
#[derive(Clone, Debug)]
pub struct ImageTile {
    /// The place in the image, in its pixels: left, top, width and height.
    pub bounds: [f32; 4],
    /// The pixels to draw there.
    pub pixels: Pixels,
}

impl TilePyramid {
    /// Halves an image until it fits into a tile. Takes time that grows with the image.
    pub fn new(pixels: Arc<Pixels>) -> Self {
        let mut levels = vec![pixels];
        while let Some(last) = levels
            .last()
            .filter(|it| it.width().max(it.height()) > TILE)
        {
            let halved = Arc::new(last.halved());
            levels.push(halved);
        }
        Self { levels }
    }

    /// Returns the size of the image in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.levels[0].width(), self.levels[0].height())
    }

    /// Returns the image halved until no side is longer than `most` pixels, if it was halved so often.
    pub fn reduced(&self, most: u32) -> &Arc<Pixels> {
        let mut levels = self.levels.iter();
        let fitting = levels.find(|it| it.width().max(it.height()) <= most);
        fitting.unwrap_or(&self.levels[self.levels.len() - 1])
    }

    /// Makes a tile; `None` if the image has no such part.
    pub fn tile(&self, key: TileKey) -> Option<ImageTile> {
        let image = self.levels.get(usize::from(key.level))?;
        let side = TILE / key.factor.clamp(1, MAX_FACTOR);
        let range = |ix: u32, length: u32| {
            let start = ix.checked_mul(side).filter(|start| *start < length)?;
            Some(start..length.min(start + side))
        };
        let (x, y) = (
            range(key.column, image.width())?,
            range(key.row, image.height())?,
        );
        let pixels = enlarged(image, &x, &y, key.factor.clamp(1, MAX_FACTOR))?;
        let unit = 1_u32.checked_shl(u32::from(key.level))?;
        let (width, height) = self.size();
        let (left, top) = (x.start * unit, y.start * unit);
        // The last pixel of a halved image may cover less than its share.
        let (right, bottom) = ((x.end * unit).min(width), (y.end * unit).min(height));
        let bounds = [left, top, right - left, bottom - top].map(|it| it as f32);
        Some(ImageTile { bounds, pixels })
    }
}

/// Copies a part of an image with each pixel `factor` times as wide and high.
fn enlarged(image: &Pixels, x: &Range<u32>, y: &Range<u32>, factor: u32) -> Option<Pixels> {
    let (width, height) = (x.len() as u32 * factor, y.len() as u32 * factor);
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    for line in y.clone() {
        let start = rgba.len();
        let row = image.row(line, x.start, x.end);
        if factor == 1 {
            rgba.extend_from_slice(row);
            continue;
        }
        for pixel in row.chunks_exact(4) {
            for _ in 0..factor {
                rgba.extend_from_slice(pixel);
            }
        }
        let end = rgba.len();
        for _ in 1..factor {
            rgba.extend_from_within(start..end);
        }
    }
    Pixels::new(width, height, rgba)
}

/// Returns the tiles of an image of `size` pixels that a view shows. `zoom` is the side of an image pixel on the screen,
/// in the screen's pixels; `shown` is the visible part in image pixels: left, top, right and bottom.
pub fn visible_tiles(size: (u32, u32), zoom: f32, shown: [f32; 4]) -> Vec<TileKey> {
    let zoom = if zoom.is_finite() && zoom > 0.0 {
        zoom
    } else {
        1.0
    };
    let mut levels = 0_u8;
    let longest = size.0.max(size.1);
    while longest.div_ceil(1_u32 << levels) > TILE {
        levels += 1;
    }
    let level = ((1.0 / zoom).log2().floor().max(0.0) as u8).min(levels);
    let factor = (zoom.ceil() as u32)
        .clamp(1, MAX_FACTOR)
        .next_power_of_two();
    let side = (TILE / factor) as f32 * 2_f32.powi(i32::from(level));
    let range = |from: f32, to: f32, length: u32| {
        let from = from.clamp(0.0, length as f32);
        let to = to.clamp(0.0, length as f32);
        (from / side).floor() as u32..(to / side).ceil() as u32
    };
    let columns = range(shown[0], shown[2], size.0);
    let rows = range(shown[1], shown[3], size.1);
    let keys = rows.flat_map(|row| {
        columns.clone().map(move |column| TileKey {
            level,
            factor,
            column,
            row,
        })
    });
    keys.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{TILE, TilePyramid, visible_tiles};
    use crate::Pixels;

    fn image(width: u32, height: u32) -> Arc<Pixels> {
        let bytes =
            (0..height).flat_map(|y| (0..width).flat_map(move |x| [x as u8, y as u8, 7, 255]));
        Arc::new(Pixels::new(width, height, bytes.collect()).expect("pixels"))
    }

    /// Returns the area that the tiles of a view cover.
    fn covered(pyramid: &TilePyramid, zoom: f32, shown: [f32; 4]) -> f32 {
        let keys = visible_tiles(pyramid.size(), zoom, shown);
        let areas = keys.into_iter().map(|key| {
            let tile = pyramid.tile(key).expect("a tile of the image");
            assert!(tile.pixels.width() <= TILE && tile.pixels.height() <= TILE);
            tile.bounds[2] * tile.bounds[3]
        });
        areas.sum()
    }

    #[test]
    fn tiles_cover_an_image_at_every_zoom() {
        let pyramid = TilePyramid::new(image(1_301, 700));
        let all = [0.0, 0.0, 1_301.0, 700.0];
        for zoom in [0.01, 0.2, 0.5, 0.9, 1.0, 1.5, 3.0, 16.0] {
            let area = covered(&pyramid, zoom, all);
            assert!((area - 1_301.0 * 700.0).abs() < 1.0, "{zoom}: {area}");
        }
        assert!(visible_tiles((1_301, 700), 64.0, [600.0, 300.0, 620.0, 310.0]).len() <= 4);
        assert!(visible_tiles((1_301, 700), 1.0, [-50.0, -9.0, -1.0, -1.0]).is_empty());
        assert!(!visible_tiles((1_301, 700), f32::NAN, all).is_empty());
    }

    #[test]
    fn large_pixels_keep_their_edges() {
        let pyramid = TilePyramid::new(image(4, 4));
        let keys = visible_tiles((4, 4), 4.0, [0.0, 0.0, 4.0, 4.0]);
        let tile = pyramid.tile(keys[0]).expect("a tile");
        assert_eq!((tile.pixels.width(), tile.pixels.height()), (16, 16));
        assert_eq!(tile.pixels.at(3, 0), Some([0, 0, 7, 255]));
        assert_eq!(tile.pixels.at(4, 5), Some([1, 1, 7, 255]));
    }

    #[test]
    fn a_reduced_image_is_halved_as_little_as_possible() {
        let pyramid = TilePyramid::new(image(2_000, 100));
        let width = |most| pyramid.reduced(most).width();
        assert_eq!((width(2_000), width(1_999), width(3)), (2_000, 1_000, 500));
    }

    #[test]
    fn invisible_pixels_do_not_darken_a_smaller_image() {
        let rgba = [200, 100, 50, 255, 0, 0, 0, 0, 200, 100, 50, 255, 0, 0, 0, 0];
        let half = Pixels::new(2, 2, rgba.to_vec()).expect("pixels").halved();
        assert_eq!(half.at(0, 0), Some([200, 100, 50, 127]));
    }
}

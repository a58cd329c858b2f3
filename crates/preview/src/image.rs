//! Images: recognised by their bytes, decoded within limits.
//!
//! Invariant: the size of an image is checked before its pixels are decoded, and a decoder is chosen by the bytes, never
//! by the name alone.
//! Invariant: a panic of a decoder is a refusal.
//! Start at `DecodedImage::decode`; `TilePyramid` cuts the pixels into what is drawn.

mod difference;
mod format;
mod pixels;
mod raster;
mod svg;
mod svg_cost;
mod svg_source;
mod tiles;
mod viewport;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use difference::ImageDifference;
pub use format::ImageFormat;
pub use pixels::Pixels;
pub use svg::SvgFonts;
pub use tiles::{ImageTile, TileKey, TilePyramid, visible_tiles};
pub use viewport::ImageViewport;

/// Maximum length of an image file.
pub const MAX_IMAGE_BYTES: u64 = 64 << 20;
/// Maximum number of pixels of an image: with the pixels as the file has them, a quarter of a gigabyte.
const MAX_PIXELS: u64 = 36_000_000;

/// An image whose pixels are in memory.
#[derive(Clone, Debug)]
pub struct DecodedImage {
    /// The format of the file.
    pub format: ImageFormat,
    /// The width that the file states, in pixels.
    pub width: u32,
    /// The height that the file states, in pixels.
    pub height: u32,
    /// The pictures of an animation; one otherwise, never none.
    pub frames: Vec<ImageFrame>,
    /// Whether the animation has more pictures, which would need too much memory.
    pub is_cut: bool,
}

/// A picture of an image.
#[derive(Clone, Debug)]
pub struct ImageFrame {
    /// The pixels; those of a drawing may be more or fewer than its stated size.
    pub pixels: Arc<Pixels>,
    /// Time for which an animation shows the picture, in milliseconds.
    pub delay_ms: u32,
}

/// The cause why an image is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The bytes are of no known format.
    #[error("it is not a PNG, JPEG, GIF, WebP or SVG image")]
    Unknown,
    /// The file is too long.
    #[error("the file has {}, and at most {} are read", crate::byte_count(*.bytes), crate::byte_count(*.limit))]
    TooLong {
        /// Length in bytes.
        bytes: u64,
        /// Maximum length in bytes.
        limit: u64,
    },
    /// The image has too many pixels.
    #[error("the image has {width}\u{d7}{height} pixels, and at most {} million are decoded", MAX_PIXELS / 1_000_000)]
    TooManyPixels {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// Decoding or drawing would take too long or too much memory.
    #[error("it is too complex to be drawn: {0}")]
    TooComplex(&'static str),
    /// The bytes do not follow the format.
    #[error("the {format} image is damaged: {cause}")]
    Damaged {
        /// The format of the file.
        format: ImageFormat,
        /// The words of the decoder.
        cause: String,
    },
    /// The view was closed.
    #[error("decoding was cancelled")]
    Cancelled,
}

impl ImageError {
    fn damaged(format: ImageFormat, cause: &dyn std::fmt::Display) -> Self {
        Self::Damaged {
            format,
            cause: cause.to_string(),
        }
    }
}

impl DecodedImage {
    /// Decodes a file. `scale` is the number of pixels for each unit of a drawing; other formats have their own pixels.
    /// Ends soon after `cancel` is set. Blocks for as long as decoding takes.
    pub fn decode(
        bytes: &[u8],
        fonts: &SvgFonts,
        scale: f32,
        cancel: &AtomicBool,
    ) -> Result<Self, ImageError> {
        let length = bytes.len() as u64;
        if length > MAX_IMAGE_BYTES {
            let limit = MAX_IMAGE_BYTES;
            return Err(ImageError::TooLong {
                bytes: length,
                limit,
            });
        }
        let format = ImageFormat::of_bytes(bytes).ok_or(ImageError::Unknown)?;
        let decode = || match format {
            ImageFormat::Svg => svg::draw(bytes, fonts, scale, cancel),
            raster => raster::decode(raster, bytes, cancel),
        };
        catch_unwind(AssertUnwindSafe(decode))
            .unwrap_or_else(|_| Err(ImageError::damaged(format, &"its decoder failed")))
    }

    /// Returns the first picture.
    pub fn first(&self) -> &Arc<Pixels> {
        &self.frames[0].pixels
    }

    /// Returns the number of pixels for each unit of the stated size.
    pub fn scale(&self) -> f32 {
        let width = self.first().width();
        width as f32 / self.width.max(1) as f32
    }
}

/// Refuses an image with too many pixels.
fn check_size(width: u32, height: u32) -> Result<(), ImageError> {
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(ImageError::TooManyPixels { width, height });
    }
    Ok(())
}

#[cfg(test)]
mod tests;

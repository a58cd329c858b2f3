//! Prepares a pasted or dropped image for models: decodes it, shrinks it, and drops its metadata.
//!
//! Knows: image files. Must not know: the panel, models. Blocks for as long as decoding takes: call
//! it in the background.
//! Invariant: the result is a still PNG or JPEG of at most `MAX_SIDE` pixels a side and `MAX_BYTES`.
//! Start at `PreparedImage::of`.

use std::collections::HashSet;
use std::io::Cursor;
use std::sync::Arc;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};
use model::PartContent;

/// Maximum number of pixels of an image that is decoded: a small file can hold gigabytes of them.
const MAX_PIXELS: u64 = 100_000_000;
/// Maximum width and height of a prepared image; models shrink larger ones themselves.
const MAX_SIDE: u32 = 1568;
/// Maximum size of a prepared image: base64 adds a third, and the strictest provider takes 5 MB.
const MAX_BYTES: usize = 3_500_000;
/// Quality of JPEG files, in percent.
const QUALITY: u8 = 85;
/// Quality of JPEG files that would be too large otherwise.
const LOW_QUALITY: u8 = 60;
/// Maximum number of colours of a drawing or a screenshot, which PNG keeps sharp.
const FEW_COLORS: usize = 4_096;
/// Maximum number of pixels whose colours are counted.
const COUNTED_PIXELS: usize = 100_000;

/// An image that can be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PreparedImage {
    pub(crate) content: PartContent,
    /// Width and height in pixels, as it is sent.
    pub(crate) size: (u32, u32),
    /// Size in bytes, as it is sent.
    pub(crate) bytes: usize,
}

/// The reason why an image cannot be attached. Completes a sentence that begins with its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImageProblem {
    /// The format is not supported.
    #[error("is not a PNG, JPEG, GIF, WebP or BMP image")]
    UnknownFormat,
    /// It has more than `MAX_PIXELS`.
    #[error("has {width} by {height} pixels, more than 100 million")]
    TooManyPixels {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// The file is damaged.
    #[error("cannot be decoded: {0}")]
    Damaged(String),
}

impl PreparedImage {
    /// Prepares the image file `bytes`; of an animation, its first frame.
    ///
    /// # Errors
    ///
    /// The format is unknown, the file is damaged, or it has too many pixels; none are decoded then.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, ImageProblem> {
        let damaged = |error: image::ImageError| ImageProblem::Damaged(error.to_string());
        let reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| ImageProblem::Damaged(error.to_string()))?;
        let format = reader.format().ok_or(ImageProblem::UnknownFormat)?;
        let known = [
            ImageFormat::Png,
            ImageFormat::Jpeg,
            ImageFormat::Gif,
            ImageFormat::WebP,
            ImageFormat::Bmp,
        ];
        if !known.contains(&format) {
            return Err(ImageProblem::UnknownFormat);
        }
        let mut decoder = reader.into_decoder().map_err(damaged)?;
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(ImageProblem::TooManyPixels { width, height });
        }
        let orientation = decoder.orientation().map_err(damaged)?;
        let mut image = DynamicImage::from_decoder(decoder).map_err(damaged)?;
        image.apply_orientation(orientation);
        if image.width().max(image.height()) > MAX_SIDE {
            image = image.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle);
        }
        Self::encode(&image).map_err(damaged)
    }

    /// Returns an image that was prepared before; `None` if the part is not a readable image.
    pub(crate) fn restored(content: PartContent) -> Option<Self> {
        let PartContent::Image { bytes, .. } = &content else {
            return None;
        };
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
        let size = reader.ok()?.into_dimensions().ok()?;
        Some(Self {
            size,
            bytes: bytes.len(),
            content,
        })
    }

    fn encode(image: &DynamicImage) -> Result<Self, image::ImageError> {
        if has_few_colors(image) {
            let mut bytes = Vec::new();
            image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
            if bytes.len() <= MAX_BYTES {
                return Ok(Self::new("image/png", bytes, image));
            }
        }
        let bytes = jpeg(image, QUALITY)?;
        let bytes = if bytes.len() <= MAX_BYTES {
            bytes
        } else {
            jpeg(image, LOW_QUALITY)?
        };
        Ok(Self::new("image/jpeg", bytes, image))
    }

    fn new(media_type: &str, bytes: Vec<u8>, image: &DynamicImage) -> Self {
        Self {
            size: (image.width(), image.height()),
            bytes: bytes.len(),
            content: PartContent::Image {
                media_type: media_type.to_owned(),
                bytes: Arc::from(bytes),
            },
        }
    }
}

fn jpeg(image: &DynamicImage, quality: u8) -> Result<Vec<u8>, image::ImageError> {
    let mut bytes = Vec::new();
    // JPEG has no transparency.
    let image = image.to_rgb8();
    image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?;
    Ok(bytes)
}

/// Whether an image is a drawing rather than a photo, judged by some of its pixels.
fn has_few_colors(image: &DynamicImage) -> bool {
    let pixels = image.to_rgba8();
    let count = pixels.width() as usize * pixels.height() as usize;
    let step = (count / COUNTED_PIXELS).max(1);
    let counted = pixels.pixels().step_by(step).map(|pixel| pixel.0);
    let mut colors = HashSet::new();
    for color in counted {
        colors.insert(color);
        if colors.len() > FEW_COLORS {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, color: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
        let image = image::RgbImage::from_fn(width, height, |x, y| image::Rgb(color(x, y)));
        let mut bytes = Vec::new();
        let written = image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png);
        written.expect("encoded");
        bytes
    }

    fn media_type(image: &PreparedImage) -> &str {
        match &image.content {
            PartContent::Image { media_type, .. } => media_type,
            other => panic!("not an image: {other:?}"),
        }
    }

    #[test]
    fn drawings_stay_sharp_and_photos_become_small() {
        let drawing = PreparedImage::of(&png(300, 200, |x, _| [(x % 7) as u8, 0, 0]));
        let drawing = drawing.expect("prepared");
        assert_eq!(
            (media_type(&drawing), drawing.size),
            ("image/png", (300, 200))
        );
        let noise = |x: u32, y: u32| {
            let mixed = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761);
            [mixed as u8, (mixed >> 8) as u8, (mixed >> 16) as u8]
        };
        let photo = PreparedImage::of(&png(3_136, 200, noise)).expect("prepared");
        assert_eq!(
            (media_type(&photo), photo.size),
            ("image/jpeg", (1_568, 100))
        );
        assert!(photo.bytes <= MAX_BYTES);
    }

    #[test]
    fn pixel_bombs_are_refused_before_they_are_decoded() {
        // The header of a PNG of 40,000 by 40,000 pixels, without any pixels.
        let mut bomb = png(1, 1, |_, _| [0; 3]);
        bomb[16..20].copy_from_slice(&40_000_u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&40_000_u32.to_be_bytes());
        let crc = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&crc.to_be_bytes());
        let (width, height) = (40_000, 40_000);
        let refused = PreparedImage::of(&bomb);
        assert_eq!(refused, Err(ImageProblem::TooManyPixels { width, height }));
    }

    /// The checksum of a PNG's chunk.
    fn crc(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
            }
        }
        !crc
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(
            PreparedImage::of(b"plain text"),
            Err(ImageProblem::UnknownFormat)
        );
        let torn = &png(50, 50, |x, y| [x as u8, y as u8, 0])[..60];
        assert!(matches!(
            PreparedImage::of(torn),
            Err(ImageProblem::Damaged(_))
        ));
    }
}

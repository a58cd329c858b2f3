//! Images made of pixels: PNG, JPEG, GIF and WebP.

use std::io::{BufRead, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{AnimationDecoder, DynamicImage, ImageDecoder, Limits};

use super::{DecodedImage, ImageError, ImageFormat, ImageFrame, MAX_PIXELS, Pixels, check_size};

/// Maximum number of pictures of an animation.
const MAX_FRAMES: usize = 1_000;
/// Maximum number of pixels of all pictures of an animation.
const MAX_FRAME_PIXELS: u64 = 32_000_000;
/// Maximum number of pixels that the passes of a JPEG may write, with each pass over the image counted.
const MAX_PASSED_PIXELS: u64 = 600_000_000;
/// Time for which a picture is shown that states less than 20 ms, in milliseconds, as browsers do it.
const DEFAULT_DELAY_MS: u32 = 100;

/// The bytes of an image, which end early when the view is closed.
struct CancelReader<'a> {
    bytes: Cursor<&'a [u8]>,
    cancel: &'a AtomicBool,
}

impl CancelReader<'_> {
    fn check(&self) -> std::io::Result<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("cancelled"));
        }
        Ok(())
    }
}

impl Read for CancelReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.check()?;
        self.bytes.read(buffer)
    }
}

impl BufRead for CancelReader<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.check()?;
        self.bytes.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes.consume(amount);
    }
}

impl Seek for CancelReader<'_> {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(position)
    }
}

/// Decodes an image of a format that its bytes have.
pub(super) fn decode(
    format: ImageFormat,
    bytes: &[u8],
    cancel: &AtomicBool,
) -> Result<DecodedImage, ImageError> {
    let reader = CancelReader {
        bytes: Cursor::new(bytes),
        cancel,
    };
    let decoded = match format {
        ImageFormat::Png => PngDecoder::with_limits(reader, limits())
            .map_err(|error| ImageError::damaged(format, &error))
            .and_then(|decoder| still(format, decoder)),
        ImageFormat::Jpeg => check_passes(bytes).and_then(|()| {
            JpegDecoder::new(reader)
                .map_err(|error| ImageError::damaged(format, &error))
                .and_then(|decoder| still(format, decoder))
        }),
        ImageFormat::Gif => GifDecoder::new(reader)
            .map_err(|error| ImageError::damaged(format, &error))
            .and_then(|decoder| animation(format, decoder)),
        ImageFormat::Webp => match WebPDecoder::new(reader) {
            Ok(decoder) if decoder.has_animation() => animation(format, decoder),
            Ok(decoder) => still(format, decoder),
            Err(error) => Err(ImageError::damaged(format, &error)),
        },
        ImageFormat::Svg => Err(ImageError::Unknown),
    };
    match decoded {
        Err(_) if cancel.load(Ordering::Relaxed) => Err(ImageError::Cancelled),
        decoded => decoded,
    }
}

/// Returns the number of pixels of an image; `None` if its beginning is damaged or it would be refused.
pub(super) fn pixel_count(format: ImageFormat, bytes: &[u8]) -> Option<u64> {
    let reader = Cursor::new(bytes);
    let (width, height) = match format {
        ImageFormat::Png => PngDecoder::with_limits(reader, limits()).ok()?.dimensions(),
        ImageFormat::Jpeg => JpegDecoder::new(reader).ok()?.dimensions(),
        ImageFormat::Gif => GifDecoder::new(reader).ok()?.dimensions(),
        ImageFormat::Webp => WebPDecoder::new(reader).ok()?.dimensions(),
        ImageFormat::Svg => return None,
    };
    if format == ImageFormat::Jpeg {
        check_passes(bytes).ok()?;
    }
    check_size(width, height).ok()?;
    Some(u64::from(width) * u64::from(height))
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_image_width = u32::try_from(MAX_PIXELS).ok();
    limits.max_image_height = limits.max_image_width;
    limits.max_alloc = Some(MAX_PIXELS * 8);
    limits
}

/// Refuses a JPEG whose passes over the image are more than any program writes: each costs as much as the whole image.
fn check_passes(bytes: &[u8]) -> Result<(), ImageError> {
    let decoder = JpegDecoder::new(Cursor::new(bytes));
    let decoder = decoder.map_err(|error| ImageError::damaged(ImageFormat::Jpeg, &error))?;
    let (width, height) = decoder.dimensions();
    let passes = bytes.windows(2).filter(|it| *it == [0xff, 0xda]).count() as u64;
    if u64::from(width) * u64::from(height) * passes > MAX_PASSED_PIXELS {
        return Err(ImageError::TooComplex("it has too many passes"));
    }
    Ok(())
}

/// Decodes one picture, turned as its metadata say.
fn still(format: ImageFormat, mut decoder: impl ImageDecoder) -> Result<DecodedImage, ImageError> {
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    if decoder.total_bytes() > MAX_PIXELS * 8 {
        return Err(ImageError::TooManyPixels { width, height });
    }
    // Damaged metadata do not hide the picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder);
    let mut image = image.map_err(|error| ImageError::damaged(format, &error))?;
    image.apply_orientation(orientation);
    let frame = frame(format, image.into_rgba8(), 0)?;
    Ok(DecodedImage {
        format,
        width: frame.pixels.width(),
        height: frame.pixels.height(),
        frames: vec![frame],
        is_cut: false,
    })
}

/// Decodes the pictures of an animation, as many as fit into memory. A damaged picture ends it.
fn animation<'a, D>(format: ImageFormat, mut decoder: D) -> Result<DecodedImage, ImageError>
where
    D: AnimationDecoder<'a> + ImageDecoder,
{
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    decoder
        .set_limits(limits())
        .map_err(|error| ImageError::damaged(format, &error))?;
    let size = u64::from(width) * u64::from(height);
    let room = usize::try_from(MAX_FRAME_PIXELS / size.max(1)).unwrap_or(MAX_FRAMES);
    let room = room.clamp(1, MAX_FRAMES);
    let mut frames = Vec::new();
    let mut is_cut = false;
    for picture in decoder.into_frames() {
        if frames.len() == room {
            is_cut = true;
            break;
        }
        let picture = match picture {
            Ok(picture) => picture,
            Err(error) if frames.is_empty() => return Err(ImageError::damaged(format, &error)),
            Err(_) => {
                is_cut = true;
                break;
            }
        };
        let (numerator, denominator) = picture.delay().numer_denom_ms();
        let delay_ms = match numerator / denominator.max(1) {
            0..20 => DEFAULT_DELAY_MS,
            delay => delay,
        };
        frames.push(frame(format, picture.into_buffer(), delay_ms)?);
    }
    if frames.is_empty() {
        return Err(ImageError::damaged(format, &"it has no picture"));
    }
    Ok(DecodedImage {
        format,
        width,
        height,
        frames,
        is_cut,
    })
}

fn frame(
    format: ImageFormat,
    image: image::RgbaImage,
    delay_ms: u32,
) -> Result<ImageFrame, ImageError> {
    let (width, height) = image.dimensions();
    let pixels = Pixels::new(width, height, image.into_raw());
    let pixels = pixels.ok_or_else(|| ImageError::damaged(format, &"it has no pixels"))?;
    Ok(ImageFrame {
        pixels: Arc::new(pixels),
        delay_ms,
    })
}

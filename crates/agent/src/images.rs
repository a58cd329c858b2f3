//! Validation of images before they are sent: parses the structure from the first byte to the last
//! without decoding pixels.
//!
//! A provider rejects the whole request for one bad image, so images are checked first.
//! Must not know: files, sessions. Start at `check`.

mod formats;

use model::Profile;

/// An image that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedImage {
    /// The media type, detected from the content.
    pub media_type: &'static str,
    /// Width and height, in pixels.
    pub size: (u32, u32),
}

/// The image limits of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Maximum size in base64, in bytes.
    pub encoded: u64,
    /// Maximum width and height, in pixels.
    pub side: u32,
}

impl ImageLimits {
    /// Returns the limits that a model's profile states.
    pub fn of(profile: &Profile) -> Self {
        Self {
            encoded: profile.image_bytes,
            side: profile.image_side,
        }
    }

    /// Returns the maximum size of an image file in bytes, before base64 makes it a third larger.
    pub fn bytes(&self) -> u64 {
        self.encoded / 4 * 3
    }
}

/// The reason why an image cannot be sent. Completes a sentence that begins with "it".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageDefect {
    /// Its base64 form exceeds the model's limit, in bytes.
    #[error("has {encoded} bytes as it is sent, and this model takes {limit} at most")]
    TooManyBytes {
        /// The size of the base64 form.
        encoded: u64,
        /// The limit of the model.
        limit: u64,
    },
    /// It is larger than this many bytes, by the length of its base64 form.
    #[error("is larger than {0} bytes")]
    LargerThan(u64),
    /// The base64 form is invalid.
    #[error("is not in base64")]
    NotBase64,
    /// It is not an image part.
    #[error("cannot be read")]
    NotAnImage,
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// The format is not supported.
    #[error("is not a PNG, JPEG, GIF or WebP image")]
    UnknownFormat,
    /// The file ends within the image.
    #[error("ends before the picture does")]
    Truncated,
    /// The structure of the file is broken.
    #[error("is damaged")]
    Damaged,
    /// Its width or height is 0.
    #[error("has no pixels")]
    NoPixels,
    /// Its width or height exceeds the model's limit, in pixels.
    #[error("is {width} by {height} pixels, and this model takes {limit} along each side at most")]
    TooManyPixels {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
        /// The limit of the model.
        limit: u32,
    },
    /// It has more than one frame.
    #[error("is animated, and models take still pictures only")]
    Animated,
}

/// Checks that a model with these limits accepts an image: its structure from the first byte to the
/// last, its size in bytes and pixels, and that it is not animated. The content determines the
/// media type, not the file name.
///
/// # Errors
///
/// The first defect.
pub fn check(bytes: &[u8], bounds: &ImageLimits) -> Result<CheckedImage, ImageDefect> {
    let encoded = (bytes.len() as u64).div_ceil(3) * 4;
    if encoded > bounds.encoded {
        return Err(ImageDefect::TooManyBytes {
            encoded,
            limit: bounds.encoded,
        });
    }
    if bytes.is_empty() {
        return Err(ImageDefect::Empty);
    }
    let (media_type, walked) = formats::walk(bytes).ok_or(ImageDefect::UnknownFormat)?;
    let walked = walked?;
    let (width, height) = walked.size;
    if width == 0 || height == 0 {
        return Err(ImageDefect::NoPixels);
    }
    if width.max(height) > bounds.side {
        let limit = bounds.side;
        return Err(ImageDefect::TooManyPixels {
            width,
            height,
            limit,
        });
    }
    if walked.frames > 1 {
        return Err(ImageDefect::Animated);
    }
    Ok(CheckedImage {
        media_type,
        size: walked.size,
    })
}

#[cfg(test)]
pub(crate) mod tests;

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
    /// Returns the limits of a model.
    pub fn of(profile: &Profile) -> Self {
        Self {
            encoded: profile.image_bytes,
            side: profile.image_side,
        }
    }

    /// Returns the maximum size of an image file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.encoded / 4 * 3
    }
}

/// Checks an image. The content determines the media type, not the file name. An error completes a
/// sentence that begins with "it".
pub fn check(bytes: &[u8], bounds: &ImageLimits) -> Result<CheckedImage, String> {
    let encoded = (bytes.len() as u64).div_ceil(3) * 4;
    if encoded > bounds.encoded {
        return Err(format!(
            "has {encoded} bytes as it is sent, and this model takes {} at most",
            bounds.encoded
        ));
    }
    let Some((found, walked)) = formats::walk(bytes) else {
        return Err(if bytes.is_empty() {
            "is empty".to_owned()
        } else {
            "is no PNG, JPEG, GIF or WebP".to_owned()
        });
    };
    let walked = walked.map_err(|broken| broken.0.to_owned())?;
    let (width, height) = walked.size;
    if width == 0 || height == 0 {
        return Err("has no pixels".to_owned());
    }
    if width.max(height) > bounds.side {
        return Err(format!(
            "is {width} by {height} pixels, and this model takes {} along each side at most",
            bounds.side
        ));
    }
    if walked.frames > 1 {
        return Err("is animated, and models take still pictures only".to_owned());
    }
    Ok(CheckedImage {
        media_type: found,
        size: walked.size,
    })
}

#[cfg(test)]
pub(crate) mod tests;

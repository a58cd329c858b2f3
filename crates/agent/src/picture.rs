//! Whether a file is a picture that a provider takes: its structure is walked from the first byte to the last,
//! without decoding a pixel.
//!
//! A provider refuses the whole request for one bad picture, so this is found out before it is sent.
//! Must not know: files, sessions. Start at `check`.

mod formats;

use model::Profile;

/// A picture that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it is, by its content.
    pub media_type: &'static str,
    /// Pixels along its sides.
    pub size: (u32, u32),
}

/// What a provider takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes in base64.
    pub encoded: u64,
    /// The most pixels along each side.
    pub side: u32,
}

impl Bounds {
    /// The bounds of a model.
    pub fn of(profile: &Profile) -> Self {
        Self {
            encoded: profile.image_bytes,
            side: profile.image_side,
        }
    }

    /// The most bytes that a picture's file may have.
    pub fn bytes(&self) -> u64 {
        self.encoded / 4 * 3
    }
}

/// Looks at a picture. What it is called does not count: its content says what it is. Answers why it cannot be sent,
/// as the end of a sentence that begins with "it".
pub fn check(bytes: &[u8], bounds: &Bounds) -> Result<Picture, String> {
    let encoded = (bytes.len() as u64).div_ceil(3) * 4;
    if encoded > bounds.encoded {
        return Err(format!(
            "has {encoded} bytes as it is sent, and this model takes {} at most",
            bounds.encoded
        ));
    }
    let Some((found, walked)) = formats::walk(bytes) else {
        return Err(match bytes.is_empty() {
            true => "is empty".to_owned(),
            false => "is no PNG, JPEG, GIF or WebP".to_owned(),
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
    Ok(Picture {
        media_type: found,
        size: walked.size,
    })
}

#[cfg(test)]
pub(crate) mod tests;

//! The formats of images.

/// A format of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF, possibly an animation.
    Gif,
    /// WebP, possibly an animation.
    Webp,
    /// Scalable Vector Graphics, without compression.
    Svg,
}

/// Bytes in which the root element of a drawing must begin.
const SVG_HEAD: usize = 4 << 10;

impl ImageFormat {
    /// Returns the format that a file name promises.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "png" | "apng" => Some(Self::Png),
            "jpg" | "jpeg" | "jpe" | "jfif" => Some(Self::Jpeg),
            "gif" => Some(Self::Gif),
            "webp" => Some(Self::Webp),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }

    /// Returns the format that the first bytes of a file have.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            Some(Self::Jpeg)
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else {
            is_svg(bytes).then_some(Self::Svg)
        }
    }

    /// Returns whether an image of this format is a text that is edited as such.
    pub fn is_text(self) -> bool {
        self == Self::Svg
    }

    /// Returns the name that the user reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
            Self::Svg => "SVG",
        }
    }
}

impl std::fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns whether a text begins with markup that names the root of a drawing.
fn is_svg(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SVG_HEAD)];
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'<') && head.windows(4).any(|it| it == b"<svg" || it == b":svg")
}

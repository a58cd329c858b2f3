//! The icon in all sizes, drawn from one SVG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::error::Error;

/// The drawing, which scales without loss.
pub(crate) const SVG: &str = include_str!("../../../assets/icon/burin.svg");

/// Edges of the icons for Linux, in pixels.
pub(crate) const SIZES: &[u32] = &[16, 24, 32, 48, 64, 128, 256, 512];

/// Types of the images in an icon of macOS, with their edges in pixels. Some have the same size: one is for screens with
/// two pixels per point.
const MAC_IMAGES: &[([u8; 4], u32)] = &[
    (*b"ic11", 32),
    (*b"ic12", 64),
    (*b"ic07", 128),
    (*b"ic13", 256),
    (*b"ic08", 256),
    (*b"ic14", 512),
    (*b"ic09", 512),
    (*b"ic10", 1024),
];

/// Draws the icon as a PNG with edges of `size` pixels.
pub(crate) fn png(size: u32) -> Result<Vec<u8>, Error> {
    let problem = |problem: String| Error::Icon { problem };
    let tree = Tree::from_str(SVG, &Options::default());
    let tree = tree.map_err(|error| problem(error.to_string()))?;
    let pixmap = Pixmap::new(size, size);
    let mut pixmap = pixmap.ok_or_else(|| problem(format!("{size} pixels are too many")))?;
    let scale = size as f32 / tree.size().width();
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    let png = pixmap.encode_png();
    png.map_err(|error| problem(error.to_string()))
}

/// Draws the icon in the format of macOS.
pub(crate) fn icns() -> Result<Vec<u8>, Error> {
    let mut images = Vec::new();
    for (kind, size) in MAC_IMAGES {
        let png = png(*size)?;
        images.extend_from_slice(kind);
        images.extend_from_slice(&length(&png));
        images.extend_from_slice(&png);
    }
    let mut icon = b"icns".to_vec();
    icon.extend_from_slice(&length(&images));
    icon.extend_from_slice(&images);
    Ok(icon)
}

/// Returns the length of a block: its content after eight bytes of header.
fn length(content: &[u8]) -> [u8; 4] {
    u32::try_from(content.len() + 8)
        .unwrap_or(u32::MAX)
        .to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::{MAC_IMAGES, icns, png};

    /// Returns width and height from the header of a PNG.
    fn size_of(png: &[u8]) -> (u32, u32) {
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "a PNG");
        let number = |at: usize| {
            let bytes: [u8; 4] = png[at..at + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes)
        };
        (number(16), number(20))
    }

    #[test]
    fn icons_have_their_size_and_are_not_empty() {
        let (small, large) = (png(16).expect("a picture"), png(128).expect("a picture"));
        assert_eq!((size_of(&small), size_of(&large)), ((16, 16), (128, 128)));
        let tree = resvg::usvg::Tree::from_str(super::SVG, &resvg::usvg::Options::default());
        let size = tree.expect("a drawing").size();
        assert!(
            (size.width() - size.height()).abs() < f32::EPSILON,
            "square"
        );
        let picture = resvg::tiny_skia::Pixmap::decode_png(&large).expect("a picture");
        let middle = picture.pixel(64, 64).expect("a pixel");
        let corner = picture.pixel(0, 0).expect("a pixel");
        assert_eq!((middle.alpha(), corner.alpha()), (255, 0));
        assert_eq!(large, png(128).expect("a picture"), "the same bytes");
    }

    #[test]
    fn the_icon_of_macos_has_all_images() {
        let icon = icns().expect("an icon");
        let number = |at: usize| {
            let bytes: [u8; 4] = icon[at..at + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        assert_eq!((&icon[..4], number(4)), (&b"icns"[..], icon.len()));
        let mut at = 8;
        for (kind, size) in MAC_IMAGES {
            assert_eq!(icon[at..at + 4], kind[..]);
            let end = at + number(at + 4);
            assert_eq!(size_of(&icon[at + 8..end]), (*size, *size));
            at = end;
        }
        assert_eq!(at, icon.len());
    }
}

//! Valid images, and each kind of defect.

use super::*;

const BOUNDS: ImageLimits = ImageLimits {
    encoded: 10_000,
    side: 100,
};

fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&length[..], kind, body, &[0; 4]].concat()
}

fn png_of(width: u32, height: u32, more: &[u8]) -> Vec<u8> {
    let header = [
        &width.to_be_bytes()[..],
        &height.to_be_bytes(),
        &[8, 2, 0, 0, 0],
    ];
    [
        &b"\x89PNG\r\n\x1a\n"[..],
        &chunk(b"IHDR", &header.concat()),
        more,
        &chunk(b"IDAT", b"data"),
        &chunk(b"IEND", b""),
    ]
    .concat()
}

/// A small image that passes every check.
pub(crate) fn png() -> Vec<u8> {
    png_of(2, 3, &[])
}

fn jpeg() -> Vec<u8> {
    let frame = [0xff, 0xc0, 0, 11, 8, 0, 3, 0, 2, 1, 1, 0x11, 0];
    let scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 1, 2, 0xff, 0x00, 3];
    [&[0xff, 0xd8][..], &frame, &scan, &[0xff, 0xd9]].concat()
}

fn gif(frames: usize) -> Vec<u8> {
    let frame = [0x2c, 0, 0, 0, 0, 2, 0, 3, 0, 0, 2, 1, 0x44, 0];
    let head = [&b"GIF89a"[..], &[2, 0, 3, 0, 0x80, 0, 0], &[0; 6]].concat();
    [head, frame.repeat(frames), vec![0x3b]].concat()
}

fn webp(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    let inner = [&b"WEBP"[..], kind, &length, body].concat();
    let whole = (inner.len() as u32).to_le_bytes();
    [&b"RIFF"[..], &whole, &inner].concat()
}

fn lossy() -> Vec<u8> {
    webp(b"VP8 ", &[0, 0, 0, 0x9d, 0x01, 0x2a, 2, 0, 3, 0])
}

fn check_bad(bytes: &[u8], why: &str) {
    let found = check(bytes, &BOUNDS).map_err(|defect| defect.to_string());
    assert_eq!(found, Err(why.to_owned()));
}

#[test]
fn valid_images_of_every_format_pass() {
    let lossless = webp(b"VP8L", &[0x2f, 1, 0x80, 0, 0]);
    for (bytes, media_type) in [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (gif(1), "image/gif"),
        (lossy(), "image/webp"),
        (lossless, "image/webp"),
    ] {
        let found = check(&bytes, &BOUNDS);
        let size = (2, 3);
        assert_eq!(found, Ok(CheckedImage { media_type, size }), "{media_type}");
    }
}

#[test]
fn truncated_image_is_refused() {
    for (bytes, media_type) in [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (gif(1), "image/gif"),
        (lossy(), "image/webp"),
    ] {
        for end in 0..bytes.len() {
            let found = check(&bytes[..end], &BOUNDS);
            assert!(found.is_err(), "{media_type} cut at {end}: {found:?}");
        }
    }
}

#[test]
fn other_formats_are_not_images() {
    for bytes in [&b"<svg/>"[..], b"BM", b"%PDF-1.7", b"\x89PNG", b"GIF8"] {
        check_bad(bytes, "is not a PNG, JPEG, GIF or WebP image");
    }
    check_bad(b"", "is empty");
}

#[test]
fn animations_are_refused() {
    let moves = "is animated, and models take still pictures only";
    check_bad(&gif(2), moves);
    let control = chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]);
    check_bad(&png_of(2, 3, &control), moves);
}

#[test]
fn image_size_is_counted_in_base64() {
    check_bad(&png_of(0, 3, &[]), "has no pixels");
    let wide = "is 101 by 3 pixels, and this model takes 100 along each side at most";
    check_bad(&png_of(101, 3, &[]), wide);
    // 7,600 bytes are more than 10,000 in base64.
    let large = png_of(2, 3, &chunk(b"tEXt", &[0; 7_500]));
    assert!((7_500..10_000).contains(&large.len()));
    let found = check(&large, &BOUNDS).expect_err("it is too large");
    let found = found.to_string();
    assert!(found.contains("bytes as it is sent"), "{found}");
}

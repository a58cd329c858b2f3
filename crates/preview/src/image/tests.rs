//! Tests of decoding: every format, limits, drawings that would cost too much.

use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use image::{Delay, Frame, Rgba, RgbaImage};

use super::{DecodedImage, ImageDifference, ImageError, ImageFormat, Pixels, SvgFonts};

fn fonts() -> SvgFonts {
    let file: &[u8] = include_bytes!("../../../../assets/fonts/inter/Inter-Regular.otf");
    SvgFonts::new(&[file], "Inter", "Inter")
}

fn decode(bytes: &[u8]) -> Result<DecodedImage, ImageError> {
    DecodedImage::decode(bytes, &fonts(), 1.0, &AtomicBool::new(false))
}

fn encoded(format: image::ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let image = RgbaImage::from_fn(width, height, |x, y| Rgba([x as u8, y as u8, 9, 255]));
    let mut bytes = Cursor::new(Vec::new());
    let image = image::DynamicImage::from(image);
    match format {
        image::ImageFormat::Jpeg => image.to_rgb8().write_to(&mut bytes, format),
        _ => image.write_to(&mut bytes, format),
    }
    .expect("encoded");
    bytes.into_inner()
}

fn drawing(inner: &str) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \
         width='40' height='20'>{inner}</svg>"
    )
}

fn draw(inner: &str) -> Result<DecodedImage, ImageError> {
    decode(drawing(inner).as_bytes())
}

/// Checks that a drawing is refused for its complexity.
fn check_complex(inner: &str, reason: &str) {
    match draw(inner) {
        Err(ImageError::TooComplex(cause)) => assert!(cause.contains(reason), "{cause}"),
        other => panic!("{reason}: {other:?}"),
    }
}

#[test]
fn each_format_is_recognised_by_its_bytes() {
    for (format, expected) in [
        (image::ImageFormat::Png, ImageFormat::Png),
        (image::ImageFormat::Jpeg, ImageFormat::Jpeg),
        (image::ImageFormat::Gif, ImageFormat::Gif),
        (image::ImageFormat::WebP, ImageFormat::Webp),
    ] {
        let bytes = encoded(format, 7, 5);
        let decoded = decode(&bytes).expect("decoded");
        assert_eq!(decoded.format, expected);
        assert_eq!((decoded.width, decoded.height), (7, 5), "{expected}");
        let cut = decode(&bytes[..bytes.len() / 3]);
        assert!(
            cut.is_err() || expected == ImageFormat::Jpeg,
            "{expected}: {cut:?}"
        );
    }
    assert_eq!(decode(b"text").expect_err("refused"), ImageError::Unknown);
    assert_eq!(decode(b"").expect_err("refused"), ImageError::Unknown);
}

#[test]
fn an_animation_keeps_its_pictures_and_delays() {
    let mut bytes = Vec::new();
    {
        let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
        let frames = [0_u32, 200].map(|delay| {
            let image = RgbaImage::from_pixel(3, 3, Rgba([delay as u8, 0, 0, 255]));
            Frame::from_parts(image, 0, 0, Delay::from_numer_denom_ms(delay, 1))
        });
        encoder.encode_frames(frames).expect("encoded");
    }
    let decoded = decode(&bytes).expect("decoded");
    let delays: Vec<u32> = decoded.frames.iter().map(|frame| frame.delay_ms).collect();
    assert_eq!(delays, [100, 200]);
    assert!(!decoded.is_cut);
}

#[test]
fn the_size_is_checked_before_the_pixels() {
    let mut gif = encoded(image::ImageFormat::Gif, 2, 2);
    gif[6..10].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    let refused = decode(&gif).expect_err("refused");
    assert!(
        matches!(refused, ImageError::TooManyPixels { .. }),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("65535\u{d7}65535"),
        "{refused}"
    );
    let mut png = encoded(image::ImageFormat::Png, 2, 2);
    png[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    let checksum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());
    let refused = decode(&png).expect_err("refused");
    assert!(refused.to_string().contains("60000"), "{refused}");
    let mut jpeg = encoded(image::ImageFormat::Jpeg, 16, 16);
    let size = jpeg
        .windows(2)
        .position(|it| it == [0xff, 0xc0])
        .expect("a frame");
    jpeg[size + 5..size + 9].copy_from_slice(&[0xff, 0xdc, 0xff, 0xdc]);
    assert!(decode(&jpeg).is_err());
    // Many passes over a large picture.
    let mut passes = encoded(image::ImageFormat::Jpeg, 2_000, 2_000);
    passes.extend([0xff, 0xda].repeat(1_000));
    let refused = decode(&passes).expect_err("refused");
    assert!(matches!(refused, ImageError::TooComplex(_)), "{refused}");
}

/// The checksum of a part of a PNG.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 * (sum & 1));
        }
    }
    !sum
}

#[test]
fn decoding_ends_when_it_is_cancelled() {
    let bytes = encoded(image::ImageFormat::Png, 300, 300);
    let cancelled = DecodedImage::decode(&bytes, &fonts(), 1.0, &AtomicBool::new(true));
    assert_eq!(cancelled.expect_err("cancelled"), ImageError::Cancelled);
}

#[test]
fn a_drawing_has_the_size_and_scale_it_is_asked_for() {
    let text = drawing("<rect width='20' height='20' fill='red' fill-opacity='0.5'/>");
    let decoded = DecodedImage::decode(text.as_bytes(), &fonts(), 3.0, &AtomicBool::new(false));
    let decoded = decoded.expect("drawn");
    assert_eq!((decoded.width, decoded.height), (40, 20));
    assert_eq!((decoded.first().width(), decoded.scale()), (120, 3.0));
    let pixel = decoded.first().at(30, 30).expect("a pixel");
    assert_eq!(pixel[..3], [255, 0, 0], "straight alpha");
    assert!((127..=128).contains(&pixel[3]));
    assert_eq!(decoded.first().at(90, 30), Some([0, 0, 0, 0]));
    let text = draw("<text x='2' y='15' font-size='16' fill='blue'>MM</text>").expect("drawn");
    let blue = (0..40).filter(|x| {
        text.first()
            .at(*x, 10)
            .is_some_and(|it| it[2] > 200 && it[3] > 100)
    });
    assert!(blue.count() > 2, "text has the built-in font");
}

#[test]
fn huge_sizes_are_drawn_small() {
    let text = "<svg xmlns='http://www.w3.org/2000/svg' width='1e6' height='1e6'><rect width='9' height='9'/></svg>";
    let decoded = decode(text.as_bytes()).expect("drawn");
    assert_eq!(decoded.width, 1_000_000);
    assert!(decoded.first().width() <= 4_001);
}

#[test]
fn nothing_outside_of_a_drawing_is_read() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/screenshots/dark.png"
    );
    for target in [
        file.to_owned(),
        format!("file://{file}"),
        "http://127.0.0.1:1/x.png".to_owned(),
    ] {
        let decoded = draw(&format!(
            "<image width='40' height='20' xlink:href='{target}'/>"
        ));
        let decoded = decoded.expect("drawn");
        assert_eq!(decoded.first().at(20, 10), Some([0, 0, 0, 0]), "{target}");
    }
    let entity = format!(
        "<!DOCTYPE svg [<!ENTITY x SYSTEM \"file://{file}\">]>{}",
        drawing("<text>&x;</text>")
    );
    // Refused or empty: never read.
    let decoded = decode(entity.as_bytes());
    assert!(decoded.is_err() || decoded.is_ok_and(|it| it.first().at(2, 2) == Some([0; 4])));
}

#[test]
fn images_within_a_drawing_are_limited() {
    use std::fmt::Write as _;
    let inner = |bytes: &[u8]| {
        let mut text = String::new();
        for byte in bytes {
            write!(text, "%{byte:02x}").expect("written");
        }
        draw(&format!(
            "<image width='40' height='20' preserveAspectRatio='none' xlink:href='data:image/png,{text}'/>"
        ))
    };
    let shown = inner(&encoded(image::ImageFormat::Png, 2, 2)).expect("drawn");
    assert_eq!(shown.first().at(20, 10).map(|it| it[3]), Some(255));
    let mut gif = encoded(image::ImageFormat::Gif, 2, 2);
    gif[6..10].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    let bomb = inner(&gif).expect("drawn without it");
    assert_eq!(bomb.first().at(20, 10), Some([0; 4]));
}

#[test]
fn drawings_that_multiply_are_refused() {
    let mut uses = "<g id='u0'><rect width='1' height='1'/></g>".to_owned();
    for level in 1..20 {
        let uses_of = format!("<use xlink:href='#u{}'/>", level - 1).repeat(10);
        uses.push_str(&format!("<g id='u{level}'>{uses_of}</g>"));
    }
    check_complex(&uses, "repeats too many elements");
    let mut patterns =
        "<pattern id='p0' width='1' height='1'><rect width='1' height='1'/></pattern>".to_owned();
    for level in 1..20 {
        let fills = format!("<rect width='1' height='1' fill='url(#p{})'/>", level - 1).repeat(10);
        patterns.push_str(&format!(
            "<pattern id='p{level}' width='1' height='1'>{fills}</pattern>"
        ));
    }
    check_complex(
        &format!("{patterns}<rect width='9' height='9' style='fill: url(#p19)'/>"),
        "repeats",
    );
    check_complex("<g id='a'><use xlink:href='#a'/></g>", "uses itself");
    check_complex(
        &format!("{}{}", "<g>".repeat(300), "</g>".repeat(300)),
        "nested too deep",
    );
    let styles: String = (0..100)
        .map(|ix| format!("#r{ix}{{fill:url(#q{ix})}}"))
        .collect();
    let patterns: String = (0..100)
        .map(|ix| format!("<pattern id='q{ix}'/>"))
        .collect();
    check_complex(
        &format!("<style>{styles}</style>{patterns}"),
        "refer to too many parts",
    );
    let (selectors, declarations) = (vec!["a"; 20_000].join(","), "x:y;".repeat(20_000));
    check_complex(
        &format!("<style>{selectors}{{{declarations}}}</style>"),
        "style sheets",
    );
    let deep = format!("{}{}", "<g>".repeat(150_000), "</g>".repeat(150_000));
    assert!(draw(&deep).is_err());
}

#[test]
fn entities_do_not_multiply() {
    let with = |definitions: &str, inner: &str| {
        decode(format!("<!DOCTYPE svg [{definitions}]>{}", drawing(inner)).as_bytes())
    };
    let plain = with(
        "<!ENTITY red '#f00'>",
        "<rect width='40' height='20' fill='&red;'/>",
    );
    assert_eq!(
        plain.expect("drawn").first().at(1, 1),
        Some([255, 0, 0, 255])
    );
    let nested = with("<!ENTITY a 'x'><!ENTITY b '&a;&a;'>", "<text>&b;</text>");
    assert!(
        matches!(nested, Err(ImageError::TooComplex(_))),
        "{nested:?}"
    );
    let long = format!("<!ENTITY a '{}'>", "x".repeat(3_000));
    let long = with(&long, &"&a;".repeat(3_000));
    assert!(matches!(long, Err(ImageError::TooComplex(_))), "{long:?}");
}

#[test]
fn drawings_that_cost_too_much_are_refused() {
    let layers = format!(
        "{}<rect width='9' height='9'/>{}",
        "<g opacity='0.5'>".repeat(200),
        "</g>".repeat(200)
    );
    let wide = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='4000' height='4000'>\
         <rect width='4000' height='4000' opacity='0.5'/>{layers}</svg>"
    );
    // Each layer is small, so this is drawn.
    assert!(decode(wide.as_bytes()).is_ok());
    let layers = format!(
        "{}<rect width='4000' height='4000'/>{}",
        "<g opacity='0.5'>".repeat(200),
        "</g>".repeat(200)
    );
    let wide = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='4000' height='4000'>{layers}</svg>"
    );
    let drawn = decode(wide.as_bytes());
    assert!(drawn.is_err() || drawn.is_ok_and(|it| it.first().width() < 2_000));
    check_complex(
        "<filter id='f'><feTurbulence baseFrequency='0.1' numOctaves='4000000000'/></filter>\
         <rect width='40' height='20' filter='url(#f)'/>",
        "takes too long",
    );
    check_complex(
        "<path stroke='red' stroke-dasharray='0.000001' d='M0 0H40'/>",
        "takes too long",
    );
    check_complex(
        "<pattern id='p' patternUnits='userSpaceOnUse' width='1000000' height='1000000'><rect width='1' height='1'/></pattern>\
         <rect width='40' height='20' fill='url(#p)'/>",
        "too much memory",
    );
}

#[test]
fn compressed_and_broken_drawings_are_refused() {
    assert_eq!(
        decode(&[0x1f, 0x8b, 8, 0]).expect_err("refused"),
        ImageError::Unknown
    );
    for text in [
        "<svg",
        "<svg></svg>",
        "<a><svg/></a>",
        "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='5'/>",
    ] {
        assert!(
            matches!(decode(text.as_bytes()), Err(ImageError::Damaged { .. })),
            "{text}"
        );
    }
    let mut latin = drawing("").into_bytes();
    latin.push(0xe9);
    assert!(matches!(decode(&latin), Err(ImageError::Damaged { .. })));
}

#[test]
fn differing_pixels_are_counted_and_coloured() {
    let pixels = |width: u32, height: u32, bytes: &[u8]| {
        Pixels::new(width, height, bytes.to_vec()).expect("pixels")
    };
    let before = pixels(2, 1, &[1, 2, 3, 255, 9, 9, 9, 0]);
    let after = pixels(
        2,
        2,
        &[1, 2, 3, 255, 7, 7, 7, 0, 5, 5, 5, 255, 6, 6, 6, 255],
    );
    let difference = ImageDifference::of(&before, &after, [200, 0, 0]).expect("small");
    assert_eq!((difference.changed, difference.total), (2, 4));
    assert_eq!(difference.pixels.at(0, 1), Some([200, 0, 0, 255]));
    assert_eq!(difference.pixels.at(0, 0).map(|it| it[3]), Some(63));
    let wide = pixels(36_000, 1, &vec![0; 36_000 * 4]);
    let high = pixels(1, 36_000, &vec![0; 36_000 * 4]);
    assert!(ImageDifference::of(&wide, &high, [0; 3]).is_err());
    assert!(Pixels::new(2, 2, vec![0; 15]).is_none());
}

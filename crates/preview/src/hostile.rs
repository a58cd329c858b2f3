//! Mutated files of every format: no panic, no endless work. `BURIN_HOSTILE_INPUTS` sets the number for each format.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::FakeFiles;
use image::RgbaImage;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use crate::{
    DecodedImage, FileBytes, MarkdownDocument, SvgFonts, TableIndex, TableReader, parse_offset,
};

fn count() -> u64 {
    let count = std::env::var("BURIN_HOSTILE_INPUTS");
    count.ok().and_then(|it| it.parse().ok()).unwrap_or(150)
}

/// Passes mutations of a file to `check`: bytes changed, repeated, moved and cut.
fn mutate(seed: &[u8], words: &[&str], mut check: impl FnMut(&[u8])) {
    let mut random = StdRng::seed_from_u64(seed.len() as u64);
    for _ in 0..count() {
        let mut bytes = seed.to_vec();
        for _ in 0..random.random_range(1..8) {
            let at = random.random_range(0..=bytes.len());
            match random.random_range(0..6) {
                0 if at < bytes.len() => bytes[at] = random.random(),
                1 => bytes.truncate(at.max(1)),
                2 if at < bytes.len() => {
                    bytes[at] ^= 1 << random.random_range(0..8);
                }
                3 if !words.is_empty() => {
                    let word = words[random.random_range(0..words.len())];
                    bytes.splice(at..at, word.bytes());
                }
                4 => {
                    let end = (at + random.random_range(0..64)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let times = random.random_range(1..20);
                    bytes.splice(at..at, piece.repeat(times));
                }
                _ if at + 4 <= bytes.len() => {
                    let extreme = [[0; 4], [0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 1]];
                    bytes[at..at + 4].copy_from_slice(&extreme[random.random_range(0..4)]);
                }
                _ => {}
            }
        }
        check(&bytes);
    }
}

fn decode(bytes: &[u8], fonts: &SvgFonts) {
    if let Ok(image) = DecodedImage::decode(bytes, fonts, 1.0, &AtomicBool::new(false)) {
        assert!(!image.frames.is_empty());
        let pixels = image
            .frames
            .iter()
            .map(|it| u64::from(it.pixels.width()) * u64::from(it.pixels.height()));
        assert!(pixels.sum::<u64>() <= 72_000_000);
    }
}

#[test]
fn mutated_images_are_decoded_or_refused() {
    let fonts = SvgFonts::new(&[], "", "");
    let image = RgbaImage::from_fn(24, 24, |x, y| {
        image::Rgba([x as u8 * 9, y as u8 * 9, 3, 200])
    });
    for format in [
        image::ImageFormat::Png,
        image::ImageFormat::Jpeg,
        image::ImageFormat::Gif,
        image::ImageFormat::WebP,
    ] {
        let mut bytes = Cursor::new(Vec::new());
        let image = image::DynamicImage::from(image.clone());
        let image = if format == image::ImageFormat::Jpeg {
            image.to_rgb8().into()
        } else {
            image
        };
        image.write_to(&mut bytes, format).expect("encoded");
        mutate(&bytes.into_inner(), &[], |bytes| decode(bytes, &fonts));
    }
}

#[test]
fn mutated_drawings_are_drawn_or_refused() {
    let file: &[u8] = include_bytes!("../../../assets/fonts/inter/Inter-Regular.otf");
    let fonts = SvgFonts::new(&[file], "Inter", "Inter");
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 60 40' width='60' height='40'>\
        <style>.a{fill:url(#g);stroke:#123}</style><defs><linearGradient id='g'><stop offset='0' stop-color='red'/>\
        <stop offset='1'/></linearGradient><pattern id='p' width='4' height='4' patternUnits='userSpaceOnUse'>\
        <circle r='2'/></pattern><mask id='m'><rect width='30' height='30' fill='white'/></mask><filter id='f'>\
        <feGaussianBlur stdDeviation='2'/><feMorphology radius='1'/></filter><clipPath id='c'><circle r='20'/></clipPath>\
        <marker id='k' markerWidth='2' markerHeight='2'><path d='M0 0L2 2'/></marker></defs>\
        <g mask='url(#m)' opacity='.5'><rect class='a' width='50' height='30' transform='rotate(9)'/></g>\
        <path d='M1 1C2 9 40 3 50 30Q1 2 3 4Z' fill='url(#p)' stroke='blue' stroke-dasharray='3 1' marker-mid='url(#k)'/>\
        <g id='u' filter='url(#f)' clip-path='url(#c)'><text x='3' y='20' font-size='9'>ab<tspan dy='2'>c</tspan></text></g>\
        <use href='#u' x='9'/></svg>";
    let words = [
        "<g>",
        "</g>",
        "url(#p)",
        "url(#m)",
        "href='#u'",
        "<use href='#u'/>",
        "1e9",
        "-1",
        "0.000001",
        "NaN",
        "99999999",
        "scale(1e6)",
        "<!ENTITY",
        "&#38;",
        "stroke-width='1e5'",
        "filter='url(#f)'",
        "font-size='1e6'",
    ];
    mutate(drawing.as_bytes(), &words, |bytes| decode(bytes, &fonts));
}

#[test]
fn mutated_markdown_is_parsed() {
    let text = "# T *a* `b`\n\n> - [ ] x [l](u)\n>   1. y ![i](j)\n\n| a | b |\n|--|:-:|\n| c | **d** |\n\n\
        ```rust\nfn a() {}\n```\n\n<p><img src=a></p>\n\n[^1]: note\n\n$x$ \\* &amp; <b>\n---\n";
    let words = [
        "> ", "- ", "1. ", "[", "](", "![", "```", "|", "***", "\n\n", "\t", "    ", "<!--",
        "<img ", "\u{202e}", "\r", "&",
    ];
    mutate(text.as_bytes(), &words, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(document) = MarkdownDocument::parse(&text) else {
            return;
        };
        let rows = text.lines().count() as u32 + 1;
        for pair in document.blocks().windows(2) {
            assert!(pair[0].rows.start <= pair[1].rows.start, "{text:?}");
            assert!(
                pair[0].rows.start < pair[0].rows.end && pair[0].rows.end <= rows + 1,
                "{text:?}"
            );
        }
        let (changed, count) = document.changed_blocks(&MarkdownDocument::default());
        assert_eq!((changed, count), (0..0, document.blocks().len()));
    });
}

#[test]
fn mutated_tables_and_offsets_are_read() {
    let path = AbsPath::new("/p/a.csv").expect("absolute");
    mutate(
        b"a,b\n\"x,\"\"y\",2\r\n;|\t\n3,4\n",
        &["\"", "\n", "\r\n", ",", "\"\""],
        |bytes| {
            let files = FakeFiles::new();
            files.write(&path, bytes);
            let bytes = FileBytes::open(Arc::new(files), path.clone()).expect("a file");
            let Ok(reader) = TableReader::open(bytes) else {
                return;
            };
            let mut index = TableIndex::new(reader.delimiter());
            while reader.index_more(&mut index).expect("readable") {}
            let rows = reader.read_rows(&index, 0..u64::MAX).expect("readable");
            assert_eq!(rows.len() as u64, index.rows());
        },
    );
    mutate(b"0x1f +16 50%", &["0x", "%", "h", "-"], |bytes| {
        if let Ok(offset) = parse_offset(&String::from_utf8_lossy(bytes), 5, 1_000) {
            assert!(offset < 1_000);
        }
    });
}

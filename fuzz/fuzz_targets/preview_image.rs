//! Any bytes are an image, a drawing, or refused: without a panic, within the limits of pixels.
#![no_main]

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use libfuzzer_sys::fuzz_target;
use preview::{DecodedImage, SvgFonts};

static FONTS: LazyLock<SvgFonts> = LazyLock::new(|| {
    let file: &[u8] = include_bytes!("../../assets/fonts/inter/Inter-Regular.otf");
    SvgFonts::new(&[file], "Inter", "Inter")
});

fuzz_target!(|data: &[u8]| {
    let Ok(image) = DecodedImage::decode(data, &FONTS, 1.0, &AtomicBool::new(false)) else {
        return;
    };
    let pixels = image.frames.iter().map(|frame| {
        u64::from(frame.pixels.width()) * u64::from(frame.pixels.height())
    });
    assert!(pixels.sum::<u64>() <= 72_000_000);
});

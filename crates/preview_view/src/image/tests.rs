//! The view of an image over files in memory.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use gpui_kit::{Entity, Focusable as _, TestAppContext, VisualTestContext};
use host::FakeFiles;
use image::{Frame, RgbaImage};

use super::ImagePreview;
use crate::actions::{ActualSize, Reload, ToggleAnimation, ZoomIn, ZoomToFit};
use crate::loading::Loaded;
use crate::source::PreviewSource;

fn path(name: &str) -> AbsPath {
    AbsPath::new("/p").expect("absolute").join(name)
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let image = RgbaImage::from_pixel(width, height, image::Rgba([200, 30, 30, 128]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    image
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("encoded");
    bytes.into_inner()
}

fn open(
    name: &str,
    content: &[u8],
    cx: &mut TestAppContext,
) -> (Entity<ImagePreview>, FakeFiles, VisualTestContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let files = FakeFiles::new();
    files.write(&path(name), content);
    let source = PreviewSource {
        files: Arc::new(files.clone()),
        path: path(name),
        root: None,
    };
    let window = cx.add_window(|_, cx| ImagePreview::new(source, None, cx));
    let view = window.root(cx).expect("an open window");
    let mut cx = VisualTestContext::from_window(window.into(), cx);
    cx.update(|window, cx| {
        window.activate_window();
        let focus = view.read(cx).focus_handle(cx);
        focus.focus(window, cx);
    });
    cx.run_until_parked();
    (view, files, cx)
}

fn status(view: &Entity<ImagePreview>, cx: &VisualTestContext) -> Vec<String> {
    view.read_with(cx, |view, _| {
        view.status().iter().map(|it| it.text.to_string()).collect()
    })
}

#[gpui_kit::test]
fn the_status_names_size_format_and_zoom(cx: &mut TestAppContext) {
    let bytes = png(300, 200);
    let (view, _, mut cx) = open("a.png", &bytes, cx);
    let length = preview::byte_count(bytes.len() as u64);
    let shown = status(&view, &cx);
    assert_eq!(
        shown[..3],
        ["300\u{d7}200".to_owned(), "PNG".to_owned(), length]
    );
    cx.dispatch_action(ActualSize);
    cx.run_until_parked();
    assert_eq!(status(&view, &cx)[3], "100%");
    cx.dispatch_action(ZoomIn);
    cx.run_until_parked();
    assert_eq!(status(&view, &cx)[3], "125%");
    cx.dispatch_action(ZoomToFit);
    cx.run_until_parked();
    view.read_with(&cx, |view, _| assert_eq!(view.zoom(), None));
}

#[gpui_kit::test]
fn the_bytes_decide_the_format_and_a_bomb_is_refused(cx: &mut TestAppContext) {
    let (view, files, mut cx) = open("a.jpg", &png(2, 2), cx);
    assert_eq!(status(&view, &cx)[1], "PNG");
    // The header of an image of 60000 by 60000 pixels.
    let mut bomb = png(2, 2);
    bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    let end = bomb.len();
    let checksum = crc(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(bomb.len(), end);
    files.write(&path("a.jpg"), &bomb);
    cx.dispatch_action(Reload);
    cx.run_until_parked();
    view.read_with(&cx, |view, _| {
        let Loaded::Refused(reason) = &view.content else {
            panic!("refused");
        };
        assert!(reason.contains("60000"), "{reason}");
    });
}

/// The checksum of a part of a PNG.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let odd = sum & 1;
            sum = (sum >> 1) ^ (0xedb8_8320 * odd);
        }
    }
    !sum
}

#[gpui_kit::test]
fn an_animation_plays_until_it_is_paused(cx: &mut TestAppContext) {
    let mut bytes = Vec::new();
    {
        let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
        let frames = (0..3).map(|shade| {
            let image = RgbaImage::from_pixel(4, 4, image::Rgba([shade * 80, 0, 0, 255]));
            Frame::from_parts(image, 0, 0, image::Delay::from_numer_denom_ms(100, 1))
        });
        encoder.encode_frames(frames).expect("encoded");
    }
    let (view, _, mut cx) = open("a.gif", &bytes, cx);
    assert!(status(&view, &cx).contains(&"3 frames".to_owned()));
    let frame = |cx: &VisualTestContext| view.read_with(cx, |view, _| view.frame);
    let before = frame(&cx);
    cx.executor().advance_clock(Duration::from_millis(100));
    cx.run_until_parked();
    assert_eq!(frame(&cx), (before + 1) % 3);
    cx.dispatch_action(ToggleAnimation);
    cx.executor().advance_clock(Duration::from_secs(5));
    cx.run_until_parked();
    assert_eq!(frame(&cx), (before + 1) % 3);
}

#[gpui_kit::test]
fn a_drawing_is_drawn_anew_when_zoomed(cx: &mut TestAppContext) {
    let text = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><rect width='20' height='10'/></svg>";
    let (view, _, mut cx) = open("a.svg", text.as_bytes(), cx);
    let scale = |cx: &VisualTestContext| {
        view.read_with(cx, |view, _| view.content.ready().expect("drawn").scale)
    };
    let before = scale(&cx);
    for _ in 0..10 {
        cx.dispatch_action(ZoomIn);
    }
    cx.executor().advance_clock(Duration::from_secs(1));
    cx.run_until_parked();
    assert!(scale(&cx) > before, "{before}");
    assert_eq!(status(&view, &cx)[0], "20\u{d7}10");
}

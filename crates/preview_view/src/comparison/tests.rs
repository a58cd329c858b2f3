//! The comparison of two small images.

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{Entity, Focusable as _, TestAppContext, VisualTestContext};
use image::RgbaImage;

use super::{ComparedVersion, ImageComparison};
use crate::actions::{NextComparison, SliderLeft};

fn version(name: &'static str, image: Option<RgbaImage>) -> ComparedVersion {
    let bytes = image.map(|image| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image
            .write_to(&mut bytes, image::ImageFormat::Png)
            .expect("encoded");
        Arc::from(bytes.into_inner())
    });
    ComparedVersion {
        name: name.into(),
        bytes,
    }
}

fn open(
    versions: [ComparedVersion; 2],
    cx: &mut TestAppContext,
) -> (Entity<ImageComparison>, VisualTestContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let path = AbsPath::new("/p/a.png").expect("absolute");
    let window = cx.add_window(|_, cx| ImageComparison::new(path, versions, cx));
    let view = window.root(cx).expect("an open window");
    let mut cx = VisualTestContext::from_window(window.into(), cx);
    cx.update(|window, cx| {
        window.activate_window();
        let focus = view.read(cx).focus_handle(cx);
        focus.focus(window, cx);
    });
    cx.run_until_parked();
    (view, cx)
}

fn status(view: &Entity<ImageComparison>, cx: &VisualTestContext) -> Vec<String> {
    view.read_with(cx, |view, _| {
        view.status().iter().map(|it| it.text.to_string()).collect()
    })
}

#[gpui_kit::test]
fn differing_pixels_are_counted_in_every_mode(cx: &mut TestAppContext) {
    let before = RgbaImage::from_pixel(4, 3, image::Rgba([9, 9, 9, 255]));
    let mut after = before.clone();
    after.put_pixel(1, 1, image::Rgba([8, 9, 9, 255]));
    let versions = [version("HEAD", Some(before)), version("Now", Some(after))];
    let (view, mut cx) = open(versions, cx);
    assert_eq!(
        status(&view, &cx)[..2],
        ["Side by side", "1 of 12 pixels differ"]
    );
    cx.dispatch_action(NextComparison);
    cx.dispatch_action(SliderLeft);
    cx.run_until_parked();
    assert_eq!(status(&view, &cx)[0], "Slider");
    view.read_with(&cx, |view, _| assert!((view.slider - 0.45).abs() < 1e-6));
    cx.dispatch_action(NextComparison);
    cx.run_until_parked();
    assert_eq!(status(&view, &cx)[0], "Difference");
}

#[gpui_kit::test]
fn a_new_image_has_no_version_before(cx: &mut TestAppContext) {
    let after = RgbaImage::from_pixel(2, 2, image::Rgba([9, 9, 9, 255]));
    let (view, cx) = open([version("HEAD", None), version("Now", Some(after))], cx);
    view.read_with(&cx, |view, _| {
        let images = view.content.ready().expect("decoded");
        assert!(images.versions[0].is_none() && images.difference.is_none());
        let facts = images.versions[1].as_ref().map(|it| it.facts());
        assert!(facts.is_some_and(|facts| facts.starts_with("2\u{d7}2 \u{b7} PNG")));
    });
}

//! An image in a tab, with zoom, a checkerboard behind transparent pixels, and its animation.
//!
//! Start at `ImagePreview::new`.

mod animation;
mod render;
mod zooming;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gpui_kit::{
    App, AppContext as _, Bounds, ClipboardItem, Context, Entity, EventEmitter, FocusHandle,
    Focusable, Pixels, Point, SharedString, Subscription, Task, Window,
};
use preview::{DecodedImage, ImageFormat, ImageViewport, MAX_IMAGE_BYTES, TilePyramid, byte_count};
use ui::RestTimer;

use crate::actions::{ActualSize, Copy, Reload, ToggleAnimation, ZoomToFit};
use crate::event::{PreviewEvent, PreviewStatus};
use crate::kind::PreviewKind;
use crate::loading::{Loaded, sentence};
use crate::source::PreviewSource;
use crate::surface::{ImageSurface, svg_fonts};

/// Time that the zoom rests before a drawing is drawn anew.
const REDRAW_REST: Duration = Duration::from_millis(200);
/// Pixels of a drawing for each of its units when it is opened.
const FIRST_SCALE: f32 = 2.0;

/// An image in a tab.
pub struct ImagePreview {
    source: PreviewSource,
    content: Loaded<ShownImage>,
    viewport: ImageViewport,
    /// The place in the window, known after the first frame.
    bounds: Option<Bounds<Pixels>>,
    /// Physical pixels for each pixel of the window.
    screen_scale: f32,
    /// The picture of an animation that is shown.
    frame: usize,
    is_playing: bool,
    /// The last place of the pointer while the image is dragged.
    drag: Option<Point<Pixels>>,
    focus: FocusHandle,
    _loading: Option<Task<()>>,
    playing: Option<Task<()>>,
    redraw: RestTimer<ImagePreview>,
}

/// A decoded image.
struct ShownImage {
    format: ImageFormat,
    /// The size that the file states.
    size: (f32, f32),
    /// Length of the file in bytes.
    length: u64,
    delays: Vec<u32>,
    is_cut: bool,
    /// Pixels for each unit of the stated size.
    scale: f32,
    surface: Entity<ImageSurface>,
    _changes: Subscription,
}

/// An image as the background hands it over.
pub(crate) struct LoadedImage {
    pub(crate) decoded: DecodedImage,
    pub(crate) pyramids: Vec<Arc<TilePyramid>>,
    pub(crate) length: u64,
}

/// Ends decoding when it is dropped.
pub(crate) struct DecodingGuard(pub(crate) Arc<AtomicBool>);

impl Drop for DecodingGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl LoadedImage {
    /// Decodes a file; errors are sentences. Blocks for as long as decoding takes.
    pub(crate) fn of(
        bytes: &[u8],
        scale: f32,
        cancel: &AtomicBool,
    ) -> Result<Self, preview::ImageError> {
        let decoded = DecodedImage::decode(bytes, svg_fonts(), scale, cancel)?;
        let frames = decoded.frames.iter();
        let pyramids = frames.map(|frame| Arc::new(TilePyramid::new(frame.pixels.clone())));
        Ok(Self {
            pyramids: pyramids.collect(),
            decoded,
            length: bytes.len() as u64,
        })
    }

    /// Returns the size that the file states.
    pub(crate) fn size(&self) -> (f32, f32) {
        (self.decoded.width as f32, self.decoded.height as f32)
    }
}

impl EventEmitter<PreviewEvent> for ImagePreview {}

impl Focusable for ImagePreview {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl ImagePreview {
    /// Creates the view, and begins to read the file. `zoom` is the side of an image pixel; `None` fits the image.
    pub fn new(source: PreviewSource, zoom: Option<f32>, cx: &mut Context<Self>) -> Self {
        let mut this = Self {
            source,
            content: Loaded::Waiting,
            viewport: ImageViewport::new(zoom),
            bounds: None,
            screen_scale: 1.0,
            frame: 0,
            is_playing: !cx.reduce_motion(),
            drag: None,
            focus: cx.focus_handle().tab_stop(true),
            _loading: None,
            playing: None,
            redraw: RestTimer::new(REDRAW_REST, |it| &mut it.redraw, Self::redraw_sharp),
        };
        this.load(FIRST_SCALE, cx);
        this
    }

    /// Returns the file.
    pub fn source(&self) -> &PreviewSource {
        &self.source
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        PreviewKind::Image.title(&self.source.path.printable_name())
    }

    /// Returns the side of an image pixel; `None` if the image fits into the view.
    pub fn zoom(&self) -> Option<f32> {
        self.viewport.zoom()
    }

    /// Returns the items of the status bar.
    pub fn status(&self) -> Vec<PreviewStatus> {
        let Some(image) = self.content.ready() else {
            return Vec::new();
        };
        let (width, height) = image.size;
        let fit = "Fit the image into the view";
        let mut items = vec![
            PreviewStatus::new(
                "preview-dimensions",
                format!("{width}\u{d7}{height}"),
                fit,
                ZoomToFit,
            ),
            PreviewStatus::new(
                "preview-format",
                image.format.name(),
                "Read the file again",
                Reload,
            ),
            PreviewStatus::new(
                "preview-size",
                byte_count(image.length),
                "Read the file again",
                Reload,
            ),
        ];
        if image.delays.len() > 1 {
            let more = if image.is_cut {
                ", more are not shown"
            } else {
                ""
            };
            let text = format!("{} frames{more}", image.delays.len());
            let help = "Pause the animation, or continue it";
            items.push(PreviewStatus::new(
                "preview-frames",
                text,
                help,
                ToggleAnimation,
            ));
        }
        let percent = (self.scale() * self.screen_scale * 100.0).round();
        let help = "Show each pixel as one of the screen";
        items.push(PreviewStatus::new(
            "preview-zoom",
            format!("{percent}%"),
            help,
            ActualSize,
        ));
        items
    }

    /// Reads and decodes the file in the background; a drawing gets `scale` pixels for each of its units.
    fn load(&mut self, scale: f32, cx: &mut Context<Self>) {
        let source = self.source.clone();
        let cancel = DecodingGuard(Arc::default());
        let flag = cancel.0.clone();
        let loading = cx.background_spawn(async move {
            let bytes = source.files.read(&source.path, MAX_IMAGE_BYTES);
            let bytes = bytes.map_err(|error| sentence(&error))?;
            LoadedImage::of(&bytes, scale, &flag).map_err(|error| sentence(&error))
        });
        self._loading = Some(cx.spawn(async move |this, cx| {
            // Dropping the task ends decoding.
            let _cancel = cancel;
            let loaded = loading.await;
            let shown = this.update(cx, |this, cx| {
                this.content = match loaded {
                    Ok(loaded) => Loaded::Ready(ShownImage::new(loaded, cx)),
                    Err(reason) => Loaded::Refused(reason),
                };
                this.frame = 0;
                this.play(cx);
                cx.emit(PreviewEvent::StatusChanged);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    pub(crate) fn reload(&mut self, _: &Reload, _: &mut Window, cx: &mut Context<Self>) {
        self.read_again(cx);
    }

    /// Reads the file again.
    pub(crate) fn read_again(&mut self, cx: &mut Context<Self>) {
        let scale = self
            .content
            .ready()
            .map_or(FIRST_SCALE, |image| image.scale);
        self.load(scale, cx);
    }

    /// Draws a drawing anew if its pixels are too few for the zoom.
    fn redraw_sharp(&mut self, cx: &mut Context<Self>) {
        let needed = self.scale() * self.screen_scale;
        let is_blurred = self
            .content
            .ready()
            .is_some_and(|image| image.format == ImageFormat::Svg && needed > image.scale * 1.1);
        if is_blurred {
            self.load(needed, cx);
        }
    }

    /// Copies the image as the file has it.
    pub(crate) fn copy(&mut self, _: &Copy, _: &mut Window, cx: &mut Context<Self>) {
        let Some(format) = self.content.ready().map(|image| image.format) else {
            return;
        };
        let format = match format {
            ImageFormat::Png => gpui_kit::ImageFormat::Png,
            ImageFormat::Jpeg => gpui_kit::ImageFormat::Jpeg,
            ImageFormat::Gif => gpui_kit::ImageFormat::Gif,
            ImageFormat::Webp => gpui_kit::ImageFormat::Webp,
            ImageFormat::Svg => gpui_kit::ImageFormat::Svg,
        };
        let source = self.source.clone();
        let reading =
            cx.background_spawn(async move { source.files.read(&source.path, MAX_IMAGE_BYTES) });
        cx.spawn(async move |this, cx| {
            let bytes = reading.await;
            let copied = this.update(cx, |_, cx| match bytes {
                Ok(bytes) => {
                    let image = gpui_kit::Image::from_bytes(format, bytes);
                    cx.write_to_clipboard(ClipboardItem::new_image(&image));
                }
                Err(error) => cx.emit(PreviewEvent::Tell(sentence(&error))),
            });
            // The view may have been closed.
            copied.ok();
        })
        .detach();
    }
}

impl ShownImage {
    fn new(loaded: LoadedImage, cx: &mut Context<ImagePreview>) -> Self {
        let size = loaded.size();
        let LoadedImage {
            decoded,
            pyramids,
            length,
        } = loaded;
        let surface = cx.new(|cx| ImageSurface::new(pyramids, cx));
        Self {
            format: decoded.format,
            size,
            length,
            delays: decoded.frames.iter().map(|frame| frame.delay_ms).collect(),
            is_cut: decoded.is_cut,
            scale: decoded.scale(),
            _changes: cx.observe(&surface, |_, _, cx| cx.notify()),
            surface,
        }
    }
}

#[cfg(test)]
mod tests;

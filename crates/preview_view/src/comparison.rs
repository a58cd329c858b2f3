//! Two versions of an image: side by side, with a slider between them, or by the pixels that differ.
//!
//! Start at `ImageComparison::new`.

mod modes;
mod render;

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{
    App, AppContext as _, Bounds, Context, Entity, EventEmitter, FocusHandle, Focusable, Pixels,
    Point, SharedString, Subscription, Task,
};
use preview::{ImageDifference, ImageViewport, TilePyramid, byte_count, grouped};
use ui::ActiveTheme as _;

use crate::actions::{ActualSize, NextComparison};
use crate::event::{PreviewEvent, PreviewStatus};
use crate::image::{DecodingGuard, LoadedImage};
use crate::loading::{Loaded, sentence};
use crate::surface::ImageSurface;
use modes::ComparisonMode;

/// One of the compared versions.
#[derive(Clone)]
pub struct ComparedVersion {
    /// The name above it, such as `HEAD`.
    pub name: SharedString,
    /// The content; `None` if there is no file.
    pub bytes: Option<Arc<[u8]>>,
}

/// Two versions of an image in a tab.
pub struct ImageComparison {
    path: AbsPath,
    names: [SharedString; 2],
    content: Loaded<ComparedImages>,
    mode: ComparisonMode,
    /// Place of the slider, as a part of the width.
    slider: f32,
    viewport: ImageViewport,
    /// The place of the pictures in the window, known after the first frame.
    bounds: Option<Bounds<Pixels>>,
    screen_scale: f32,
    drag: Option<Point<Pixels>>,
    focus: FocusHandle,
    _loading: Option<Task<()>>,
}

/// The decoded versions and their difference.
struct ComparedImages {
    /// The versions; `None` where there is no file.
    versions: [Option<ComparedImage>; 2],
    /// `None` if a version is missing or both are too large together.
    difference: Option<Difference>,
}

/// A decoded version.
struct ComparedImage {
    size: (f32, f32),
    length: u64,
    format: &'static str,
    /// Pixels for each unit of the stated size.
    scale: f32,
    surface: Entity<ImageSurface>,
    _changes: Subscription,
}

struct Difference {
    size: (f32, f32),
    changed: u64,
    total: u64,
    surface: Entity<ImageSurface>,
    _changes: Subscription,
}

/// The versions as the background hands them over.
struct LoadedVersions {
    versions: [Option<LoadedImage>; 2],
    difference: Option<LoadedDifference>,
}

/// The difference as the background hands it over.
struct LoadedDifference {
    pyramid: Arc<TilePyramid>,
    changed: u64,
    total: u64,
}

impl LoadedDifference {
    /// Halves the picture, which takes time that grows with it.
    fn of(difference: ImageDifference) -> Self {
        let (changed, total) = (difference.changed, difference.total);
        let pyramid = Arc::new(TilePyramid::new(Arc::new(difference.pixels)));
        Self {
            pyramid,
            changed,
            total,
        }
    }
}

impl EventEmitter<PreviewEvent> for ImageComparison {}

impl Focusable for ImageComparison {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl ImageComparison {
    /// Creates the view of two versions of the file at `path`, the older one first, and begins to decode them.
    pub fn new(path: AbsPath, versions: [ComparedVersion; 2], cx: &mut Context<Self>) -> Self {
        let mut this = Self {
            path,
            names: [versions[0].name.clone(), versions[1].name.clone()],
            content: Loaded::Waiting,
            mode: ComparisonMode::SideBySide,
            slider: 0.5,
            viewport: ImageViewport::new(None),
            bounds: None,
            screen_scale: 1.0,
            drag: None,
            focus: cx.focus_handle().tab_stop(true),
            _loading: None,
        };
        this.load(versions, cx);
        this
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        format!("{} (changes)", self.path.printable_name()).into()
    }

    /// Returns the items of the status bar.
    pub fn status(&self) -> Vec<PreviewStatus> {
        let Some(images) = self.content.ready() else {
            return Vec::new();
        };
        let help = "Compare side by side, by a slider, or by the difference";
        let mut items = vec![PreviewStatus::new(
            "preview-comparison",
            self.mode.name(),
            help,
            NextComparison,
        )];
        if let Some(difference) = &images.difference {
            let text = match difference.changed {
                0 => "No pixel differs".to_owned(),
                count => format!(
                    "{} of {} pixels differ",
                    grouped(count),
                    grouped(difference.total)
                ),
            };
            items.push(PreviewStatus::new(
                "preview-difference",
                text,
                help,
                NextComparison,
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

    /// Decodes the versions in the background.
    fn load(&mut self, versions: [ComparedVersion; 2], cx: &mut Context<Self>) {
        let cancel = DecodingGuard(Arc::default());
        let flag = cancel.0.clone();
        let colour = cx.theme().colors.error.to_rgb();
        let colour = [colour.r, colour.g, colour.b].map(|part| (part * 255.0).round() as u8);
        let loading = cx.background_spawn(async move {
            let decode = |version: &ComparedVersion| match &version.bytes {
                Some(bytes) => LoadedImage::of(bytes, 1.0, &flag)
                    .map(Some)
                    .map_err(|error| sentence(&format!("{}: {error}", version.name))),
                None => Ok(None),
            };
            let loaded = [decode(&versions[0])?, decode(&versions[1])?];
            let difference = match &loaded {
                [Some(before), Some(after)] => {
                    let (before, after) = (before.decoded.first(), after.decoded.first());
                    let difference = ImageDifference::of(before, after, colour).ok();
                    difference.map(LoadedDifference::of)
                }
                _ => None,
            };
            Ok::<_, SharedString>(LoadedVersions {
                versions: loaded,
                difference,
            })
        });
        self._loading = Some(cx.spawn(async move |this, cx| {
            // Dropping the task ends decoding.
            let _cancel = cancel;
            let loaded = loading.await;
            let shown = this.update(cx, |this, cx| {
                this.content = match loaded {
                    Ok(loaded) => Loaded::Ready(ComparedImages::new(loaded, cx)),
                    Err(reason) => Loaded::Refused(reason),
                };
                cx.emit(PreviewEvent::StatusChanged);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }
}

impl ComparedImages {
    fn new(loaded: LoadedVersions, cx: &mut Context<ImageComparison>) -> Self {
        let difference = loaded.difference.map(|difference| {
            let (width, height) = difference.pyramid.size();
            let size = (width as f32, height as f32);
            let surface = cx.new(|cx| ImageSurface::new(vec![difference.pyramid], cx));
            Difference {
                size,
                changed: difference.changed,
                total: difference.total,
                _changes: cx.observe(&surface, |_, _, cx| cx.notify()),
                surface,
            }
        });
        let versions = loaded.versions;
        let versions = versions.map(|version| version.map(|it| ComparedImage::new(it, cx)));
        Self {
            versions,
            difference,
        }
    }

    /// Returns the size that both versions have together.
    fn size(&self) -> (f32, f32) {
        let sizes = self.versions.iter().flatten().map(|version| version.size);
        sizes.fold((1.0, 1.0), |all, size| {
            (all.0.max(size.0), all.1.max(size.1))
        })
    }
}

impl ComparedImage {
    fn new(loaded: LoadedImage, cx: &mut Context<ImageComparison>) -> Self {
        let size = loaded.size();
        let surface = cx.new(|cx| ImageSurface::new(loaded.pyramids, cx));
        Self {
            size,
            length: loaded.length,
            format: loaded.decoded.format.name(),
            scale: loaded.decoded.scale(),
            _changes: cx.observe(&surface, |_, _, cx| cx.notify()),
            surface,
        }
    }

    /// Returns the facts below the picture.
    fn facts(&self) -> String {
        let (width, height) = self.size;
        format!(
            "{width}\u{d7}{height} \u{b7} {} \u{b7} {}",
            self.format,
            byte_count(self.length)
        )
    }
}

#[cfg(test)]
mod tests;

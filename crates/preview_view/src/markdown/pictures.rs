//! The images of a document: read when they come into sight, one at a time, and only from below the folder.
//!
//! Invariant: no address is fetched, and no file outside of the folder is read, not through a link either.
//! Invariant: the memory of the pictures out of sight is bounded; those that were not drawn for the longest time go first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gpui_kit::{App, AppContext as _, Context, RenderImage, SharedString, Task, Window};
use preview::{DecodedImage, PreviewLink, TilePyramid};

use super::MarkdownPreview;
use crate::loading::sentence;
use crate::source::PreviewSource;
use crate::surface::{render_image, svg_fonts};

/// Maximum length of an image file.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum side of a picture in memory, in pixels.
const MAX_SIDE: u32 = 2_048;
/// Maximum number of pictures in memory, unless more are in sight.
const MAX_PICTURES: usize = 24;
/// Maximum number of refusals that are remembered.
const MAX_REFUSED: usize = 1_000;
/// Pixels of a drawing for each of its units.
const DRAWING_SCALE: f32 = 2.0;

/// A picture of a document.
#[derive(Clone)]
pub(super) enum Picture {
    /// It is being read, or waits for that.
    Waiting,
    /// It was refused, with the reason.
    Refused(SharedString),
    /// It is here.
    Ready(ReadyPicture),
}

/// A decoded picture.
#[derive(Clone)]
pub(super) struct ReadyPicture {
    pub(super) image: Arc<RenderImage>,
    /// The width that the file states, in pixels.
    pub(super) width: f32,
}

/// The pictures of a document, by the targets as they are written.
#[derive(Default)]
pub(super) struct Pictures {
    known: HashMap<String, Picture>,
    /// Targets of pictures in memory, with the frame that drew them; the one that was drawn last is at the end.
    drawn: VecDeque<(String, u64)>,
    queue: VecDeque<String>,
    reading: Option<Task<()>>,
    /// Number of the latest frame.
    frame: u64,
}

impl Pictures {
    /// Notes that a new frame is made.
    pub(super) fn begin_frame(&mut self) {
        self.frame += 1;
    }

    /// Drops all pictures, so that they are read again. `window` is the one that is being updated, if one is.
    pub(super) fn forget(&mut self, mut window: Option<&mut Window>, cx: &mut App) {
        for picture in self.known.values() {
            if let Picture::Ready(ready) = picture {
                cx.drop_image(ready.image.clone(), window.as_deref_mut());
            }
        }
        *self = Self::default();
    }

    fn insert(&mut self, target: String, picture: Picture, cx: &mut App) {
        if matches!(picture, Picture::Ready(_)) {
            self.drawn.push_back((target.clone(), self.frame));
        }
        self.known.insert(target, picture);
        // A picture of the latest frame stays: it would be read again at once.
        let frame = self.frame;
        while self.drawn.len() > MAX_PICTURES
            && self.drawn.front().is_some_and(|(_, drawn)| *drawn < frame)
        {
            let oldest = self.drawn.pop_front();
            if let Some(Picture::Ready(ready)) = oldest.and_then(|(it, _)| self.known.remove(&it)) {
                cx.drop_image(ready.image, None);
            }
        }
        if self.known.len() > MAX_REFUSED {
            self.known
                .retain(|_, picture| !matches!(picture, Picture::Refused(_)));
        }
    }

    /// Notes that a picture is drawn.
    fn touch(&mut self, target: &str) {
        let frame = self.frame;
        let found = self.drawn.iter().rposition(|(it, _)| it == target);
        if let Some((drawn, _)) = found.and_then(|ix| self.drawn.remove(ix)) {
            self.drawn.push_back((drawn, frame));
        }
    }
}

impl MarkdownPreview {
    /// Returns a picture, and begins to read it if it is not known.
    pub(super) fn picture(&mut self, target: &str, cx: &mut Context<Self>) -> Picture {
        if let Some(picture) = self.pictures.known.get(target).cloned() {
            self.pictures.touch(target);
            return picture;
        }
        self.pictures
            .known
            .insert(target.to_owned(), Picture::Waiting);
        self.pictures.queue.push_back(target.to_owned());
        self.read_next_picture(cx);
        Picture::Waiting
    }

    fn read_next_picture(&mut self, cx: &mut Context<Self>) {
        if self.pictures.reading.is_some() {
            return;
        }
        let Some(target) = self.pictures.queue.pop_front() else {
            return;
        };
        let source = self.source(cx);
        let wanted = target.clone();
        let reading = cx.background_spawn(async move { read(source, &wanted) });
        self.pictures.reading = Some(cx.spawn(async move |this, cx| {
            let picture = reading.await;
            let shown = this.update(cx, |this, cx| {
                this.pictures.reading = None;
                let picture = match picture {
                    Ok(ready) => Picture::Ready(ready),
                    Err(reason) => Picture::Refused(reason),
                };
                this.pictures.insert(target, picture, cx);
                this.list.remeasure();
                this.read_next_picture(cx);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }
}

/// Reads and decodes a picture. Blocks.
fn read(source: Option<PreviewSource>, target: &str) -> Result<ReadyPicture, SharedString> {
    let source = source.ok_or_else(|| SharedString::from("Save the text first"))?;
    let (folder, boundary) = (source.path.parent(), source.boundary());
    let link = PreviewLink::of(target, folder.as_ref(), boundary.as_ref());
    let path = match link {
        Some(PreviewLink::File { path, .. }) => path,
        Some(PreviewLink::Web(_)) => return Err("Images of the web are not loaded".into()),
        _ => return Err("It is no file of this folder".into()),
    };
    let boundary = boundary.ok_or_else(|| SharedString::from("It is no file of this folder"))?;
    // Both without links, so that a link does not lead out of the folder.
    let real = |path: &base::AbsPath| {
        let real = source.files.canonicalize(path);
        real.map_err(|error| sentence(&error))
    };
    let (path, boundary) = (real(&path)?, real(&boundary)?);
    if !path.is_within(&boundary) {
        return Err("It lies outside of the folder".into());
    }
    let bytes = source.files.read(&path, MAX_BYTES);
    let bytes = bytes.map_err(|error| sentence(&error))?;
    let cancel = AtomicBool::new(false);
    let decoded = DecodedImage::decode(&bytes, svg_fonts(), DRAWING_SCALE, &cancel);
    let decoded = decoded.map_err(|error| sentence(&error))?;
    let width = decoded.width as f32;
    let pyramid = TilePyramid::new(decoded.first().clone());
    let pixels = pyramid.reduced(MAX_SIDE);
    let image = render_image((**pixels).clone());
    let image = image.ok_or_else(|| SharedString::from("It has no pixels"))?;
    Ok(ReadyPicture { image, width })
}

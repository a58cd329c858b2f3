//! Draws an image in tiles that are made in the background, and keeps the last complete picture until the next one is.
//!
//! Invariant: at most `MAX_TILES` tiles that are out of sight are kept.
//! Start at `ImageSurface::tiles` and `paint_image`.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use base::LogErr as _;
use gpui_kit::{
    AppContext as _, Bounds, Context, Corners, Hsla, Pixels, RenderImage, Subscription, Task,
    Window, checkerboard, fill, point, px, size,
};
use preview::{SvgFonts, TileKey, TilePyramid, visible_tiles};

/// Maximum number of tiles that are kept.
const MAX_TILES: usize = 64;
/// Side of the squares behind transparent pixels, in pixels of the window.
const SQUARE: f32 = 8.0;

/// The pictures of an image, with the tiles of those that are drawn.
pub(crate) struct ImageSurface {
    frames: Vec<Arc<TilePyramid>>,
    /// The tiles of the last complete picture.
    shown: Vec<Arc<PaintedTile>>,
    ready: HashMap<(usize, TileKey), Arc<PaintedTile>>,
    making: Option<Task<()>>,
    _release: Subscription,
}

/// A tile on its way to the screen.
pub(crate) struct PaintedTile {
    /// The place in the image: left, top, width and height.
    bounds: [f32; 4],
    image: Arc<RenderImage>,
}

impl ImageSurface {
    /// Creates the surface of an image; it has at least one picture.
    pub(crate) fn new(frames: Vec<Arc<TilePyramid>>, cx: &mut Context<Self>) -> Self {
        let release = cx.on_release(|this, cx| {
            for tile in this.ready.values() {
                cx.drop_image(tile.image.clone(), None);
            }
        });
        Self {
            frames,
            shown: Vec::new(),
            ready: HashMap::new(),
            making: None,
            _release: release,
        }
    }

    /// Returns the tiles of a picture to draw now. `zoom` is the side of an image pixel in pixels of the screen, and
    /// `part` the visible part in image pixels. Missing tiles are made, and the observers notified then.
    pub(crate) fn tiles(
        &mut self,
        frame: usize,
        zoom: f32,
        part: [f32; 4],
        cx: &mut Context<Self>,
    ) -> Vec<Arc<PaintedTile>> {
        let Some(pyramid) = self.frames.get(frame) else {
            return Vec::new();
        };
        let keys = visible_tiles(pyramid.size(), zoom, part);
        let ready: Vec<_> = keys
            .iter()
            .filter_map(|key| self.ready.get(&(frame, *key)))
            .cloned()
            .collect();
        if ready.len() == keys.len() {
            self.shown = ready;
        } else if self.making.is_none() {
            let is_missing = |key: &TileKey| !self.ready.contains_key(&(frame, *key));
            let missing: Vec<TileKey> = keys.into_iter().filter(is_missing).collect();
            let pyramid = pyramid.clone();
            self.make(frame, pyramid, missing, cx);
        }
        self.shown.clone()
    }

    fn make(
        &mut self,
        frame: usize,
        pyramid: Arc<TilePyramid>,
        keys: Vec<TileKey>,
        cx: &mut Context<Self>,
    ) {
        let making = cx.background_spawn(async move {
            let tiles = keys.into_iter().filter_map(|key| {
                let tile = pyramid.tile(key)?;
                let image = render_image(tile.pixels)?;
                let bounds = tile.bounds;
                Some((key, Arc::new(PaintedTile { bounds, image })))
            });
            tiles.collect::<Vec<_>>()
        });
        self.making = Some(cx.spawn(async move |this, cx| {
            let tiles = making.await;
            let shown = this.update(cx, |this, cx| {
                this.making = None;
                this.evict(frame, cx);
                let tiles = tiles.into_iter().map(|(key, tile)| ((frame, key), tile));
                this.ready.extend(tiles);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    /// Drops tiles that are not drawn, if there are too many; those of other pictures first.
    fn evict(&mut self, frame: usize, cx: &mut Context<Self>) {
        if self.ready.len() <= MAX_TILES {
            return;
        }
        let shown = &self.shown;
        let is_shown = |tile: &Arc<PaintedTile>| shown.iter().any(|it| Arc::ptr_eq(it, tile));
        let mut hidden: Vec<(usize, TileKey)> = self
            .ready
            .iter()
            .filter(|(_, tile)| !is_shown(tile))
            .map(|(key, _)| *key)
            .collect();
        hidden.sort_by_key(|(of, _)| *of == frame);
        for key in hidden.into_iter().take(MAX_TILES / 2) {
            if let Some(tile) = self.ready.remove(&key) {
                cx.drop_image(tile.image.clone(), None);
            }
        }
    }
}

/// Converts pixels to what the toolkit draws.
pub(crate) fn render_image(pixels: preview::Pixels) -> Option<Arc<RenderImage>> {
    let (width, height) = (pixels.width(), pixels.height());
    let mut bytes = pixels.into_rgba();
    for pixel in bytes.chunks_exact_mut(4) {
        pixel.swap(0, 2);
    }
    let buffer = image::RgbaImage::from_raw(width, height, bytes)?;
    Some(Arc::new(RenderImage::new(vec![image::Frame::new(buffer)])))
}

/// Draws an image whose whole place in the window is `placed`. `scale` is the side of an image pixel in the window.
pub(crate) fn paint_image(
    tiles: &[Arc<PaintedTile>],
    placed: Bounds<Pixels>,
    scale: f32,
    squares: Hsla,
    window: &mut Window,
) {
    window.paint_quad(fill(placed, checkerboard(squares, SQUARE)));
    for tile in tiles {
        let [left, top, width, height] = tile.bounds.map(|length| px(length * scale));
        let bounds = Bounds {
            origin: placed.origin + point(left, top),
            size: size(width, height),
        };
        let corners = Corners::default();
        window
            .paint_image(bounds, bounds, corners, tile.image.clone(), 0, false)
            .log_err();
    }
}

/// Returns the fonts of drawings: those of the program. Loads them at the first call, which blocks.
pub(crate) fn svg_fonts() -> &'static SvgFonts {
    static FONTS: OnceLock<SvgFonts> = OnceLock::new();
    FONTS.get_or_init(|| SvgFonts::new(ui::font_files(), ui::UI_FONT, ui::CODE_FONT))
}

//! Drawings: SVG, without anything that they name outside of themselves.
//!
//! Invariant: no file and no address is opened: only images within the drawing are decoded, within limits, and text has
//! the built-in fonts.
//! Invariant: the source is judged before the library sees it (`svg_source`), and the cost of drawing before it is drawn
//! (`svg_cost`); a drawing that costs too much at its size is drawn smaller, or refused.
//! Start at `draw`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, ImageHrefResolver, ImageKind, Options, Tree, fontdb};

use super::{
    DecodedImage, ImageError, ImageFormat, ImageFrame, MAX_PIXELS, Pixels, raster, svg_cost,
    svg_source,
};

/// Maximum number of pixels of a drawing.
const MAX_DRAWN: f32 = 16_000_000.0;
/// Maximum number of pixels of all images within a drawing.
const MAX_EMBEDDED: u64 = 16_000_000;
/// Stack of the thread that draws: nested elements are nested calls. The system provides only what is used.
const STACK: usize = 256 << 20;
/// Number of times that a drawing is made half as large before it is refused.
const MAX_HALVINGS: u32 = 4;

/// The fonts of drawings.
#[derive(Clone, Debug)]
pub struct SvgFonts(Arc<fontdb::Database>);

impl SvgFonts {
    /// Loads font files; `sans` and `mono` name the families for text without another one.
    pub fn new(files: &[&'static [u8]], sans: &str, mono: &str) -> Self {
        let mut fonts = fontdb::Database::new();
        for file in files {
            fonts.load_font_source(fontdb::Source::Binary(Arc::new(*file)));
        }
        fonts.set_sans_serif_family(sans);
        fonts.set_serif_family(sans);
        fonts.set_cursive_family(sans);
        fonts.set_fantasy_family(sans);
        fonts.set_monospace_family(mono);
        Self(Arc::new(fonts))
    }
}

/// Draws an image with `scale` pixels for each of its units, or fewer if it is too large for that.
pub(super) fn draw(
    bytes: &[u8],
    fonts: &SvgFonts,
    scale: f32,
    cancel: &AtomicBool,
) -> Result<DecodedImage, ImageError> {
    let draw = || draw_here(bytes, fonts, scale, cancel);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, draw);
        let thread = thread.map_err(|error| ImageError::damaged(ImageFormat::Svg, &error))?;
        let failed = |_| Err(ImageError::damaged(ImageFormat::Svg, &"its drawing failed"));
        thread.join().unwrap_or_else(failed)
    })
}

fn draw_here(
    bytes: &[u8],
    fonts: &SvgFonts,
    scale: f32,
    cancel: &AtomicBool,
) -> Result<DecodedImage, ImageError> {
    let damaged = |error: &dyn std::fmt::Display| ImageError::damaged(ImageFormat::Svg, error);
    let text = svg_source::text(bytes)?;
    let document = svg_source::parse(text)?;
    svg_source::check(&document)?;
    let tree = Tree::from_xmltree(&document, &options(fonts)).map_err(|error| damaged(&error))?;
    drop(document);
    if cancel.load(Ordering::Relaxed) {
        return Err(ImageError::Cancelled);
    }
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = affordable_scale(&tree, scale)?;
    let mut pixmap = pixmap(width * scale, height * scale)?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    let (drawn_width, drawn_height) = (pixmap.width(), pixmap.height());
    let pixels = Pixels::new(drawn_width, drawn_height, straight_alpha(pixmap));
    let pixels = pixels.ok_or_else(|| damaged(&"it has no size"))?;
    Ok(DecodedImage {
        format: ImageFormat::Svg,
        width: rounded(width),
        height: rounded(height),
        frames: vec![ImageFrame {
            pixels: Arc::new(pixels),
            delay_ms: 0,
        }],
        is_cut: false,
    })
}

/// Returns the scale at which a drawing can be drawn, at most `scale`.
fn affordable_scale(tree: &Tree, scale: f32) -> Result<f32, ImageError> {
    let (width, height) = (tree.size().width(), tree.size().height());
    let largest = (MAX_DRAWN / (width * height).max(f32::MIN_POSITIVE)).sqrt();
    let mut scale = scale.min(largest);
    let mut refusal = None;
    for _ in 0..=MAX_HALVINGS {
        match svg_cost::check(tree, scale) {
            Ok(()) => return Ok(scale),
            Err(error) => refusal = Some(error),
        }
        scale /= 2.0;
    }
    Err(refusal.unwrap_or(ImageError::TooComplex("it has no size")))
}

fn pixmap(width: f32, height: f32) -> Result<Pixmap, ImageError> {
    let (width, height) = (rounded(width), rounded(height));
    // A side below one pixel is rounded up, so that a thin drawing has more pixels than its area.
    let is_small = u64::from(width) * u64::from(height) <= MAX_PIXELS;
    let pixmap = is_small.then(|| Pixmap::new(width, height)).flatten();
    pixmap.ok_or(ImageError::TooComplex("its size cannot be drawn"))
}

/// Returns a length in whole pixels, at least one.
fn rounded(length: f32) -> u32 {
    let length = length.ceil() as u32;
    length.max(1)
}

/// Returns the bytes of a drawing with colours that do not contain the alpha.
fn straight_alpha(pixmap: Pixmap) -> Vec<u8> {
    let mut rgba = pixmap.take();
    for pixel in rgba.chunks_exact_mut(4) {
        let alpha = u32::from(pixel[3]);
        if alpha > 0 && alpha < 255 {
            for part in &mut pixel[..3] {
                let straight = (u32::from(*part) * 255 + alpha / 2) / alpha;
                *part = u8::try_from(straight).unwrap_or(u8::MAX);
            }
        }
    }
    rgba
}

/// Returns options with which the library reads nothing but the drawing and `fonts`.
fn options(fonts: &SvgFonts) -> Options<'static> {
    let embedded = AtomicU64::new(0);
    let resolve_data = move |_: &str, data: Arc<Vec<u8>>, _: &Options| {
        let format = ImageFormat::of_bytes(&data)?;
        let pixels = raster::pixel_count(format, &data)?;
        let total = embedded.fetch_add(pixels, Ordering::Relaxed) + pixels;
        if total > MAX_EMBEDDED {
            return None;
        }
        match format {
            ImageFormat::Png => Some(ImageKind::PNG(data)),
            ImageFormat::Jpeg => Some(ImageKind::JPEG(data)),
            ImageFormat::Gif => Some(ImageKind::GIF(data)),
            ImageFormat::Webp => Some(ImageKind::WEBP(data)),
            ImageFormat::Svg => None,
        }
    };
    let select = usvg::FontResolver::default_font_selector();
    let select_font = move |font: &usvg::Font, fonts: &mut Arc<fontdb::Database>| {
        select(font, fonts).or_else(|| {
            fonts.query(&fontdb::Query {
                families: &[fontdb::Family::SansSerif],
                ..fontdb::Query::default()
            })
        })
    };
    Options {
        resources_dir: None,
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(resolve_data),
            resolve_string: Box::new(|_, _| None),
        },
        font_resolver: usvg::FontResolver {
            select_font: Box::new(select_font),
            select_fallback: usvg::FontResolver::default_fallback_selector(),
        },
        fontdb: fonts.0.clone(),
        ..Options::default()
    }
}

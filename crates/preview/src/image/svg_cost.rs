//! The cost of drawing: an estimate in pixels that are touched, and the memory of layers.
//!
//! The drawing library can neither be interrupted nor limited, so a drawing is judged before.
//! Start at `check`.

use resvg::usvg::filter::{Kind, Primitive};
use resvg::usvg::tiny_skia_path::{PathSegment, Point};
use resvg::usvg::{Group, Node, Paint, Path, Tree};

use super::ImageError;

/// Maximum number of touched pixels: about two seconds.
const MAX_WORK: f64 = 1.0e9;
/// Maximum number of pixels of layers and patterns that exist at one time.
const MAX_LAYERS: f64 = 40.0e6;
/// The library lets a layer be as large as so many pictures.
const LAYER_SHARE: f64 = 25.0;
/// Touched pixels for a segment of an outline, however short.
const SEGMENT: f64 = 24.0;
/// The outline of a stroke has so many segments for each of the path.
const STROKE_SEGMENTS: f64 = 8.0;
/// Lines on which an edge is evaluated for each row of pixels.
const SUBROWS: f64 = 4.0;

struct Estimate {
    scale: f64,
    /// Width and height of the picture in pixels.
    size: (f64, f64),
    work: f64,
    /// Pixels of the layers that are open.
    open: f64,
}

/// Refuses a drawing that would take too long or too much memory at a scale.
pub(super) fn check(tree: &Tree, scale: f32) -> Result<(), ImageError> {
    let scale = f64::from(scale);
    let size = tree.size();
    let size = (
        f64::from(size.width()) * scale,
        f64::from(size.height()) * scale,
    );
    let mut estimate = Estimate {
        scale,
        size,
        work: size.0 * size.1,
        open: size.0 * size.1,
    };
    estimate.group(tree.root())
}

impl Estimate {
    fn area(&self) -> f64 {
        self.size.0 * self.size.1
    }

    fn add(&mut self, work: f64) -> Result<(), ImageError> {
        self.work += work;
        if self.work > MAX_WORK || !self.work.is_finite() {
            return Err(ImageError::TooComplex("its drawing takes too long"));
        }
        Ok(())
    }

    /// Opens a layer during `inner`.
    fn layer(
        &mut self,
        pixels: f64,
        inner: impl FnOnce(&mut Self) -> Result<(), ImageError>,
    ) -> Result<(), ImageError> {
        self.open += pixels;
        if self.open > MAX_LAYERS || !self.open.is_finite() {
            return Err(ImageError::TooComplex("its layers need too much memory"));
        }
        self.add(pixels * 4.0)?;
        inner(self)?;
        self.open -= pixels;
        Ok(())
    }

    fn group(&mut self, group: &Group) -> Result<(), ImageError> {
        if !group.should_isolate() {
            return self.children(group);
        }
        let bounds = group.abs_layer_bounding_box();
        let (width, height) = (f64::from(bounds.width()), f64::from(bounds.height()));
        let own = (width * self.scale + 4.0) * (height * self.scale + 4.0);
        let mut pixels = own.min(self.area() * LAYER_SHARE);
        if group.mask().is_some() || group.clip_path().is_some() {
            pixels *= 3.0;
        }
        if !group.filters().is_empty() {
            // Each step of a filter has pictures of its own.
            pixels *= 4.0;
        }
        self.layer(pixels, |it| {
            for filter in group.filters() {
                for primitive in filter.primitives() {
                    it.add(pixels * it.filter_weight(primitive))?;
                }
            }
            it.children(group)
        })
    }

    fn children(&mut self, group: &Group) -> Result<(), ImageError> {
        let mut result = Ok(());
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group)?,
                Node::Path(path) => self.path(path)?,
                Node::Text(text) => self.group(text.flattened())?,
                Node::Image(_) => self.add(self.area())?,
            }
            // Patterns, masks, clip paths and images of filters.
            node.subroots(|root| {
                if result.is_ok() {
                    result = self.group(root);
                }
            });
            result.clone()?;
        }
        result
    }

    fn path(&mut self, path: &Path) -> Result<(), ImageError> {
        let transform = path.abs_transform();
        let (x, y) = transform.get_scale();
        let scale = f64::from(x.abs().max(y.abs())) * self.scale;
        let outline = PathOutline::of(path, scale, self.size.1);
        let bounds = path.abs_stroke_bounding_box();
        let width = (f64::from(bounds.width()) * self.scale).min(self.size.0);
        let height = (f64::from(bounds.height()) * self.scale).min(self.size.1);
        if path.fill().is_some() {
            self.add(outline.work + width * height)?;
        }
        if let Some(stroke) = path.stroke() {
            let dashes = stroke.dasharray().map_or(0.0, |dashes| {
                let sum: f32 = dashes.iter().sum();
                outline.length / f64::from(sum.max(f32::MIN_POSITIVE)) * dashes.len() as f64
            });
            self.add((outline.work + dashes * SEGMENT) * STROKE_SEGMENTS + width * height)?;
        }
        let paints = [
            path.fill().map(|it| it.paint()),
            path.stroke().map(|it| it.paint()),
        ];
        for paint in paints.into_iter().flatten() {
            if let Paint::Pattern(pattern) = paint {
                let rect = pattern.rect();
                let (x, y) = pattern.transform().get_scale();
                let own = f64::from(x.abs().max(y.abs()).max(f32::MIN_POSITIVE)) * scale;
                let pixels = f64::from(rect.width()) * own * f64::from(rect.height()) * own;
                self.layer(pixels, |_| Ok(()))?;
            }
        }
        Ok(())
    }

    /// Returns the touched pixels of a step of a filter for each pixel of its picture.
    fn filter_weight(&self, primitive: &Primitive) -> f64 {
        let window = |x: f32, y: f32| {
            let side = |radius: f32| (f64::from(radius) * self.scale).mul_add(2.0, 1.0);
            side(x) * side(y)
        };
        match primitive.kind() {
            Kind::Turbulence(it) => 60.0 * f64::from(it.num_octaves().max(1)),
            Kind::ConvolveMatrix(it) => {
                let matrix = it.matrix();
                4.0 * f64::from(matrix.columns()) * f64::from(matrix.rows())
            }
            Kind::Morphology(it) => 4.0 * window(it.radius_x().get(), it.radius_y().get()),
            Kind::DiffuseLighting(_) | Kind::SpecularLighting(_) => 40.0,
            Kind::GaussianBlur(_) | Kind::DropShadow(_) => 30.0,
            _ => 8.0,
        }
    }
}

/// The outline of a path.
#[derive(Default)]
struct PathOutline {
    /// Touched pixels of filling it.
    work: f64,
    /// Length in units of the path.
    length: f64,
}

impl PathOutline {
    fn of(path: &Path, scale: f64, picture_height: f64) -> Self {
        let mut outline = Self::default();
        let mut at = Point::zero();
        let mut start = at;
        let rows = picture_height * SUBROWS;
        for segment in path.data().segments() {
            let (points, pieces): (&[Point], f64) = match &segment {
                PathSegment::MoveTo(point) => {
                    (at, start) = (*point, *point);
                    continue;
                }
                PathSegment::LineTo(point) => (&[*point], 1.0),
                PathSegment::QuadTo(a, b) => (&[*a, *b], 16.0),
                PathSegment::CubicTo(a, b, c) => (&[*a, *b, *c], 32.0),
                PathSegment::Close => (&[start], 1.0),
            };
            let mut height = 0.0;
            for point in points {
                let (dx, dy) = (f64::from(point.x - at.x), f64::from(point.y - at.y));
                outline.length += dx.hypot(dy);
                height += dy.abs() * scale * SUBROWS;
                at = *point;
            }
            outline.work += SEGMENT * pieces + height.min(rows * pieces);
        }
        outline
    }
}

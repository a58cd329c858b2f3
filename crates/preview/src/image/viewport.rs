//! The part of an image that a view shows, and how large.

/// The part of an image that a view shows, and how large. Lengths of the view and of the image have units of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageViewport {
    /// The side of an image pixel in the view; `None` if the image fits into the view.
    zoom: Option<f32>,
    /// The place of the image in the middle of the view, as parts of its width and height.
    center: (f32, f32),
}

/// A width and a height.
type Size = (f32, f32);

/// Bounds of the side of an image pixel.
const ZOOMS: (f32, f32) = (0.01, 64.0);

impl ImageViewport {
    /// Creates a viewport on the middle of an image.
    pub fn new(zoom: Option<f32>) -> Self {
        let zoom = zoom.filter(|zoom| zoom.is_finite());
        Self {
            zoom: zoom.map(|zoom| zoom.clamp(ZOOMS.0, ZOOMS.1)),
            center: (0.5, 0.5),
        }
    }

    /// Returns the side of an image pixel in the view; `None` if the image fits into the view.
    pub fn zoom(&self) -> Option<f32> {
        self.zoom
    }

    /// Sets the side of an image pixel; `None` fits the image into the view.
    pub fn set_zoom(&mut self, zoom: Option<f32>) {
        *self = Self {
            center: if zoom.is_some() {
                self.center
            } else {
                (0.5, 0.5)
            },
            ..Self::new(zoom)
        };
    }

    /// Returns the side of an image pixel in a view of `room`. An image that is smaller than the view is not enlarged to
    /// fit it.
    pub fn scale(&self, image: Size, room: Size) -> f32 {
        let fit = || {
            let fit = (room.0 / image.0.max(1.0)).min(room.1 / image.1.max(1.0));
            fit.min(1.0).max(ZOOMS.0)
        };
        self.zoom.unwrap_or_else(fit)
    }

    /// Returns the place of the whole image in the view: left, top, width and height.
    pub fn placed(&self, image: Size, room: Size) -> [f32; 4] {
        let scale = self.scale(image, room);
        let (width, height) = (image.0 * scale, image.1 * scale);
        [
            edge(width, room.0, self.center.0),
            edge(height, room.1, self.center.1),
            width,
            height,
        ]
    }

    /// Returns the part of the image in sight, in its pixels: left, top, right and bottom.
    pub fn shown(&self, image: Size, room: Size) -> [f32; 4] {
        let scale = self.scale(image, room);
        let [left, top, ..] = self.placed(image, room);
        let part = |edge: f32, room: f32, length: f32| {
            let from = (-edge / scale).clamp(0.0, length);
            (from, ((room - edge) / scale).clamp(0.0, length))
        };
        let (x, y) = (part(left, room.0, image.0), part(top, room.1, image.1));
        [x.0, y.0, x.1, y.1]
    }

    /// Zooms by a factor, so that the image stays where it is at the place `at` of the view.
    pub fn zoom_by(&mut self, factor: f32, at: Size, image: Size, room: Size) {
        let [left, top, width, height] = self.placed(image, room);
        let before = self.scale(image, room);
        let after = (before * factor).clamp(ZOOMS.0, ZOOMS.1);
        self.zoom = Some(after);
        let center = |at: f32, edge: f32, length: f32, room: f32| {
            let part = (at - edge) / length.max(f32::MIN_POSITIVE);
            let length = length * after / before;
            // The edge is where this part of the image is at the place.
            let edge = at - part * length;
            (room / 2.0 - edge) / length.max(f32::MIN_POSITIVE)
        };
        self.center = (
            center(at.0, left, width, room.0).clamp(0.0, 1.0),
            center(at.1, top, height, room.1).clamp(0.0, 1.0),
        );
    }

    /// Moves the view over the image, in lengths of the view.
    pub fn pan_by(&mut self, by: Size, image: Size, room: Size) {
        let [left, top, width, height] = self.placed(image, room);
        let moved = |edge: f32, by: f32, length: f32, room: f32| {
            let edge = (edge - by).clamp((room - length).min(0.0), 0.0);
            (room / 2.0 - edge) / length.max(f32::MIN_POSITIVE)
        };
        if width > room.0 {
            self.center.0 = moved(left, by.0, width, room.0);
        }
        if height > room.1 {
            self.center.1 = moved(top, by.1, height, room.1);
        }
    }
}

/// Returns the edge of an image in a view: in the middle if it fits, else without a gap beside it.
fn edge(length: f32, room: f32, center: f32) -> f32 {
    if length <= room {
        (room - length) / 2.0
    } else {
        (room / 2.0 - center * length).clamp(room - length, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ImageViewport;

    const ROOM: (f32, f32) = (400.0, 300.0);

    #[test]
    fn an_image_fits_without_being_enlarged() {
        let fit = ImageViewport::new(None);
        assert_eq!(fit.placed((800.0, 300.0), ROOM), [0.0, 75.0, 400.0, 150.0]);
        assert_eq!(
            fit.placed((100.0, 100.0), ROOM),
            [150.0, 100.0, 100.0, 100.0]
        );
        assert_eq!(fit.shown((100.0, 100.0), ROOM), [0.0, 0.0, 100.0, 100.0]);
        assert_eq!(ImageViewport::new(Some(f32::NAN)).zoom(), None);
    }

    #[test]
    fn zooming_keeps_the_place_under_the_pointer() {
        let image = (800.0, 600.0);
        let mut view = ImageViewport::new(Some(1.0));
        let place = |view: &ImageViewport, at: (f32, f32)| {
            let [left, top, ..] = view.placed(image, ROOM);
            let scale = view.scale(image, ROOM);
            ((at.0 - left) / scale, (at.1 - top) / scale)
        };
        let at = (150.0, 120.0);
        let before = place(&view, at);
        view.zoom_by(2.0, at, image, ROOM);
        let after = place(&view, at);
        assert!((before.0 - after.0).abs() < 0.01 && (before.1 - after.1).abs() < 0.01);
        assert_eq!(view.zoom(), Some(2.0));
        view.zoom_by(1e9, at, image, ROOM);
        assert_eq!(view.zoom(), Some(64.0));
        view.set_zoom(None);
        assert_eq!(view, ImageViewport::new(None));
    }

    #[test]
    fn panning_stops_at_the_edges() {
        let image = (800.0, 100.0);
        let mut view = ImageViewport::new(Some(1.0));
        view.pan_by((-9_000.0, 50.0), image, ROOM);
        assert_eq!(view.placed(image, ROOM), [0.0, 100.0, 800.0, 100.0]);
        assert_eq!(view.shown(image, ROOM), [0.0, 0.0, 400.0, 100.0]);
        view.pan_by((30.0, 0.0), image, ROOM);
        assert!((view.shown(image, ROOM)[0] - 30.0).abs() < 0.01);
        view.pan_by((9_000.0, 0.0), image, ROOM);
        assert_eq!(view.shown(image, ROOM), [400.0, 0.0, 800.0, 100.0]);
    }
}

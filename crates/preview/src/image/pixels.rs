//! Pixels in memory.

/// Pixels of four bytes: red, green, blue and an alpha that the others do not contain.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl std::fmt::Debug for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\u{d7}{} pixels", self.width, self.height)
    }
}

impl Pixels {
    /// Creates pixels from their bytes, rows from the top; `None` if the number of bytes does not fit the size.
    pub fn new(width: u32, height: u32, rgba: Vec<u8>) -> Option<Self> {
        let expected = usize::try_from(u64::from(width) * u64::from(height) * 4).ok()?;
        (rgba.len() == expected && expected > 0).then_some(Self {
            width,
            height,
            rgba,
        })
    }

    /// Returns the width.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the bytes, rows from the top.
    pub fn into_rgba(self) -> Vec<u8> {
        self.rgba
    }

    /// Returns a pixel; `None` outside of the image.
    pub fn at(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let start = self.offset(x, y);
        self.rgba.get(start..start + 4)?.try_into().ok()
    }

    /// Returns the bytes of a part of a row.
    pub(super) fn row(&self, y: u32, from: u32, to: u32) -> &[u8] {
        &self.rgba[self.offset(from, y)..self.offset(to, y)]
    }

    /// Returns an image of half the width and height, whose pixels are the means of four.
    pub(super) fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            for x in 0..width {
                rgba.extend_from_slice(&self.mean(x * 2, y * 2));
            }
        }
        Self {
            width,
            height,
            rgba,
        }
    }

    /// Returns the mean of up to four pixels, each weighted by its alpha.
    fn mean(&self, x: u32, y: u32) -> [u8; 4] {
        let mut sums = [0_u32; 4];
        let mut count = 0;
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let Some([red, green, blue, alpha]) = self.at(x + dx, y + dy) else {
                continue;
            };
            count += 1;
            let alpha = u32::from(alpha);
            for (sum, part) in sums.iter_mut().zip([red, green, blue]) {
                *sum += u32::from(part) * alpha;
            }
            sums[3] += alpha;
        }
        let alpha = sums[3].max(1);
        let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        [
            byte(sums[0] / alpha),
            byte(sums[1] / alpha),
            byte(sums[2] / alpha),
            byte(sums[3] / count.max(1)),
        ]
    }

    fn offset(&self, x: u32, y: u32) -> usize {
        (y as usize * self.width as usize + x as usize) * 4
    }
}

//! sRGB colours: parses `#rgb`, `#rrggbb` and `#rrggbbaa`, and computes contrast.

use std::fmt;

/// An sRGB colour with straight alpha; each component from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgba {
    /// Red, from 0 to 255.
    pub r: u8,
    /// Green, from 0 to 255.
    pub g: u8,
    /// Blue, from 0 to 255.
    pub b: u8,
    /// Opacity: 255 is opaque.
    pub a: u8,
}

impl Rgba {
    /// Creates an opaque colour from `0xrrggbb`.
    pub const fn from_hex(rgb: u32) -> Self {
        let [_, r, g, b] = rgb.to_be_bytes();
        Self { r, g, b, a: 255 }
    }

    /// Parses `#rgb`, `#rrggbb` or `#rrggbbaa`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        match digits.len() {
            3 => {
                let part = |at: usize| {
                    u8::from_str_radix(&digits[at..=at], 16)
                        .ok()
                        .map(|it| it * 17)
                };
                Some(Self {
                    r: part(0)?,
                    g: part(1)?,
                    b: part(2)?,
                    a: 255,
                })
            }
            6 => Some(Self {
                r: part(0)?,
                g: part(2)?,
                b: part(4)?,
                a: 255,
            }),
            8 => Some(Self {
                r: part(0)?,
                g: part(2)?,
                b: part(4)?,
                a: part(6)?,
            }),
            _ => None,
        }
    }

    /// Blends this colour by its alpha over `below`, which counts as opaque; the result is opaque.
    pub fn blend_over(self, below: Self) -> Self {
        let mix = |above: u8, below: u8| {
            let alpha = u32::from(self.a);
            let sum = u32::from(above) * alpha + u32::from(below) * (255 - alpha);
            u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX)
        };
        Self {
            r: mix(self.r, below.r),
            g: mix(self.g, below.g),
            b: mix(self.b, below.b),
            a: 255,
        }
    }

    /// Returns the relative luminance by WCAG 2, from 0 (black) to 1 (white). Ignores alpha.
    pub fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(self.r) + 0.7152 * linear(self.g) + 0.0722 * linear(self.b)
    }
}

impl fmt::Display for Rgba {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)?;
        if self.a == 255 {
            Ok(())
        } else {
            write!(f, "{:02x}", self.a)
        }
    }
}

/// Returns the WCAG 2 contrast ratio, from 1 to 21. `above` is first blended over `below`.
pub fn contrast(above: Rgba, below: Rgba) -> f64 {
    let (one, other) = (above.blend_over(below).luminance(), below.luminance());
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[cfg(test)]
mod tests;

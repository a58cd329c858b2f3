//! Colours are read, printed, mixed and compared.

use super::{Rgba, contrast};

#[test]
fn hex_forms() {
    assert_eq!(Rgba::parse("#fff"), Some(Rgba::from_hex(0xff_ff_ff)));
    assert_eq!(
        Rgba::parse("#102030"),
        Some(Rgba {
            r: 16,
            g: 32,
            b: 48,
            a: 255
        })
    );
    assert_eq!(Rgba::parse("#10203040").unwrap().to_string(), "#10203040");
    for bad in ["", "#", "#12", "#12345", "102030", "#gg0000", "red", "#€€"] {
        assert_eq!(Rgba::parse(bad), None, "{bad}");
    }
}

#[test]
fn known_contrasts() {
    let (black, white) = (Rgba::from_hex(0), Rgba::from_hex(0xff_ff_ff));
    assert!((contrast(black, white) - 21.0).abs() < 0.01);
    assert!((contrast(Rgba::from_hex(0x77_77_77), white) - 4.48).abs() < 0.01);
    assert!((contrast(white, white) - 1.0).abs() < 1e-9);
    let half = Rgba { a: 128, ..black };
    assert_eq!(
        half.blend_over(white),
        Rgba {
            r: 127,
            g: 127,
            b: 127,
            a: 255
        }
    );
}

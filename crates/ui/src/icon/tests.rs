//! Every icon has a picture.

use gpui_kit::AssetSource as _;

use super::Icon;
use crate::assets::Assets;

#[test]
fn every_icon_has_a_picture() {
    for icon in Icon::ALL {
        let path = icon.path();
        let picture = Assets.load(&path).ok().flatten();
        assert!(
            picture.is_some_and(|bytes| bytes.windows(4).any(|part| part == b"<svg")),
            "{icon:?}: no {path}"
        );
    }
}

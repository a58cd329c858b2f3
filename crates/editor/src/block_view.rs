//! Views drawn in the space between two rows.

use std::collections::HashMap;
use std::rc::Rc;

use display::BlockId;
use gpui_kit::{AnyElement, App, Bounds, Pixels, Window};

/// Position and size of a block in the window at one frame, as passed to its render function.
#[derive(Clone, Debug)]
pub struct BlockPlace {
    /// Id of the block.
    pub id: BlockId,
    /// Full area of the block, including the gutter.
    pub bounds: Bounds<Pixels>,
    /// Width of the gutter, for content aligned with the text.
    pub gutter: Pixels,
    /// Height of a row.
    pub line_height: Pixels,
}

/// Renders a block at its position.
type Draw = dyn Fn(&BlockPlace, &mut Window, &mut App) -> AnyElement;

/// A function that renders the content of a block between two rows, called at each frame in which
/// the block is visible. Content that takes the focus has the key context `EditorBlock`, in which the
/// actions of the text do not apply.
pub struct BlockView(Box<Draw>);

impl BlockView {
    /// Creates a block view from a render function.
    pub fn new(
        render: impl Fn(&BlockPlace, &mut Window, &mut App) -> AnyElement + 'static,
    ) -> Self {
        Self(Box::new(render))
    }

    /// Calls the function with the block's position in this frame.
    pub(crate) fn render(
        &self,
        place: &BlockPlace,
        window: &mut Window,
        cx: &mut App,
    ) -> AnyElement {
        (self.0)(place, window, cx)
    }
}

/// The block views of one editor.
pub(crate) type BlockViews = HashMap<BlockId, Rc<BlockView>>;

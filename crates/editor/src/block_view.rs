//! What is drawn in the room between two rows.

use std::collections::HashMap;
use std::rc::Rc;

use display::BlockId;
use gpui_kit::{AnyElement, App, Bounds, Pixels, Window};

/// Where a block lies in the window.
#[derive(Clone, Debug)]
pub struct BlockPlace {
    /// Which block.
    pub id: BlockId,
    /// All of its room, the gutter included.
    pub bounds: Bounds<Pixels>,
    /// Width of the gutter, for what should begin where the text does.
    pub gutter: Pixels,
    /// Height of a row.
    pub line_height: Pixels,
}

/// Draws a block where it lies.
type Draw = dyn Fn(&BlockPlace, &mut Window, &mut App) -> AnyElement;

/// Makes what a block shows, whenever it is in sight.
pub struct BlockView(Box<Draw>);

impl BlockView {
    /// A block that shows what this makes.
    pub fn new(
        render: impl Fn(&BlockPlace, &mut Window, &mut App) -> AnyElement + 'static,
    ) -> Self {
        Self(Box::new(render))
    }

    pub(crate) fn render(
        &self,
        place: &BlockPlace,
        window: &mut Window,
        cx: &mut App,
    ) -> AnyElement {
        (self.0)(place, window, cx)
    }
}

/// The blocks of one view.
pub(crate) type BlockViews = HashMap<BlockId, Rc<BlockView>>;

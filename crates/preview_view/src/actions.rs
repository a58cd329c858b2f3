//! All actions of previews. The first line of each is its help text.
//!
//! Those of the namespace `preview` that open something belong to the window. Key contexts: `Preview` is every view,
//! with the flag `markdown`, `image`, `comparison`, `table` or `bytes` for its kind.

gpui_kit::actions!(
    preview,
    [
        /// Open the preview of this file: Markdown, an image or a table.
        Open,
        /// Open the preview of this file in a pane on the right. Both scroll in step.
        OpenToTheSide,
        /// Choose how to open this file: as text, preview, image, table or bytes.
        OpenWith,
        /// Open the text of this preview.
        OpenText,
        /// Open the bytes of this file.
        OpenBytes,
        /// Read the file again.
        Reload,
        /// Scroll up, or select the cell or byte above.
        Up,
        /// Scroll down, or select the cell or byte below.
        Down,
        /// Scroll to the left, or select the cell or byte on the left.
        Left,
        /// Scroll to the right, or select the cell or byte on the right.
        Right,
        /// Scroll a page up.
        PageUp,
        /// Scroll a page down.
        PageDown,
        /// Go to the start.
        Start,
        /// Go to the end.
        End,
        /// Extend the selection to the byte above.
        SelectUp,
        /// Extend the selection to the byte below.
        SelectDown,
        /// Extend the selection by a byte to the left.
        SelectLeft,
        /// Extend the selection by a byte to the right.
        SelectRight,
        /// Copy the selected cell, the selected bytes or the image.
        Copy,
        /// Copy the record of the selected cell, or the selected bytes as text.
        CopyRecord,
        /// Zoom into the image.
        ZoomIn,
        /// Zoom out of the image.
        ZoomOut,
        /// Fit the image into the view.
        ZoomToFit,
        /// Show each pixel of the image as one of the screen.
        ActualSize,
        /// Pause the animation, or continue it.
        ToggleAnimation,
        /// Compare the images side by side, by a slider, or by their difference.
        NextComparison,
        /// Move the slider between the images to the left.
        SliderLeft,
        /// Move the slider between the images to the right.
        SliderRight,
        /// Go to an offset of the file.
        GoToOffset,
        /// Take the first record of the table as the names of its columns, or as one like the others.
        ToggleHeader,
        /// Choose the next delimiter of the table: comma, tab, semicolon, pipe.
        NextDelimiter,
        /// Make the column of the selected cell wider.
        WidenColumn,
        /// Make the column of the selected cell narrower.
        NarrowColumn,
        /// Scroll the preview and its text in step, or each alone.
        ToggleScrollInStep,
        /// Leave the field, or return to the editor.
        Cancel,
    ]
);

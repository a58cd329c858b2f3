//! The bytes of a file: offsets, hexadecimal digits and characters.
//!
//! Start at `HexPreview::new`.

mod render;
mod selecting;

use std::ops::Range;

use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, ClipboardItem, Context, Entity, EventEmitter, FocusHandle, Focusable,
    Pixels, SharedString, Subscription, Task, Window,
};
use preview::{BYTES_PER_ROW, FileBytes, HexReader, byte_count, parse_offset};

use crate::actions::{Copy, CopyRecord, GoToOffset};
use crate::event::{PreviewEvent, PreviewStatus};
use crate::kind::PreviewKind;
use crate::loading::{Loaded, sentence};
use crate::row_list::{RowList, RowListView};
use crate::source::PreviewSource;

/// Maximum number of bytes that are copied.
const MAX_COPIED: u64 = 1 << 20;

/// The bytes of a file in a tab.
pub struct HexPreview {
    source: PreviewSource,
    content: Loaded<HexContent>,
    list: RowList,
    /// Offset of the byte with the caret.
    caret: u64,
    /// The other end of the selection.
    anchor: u64,
    /// The offset to go to once the file is open.
    awaited: u64,
    offset: Entity<InputState>,
    /// Whether the field for an offset is shown, and the reason why its text is none.
    field: Option<Option<SharedString>>,
    focus: FocusHandle,
    _opening: Option<Task<()>>,
    reading: Option<Task<()>>,
    _copying: Option<Task<()>>,
    _field_events: Subscription,
}

/// An open file with the pages that were read last.
struct HexContent {
    bytes: FileBytes,
    reader: HexReader,
}

impl EventEmitter<PreviewEvent> for HexPreview {}

impl Focusable for HexPreview {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl HexPreview {
    /// Creates the view, and begins to open the file. The byte at `offset` is at the top.
    pub fn new(
        source: PreviewSource,
        offset: u64,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let input = cx.new(|cx| {
            InputState::new(window, cx).placeholder("Offset: 4096, 0x1000, +16, -16, 50%")
        });
        let mut this = Self {
            source,
            content: Loaded::Waiting,
            list: RowList::new(0),
            caret: 0,
            anchor: 0,
            awaited: offset,
            _field_events: cx.subscribe_in(&input, window, Self::field_event),
            offset: input,
            field: None,
            focus: cx.focus_handle().tab_stop(true),
            _opening: None,
            reading: None,
            _copying: None,
        };
        this.open(cx);
        this
    }

    /// Returns the file.
    pub fn source(&self) -> &PreviewSource {
        &self.source
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        PreviewKind::Hex.title(&self.source.path.printable_name())
    }

    /// Returns the offset of the first byte in sight.
    pub fn top(&self) -> u64 {
        if self.content.ready().is_none() {
            return self.awaited;
        }
        self.list.scroll.shown().start * BYTES_PER_ROW
    }

    /// Returns the items of the status bar.
    pub fn status(&self) -> Vec<PreviewStatus> {
        let Some(content) = self.content.ready() else {
            return Vec::new();
        };
        let selected = self.selected();
        let count = selected.end - selected.start;
        let place = match count {
            0 | 1 => format!("0x{:x}", self.caret),
            count => format!("0x{:x} ({count} selected)", self.caret),
        };
        let help = "Go to an offset";
        vec![
            PreviewStatus::new("preview-offset", place, help, GoToOffset),
            PreviewStatus::new(
                "preview-size",
                byte_count(content.reader.len()),
                help,
                GoToOffset,
            ),
        ]
    }

    /// Opens the file in the background.
    pub(crate) fn open(&mut self, cx: &mut Context<Self>) {
        let source = self.source.clone();
        let opening =
            cx.background_spawn(async move { FileBytes::open(source.files, source.path) });
        self._opening = Some(cx.spawn(async move |this, cx| {
            let opened = opening.await;
            let shown = this.update(cx, |this, cx| {
                match opened {
                    Ok(bytes) => this.show(bytes),
                    Err(error) => this.content = Loaded::Refused(sentence(&error)),
                }
                cx.emit(PreviewEvent::StatusChanged);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    fn show(&mut self, bytes: FileBytes) {
        let reader = HexReader::new(bytes.len());
        self.list.scroll.set_rows(reader.rows());
        let last = bytes.len().saturating_sub(1);
        let offset = std::mem::take(&mut self.awaited).max(self.caret).min(last);
        (self.caret, self.anchor) = (offset, offset);
        self.list.scroll.set_top((offset / BYTES_PER_ROW) as f64);
        self.content = Loaded::Ready(HexContent { bytes, reader });
    }

    /// Reads the pages that rows need, one batch at a time.
    fn read(&mut self, rows: Range<u64>, cx: &mut Context<Self>) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let missing = content.reader.missing(rows);
        if missing.is_empty() || self.reading.is_some() {
            return;
        }
        let bytes = content.bytes.clone();
        let reading = cx.background_spawn(async move {
            let pages = missing.into_iter().map(|(offset, length)| {
                let page = bytes.read(offset, length)?;
                Ok((offset, page))
            });
            pages.collect::<Result<Vec<_>, host::Error>>()
        });
        self.reading = Some(cx.spawn(async move |this, cx| {
            let pages = reading.await;
            let shown = this.update(cx, |this, cx| {
                this.reading = None;
                match pages {
                    Ok(pages) => {
                        if let Some(content) = this.content.ready_mut() {
                            for (offset, page) in pages {
                                content.reader.insert(offset, page);
                            }
                        }
                    }
                    Err(error) => this.content = Loaded::Refused(sentence(&error)),
                }
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    /// Returns the selected bytes; the byte with the caret if no others are.
    fn selected(&self) -> Range<u64> {
        let length = self
            .content
            .ready()
            .map_or(0, |content| content.reader.len());
        let (start, end) = (self.caret.min(self.anchor), self.caret.max(self.anchor));
        start.min(length)..end.saturating_add(1).min(length)
    }

    pub(crate) fn copy(&mut self, _: &Copy, _: &mut Window, cx: &mut Context<Self>) {
        let as_hex = |bytes: Vec<u8>| {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.join(" ")
        };
        self.copy_as(as_hex, cx);
    }

    pub(crate) fn copy_text(&mut self, _: &CopyRecord, _: &mut Window, cx: &mut Context<Self>) {
        let as_text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        self.copy_as(as_text, cx);
    }

    fn copy_as(&mut self, text: fn(Vec<u8>) -> String, cx: &mut Context<Self>) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let selected = self.selected();
        let count = selected.end - selected.start;
        if count > MAX_COPIED {
            let most = byte_count(MAX_COPIED);
            let sentence = format!(
                "At most {most} are copied, and {} are selected",
                byte_count(count)
            );
            return cx.emit(PreviewEvent::Tell(sentence.into()));
        }
        let bytes = content.bytes.clone();
        let length = usize::try_from(count).unwrap_or(usize::MAX);
        let reading = cx.background_spawn(async move {
            let bytes = bytes.read(selected.start, length)?;
            Ok::<String, host::Error>(text(bytes))
        });
        self._copying = Some(cx.spawn(async move |this, cx| {
            let copied = reading.await;
            let done = this.update(cx, |_, cx| match copied {
                Ok(text) => cx.write_to_clipboard(ClipboardItem::new_string(text)),
                Err(error) => cx.emit(PreviewEvent::Tell(sentence(&error))),
            });
            // The view may have been closed.
            done.ok();
        }));
    }

    pub(crate) fn go_to_offset(
        &mut self,
        _: &GoToOffset,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.field = Some(None);
        let focus = self.offset.read(cx).focus_handle(cx);
        focus.focus(window, cx);
        cx.notify();
    }

    fn field_event(
        &mut self,
        _: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::PressEnter { .. } => self.follow_field(window, cx),
            InputEvent::Change => {
                // A wrong offset is named until it is right.
                if let Some(Some(_)) = self.field {
                    self.field = Some(self.field_offset(cx).err());
                    cx.notify();
                }
            }
            InputEvent::Focus | InputEvent::Blur => {}
        }
    }

    /// Goes to the offset in the field, or says why it is none.
    fn follow_field(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        match self.field_offset(cx) {
            Ok(offset) => {
                self.field = None;
                self.focus.focus(window, cx);
                self.go_to(offset, cx);
            }
            Err(problem) => {
                self.field = Some(Some(problem));
                cx.notify();
            }
        }
    }

    /// Returns the offset in the field, or the reason why it is none.
    fn field_offset(&self, cx: &App) -> Result<u64, SharedString> {
        let length = self.content.ready().map_or(0, |it| it.reader.len());
        let text = self.offset.read(cx).value();
        parse_offset(&text, self.caret, length).map_err(|problem| sentence(&problem))
    }
}

impl RowListView for HexPreview {
    fn row_list(&mut self) -> &mut RowList {
        &mut self.list
    }

    fn prepare_rows(&mut self, rows: Range<u64>, cx: &mut Context<Self>) {
        self.read(rows, cx);
    }

    fn render_row(&self, row: u64, cx: &Context<Self>) -> gpui_kit::AnyElement {
        self.render_bytes(row, cx)
    }

    fn scrolled(&mut self, rows: f64, _: Pixels, cx: &mut Context<Self>) {
        self.list.scroll.scroll_by(rows);
        cx.notify();
    }
}

#[cfg(test)]
mod tests;

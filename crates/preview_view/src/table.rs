//! Separated values as a table.
//!
//! The rows in sight and some around them are in memory; the index of rows grows in the background while the first rows
//! are already shown.
//! Start at `TablePreview::new`.

mod columns;
mod render;
mod selecting;

use std::ops::Range;

use gpui_kit::{
    App, AppContext as _, ClipboardItem, Context, EventEmitter, FocusHandle, Focusable, Pixels,
    SharedString, Task, Window,
};
use preview::{
    CsvError, Delimiter, FileBytes, TableIndex, TableReader, TableRow, byte_count, grouped,
};

use crate::actions::{Copy, CopyRecord, NextDelimiter, ToggleHeader};
use crate::event::{PreviewEvent, PreviewStatus};
use crate::kind::PreviewKind;
use crate::loading::{Loaded, sentence};
use crate::row_list::{RowList, RowListView};
use crate::source::PreviewSource;
use columns::Columns;

/// Rows above and below those in sight that are read with them.
const AROUND: u64 = 64;
/// The index is shown anew once it has grown by this part.
const GROWTH: u64 = 2;

/// A table in a tab.
pub struct TablePreview {
    source: PreviewSource,
    content: Loaded<TableContent>,
    list: RowList,
    /// Distance by which the columns are scrolled to the left.
    x: Pixels,
    /// Row of the table and column of the selected cell.
    cell: (u64, usize),
    /// Whether the first row names the columns.
    has_header: bool,
    /// The row at the top once the rows up to it are known.
    awaited: u64,
    focus: FocusHandle,
    _indexing: Option<Task<()>>,
    reading: Option<Task<()>>,
}

/// An open table with the rows that were read last.
struct TableContent {
    reader: TableReader,
    index: TableIndex,
    /// The first row, which may name the columns.
    first: TableRow,
    /// Number of the first of `rows`.
    start: u64,
    rows: Vec<TableRow>,
    columns: Columns,
}

/// A step of the background job that makes the index.
enum IndexStep {
    Opened(TableReader),
    Grown(Box<TableIndex>),
    Failed(CsvError),
}

impl EventEmitter<PreviewEvent> for TablePreview {}

impl Focusable for TablePreview {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl TablePreview {
    /// Creates the view, and begins to open the file. Row `top` is at the top once it is known.
    pub fn new(source: PreviewSource, top: u64, cx: &mut Context<Self>) -> Self {
        let mut this = Self {
            source,
            content: Loaded::Waiting,
            list: RowList::new(0),
            x: Pixels::ZERO,
            cell: (0, 0),
            has_header: true,
            awaited: top,
            focus: cx.focus_handle().tab_stop(true),
            _indexing: None,
            reading: None,
        };
        this.open(None, cx);
        this
    }

    /// Returns the file.
    pub fn source(&self) -> &PreviewSource {
        &self.source
    }

    /// Returns the title of the tab.
    pub fn title(&self) -> SharedString {
        PreviewKind::Table.title(&self.source.path.printable_name())
    }

    /// Returns the first row in sight.
    pub fn top(&self) -> u64 {
        self.awaited.max(self.list.scroll.shown().start)
    }

    /// Returns the items of the status bar.
    pub fn status(&self) -> Vec<PreviewStatus> {
        let Some(content) = self.content.ready() else {
            return Vec::new();
        };
        let rows = self.list.scroll.rows();
        let rows = match rows {
            1 => "1 row".to_owned(),
            count => format!("{} rows", grouped(count)),
        };
        let index = &content.index;
        let rows = if index.is_whole() {
            rows
        } else {
            let read = byte_count(index.end());
            format!(
                "{rows} so far, {read} of {} read",
                byte_count(content.reader.bytes().len())
            )
        };
        let columns = match content.columns.count() {
            1 => "1 column".to_owned(),
            count => format!("{count} columns"),
        };
        let header = "Take the first row as names of the columns, or as a row";
        vec![
            PreviewStatus::new("preview-rows", rows, header, ToggleHeader),
            PreviewStatus::new("preview-columns", columns, header, ToggleHeader),
            PreviewStatus::new(
                "preview-delimiter",
                content.reader.delimiter().name(),
                "Choose the next delimiter",
                NextDelimiter,
            ),
        ]
    }

    /// Opens the file and makes the index of its rows in the background. `delimiter` is that of the fields; it is guessed
    /// if there is none.
    pub(crate) fn open(&mut self, delimiter: Option<Delimiter>, cx: &mut Context<Self>) {
        let source = self.source.clone();
        // The job waits until a step is shown.
        let (sender, steps) = async_channel::bounded(1);
        let job = cx.background_spawn(async move {
            let opened = FileBytes::open(source.files, source.path).map_err(CsvError::from);
            let reader = match opened.and_then(TableReader::open) {
                Ok(reader) => reader,
                Err(error) => {
                    // The view may have been closed.
                    sender.send(IndexStep::Failed(error)).await.ok();
                    return;
                }
            };
            let reader = match delimiter {
                Some(delimiter) => reader.with_delimiter(delimiter),
                None => reader,
            };
            let mut index = TableIndex::new(reader.delimiter());
            let opened = sender.send(IndexStep::Opened(reader.clone())).await;
            let mut is_wanted = opened.is_ok();
            let mut shown = 0;
            while is_wanted {
                let step = match reader.index_more(&mut index) {
                    Ok(true) if index.end() < shown * GROWTH => None,
                    Ok(_) => Some(IndexStep::Grown(Box::new(index.clone()))),
                    Err(error) => Some(IndexStep::Failed(error)),
                };
                is_wanted = !sender.is_closed();
                if let Some(step) = step {
                    let is_last = index.is_whole() || matches!(step, IndexStep::Failed(_));
                    shown = index.end();
                    is_wanted = sender.send(step).await.is_ok() && !is_last;
                }
            }
        });
        self._indexing = Some(cx.spawn(async move |this, cx| {
            while let Ok(step) = steps.recv().await {
                let shown = this.update(cx, |this, cx| this.take_step(step, cx));
                if shown.is_err() {
                    return;
                }
            }
            job.await;
        }));
    }

    fn take_step(&mut self, step: IndexStep, cx: &mut Context<Self>) {
        match step {
            IndexStep::Opened(reader) => {
                self.reading = None;
                self.content = Loaded::Ready(TableContent {
                    index: TableIndex::new(reader.delimiter()),
                    reader,
                    first: TableRow::default(),
                    start: 0,
                    rows: Vec::new(),
                    columns: Columns::default(),
                });
            }
            IndexStep::Grown(index) => {
                if let Some(content) = self.content.ready_mut() {
                    content.index = *index;
                }
                self.rows_changed();
            }
            IndexStep::Failed(error) => self.content = Loaded::Refused(sentence(&error)),
        }
        cx.emit(PreviewEvent::StatusChanged);
        cx.notify();
    }

    /// Follows a change of the known rows or of the header.
    fn rows_changed(&mut self) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let rows = content.index.rows().saturating_sub(self.first_row());
        let is_whole = content.index.is_whole();
        self.list.scroll.set_rows(rows);
        if self.awaited > 0 && (self.awaited < rows || is_whole) {
            self.list
                .scroll
                .set_top(std::mem::take(&mut self.awaited) as f64);
        }
        self.cell.0 = self.cell.0.min(rows.saturating_sub(1));
    }

    /// Returns the number of rows above the first one of the list.
    fn first_row(&self) -> u64 {
        u64::from(self.has_header)
    }

    /// Reads rows of the list with some around them, unless they are in memory.
    fn read(&mut self, shown: Range<u64>, cx: &mut Context<Self>) {
        let first = self.first_row();
        let Some(content) = self.content.ready() else {
            return;
        };
        let known = content.index.rows();
        let wanted = shown.start + first..(shown.end + first).min(known);
        let held = content.start..content.start + content.rows.len() as u64;
        let is_held = wanted.is_empty() || held.start <= wanted.start && wanted.end <= held.end;
        if is_held && !content.first.fields.is_empty() || known == 0 || self.reading.is_some() {
            return;
        }
        let start = wanted.start.saturating_sub(AROUND);
        let range = start..wanted.end.saturating_add(AROUND);
        let (reader, index) = (content.reader.clone(), content.index.clone());
        let reading = cx.background_spawn(async move {
            let first = reader.read_rows(&index, 0..1)?;
            let expected = range.end.min(known).saturating_sub(start);
            let rows = reader.read_rows(&index, range)?;
            if (rows.len() as u64) < expected {
                return Err(CsvError::Changed);
            }
            Ok::<_, CsvError>((first.into_iter().next().unwrap_or_default(), rows))
        });
        self.reading = Some(cx.spawn(async move |this, cx| {
            let rows = reading.await;
            let shown = this.update(cx, |this, cx| {
                this.reading = None;
                match rows {
                    Ok((first, rows)) => {
                        if let Some(content) = this.content.ready_mut() {
                            content.columns.measure(&first, &rows);
                            (content.first, content.start, content.rows) = (first, start, rows);
                        }
                    }
                    Err(error) => this.content = Loaded::Refused(sentence(&error)),
                }
                cx.emit(PreviewEvent::StatusChanged);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    /// Returns a row of the list; `None` if it is not in memory.
    fn row(&self, row: u64) -> Option<&TableRow> {
        let content = self.content.ready()?;
        let ix = (row + self.first_row()).checked_sub(content.start)?;
        content.rows.get(usize::try_from(ix).ok()?)
    }

    pub(crate) fn copy(&mut self, _: &Copy, _: &mut Window, cx: &mut Context<Self>) {
        let (row, column) = self.cell;
        let field = self.row(row).and_then(|row| row.fields.get(column));
        if let Some(field) = field.cloned() {
            cx.write_to_clipboard(ClipboardItem::new_string(field));
        }
    }

    /// Copies the row of the selected cell with tabs between its fields, as spreadsheets take it.
    pub(crate) fn copy_record(&mut self, _: &CopyRecord, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(row) = self.row(self.cell.0) {
            let fields = row.fields.iter().map(|field| {
                let is_plain = !field.contains(['\t', '\n', '\r', '"']);
                if is_plain {
                    field.clone()
                } else {
                    format!("\"{}\"", field.replace('"', "\"\""))
                }
            });
            let text = fields.collect::<Vec<_>>().join("\t");
            cx.write_to_clipboard(ClipboardItem::new_string(text));
        }
    }

    pub(crate) fn toggle_header(
        &mut self,
        _: &ToggleHeader,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.has_header = !self.has_header;
        self.rows_changed();
        cx.emit(PreviewEvent::StatusChanged);
        cx.notify();
    }

    pub(crate) fn next_delimiter(
        &mut self,
        _: &NextDelimiter,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let current = content.reader.delimiter();
        let ix = Delimiter::ALL.iter().position(|it| *it == current);
        let next = ix.map_or(0, |ix| (ix + 1) % Delimiter::ALL.len());
        self.open(Some(Delimiter::ALL[next]), cx);
    }
}

impl RowListView for TablePreview {
    fn row_list(&mut self) -> &mut RowList {
        &mut self.list
    }

    fn prepare_rows(&mut self, rows: Range<u64>, cx: &mut Context<Self>) {
        self.read(rows, cx);
    }

    fn render_row(&self, row: u64, cx: &Context<Self>) -> gpui_kit::AnyElement {
        self.render_cells(row, cx)
    }

    fn scrolled(&mut self, rows: f64, pixels: Pixels, cx: &mut Context<Self>) {
        self.list.scroll.scroll_by(rows);
        self.set_x(self.x + pixels, cx);
        cx.notify();
    }
}

#[cfg(test)]
mod tests;

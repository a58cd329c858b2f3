//! Makes blocks of the events of the parser.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::html::{self, HtmlPiece};
use super::inline::{InlineBuilder, InlinePart, StyleChange};
use super::{
    BlockKind, CellAlignment, InlineText, ListMarker, MAX_BLOCKS, MAX_COLUMNS, MarkdownBlock,
    MarkdownDocument, TableColumns,
};
use crate::anchor_of;

/// Bounds of the width of a column, in characters.
const COLUMN_WIDTHS: Range<usize> = 3..60;

pub(super) fn parse(text: &str) -> MarkdownDocument {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_MATH;
    let mut builder = Builder::new(text);
    for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
        if builder.blocks.len() >= MAX_BLOCKS {
            builder.is_cut = true;
            break;
        }
        builder.event(event, span);
    }
    builder.finish()
}

/// A list, an item or a quote around the text.
enum Container {
    Quote,
    /// The number of the next item; `None` for bullets.
    List(Option<u64>),
    Footnote,
}

/// The table that is open.
#[derive(Default)]
struct OpenTable {
    alignments: Vec<CellAlignment>,
    /// The rows, and whether each is the head.
    rows: Vec<(Vec<InlineText>, bool, Range<usize>)>,
    cells: Vec<InlineText>,
}

struct Builder {
    blocks: Vec<MarkdownBlock>,
    /// Offsets at which rows start.
    row_starts: Vec<usize>,
    containers: Vec<Container>,
    /// The mark of the item whose first block comes next.
    marker: Option<ListMarker>,
    inline: InlineBuilder,
    /// The source of the open inline content.
    inline_span: Option<Range<usize>>,
    /// Info and text of the open code.
    code: Option<(String, String)>,
    html: Option<String>,
    table: Option<OpenTable>,
    anchors: HashMap<String, usize>,
    is_cut: bool,
}

impl Builder {
    fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        Self {
            blocks: Vec::new(),
            row_starts: starts.collect(),
            containers: Vec::new(),
            marker: None,
            inline: InlineBuilder::default(),
            inline_span: None,
            code: None,
            html: None,
            table: None,
            anchors: HashMap::new(),
            is_cut: false,
        }
    }

    fn finish(mut self) -> MarkdownDocument {
        self.end_inline();
        MarkdownDocument {
            blocks: self.blocks,
            is_cut: self.is_cut,
        }
    }

    fn event(&mut self, event: Event, span: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, span),
            Event::End(tag) => self.end(tag, span),
            Event::Text(text) => self.text(&text, span),
            Event::Code(code) => {
                self.touch(&span);
                self.inline.push_code(&code);
            }
            Event::InlineMath(formula) | Event::DisplayMath(formula) => {
                self.touch(&span);
                self.inline.push_code(&formula);
            }
            Event::Html(html) => match &mut self.html {
                Some(open) => open.push_str(&html),
                None => self.inline_html(&html, &span),
            },
            Event::InlineHtml(html) => self.inline_html(&html, &span),
            Event::FootnoteReference(name) => {
                self.touch(&span);
                self.inline.open_link(&format!("#{name}"));
                self.inline.push(&format!("[{name}]"));
                self.inline.close_link();
            }
            Event::SoftBreak => self.inline.push(" "),
            Event::HardBreak => self.inline.push("\n"),
            Event::Rule => {
                self.end_inline();
                self.push(BlockKind::Rule, &span);
            }
            Event::TaskListMarker(is_done) => self.marker = Some(ListMarker::Task(is_done)),
        }
    }

    fn start(&mut self, tag: Tag, span: Range<usize>) {
        match tag {
            Tag::Strong => self.inline.open(StyleChange::Strong),
            Tag::Emphasis => self.inline.open(StyleChange::Emphasis),
            Tag::Strikethrough => self.inline.open(StyleChange::Struck),
            Tag::Superscript | Tag::Subscript => {}
            Tag::Link { dest_url, .. } => self.inline.open_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.touch(&span);
                self.inline.open_image(&dest_url);
            }
            Tag::TableHead | Tag::TableRow | Tag::TableCell => {}
            block => {
                self.end_inline();
                self.start_block(block, span);
            }
        }
    }

    fn start_block(&mut self, tag: Tag, span: Range<usize>) {
        match tag {
            Tag::BlockQuote(_) => self.containers.push(Container::Quote),
            Tag::List(first) => self.containers.push(Container::List(first)),
            Tag::Item => {
                self.flush_marker(&span);
                self.marker = Some(match self.containers.last_mut() {
                    Some(Container::List(Some(number))) => {
                        let marker = ListMarker::Number(*number);
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => ListMarker::Bullet,
                });
            }
            Tag::FootnoteDefinition(name) => {
                self.containers.push(Container::Footnote);
                self.marker = Some(ListMarker::Footnote(name.to_string()));
            }
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::MetadataBlock(_) => self.code = Some(("yaml".to_owned(), String::new())),
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::Table(alignments) => {
                let alignments = alignments.into_iter().take(MAX_COLUMNS).map(alignment);
                self.table = Some(OpenTable {
                    alignments: alignments.collect(),
                    ..OpenTable::default()
                });
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, span: Range<usize>) {
        match tag {
            TagEnd::Strong => self.inline.close(StyleChange::Strong),
            TagEnd::Emphasis => self.inline.close(StyleChange::Emphasis),
            TagEnd::Strikethrough => self.inline.close(StyleChange::Struck),
            TagEnd::Link => self.inline.close_link(),
            TagEnd::Image => self.inline.close_image(),
            TagEnd::Heading(level) => self.end_heading(level as u8, &span),
            TagEnd::CodeBlock | TagEnd::MetadataBlock(_) => {
                if let Some((info, code)) = self.code.take() {
                    let code = code.strip_suffix('\n').unwrap_or(&code).to_owned();
                    self.push(BlockKind::Code { info, code }, &span);
                }
            }
            TagEnd::HtmlBlock => self.end_html(&span),
            TagEnd::TableCell => {
                let cell = self.inline.take_text();
                self.inline_span = None;
                if let Some(table) = &mut self.table
                    && table.cells.len() < table.alignments.len()
                {
                    table.cells.push(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    let mut cells = std::mem::take(&mut table.cells);
                    if self.blocks.len() + table.rows.len() >= MAX_BLOCKS {
                        self.is_cut = true;
                        return;
                    }
                    cells.resize_with(table.alignments.len(), InlineText::default);
                    table.rows.push((cells, tag == TagEnd::TableHead, span));
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Item => {
                self.end_inline();
                self.flush_marker(&span);
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition => {
                self.end_inline();
                self.flush_marker(&span);
                self.containers.pop();
            }
            _ => self.end_inline(),
        }
    }

    fn text(&mut self, text: &str, span: Range<usize>) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
        } else {
            self.touch(&span);
            self.inline.push(text);
        }
    }

    fn inline_html(&mut self, html: &str, span: &Range<usize>) {
        self.touch(span);
        match html::piece(html) {
            HtmlPiece::LineBreak => self.inline.push("\n"),
            HtmlPiece::Image(mut image) => {
                image.link = self.inline.link();
                self.inline.push_image(image);
            }
            HtmlPiece::Nothing => {}
            HtmlPiece::Other => self.inline.push_code(html),
        }
    }

    fn end_heading(&mut self, level: u8, span: &Range<usize>) {
        let text = self.inline.take_text();
        self.inline_span = None;
        let anchor = anchor_of(&text.text);
        let count = self.anchors.entry(anchor.clone()).or_default();
        let unique = match *count {
            0 => anchor,
            count => format!("{anchor}-{count}"),
        };
        *count += 1;
        let kind = BlockKind::Heading {
            level,
            text,
            anchor: unique,
        };
        self.push(kind, span);
    }

    fn end_html(&mut self, span: &Range<usize>) {
        let Some(html) = self.html.take() else {
            return;
        };
        match html::only_images(&html) {
            Some(images) if images.is_empty() => {}
            Some(images) => self.push(BlockKind::Images(images), span),
            None => self.push(BlockKind::Html(html.trim_end().to_owned()), span),
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        let mut widths = vec![COLUMN_WIDTHS.start; table.alignments.len()];
        for (cells, ..) in &table.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                let length = cell.text.chars().take(COLUMN_WIDTHS.end).count();
                *width = (*width).max(length);
            }
        }
        let widths = widths
            .into_iter()
            .map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let columns = Arc::new(TableColumns {
            alignments: table.alignments,
            widths: widths.collect(),
        });
        for (cells, is_head, span) in table.rows {
            let kind = BlockKind::TableRow {
                columns: columns.clone(),
                cells,
                is_head,
            };
            self.push(kind, &span);
        }
    }

    /// Notes the source of inline content.
    fn touch(&mut self, span: &Range<usize>) {
        let open = self.inline_span.get_or_insert_with(|| span.clone());
        open.start = open.start.min(span.start);
        open.end = open.end.max(span.end);
    }

    /// Ends a paragraph, or the text of an item that is none.
    fn end_inline(&mut self) {
        let parts = self.inline.take();
        let Some(span) = self.inline_span.take() else {
            return;
        };
        for part in parts {
            let kind = match part {
                InlinePart::Text(text) => BlockKind::Paragraph(text),
                InlinePart::Images(images) => BlockKind::Images(images),
            };
            self.push(kind, &span);
        }
    }

    /// Adds an empty paragraph for an item without content.
    fn flush_marker(&mut self, span: &Range<usize>) {
        if self.marker.is_some() {
            let start = span.start;
            self.push(BlockKind::Paragraph(InlineText::default()), &(start..start));
        }
    }

    fn push(&mut self, kind: BlockKind, span: &Range<usize>) {
        let count = |is: fn(&Container) -> bool| self.containers.iter().filter(|it| is(it)).count();
        let quotes = count(|it| matches!(it, Container::Quote));
        let indent = count(|it| !matches!(it, Container::Quote));
        let block = MarkdownBlock {
            kind,
            rows: self.row(span.start)..self.row(span.end.saturating_sub(1).max(span.start)) + 1,
            quotes,
            indent,
            marker: self.marker.take(),
        };
        self.blocks.push(block);
    }

    fn row(&self, offset: usize) -> u32 {
        let row = self.row_starts.partition_point(|start| *start <= offset);
        u32::try_from(row.saturating_sub(1)).unwrap_or(u32::MAX)
    }
}

fn alignment(alignment: Alignment) -> CellAlignment {
    match alignment {
        Alignment::None | Alignment::Left => CellAlignment::Left,
        Alignment::Center => CellAlignment::Center,
        Alignment::Right => CellAlignment::Right,
    }
}

//! `read`: the lines of a file, an image, or a part of a saved output.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use base::{AbsPath, Row};
use futures::future::BoxFuture;
use host::{FileKind, Stat};
use model::{LineNumbers, PartContent, Profile, ToolSpec};
use patch::{FileText, anchor};

use crate::error::sentence;
use crate::images::{self, ImageLimits};
use crate::outcome::{CallOutcome, Detail};
use crate::outputs::is_handle;
use crate::tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::paths::{ToolPath, missing, resolve};
use super::state::ToolState;
use super::truncate::{budget, floor};
use super::{ToolOptions, blocking, files_of, invalid, of, spec, unexpected};

/// Default number of lines shown.
const LINES: u64 = 2000;
/// Maximum length of a line shown, in bytes.
const LINE: usize = 2000;
/// Maximum size of a file that is loaded completely, in bytes; larger files are streamed.
const WHOLE: u64 = 16 << 20;
/// The tool that reads files.
pub(super) struct ReadTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The range of lines to show.
#[derive(Clone, Copy)]
struct ReadRange {
    /// The first line, from 0.
    start: u64,
    lines: u64,
    /// Maximum size of the text, in bytes.
    budget: usize,
}

impl Tool for ReadTool {
    fn name(&self) -> &str {
        "read"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let lines = match profile.line_numbers {
            LineNumbers::None => "",
            LineNumbers::Tab | LineNumbers::Label => {
                " Lines are shown with their numbers, which are not part of the file."
            }
            LineNumbers::Hash => {
                " Each line is shown as NUMBER#HASH|text; NUMBER#HASH names the line in edits."
            }
        };
        let description = format!(
            "Reads a file of the project, up to {LINES} lines from `offset` on. Also shows pictures (png, jpeg, gif, webp) and outputs kept under a handle such as out-3.{lines} Read several files by several calls at once."
        );
        Some(spec(
            "read",
            profile,
            &description,
            1,
            &[
                (
                    "path",
                    of(
                        "string",
                        "The file, relative to the project folder; or a handle",
                    ),
                ),
                ("offset", of("integer", "The first line to show, from 1")),
                ("limit", of("integer", "How many lines to show")),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let path = arguments.needed("path")?;
        read_range(&arguments, context)?;
        if is_handle(path) {
            return Ok(ToolAccess {
                reads: vec![LockScope::Own(path.to_owned())],
                title: format!("read {path}"),
                ..ToolAccess::default()
            });
        }
        let tool_path = resolve(context, path)?;
        Ok(ToolAccess {
            reads: vec![tool_path.scope()],
            title: format!("read {}", tool_path.name()),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let (call, context) = (call.clone(), context.clone());
        let room = self.options.states.of(&context);
        blocking(move || read(&call, &context, &room).unwrap_or_else(|answer| answer))
    }
}

/// Parses `offset`, counted from 1, and `limit`. Fails with the result of the call if one has a
/// wrong type or `limit` is 0; an `offset` of 0 counts as 1.
fn read_range(
    arguments: &CallArguments<'_>,
    context: &ToolContext,
) -> Result<ReadRange, ToolResult> {
    let start = arguments.number("offset")?.unwrap_or(1).max(1) - 1;
    let lines = match arguments.number("limit")? {
        Some(0) => return Err(invalid("read: `limit` must be 1 or more")),
        lines => lines.unwrap_or(LINES),
    };
    let budget = budget(context, None);
    Ok(ReadRange {
        start,
        lines,
        budget,
    })
}

/// Reads what the path of the call means: a saved output by its handle, an image by its extension,
/// an unsaved text of the editor, or a file. `Err` is the result of an invalid call or of an
/// unreadable file. Notes in `room` the lines that were shown. Blocks on the disk.
fn read(
    call: &ToolCall,
    context: &ToolContext,
    room: &ToolState,
) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let path = arguments.needed("path")?;
    let part = read_range(&arguments, context)?;
    let files = files_of(context);
    if let Some(kept) = room.whole.path(path) {
        if !files.exists(&kept) {
            return Err(unexpected(format!(
                "There is no output {path} in this session; run the command again."
            )));
        }
        return in_passing(context, &kept, path, part);
    }
    let tool_path = resolve(context, path)?;
    let stat = match files.stat(&tool_path.path) {
        Ok(stat) => stat,
        Err(error) if error.is_not_found() => return Err(missing(context, &tool_path)),
        Err(error) => return Err(unexpected(sentence(&error))),
    };
    let name = tool_path.name();
    match stat.kind {
        FileKind::File => {}
        FileKind::Folder => {
            return Err(unexpected(format!(
                "{name} is a folder; use list to see what is in it."
            )));
        }
        FileKind::BrokenLink => {
            return Err(unexpected(format!("{name} is a link that leads nowhere.")));
        }
        FileKind::Other => {
            return Err(unexpected(format!(
                "{name} is a pipe, socket or device, and is not read; name a file."
            )));
        }
    }
    if is_named_picture(&tool_path.path) {
        return show_picture(context, &tool_path, &stat);
    }
    if let Some(text) = unsaved(context, &tool_path.path) {
        return lines_of(context, room, &tool_path, &text, part);
    }
    if stat.stamp.size > WHOLE {
        return in_passing(context, &tool_path.path, name, part);
    }
    let content = files.read(&tool_path.path, WHOLE * 2);
    let content = content.map_err(|error| unexpected(sentence(&error)))?;
    let decoded = text::decode(&content);
    if decoded.binary {
        let text = format!(
            "{name} is not text: {} bytes of binary data. Look at it with a command such as file or xxd.",
            content.len()
        );
        return Err(unexpected(text));
    }
    lines_of(context, room, &tool_path, &decoded.text, part)
}

/// Returns the editor's text of a file with unsaved changes; `None` if it has none or no editor is
/// connected.
fn unsaved(context: &ToolContext, path: &AbsPath) -> Option<String> {
    context.sources.buffers.as_ref()?.text(path)
}

/// Shows lines of a loaded text.
fn lines_of(
    context: &ToolContext,
    room: &ToolState,
    tool_path: &ToolPath,
    text: &str,
    part: ReadRange,
) -> Result<ToolResult, ToolResult> {
    let file = FileText::new(text);
    let count = file.line_count() as u64;
    if count == 0 {
        room.read(&tool_path.path, &file, Row(0)..Row(0));
        return Ok(ToolResult::ok(format!("({} is empty)", tool_path.name())));
    }
    if part.start >= count {
        return Err(invalid(format!(
            "read: {} has only {count} lines; give an `offset` up to that",
            tool_path.name()
        )));
    }
    let wanted = part.start..count.min(part.start.saturating_add(part.lines));
    let mut shown = String::new();
    let mut end = wanted.start;
    for row in wanted {
        let line = format_line(&context.profile, &file, Row(row as u32));
        if !shown.is_empty() && shown.len() + line.len() > part.budget {
            break;
        }
        shown.push_str(&line);
        end = row + 1;
    }
    let rows: Range<Row> = Row(part.start as u32)..Row(end as u32);
    room.read(&tool_path.path, &file, rows);
    Ok(read_result(shown, part.start, end, Some(count)))
}

/// Formats a line in the profile's style, with a line feed.
fn format_line(profile: &Profile, file: &FileText<'_>, row: Row) -> String {
    let text = shortened(file.line(row));
    match profile.line_numbers {
        LineNumbers::None => format!("{text}\n"),
        LineNumbers::Tab => format!("{:>6}\t{text}\n", row.0 + 1),
        LineNumbers::Label => format!("L{}: {text}\n", row.0 + 1),
        LineNumbers::Hash => format!("{}|{text}\n", anchor::anchor(file, row)),
    }
}

fn shortened(line: &str) -> String {
    if line.len() > LINE {
        let end = floor(line, LINE);
        format!(
            "{}… ({} more bytes in this line)",
            &line[..end],
            line.len() - end
        )
    } else {
        line.to_owned()
    }
}

/// Appends a note about the lines not shown; `count` is the total, if known.
fn read_result(mut shown: String, start: u64, end: u64, count: Option<u64>) -> ToolResult {
    let is_whole = count == Some(end);
    if start == 0 && is_whole {
        return ToolResult::ok(shown);
    }
    let of = match count {
        Some(count) => format!(" of {count}"),
        None => String::new(),
    };
    shown.push_str(&format!("(lines {} to {end}{of}", start + 1));
    if is_whole {
        shown.push(')')
    } else {
        shown.push_str(&format!("; read on with offset {})", end + 1))
    }
    let answer = ToolResult::ok(shown);
    if is_whole {
        answer
    } else {
        answer.with_detail(Detail::OutputTruncated)
    }
}

/// Shows lines of a file of any size by streaming it.
fn in_passing(
    context: &ToolContext,
    path: &AbsPath,
    name: &str,
    part: ReadRange,
) -> Result<ToolResult, ToolResult> {
    let mut reader = StreamedLines::new(part);
    let files = files_of(context);
    let read = files.read_chunks(path, &mut Vec::new(), &mut |chunk| {
        let flow = reader.take(chunk);
        chunk.clear();
        flow
    });
    read.map_err(|error| unexpected(sentence(&error)))?;
    if reader.is_binary {
        return Err(unexpected(format!(
            "{name} is not text, and too large to examine."
        )));
    }
    reader.finish();
    if reader.shown.is_empty() {
        return Err(match reader.row {
            0 => return Ok(ToolResult::ok(format!("({name} is empty)"))),
            rows => invalid(format!(
                "read: {name} has only {rows} lines; give an `offset` up to that"
            )),
        });
    }
    let count = (!reader.is_full).then_some(reader.row);
    let end = part.start + reader.lines;
    Ok(read_result(reader.shown, part.start, end, count))
}

/// Collects a range of lines from a text that arrives in chunks.
struct StreamedLines {
    part: ReadRange,
    /// The index of the current line.
    row: u64,
    line: Vec<u8>,
    /// Bytes of the line beyond the maximum length.
    beyond: usize,
    has_line: bool,
    shown: String,
    lines: u64,
    is_full: bool,
    is_binary: bool,
}

impl StreamedLines {
    fn new(part: ReadRange) -> Self {
        Self {
            part,
            row: 0,
            line: Vec::new(),
            beyond: 0,
            has_line: false,
            shown: String::new(),
            lines: 0,
            is_full: false,
            is_binary: false,
        }
    }

    /// Takes the next bytes of the file. Breaks off when the range is complete or the file is
    /// binary: a chunk that begins in its first line contains NUL.
    fn take(&mut self, chunk: &[u8]) -> ControlFlow<()> {
        self.is_binary |= self.row == 0 && self.shown.is_empty() && chunk.contains(&0);
        if self.is_binary {
            return ControlFlow::Break(());
        }
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_end) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            self.has_line = true;
            if self.row >= self.part.start {
                let room = LINE.saturating_sub(self.line.len()).min(text.len());
                self.line.extend_from_slice(&text[..room]);
                self.beyond += text.len() - room;
            }
            if is_end {
                self.end_line();
            }
            if self.is_full {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn end_line(&mut self) {
        if self.row >= self.part.start {
            let text = String::from_utf8_lossy(&self.line);
            let mut text = text.strip_suffix('\r').unwrap_or(&text).to_owned();
            if self.beyond > 0 {
                text.push_str(&format!("… ({} more bytes in this line)", self.beyond));
            }
            text.push('\n');
            let is_over = self.shown.len() + text.len() > self.part.budget;
            if self.lines >= self.part.lines || is_over && self.lines > 0 {
                self.is_full = true;
                return;
            }
            self.shown.push_str(&text);
            self.lines += 1;
        }
        self.row += 1;
        self.line.clear();
        self.beyond = 0;
        self.has_line = false;
    }

    fn finish(&mut self) {
        if self.has_line && !self.is_full {
            self.end_line();
        }
    }
}

/// Returns whether the file's extension, in any case, is that of a supported image format.
fn is_named_picture(path: &AbsPath) -> bool {
    let name = path.name().to_lowercase();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("png" | "jpg" | "jpeg" | "gif" | "webp"))
}

/// Returns the image as a result. `Err` is the result of the call if the model does not see images,
/// or the file is unreadable, too large for the model or invalid. `stat` gives the size of the
/// file.
fn show_picture(
    context: &ToolContext,
    tool_path: &ToolPath,
    stat: &Stat,
) -> Result<ToolResult, ToolResult> {
    let name = tool_path.name();
    if context.profile.vision == Some(false) {
        return Err(unexpected(format!(
            "{name} is a picture, and this model does not see pictures; ask the user what it shows, if you need to know."
        )));
    }
    let bounds = ImageLimits::of(&context.profile);
    let refused = |why: &str| {
        unexpected(format!(
            "{name} cannot be shown: it {why}. A command may tell what it is, or make a smaller or another one of it."
        ))
    };
    if stat.stamp.size > bounds.bytes() {
        let size = stat.stamp.size;
        let most = bounds.bytes();
        return Err(refused(&format!(
            "has {size} bytes, and this model takes pictures of {most} at most"
        )));
    }
    let content = files_of(context).read(&tool_path.path, bounds.bytes());
    let content = content.map_err(|error| unexpected(sentence(&error)))?;
    let picture = images::check(&content, &bounds).map_err(|why| refused(&why.to_string()))?;
    let said = format!("{name}, {}, {} bytes:", picture.media_type, content.len());
    let image = PartContent::Image {
        media_type: picture.media_type.to_owned(),
        bytes: content.into(),
    };
    let mut answer = ToolResult::new(CallOutcome::Ok, said);
    answer.content.push(image);
    Ok(answer)
}

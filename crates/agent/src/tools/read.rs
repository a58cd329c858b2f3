//! `read`: a file's lines, a picture, or a part of a kept output.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use base::{AbsPath, Row};
use futures::future::BoxFuture;
use host::{FileKind, Stat};
use model::{Content, LineNumbers, Profile, ToolSpec};
use patch::{FileText, anchor};

use crate::outcome::{Detail, Outcome};
use crate::picture::{self, Bounds};
use crate::tool::{Access, Answer, Call, Scope, Tool, ToolClass, ToolContext};
use crate::whole::is_handle;

use super::arguments::Arguments;
use super::cut::{budget, floor};
use super::place::{Place, missing, place};
use super::rooms::Room;
use super::{Options, blocking, files_of, invalid, of, spec, unexpected};

/// Lines that are shown where the call does not say how many.
const LINES: u64 = 2000;
/// Bytes of a line that are shown.
const LINE: usize = 2000;
/// The largest file that is read whole; of a larger one, lines are read in passing.
const WHOLE: u64 = 16 << 20;
/// Reads files.
pub(super) struct Read {
    options: Arc<Options>,
}

/// What a call asks for.
#[derive(Clone, Copy)]
struct Part {
    /// The first line, from 0.
    start: u64,
    lines: u64,
    /// Bytes of text.
    budget: usize,
}

impl Read {
    pub(super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

impl Tool for Read {
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        let path = arguments.needed("path")?;
        part(&arguments, context)?;
        if is_handle(path) {
            return Ok(Access {
                reads: vec![Scope::Own(path.to_owned())],
                title: format!("read {path}"),
                ..Access::default()
            });
        }
        let place = place(context, path)?;
        Ok(Access {
            reads: vec![place.scope()],
            title: format!("read {}", place.name()),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let (call, context) = (call.clone(), context.clone());
        let room = self.options.rooms.of(&context);
        blocking(move || read(&call, &context, &room).unwrap_or_else(|answer| answer))
    }
}

fn part(arguments: &Arguments<'_>, context: &ToolContext) -> Result<Part, Answer> {
    let start = arguments.number("offset")?.unwrap_or(1).max(1) - 1;
    let lines = match arguments.number("limit")? {
        Some(0) => return Err(invalid("read: `limit` must be 1 or more")),
        lines => lines.unwrap_or(LINES),
    };
    let budget = budget(context, None);
    Ok(Part {
        start,
        lines,
        budget,
    })
}

fn read(call: &Call, context: &ToolContext, room: &Room) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let path = arguments.needed("path")?;
    let part = part(&arguments, context)?;
    let files = files_of(context);
    if let Some(kept) = room.whole.path(path) {
        if !files.exists(&kept) {
            return Err(unexpected(format!(
                "There is no output {path} in this session; run the command again."
            )));
        }
        return in_passing(context, &kept, path, part);
    }
    let place = place(context, path)?;
    let stat = match files.stat(&place.path) {
        Ok(stat) => stat,
        Err(error) if error.is_not_found() => return Err(missing(context, &place)),
        Err(error) => return Err(unexpected(sentence(&error.to_string()))),
    };
    let name = place.name();
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
    if is_named_picture(&place.path) {
        return show_picture(context, &place, &stat);
    }
    if let Some(text) = unsaved(context, &place.path) {
        return lines_of(context, room, &place, &text, part);
    }
    if stat.stamp.size > WHOLE {
        return in_passing(context, &place.path, name, part);
    }
    let content = files.read(&place.path, WHOLE * 2);
    let content = content.map_err(|error| unexpected(sentence(&error.to_string())))?;
    let decoded = text::decode(&content);
    if decoded.binary {
        let text = format!(
            "{name} is no text: {} bytes of binary data. Look at it with a command such as file or xxd.",
            content.len()
        );
        return Err(unexpected(text));
    }
    lines_of(context, room, &place, &decoded.text, part)
}

fn unsaved(context: &ToolContext, path: &AbsPath) -> Option<String> {
    context.sources.buffers.as_ref()?.text(path)
}

/// Lines of a text that is at hand.
fn lines_of(
    context: &ToolContext,
    room: &Room,
    place: &Place,
    text: &str,
    part: Part,
) -> Result<Answer, Answer> {
    let file = FileText::new(text);
    let count = file.line_count() as u64;
    if count == 0 {
        room.read(&place.path, &file, Row(0)..Row(0));
        return Ok(Answer::ok(format!("({} is empty)", place.name())));
    }
    if part.start >= count {
        return Err(invalid(format!(
            "read: {} has only {count} lines; give an `offset` up to that",
            place.name()
        )));
    }
    let wanted = part.start..count.min(part.start.saturating_add(part.lines));
    let mut shown = String::new();
    let mut end = wanted.start;
    for row in wanted {
        let line = line(&context.profile, &file, Row(row as u32));
        if !shown.is_empty() && shown.len() + line.len() > part.budget {
            break;
        }
        shown.push_str(&line);
        end = row + 1;
    }
    let rows: Range<Row> = Row(part.start as u32)..Row(end as u32);
    room.read(&place.path, &file, rows);
    Ok(told(shown, part.start, end, Some(count)))
}

/// One line as the profile wants it, with a line feed.
fn line(profile: &Profile, file: &FileText<'_>, row: Row) -> String {
    let text = shortened(file.line(row));
    match profile.line_numbers {
        LineNumbers::None => format!("{text}\n"),
        LineNumbers::Tab => format!("{:>6}\t{text}\n", row.0 + 1),
        LineNumbers::Label => format!("L{}: {text}\n", row.0 + 1),
        LineNumbers::Hash => format!("{}|{text}\n", anchor::anchor(file, row)),
    }
}

fn shortened(line: &str) -> String {
    match line.len() > LINE {
        false => line.to_owned(),
        true => {
            let end = floor(line, LINE);
            format!(
                "{}… ({} more bytes in this line)",
                &line[..end],
                line.len() - end
            )
        }
    }
}

/// The text with what is missing of the file; `count` where it is known.
fn told(mut shown: String, start: u64, end: u64, count: Option<u64>) -> Answer {
    let is_whole = count == Some(end);
    if start == 0 && is_whole {
        return Answer::ok(shown);
    }
    let of = match count {
        Some(count) => format!(" of {count}"),
        None => String::new(),
    };
    shown.push_str(&format!("(lines {} to {end}{of}", start + 1));
    match is_whole {
        true => shown.push(')'),
        false => shown.push_str(&format!("; read on with offset {})", end + 1)),
    }
    let answer = Answer::ok(shown);
    match is_whole {
        true => answer,
        false => answer.with_detail(Detail::OutputTruncated),
    }
}

/// Lines of a file of any size, which is never held whole.
fn in_passing(
    context: &ToolContext,
    path: &AbsPath,
    name: &str,
    part: Part,
) -> Result<Answer, Answer> {
    let mut reader = Passing::new(part);
    let files = files_of(context);
    let read = files.read_chunks(path, &mut |chunk| reader.take(chunk));
    read.map_err(|error| unexpected(sentence(&error.to_string())))?;
    if reader.is_binary {
        return Err(unexpected(format!(
            "{name} is no text, and too large to be looked at."
        )));
    }
    reader.finish();
    if reader.shown.is_empty() {
        return Err(match reader.row {
            0 => return Ok(Answer::ok(format!("({name} is empty)"))),
            rows => invalid(format!(
                "read: {name} has only {rows} lines; give an `offset` up to that"
            )),
        });
    }
    let count = (!reader.is_full).then_some(reader.row);
    let end = part.start + reader.lines;
    Ok(told(reader.shown, part.start, end, count))
}

/// Collects some lines of a text that comes in pieces.
struct Passing {
    part: Part,
    /// Of the line that is being read.
    row: u64,
    line: Vec<u8>,
    /// Bytes of the line beyond what is shown of it.
    beyond: usize,
    has_line: bool,
    shown: String,
    lines: u64,
    is_full: bool,
    is_binary: bool,
}

impl Passing {
    fn new(part: Part) -> Self {
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

fn is_named_picture(path: &AbsPath) -> bool {
    let name = path.name().to_lowercase();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("png" | "jpg" | "jpeg" | "gif" | "webp"))
}

fn show_picture(context: &ToolContext, place: &Place, stat: &Stat) -> Result<Answer, Answer> {
    let name = place.name();
    if context.profile.vision == Some(false) {
        return Err(unexpected(format!(
            "{name} is a picture, and this model does not see pictures; ask the person what it shows, if you need to know."
        )));
    }
    let bounds = Bounds::of(&context.profile);
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
    let content = files_of(context).read(&place.path, bounds.bytes());
    let content = content.map_err(|error| unexpected(sentence(&error.to_string())))?;
    let picture = picture::check(&content, &bounds).map_err(|why| refused(&why))?;
    let said = format!("{name}, {}, {} bytes:", picture.media_type, content.len());
    let image = Content::Image {
        media_type: picture.media_type.to_owned(),
        bytes: content.into(),
    };
    let mut answer = Answer::new(Outcome::Ok, said);
    answer.content.push(image);
    Ok(answer)
}

/// An error of the host as a sentence of ours.
pub(super) fn sentence(error: &str) -> String {
    let mut letters = error.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

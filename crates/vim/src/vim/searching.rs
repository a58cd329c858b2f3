//! Searches: `/`, `n`, `*`, and the objects of `gn`.
//!
//! Start at `typed`.

use base::Span;

use super::exec::Exec;
use crate::chars;
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::lines::{Lines, Pos, Walker, next_grapheme, prev_grapheme};
use crate::motion::{Moved, SearchMotion};
use crate::object::Selected;
use crate::pattern::{Pattern, PatternContext, PatternMatch};
use crate::search::{self, OffsetBase, SearchLine, SearchOffset, SearchWay};

/// Compiles a pattern with the options of the session.
pub(super) fn compile(exec: &Exec, source: &str, uses_smart_case: bool) -> Done<Pattern> {
    let replacement = exec.globals.substitute.replacement.as_deref();
    let context = PatternContext::of(&exec.globals.options, replacement.unwrap_or_default());
    let context = PatternContext {
        smart_case: context.smart_case && uses_smart_case,
        ..context
    };
    Pattern::compile(source, context)
}

/// Searches for a typed line.
pub(super) fn typed(exec: &mut Exec, motion: &SearchMotion, count: u32) -> Done<Moved> {
    let mut line = SearchLine::parse(&motion.line, motion.is_forward);
    let mut is_forward = motion.is_forward;
    let start = exec.pos();
    let mut count = count;
    loop {
        let source = remember(exec, &line, is_forward)?;
        let pattern = compile(exec, &source, exec.globals.search.uses_smart_case)?;
        exec.effect(Effect::HighlightSearch(
            exec.globals
                .options
                .highlight_search
                .then(|| pattern.query().clone()),
        ));
        let moved = go(exec, &pattern, &source, is_forward, count)?;
        let Some((next_forward, next)) = line.next.take() else {
            exec.caret_mut().pos = start;
            return Ok(moved);
        };
        exec.caret_mut().pos = moved.to;
        is_forward = next_forward;
        line = SearchLine::parse(&next, is_forward);
        count = 1;
    }
}

/// Stores a typed search as the last one, and returns its pattern.
fn remember(exec: &mut Exec, line: &SearchLine, is_forward: bool) -> Done<String> {
    let last = exec.globals.search.pattern.clone();
    let search = &mut exec.globals.search;
    let source = if line.pattern.is_empty() {
        last.ok_or(Error::NoPreviousPattern)?
    } else {
        search.uses_smart_case = true;
        line.pattern.clone()
    };
    search.offset = match line.offset {
        Some(offset) => offset,
        None if line.pattern.is_empty() => search.offset,
        None => SearchOffset::default(),
    };
    search.pattern = Some(source.clone());
    search.is_forward = is_forward;
    search.is_highlighted = true;
    Ok(source)
}

/// Searches again (`n`, `N`).
pub(super) fn repeated(exec: &mut Exec, is_reversed: bool, count: u32) -> Done<Moved> {
    let search = &exec.globals.search;
    let source = search.pattern.clone().ok_or(Error::NoPreviousPattern)?;
    let is_forward = search.is_forward != is_reversed;
    let pattern = compile(exec, &source, search.uses_smart_case)?;
    exec.globals.search.is_highlighted = true;
    exec.effect(Effect::HighlightSearch(
        exec.globals
            .options
            .highlight_search
            .then(|| pattern.query().clone()),
    ));
    go(exec, &pattern, &source, is_forward, count)
}

/// Goes to a match by the offset of the last search.
fn go(exec: &Exec, pattern: &Pattern, source: &str, is_forward: bool, count: u32) -> Done<Moved> {
    let offset = exec.globals.search.offset;
    let way = SearchWay {
        is_forward,
        wraps: exec.globals.options.wrap_scan,
        by_end: offset.base == OffsetBase::End,
        accepts_here: false,
    };
    let lines = &exec.lines;
    let mut from = start_of(lines, exec.pos(), offset);
    let mut found = None;
    let mut first: Option<(Span, u32)> = None;
    let mut left = count;
    while left > 0 {
        left -= 1;
        let next = search::find(lines, pattern, from, way, source)?;
        from = place(lines, &next, offset);
        match first {
            None => first = Some((next.span, left)),
            // After a whole round, further rounds end at the same match.
            Some((span, at)) if span == next.span => left %= at - left,
            Some(_) => {}
        }
        found = Some(next);
    }
    let found = found.ok_or(Error::Beep)?;
    let moved = match offset.base {
        OffsetBase::Lines => {
            let row = i64::from(lines.pos(found.span.start).row) + offset.count;
            let row = row.clamp(0, i64::from(lines.last())) as u32;
            Moved::lines(Pos::new(row, 0))
        }
        OffsetBase::Start => {
            let to = shifted(lines, lines.pos(found.span.start), offset.count);
            // The caret does not rest at the end of a line, not even for an operator.
            Moved::exclusive(lines.clamp(to, exec.may_pass_end()))
        }
        OffsetBase::End => {
            Moved::inclusive(shifted(lines, place(lines, &found, offset), offset.count))
        }
    };
    Ok(moved.to_first_register().as_jump())
}

/// The place from which a search starts, so that an offset does not find the same match again.
fn start_of(lines: &Lines, at: Pos, offset: SearchOffset) -> Pos {
    if offset.base == OffsetBase::Lines || offset.count == 0 {
        return at;
    }
    shifted(lines, at, -offset.count)
}

/// The place of a match that the caret goes to, without the count of the offset.
fn place(lines: &Lines, found: &PatternMatch, offset: SearchOffset) -> Pos {
    if offset.base != OffsetBase::End || found.span.is_empty() {
        return lines.pos(found.span.start);
    }
    let mut walker = Walker::new(lines, lines.pos(found.span.end));
    walker.backward();
    walker.pos
}

/// A position some characters away, over the ends of lines.
fn shifted(lines: &Lines, pos: Pos, by: i64) -> Pos {
    let mut walker = Walker::new(lines, pos);
    for _ in 0..by.unsigned_abs() {
        if by > 0 {
            walker.forward_over_end();
        } else {
            walker.backward_over_end();
        }
    }
    walker.pos
}

/// The word under or behind the caret: its place, its text, and whether it is an identifier.
pub(super) fn word_at(lines: &Lines, at: Pos) -> Option<(Pos, String, bool)> {
    let line = lines.line(at.row);
    let is_keyword = |col: usize| line[col..].chars().next().is_some_and(chars::is_keyword);
    let is_text = |col: usize| {
        let char = line[col..].chars().next();
        char.is_some_and(|char| chars::class(char) != chars::BLANK)
    };
    let found = [&is_keyword as &dyn Fn(usize) -> bool, &is_text];
    for (ix, accepts) in found.into_iter().enumerate() {
        let mut col = at.col;
        while col < line.len() && !accepts(col) {
            col = next_grapheme(&line, col);
        }
        if col >= line.len() {
            continue;
        }
        let class = line[col..].chars().next().map(chars::class);
        let same = |col: usize| line[col..].chars().next().map(chars::class) == class;
        while col > 0 && same(prev_grapheme(&line, col)) {
            col = prev_grapheme(&line, col);
        }
        let mut end = col;
        while end < line.len() && same(end) {
            end = next_grapheme(&line, end);
        }
        return Some((Pos::new(at.row, col), line[col..end].to_owned(), ix == 0));
    }
    None
}

/// The pattern that matches a text literally.
pub(super) fn literal_pattern(text: &str, is_forward: bool) -> String {
    let special = if is_forward {
        "/.*~[^$\\"
    } else {
        "/?.*~[^$\\"
    };
    let mut pattern = String::new();
    for char in text.chars() {
        match char {
            '\n' => pattern.push_str("\\n"),
            _ => {
                if special.contains(char) {
                    pattern.push('\\');
                }
                pattern.push(char);
            }
        }
    }
    pattern
}

/// Searches for the word at the caret (`*`).
pub(super) fn word(exec: &mut Exec, is_forward: bool, is_whole: bool, count: u32) -> Done<Moved> {
    let (start, text, is_keyword) = word_at(&exec.lines, exec.pos()).ok_or(Error::NoWord)?;
    let mut source = literal_pattern(&text, is_forward);
    if is_whole && is_keyword {
        source = format!("\\<{source}\\>");
    }
    search_for(exec, &source, start, is_forward, count)
}

/// Makes a pattern the last search, and searches for it from a position.
pub(super) fn search_for(
    exec: &mut Exec,
    source: &str,
    start: Pos,
    is_forward: bool,
    count: u32,
) -> Done<Moved> {
    exec.globals.search_history.push(source);
    let search = &mut exec.globals.search;
    search.pattern = Some(source.to_owned());
    search.is_forward = is_forward;
    search.offset = SearchOffset::default();
    search.uses_smart_case = false;
    search.is_highlighted = true;
    let pattern = compile(exec, source, false)?;
    exec.effect(Effect::HighlightSearch(
        exec.globals
            .options
            .highlight_search
            .then(|| pattern.query().clone()),
    ));
    let at = exec.pos();
    exec.caret_mut().pos = start;
    let moved = go(exec, &pattern, source, is_forward, count);
    exec.caret_mut().pos = at;
    moved
}

/// The match of the last search at the caret, or the next one in a direction (`gn`).
pub(super) fn match_object(exec: &Exec, is_forward: bool) -> Done<Selected> {
    let search = &exec.globals.search;
    let source = search.pattern.clone().ok_or(Error::NoPreviousPattern)?;
    let pattern = compile(exec, &source, search.uses_smart_case)?;
    let span = find_match(exec, &pattern, &source, is_forward)?;
    let lines = &exec.lines;
    let mut last = Walker::new(lines, lines.pos(span.end));
    if !span.is_empty() {
        last.backward();
    }
    let extent = crate::motion::Extent::Inclusive;
    Ok(Selected::new(lines.pos(span.start), last.pos, extent))
}

/// The match that contains the caret, or else the nearest in a direction.
fn find_match(exec: &Exec, pattern: &Pattern, source: &str, is_forward: bool) -> Done<Span> {
    let lines = &exec.lines;
    let way = SearchWay {
        is_forward,
        wraps: exec.globals.options.wrap_scan,
        by_end: is_forward,
        accepts_here: true,
    };
    Ok(search::find(lines, pattern, exec.pos(), way, source)?.span)
}

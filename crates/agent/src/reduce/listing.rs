//! Names of files, and lines that a search found.

use std::collections::BTreeMap;

use super::log::Log;

/// Names of one folder that are shown, and folders.
const NAMES: usize = 3;
const FOLDERS: usize = 60;
/// Names of a folder that is listed alone.
const NAMED: usize = 100;
/// Found lines of one file that are shown, and files with lines.
const MATCHES: usize = 2;
const FILES: usize = 25;

/// Names become folders with how many files of which kind each has.
pub(crate) fn mark_names(log: &mut Log<'_>) {
    if log.lines.len() < 60 {
        return;
    }
    if log.lines.iter().any(|line| line.starts_with("total ")) {
        return mark_ls(log);
    }
    // Paths far down count for the folder at the depth where folders are still few.
    let depth = depth_for(log);
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    let mut order = Vec::new();
    for ix in 0..log.lines.len() {
        let line = log.lines[ix].trim_end();
        if line.is_empty() || line.contains(": ") {
            continue;
        }
        let key = folder_of(line, depth);
        let folder = folders.entry(key.clone()).or_insert_with(|| {
            order.push((ix, key));
            Folder::default()
        });
        folder.count += 1;
        let name = line.rsplit('/').next().unwrap_or(line);
        if folder.names.len() < NAMES {
            folder.names.push(name.to_owned());
        }
        *folder.kinds.entry(kind_of(name)).or_default() += 1;
    }
    for (ix, key) in order.iter().take(FOLDERS) {
        log.instead(*ix, folders[key].line(key));
    }
    let all: usize = folders.values().map(|folder| folder.count).sum();
    for ix in 0..log.lines.len() {
        if !log.lines[ix].contains(": ") {
            log.drop(ix, "");
        }
    }
    log.count("names in all", all);
    log.count("further folders", order.len().saturating_sub(FOLDERS));
}

#[derive(Default)]
struct Folder {
    count: usize,
    names: Vec<String>,
    kinds: BTreeMap<String, usize>,
}

impl Folder {
    fn line(&self, key: &str) -> String {
        let names = self.names.join(", ");
        if self.count <= NAMES {
            return format!("{key}: {names}");
        }
        let mut kinds: Vec<(&String, &usize)> = self.kinds.iter().collect();
        kinds.sort_by(|one, two| two.1.cmp(one.1).then(one.0.cmp(two.0)));
        let kinds: Vec<String> = kinds
            .iter()
            .take(4)
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        format!("{key}: {} ({}): {names}, …", self.count, kinds.join(", "))
    }
}

fn folder_of(path: &str, depth: usize) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let folders = &parts[..parts.len() - 1];
    let shown = folders[..folders.len().min(depth)].join("/");
    format!("{shown}/")
}

fn depth_for(log: &Log<'_>) -> usize {
    let count = |depth: usize| {
        let folders: std::collections::HashSet<String> = log
            .lines
            .iter()
            .map(|line| folder_of(line, depth))
            .collect();
        folders.len()
    };
    let depth = (1..=12)
        .take_while(|depth| count(*depth) <= FOLDERS)
        .last()
        .unwrap_or(1);
    // Where the next depth has many, the first of them say more than a handful.
    if count(depth) < 10 { depth + 1 } else { depth }
}

fn kind_of(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, kind)) if !stem.is_empty() => format!(".{kind}"),
        _ => "without ending".to_owned(),
    }
}

/// `ls -l`, perhaps of many folders: a few rows of each.
fn mark_ls(log: &mut Log<'_>) {
    let folders = log
        .lines
        .iter()
        .filter(|line| line.starts_with("total "))
        .count();
    if folders == 1 {
        return mark_one_folder(log);
    }
    let shown = if folders > 10 { 2 } else { 20 };
    let mut row = 0;
    let mut title = None;
    let mut titles = 0;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if line.ends_with(':') && !line.starts_with(' ') {
            title = Some(ix);
        } else if line.starts_with("total ") {
            row = 0;
            titles += 1;
            if let Some(title) = title.take() {
                match titles <= FOLDERS {
                    true => log.keep(title),
                    false => log.drop(title, "folders"),
                }
            }
            log.drop(ix, "");
        } else if line.is_empty() {
            log.drop(ix, "");
        } else {
            row += 1;
            match row <= shown
                && titles <= FOLDERS
                && !line.ends_with(" .")
                && !line.ends_with(" ..")
            {
                true => log.instead(ix, ls_name(line)),
                false => log.drop(ix, "entries"),
            }
        }
    }
}

/// `ls -l` of one folder: its names alone.
fn mark_one_folder(log: &mut Log<'_>) {
    let rows: Vec<usize> = (0..log.lines.len())
        .filter(|ix| log.lines[*ix].starts_with(['-', 'd', 'l']))
        .collect();
    let names: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|ix| ls_name(log.lines[*ix]))
        .collect();
    let names: Vec<&str> = names
        .iter()
        .map(|name| {
            name.rsplit_once(' ')
                .map_or(name.as_str(), |(name, _)| name)
        })
        .collect();
    let Some(first) = rows.first() else {
        return;
    };
    // A line is cut where it is long: ten names fit.
    let names: Vec<String> = names.chunks(10).map(|names| names.join(", ")).collect();
    log.instead(*first, names.join("\n"));
    for ix in 0..log.lines.len() {
        log.drop(ix, "");
    }
    log.count("names in all", rows.len());
}

/// Of `drwxr-xr-x 2 root root 4096 Nov 21 21:00 name` the kind, the size and the name.
fn ls_name(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let kind = match line.chars().next() {
        Some('d') => "/",
        _ => "",
    };
    match words.len() >= 9 && line.starts_with(['-', 'd', 'l']) {
        true => format!("{}{kind} {}", words[8..].join(" "), words[4]),
        false => line.to_owned(),
    }
}

/// `path:3:text`, or lines below a path: the first ones of each file.
pub(crate) fn mark_matches(log: &mut Log<'_>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut order = Vec::new();
    for line in &log.lines {
        if let Some(path) = match_path(line) {
            let count = counts.entry(path).or_insert_with(|| {
                order.push(path);
                0
            });
            *count += 1;
        }
    }
    let all: usize = counts.values().sum();
    if all < 40 || all * 10 < log.lines.len() * 8 {
        return;
    }
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for ix in 0..log.lines.len() {
        let Some(path) = match_path(log.lines[ix]) else {
            continue;
        };
        let rank = order.iter().take(FILES).position(|it| *it == path);
        let seen = shown.entry(path).or_default();
        *seen += 1;
        if rank.is_some() && *seen <= MATCHES {
            if *seen == MATCHES && counts[path] > MATCHES {
                let text: String = log.lines[ix].chars().take(200).collect();
                log.instead(
                    ix,
                    format!("{text}\n[{} more in {path}]", counts[path] - MATCHES),
                );
            } else {
                log.keep(ix);
            }
        } else {
            log.drop(ix, "lines found");
        }
    }
    log.count("lines found in all", all);
    log.count("files with lines", order.len());
}

fn match_path(line: &str) -> Option<&str> {
    let mut parts = line.splitn(3, ':');
    let (path, number) = (parts.next()?, parts.next()?);
    let is_number = number.parse::<u32>().is_ok();
    (is_number && !path.is_empty() && !path.contains(' ')).then_some(path)
}

//! Maps file names to icons.

use gpui_kit::{App, Hsla};

use super::{Icon, IconElement};
use crate::theme::ActiveTheme as _;

/// A theme colour for distinguishing file types.
#[derive(Clone, Copy)]
enum Tint {
    Plain,
    Code,
    Data,
    Style,
    Text,
    Shell,
    Media,
    Locked,
}

/// Returns the icon for a file. The whole name or the extension decides the icon and its colour.
pub fn file_icon(name: &str, cx: &App) -> IconElement {
    let (icon, tint) = kind(name);
    icon.color(tint.color(cx))
}

/// Returns the icon for a folder with this name; `open` indicates whether it is expanded.
pub fn folder_icon(name: &str, open: bool, cx: &App) -> IconElement {
    let icon = match (name, open) {
        (".git", _) => Icon::FolderGit,
        (_, true) => Icon::FolderOpen,
        (_, false) => Icon::Folder,
    };
    icon.color(cx.theme().colors.muted)
}

impl Tint {
    fn color(self, cx: &App) -> Hsla {
        let theme = cx.theme();
        let syntax = |name| {
            theme
                .syntax(name)
                .and_then(|style| style.color)
                .unwrap_or(theme.colors.muted)
        };
        match self {
            Self::Plain | Self::Locked => theme.colors.muted,
            Self::Code => syntax("function"),
            Self::Data => syntax("number"),
            Self::Style => syntax("keyword"),
            Self::Text => syntax("type"),
            Self::Shell => syntax("string"),
            Self::Media => syntax("attribute"),
        }
    }
}

/// Returns the icon and tint of a file name, ignoring case: by the whole name, else by the
/// extension.
fn kind(name: &str) -> (Icon, Tint) {
    let lower = name.to_lowercase();
    whole_name(&lower).unwrap_or_else(|| {
        let extension = lower
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension);
        by_extension(extension)
    })
}

/// Returns the icon and tint of a well-known file name in lower case; `None` for all others.
fn whole_name(name: &str) -> Option<(Icon, Tint)> {
    let found = match name {
        "makefile" | "gnumakefile" | "justfile" | "cmakelists.txt" | "build.gradle" => {
            (Icon::FileCog, Tint::Shell)
        }
        "dockerfile" | "containerfile" | "compose.yaml" | "docker-compose.yml" => {
            (Icon::Layers, Tint::Code)
        }
        "cargo.toml" | "package.json" | "go.mod" | "pyproject.toml" | "gemfile" | "pom.xml" => {
            (Icon::Package, Tint::Data)
        }
        "license" | "licence" | "copying" | "notice" => (Icon::Book, Tint::Plain),
        _ if name.starts_with("license") || name.starts_with("licence") => {
            (Icon::Book, Tint::Plain)
        }
        _ if name.starts_with("readme") || name.starts_with("changelog") => {
            (Icon::Book, Tint::Text)
        }
        _ if name.starts_with(".git") => (Icon::GitBranch, Tint::Plain),
        _ if name.starts_with(".env") => (Icon::FileKey, Tint::Locked),
        _ if name.ends_with(".lock") || name == "package-lock.json" || name == "go.sum" => {
            (Icon::FileLock, Tint::Locked)
        }
        _ => return None,
    };
    Some(found)
}

/// Returns the icon and tint of an extension in lower case, without the dot; those of a plain file
/// if the extension is unknown.
// tidy: table
fn by_extension(extension: &str) -> (Icon, Tint) {
    match extension {
        "rs" | "py" | "pyi" | "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "c"
        | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "go" | "java" | "kt" | "kts" | "rb"
        | "lua" | "swift" | "zig" | "cs" | "fs" | "hs" | "ml" | "mli" | "ex" | "exs" | "erl"
        | "clj" | "scala" | "dart" | "r" | "jl" | "pl" | "php" | "vue" | "svelte" | "scm"
        | "el" | "nim" | "v" | "d" | "wgsl" | "glsl" | "proto" => (Icon::FileCode, Tint::Code),
        "html" | "htm" | "xhtml" => (Icon::Globe, Tint::Media),
        "css" | "scss" | "sass" | "less" => (Icon::Hash, Tint::Style),
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" => (Icon::Json, Tint::Data),
        "toml" | "yaml" | "yml" | "ini" | "cfg" | "conf" | "xml" | "plist" | "properties"
        | "nix" | "hcl" | "tf" | "editorconfig" => (Icon::FileCog, Tint::Data),
        "sql" | "sqlite" | "sqlite3" | "db" | "parquet" => (Icon::Database, Tint::Data),
        "csv" | "tsv" | "xls" | "xlsx" | "ods" => (Icon::FileSheet, Tint::Data),
        "md" | "markdown" | "mdx" | "rst" | "adoc" | "org" | "tex" | "typ" => {
            (Icon::FileText, Tint::Text)
        }
        "txt" | "log" | "text" => (Icon::FileText, Tint::Plain),
        "sh" | "bash" | "zsh" | "fish" | "ps1" | "bat" | "cmd" | "awk" => {
            (Icon::FileTerminal, Tint::Shell)
        }
        "mk" | "cmake" | "gradle" | "bzl" | "ninja" => (Icon::FileCog, Tint::Shell),
        "diff" | "patch" => (Icon::FileDiff, Tint::Shell),
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "svg" | "ico" | "bmp" | "tiff" | "avif" => {
            (Icon::FileImage, Tint::Media)
        }
        "mp3" | "wav" | "flac" | "ogg" | "m4a" => (Icon::FileMusic, Tint::Media),
        "mp4" | "mkv" | "webm" | "mov" | "avi" => (Icon::FileVideo, Tint::Media),
        "ttf" | "otf" | "woff" | "woff2" => (Icon::FileType, Tint::Media),
        "zip" | "tar" | "gz" | "tgz" | "bz2" | "xz" | "zst" | "7z" | "rar" | "jar" => {
            (Icon::Archive, Tint::Plain)
        }
        "pem" | "key" | "crt" | "cer" | "asc" | "gpg" => (Icon::FileKey, Tint::Locked),
        "o" | "a" | "so" | "dylib" | "dll" | "exe" | "bin" | "wasm" | "class" | "pyc" | "rlib" => {
            (Icon::Binary, Tint::Plain)
        }
        _ => (Icon::File, Tint::Plain),
    }
}

//! Texts with variables, in the forms of Burin, Visual Studio Code and Zed.
//!
//! Start at `pieces`; `value_of` gives the value of a variable.

use base::AbsPath;

use crate::context::TaskContext;
use crate::definition::TaskDialect;
use crate::error::VariableError;
use crate::task_file::TaskInput;

const HINT: &str =
    "write $NAME for a variable of the shell, or ${env:NAME} for one of the environment";
const SHELL_HINT: &str = "write $$ before the name of a variable of the shell";
const ZED_HINT: &str = "the variables of tasks are in docs/tasks.md";
const SETTING_HINT: &str = "Burin has no settings that can be inserted";
const INPUT_HINT: &str = "\"inputs\" has no entry with this id";

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplatePiece<'a> {
    /// Text that stays.
    Text(&'a str),
    /// A variable.
    Variable(VariableUse<'a>),
}

/// A variable in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VariableUse<'a> {
    /// The variable as it is written, such as `${file}`.
    pub(crate) written: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
    /// The value to use if there is none, in the form of Zed.
    default: Option<&'a str>,
    style: VariableStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableStyle {
    /// `${name}`.
    Braces,
    /// `$name`.
    Plain,
    /// `$ZED_NAME` and `${ZED_NAME}`.
    Zed,
}

/// The origin of a value, which decides how a shell may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    /// The project or the machine: always one word.
    Project,
    /// An answer of the user: outside of quotes, the shell reads it as if it were typed.
    Typed,
}

/// Splits a template into its parts.
pub(crate) fn pieces(template: &str, dialect: TaskDialect) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    if dialect == TaskDialect::Literal {
        pieces.push(TemplatePiece::Text(template));
        return pieces;
    }
    let (mut text, mut at) = (0, 0);
    while let Some(found) = template[at..].find('$') {
        let dollar = at + found;
        let rest = &template[dollar..];
        if dialect == TaskDialect::Burin && rest.starts_with("$$") {
            // One of the two signs stays.
            pieces.push(TemplatePiece::Text(&template[text..=dollar]));
            (text, at) = (dollar + 2, dollar + 2);
            continue;
        }
        let Some(variable) = variable_at(rest, dialect) else {
            at = dollar + 1;
            continue;
        };
        pieces.push(TemplatePiece::Text(&template[text..dollar]));
        at = dollar + variable.written.len();
        text = at;
        pieces.push(TemplatePiece::Variable(variable));
    }
    pieces.push(TemplatePiece::Text(&template[text..]));
    pieces.retain(|piece| *piece != TemplatePiece::Text(""));
    pieces
}

/// Returns the variable at the start of `rest`, which begins with `$`.
fn variable_at(rest: &str, dialect: TaskDialect) -> Option<VariableUse<'_>> {
    if let Some(inner) = rest.strip_prefix("${") {
        let end = inner.find('}')?;
        let (written, inner) = (&rest[..end + 3], &inner[..end]);
        if inner.starts_with("ZED_") && dialect != TaskDialect::VsCode {
            let (name, default) = match inner.split_once(':') {
                Some((name, default)) => (name, Some(default)),
                None => (inner, None),
            };
            return Some(VariableUse {
                written,
                name,
                default,
                style: VariableStyle::Zed,
            });
        }
        return (dialect != TaskDialect::Zed).then_some(VariableUse {
            written,
            name: inner,
            default: None,
            style: VariableStyle::Braces,
        });
    }
    let name = &rest[1..];
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let name = &name[..end.unwrap_or(name.len())];
    let written = &rest[..=name.len()];
    let style = if name.starts_with("ZED_") && dialect != TaskDialect::VsCode {
        VariableStyle::Zed
    } else if dialect == TaskDialect::Burin && name.starts_with(|it: char| it.is_ascii_lowercase())
    {
        VariableStyle::Plain
    } else {
        return None;
    };
    Some(VariableUse {
        written,
        name,
        default: None,
        style,
    })
}

/// Inserts the values into a template that no shell reads.
pub(crate) fn expand(
    template: &str,
    dialect: TaskDialect,
    context: &TaskContext,
) -> Result<String, VariableError> {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template, dialect) {
        match piece {
            TemplatePiece::Text(part) => text.push_str(part),
            TemplatePiece::Variable(variable) => {
                text.push_str(&value_of(&variable, context)?.0);
            }
        }
    }
    Ok(text)
}

/// Returns the variables of a template that no value can be found for, whatever the state of the window.
pub(crate) fn unknown_variables(
    template: &str,
    dialect: TaskDialect,
    inputs: &[TaskInput],
) -> Vec<VariableError> {
    let pieces = pieces(template, dialect).into_iter();
    let unknown = pieces.filter_map(|piece| match piece {
        TemplatePiece::Variable(variable) => hint(&variable, inputs).map(|hint| {
            let written = variable.written.to_owned();
            VariableError::Unknown { written, hint }
        }),
        TemplatePiece::Text(_) => None,
    });
    unknown.collect()
}

/// Returns the ids of the questions whose answers a template needs.
pub(crate) fn input_ids(template: &str, dialect: TaskDialect) -> Vec<&str> {
    let pieces = pieces(template, dialect).into_iter();
    let ids = pieces.filter_map(|piece| match piece {
        TemplatePiece::Variable(variable) => variable.name.strip_prefix("input:"),
        TemplatePiece::Text(_) => None,
    });
    ids.collect()
}

/// Returns whether a template needs the caret: its line, column, symbol or selection.
pub(crate) fn needs_caret(template: &str, dialect: TaskDialect) -> bool {
    pieces(template, dialect).iter().any(|piece| match piece {
        TemplatePiece::Variable(variable) => matches!(
            meaning(variable),
            Some(
                VariableMeaning::Line
                    | VariableMeaning::Column
                    | VariableMeaning::Symbol
                    | VariableMeaning::Selection
            )
        ),
        TemplatePiece::Text(_) => false,
    })
}

/// The meaning of a variable that is the same in all forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableMeaning {
    File,
    RelativeFile,
    FileName,
    FileStem,
    FileExtension,
    FileFolder,
    RelativeFolder,
    Root,
    RootName,
    Line,
    Column,
    Symbol,
    Selection,
    Home,
    Separator,
}

fn meaning(variable: &VariableUse<'_>) -> Option<VariableMeaning> {
    use VariableMeaning as Meaning;
    let meaning = match (variable.style, variable.name) {
        (VariableStyle::Zed, name) => match name {
            "ZED_FILE" => Meaning::File,
            "ZED_RELATIVE_FILE" => Meaning::RelativeFile,
            "ZED_FILENAME" => Meaning::FileName,
            "ZED_STEM" => Meaning::FileStem,
            "ZED_DIRNAME" => Meaning::FileFolder,
            "ZED_RELATIVE_DIR" => Meaning::RelativeFolder,
            "ZED_WORKTREE_ROOT" | "ZED_MAIN_GIT_WORKTREE" => Meaning::Root,
            "ZED_ROW" => Meaning::Line,
            "ZED_COLUMN" => Meaning::Column,
            "ZED_SYMBOL" => Meaning::Symbol,
            "ZED_SELECTED_TEXT" => Meaning::Selection,
            _ => return None,
        },
        (_, "file") => Meaning::File,
        (_, "relativeFile") => Meaning::RelativeFile,
        (_, "line") | (VariableStyle::Braces, "lineNumber") => Meaning::Line,
        (_, "symbol") => Meaning::Symbol,
        (_, "selection") | (VariableStyle::Braces, "selectedText") => Meaning::Selection,
        (_, "root") => Meaning::Root,
        (VariableStyle::Braces, name) => match name {
            "workspaceFolder" | "workspaceRoot" | "cwd" => Meaning::Root,
            "workspaceFolderBasename" | "workspaceRootFolderName" => Meaning::RootName,
            "relativeFileDirname" => Meaning::RelativeFolder,
            "fileDirname" => Meaning::FileFolder,
            "fileBasename" => Meaning::FileName,
            "fileBasenameNoExtension" => Meaning::FileStem,
            "fileExtname" => Meaning::FileExtension,
            "columnNumber" => Meaning::Column,
            "userHome" => Meaning::Home,
            "pathSeparator" | "/" => Meaning::Separator,
            _ => return None,
        },
        (VariableStyle::Plain, _) => return None,
    };
    Some(meaning)
}

/// Returns the reason why a variable is unknown; `None` if it is known.
fn hint(variable: &VariableUse<'_>, inputs: &[TaskInput]) -> Option<&'static str> {
    if meaning(variable).is_some() {
        return None;
    }
    match variable.style {
        VariableStyle::Zed => Some(ZED_HINT),
        VariableStyle::Plain => Some(SHELL_HINT),
        VariableStyle::Braces => match variable.name.split_once(':') {
            Some(("env" | "workspaceFolder", _)) => None,
            Some(("config", _)) => Some(SETTING_HINT),
            Some(("input", id)) => {
                let is_known = inputs.iter().any(|input| input.id == id);
                (!is_known).then_some(INPUT_HINT)
            }
            _ => Some(HINT),
        },
    }
}

/// Returns the value of a variable.
pub(crate) fn value_of(
    variable: &VariableUse<'_>,
    context: &TaskContext,
) -> Result<(String, ValueOrigin), VariableError> {
    let written = || variable.written.to_owned();
    if let Some(meaning) = meaning(variable) {
        let value = match (
            meaning_value(meaning, variable.written, context),
            variable.default,
        ) {
            (Err(_), Some(default)) => default.to_owned(),
            (value, _) => value?,
        };
        return Ok((value, ValueOrigin::Project));
    }
    let named = variable.name.split_once(':');
    match named.filter(|_| variable.style == VariableStyle::Braces) {
        Some(("env", name)) => {
            let mut known = context.environment.iter();
            let found = known.find(|(known, _)| known == name);
            let value = found.map(|(_, value)| value.clone());
            Ok((value.unwrap_or_default(), ValueOrigin::Project))
        }
        Some(("workspaceFolder", name)) if name == context.root.name() => {
            Ok((text_of(&context.root, written)?, ValueOrigin::Project))
        }
        Some(("input", id)) => {
            let answer = context.answers.iter().find(|(known, _)| known == id);
            let answer = answer.map(|(_, answer)| (answer.clone(), ValueOrigin::Typed));
            answer.ok_or_else(|| VariableError::NoAnswer(written()))
        }
        _ => Err(VariableError::Unknown {
            written: written(),
            hint: hint(variable, &[]).unwrap_or(HINT),
        }),
    }
}

fn meaning_value(
    meaning: VariableMeaning,
    written: &str,
    context: &TaskContext,
) -> Result<String, VariableError> {
    let name = || written.to_owned();
    let file = || {
        context
            .file
            .as_ref()
            .ok_or_else(|| VariableError::NoFile(name()))
    };
    let caret = || {
        context
            .caret
            .as_ref()
            .ok_or_else(|| VariableError::NoCaret(name()))
    };
    match meaning {
        VariableMeaning::File => text_of(file()?, name),
        VariableMeaning::RelativeFile => relative(file()?, &context.root, name),
        VariableMeaning::FileName => file_part(file()?.as_path().file_name(), name),
        VariableMeaning::FileStem => file_part(file()?.as_path().file_stem(), name),
        VariableMeaning::FileExtension => {
            let extension = file_part(file()?.as_path().extension(), name)?;
            let dot = if extension.is_empty() { "" } else { "." };
            Ok(format!("{dot}{extension}"))
        }
        VariableMeaning::FileFolder => text_of(&folder_of(file()?), name),
        VariableMeaning::RelativeFolder => relative(&folder_of(file()?), &context.root, name),
        VariableMeaning::Root => text_of(&context.root, name),
        VariableMeaning::RootName => Ok(context.root.name()),
        VariableMeaning::Line => Ok(caret()?.line.to_string()),
        VariableMeaning::Column => Ok(caret()?.column.to_string()),
        VariableMeaning::Selection => Ok(caret()?.selection.clone()),
        VariableMeaning::Symbol => {
            let symbol = caret()?.symbol.clone();
            symbol.ok_or_else(|| VariableError::NoSymbol(name()))
        }
        VariableMeaning::Home => match &context.home {
            Some(home) => text_of(home, name),
            None => Err(VariableError::NoHome(name())),
        },
        VariableMeaning::Separator => Ok("/".to_owned()),
    }
}

fn folder_of(file: &AbsPath) -> AbsPath {
    file.parent().unwrap_or_else(|| file.clone())
}

fn text_of(path: &AbsPath, name: impl Fn() -> String) -> Result<String, VariableError> {
    let text = path.as_path().to_str().map(str::to_owned);
    text.ok_or_else(|| VariableError::NotText(name()))
}

fn file_part(
    part: Option<&std::ffi::OsStr>,
    name: impl Fn() -> String,
) -> Result<String, VariableError> {
    let text = part.map_or(Some(""), std::ffi::OsStr::to_str);
    let text = text.ok_or_else(|| VariableError::NotText(name()))?;
    Ok(text.to_owned())
}

/// Returns a path below the project, or the whole path of another file. A name that a program could take for an option
/// gets a prefix.
fn relative(
    path: &AbsPath,
    root: &AbsPath,
    name: impl Fn() -> String,
) -> Result<String, VariableError> {
    let Some(inner) = path.relative_to(root) else {
        return text_of(path, name);
    };
    let text = inner.to_str().map(str::to_owned);
    let text = text.ok_or_else(|| VariableError::NotText(name()))?;
    Ok(match text.as_str() {
        "" => ".".to_owned(),
        option if option.starts_with('-') => format!("./{option}"),
        _ => text,
    })
}

#[cfg(test)]
pub(crate) mod tests;

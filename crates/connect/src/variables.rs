//! Environment variables, and their expansion in configuration.

use std::collections::BTreeMap;

use base::AbsPath;

use crate::error::Error;

/// Names and values of environment variables.
pub type Variables = BTreeMap<String, String>;

/// The values for `${…}` expressions: variables, and the folder of the project.
pub(crate) struct Expansion<'a> {
    pub(crate) variables: &'a Variables,
    pub(crate) workspace: &'a AbsPath,
}

impl Expansion<'_> {
    /// Replaces every `${…}` in a text; the error is about the first that cannot be resolved.
    pub(crate) fn expand(&self, text: &str) -> Result<String, Error> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            expanded.push_str(&rest[..start]);
            let inner = &rest[start + 2..];
            let Some(end) = inner.find('}') else {
                let problem = format!("`{text}` has a `${{` without its `}}`");
                return Err(Error::Configuration(problem));
            };
            expanded.push_str(&self.value(&inner[..end])?);
            rest = &inner[end + 1..];
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Returns the value for the text between the braces of `${…}`: a predefined name, or a
    /// variable, which may have the prefix `env:` and, after `:-`, a default for when it is unset
    /// or empty. Fails with `UnsetVariable` if there is no value.
    fn value(&self, name: &str) -> Result<String, Error> {
        let unset = |name: &str| Error::UnsetVariable(name.to_owned());
        let variable = |name: &str| self.variables.get(name).cloned();
        match name {
            "workspaceFolder" => Ok(self.workspace.as_path().display().to_string()),
            "workspaceFolderBasename" => Ok(self.workspace.name()),
            "userHome" => variable("HOME").ok_or_else(|| unset("HOME")),
            "pathSeparator" | "/" => Ok("/".to_owned()),
            _ => {
                let name = name.strip_prefix("env:").unwrap_or(name);
                let (name, default) = match name.split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (name, None),
                };
                variable(name)
                    .filter(|value| default.is_none() || !value.is_empty())
                    .or_else(|| default.map(str::to_owned))
                    .ok_or_else(|| unset(name))
            }
        }
    }
}

#[cfg(test)]
mod tests;

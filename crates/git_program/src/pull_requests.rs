//! Pull requests through `gh` and merge requests through `glab`, where the user has them.

use base::AbsPath;
use serde_json::Value;

use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::GitProgram;
use crate::records::text;

/// A program that knows the pull requests of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgeProgram {
    /// The program `gh` of GitHub.
    Gh(AbsPath),
    /// The program `glab` of GitLab.
    Glab(AbsPath),
}

/// An open pull request, or merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// The number.
    pub number: u64,
    /// The title. Foreign: to be made printable.
    pub title: String,
    /// The name of the author.
    pub author: String,
    /// The branch with the changes.
    pub branch: String,
    /// The branch that the changes are for.
    pub base: String,
    /// The address of its page.
    pub address: String,
    /// Whether it is a draft.
    pub is_draft: bool,
}

impl ForgeProgram {
    fn path(&self) -> &AbsPath {
        match self {
            Self::Gh(path) | Self::Glab(path) => path,
        }
    }
}

impl GitProgram {
    /// Returns up to 100 open pull requests of the repository's host.
    pub fn pull_requests(
        &self,
        forge: &ForgeProgram,
        cancellation: &Cancellation,
    ) -> Result<Vec<PullRequest>, Error> {
        let fields = "number,title,author,headRefName,baseRefName,url,isDraft";
        let arguments = match forge {
            ForgeProgram::Gh(_) => ["pr", "list", "--limit", "100", "--json", fields],
            ForgeProgram::Glab(_) => ["mr", "list", "--per-page", "100", "--output", "json"],
        };
        let program = forge.path();
        let output = self.other_program(program, &arguments, cancellation)?;
        let parsed = parse_pull_requests(&text(&output));
        parsed.ok_or_else(|| Error::unexpected(&program.name()))
    }

    /// Checks out the branch of a pull request.
    pub fn check_out_pull_request(
        &self,
        forge: &ForgeProgram,
        number: u64,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let kind = match forge {
            ForgeProgram::Gh(_) => "pr",
            ForgeProgram::Glab(_) => "mr",
        };
        let _ticket = self.enter_as_writer(cancellation)?;
        let number = number.to_string();
        let arguments = [kind, "checkout", number.as_str()];
        self.other_program(forge.path(), &arguments, cancellation)
            .map(drop)
    }
}

/// Parses the JSON of `gh pr list` or `glab mr list`; entries without a number are left out.
pub fn parse_pull_requests(json: &str) -> Option<Vec<PullRequest>> {
    let list = serde_json::from_str::<Value>(json).ok()?;
    Some(list.as_array()?.iter().filter_map(pull_request).collect())
}

fn pull_request(value: &Value) -> Option<PullRequest> {
    let text = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| value[*name].as_str());
        found.unwrap_or_default().to_owned()
    };
    let author = &value["author"];
    let author = author["login"]
        .as_str()
        .or_else(|| author["username"].as_str());
    let is_draft = ["isDraft", "draft"].iter().any(|name| value[*name] == true);
    Some(PullRequest {
        number: value["number"].as_u64().or_else(|| value["iid"].as_u64())?,
        title: text(["title", "title"]),
        author: author.unwrap_or_default().to_owned(),
        branch: text(["headRefName", "source_branch"]),
        base: text(["baseRefName", "target_branch"]),
        address: text(["url", "web_url"]),
        is_draft,
    })
}

#[cfg(test)]
mod tests {
    use super::parse_pull_requests;

    #[test]
    fn both_programs_are_understood() {
        let gh = r#"[{"number":7,"title":"T","author":{"login":"a"},"headRefName":"h","baseRefName":"b","url":"u","isDraft":true}]"#;
        let glab = r#"[{"iid":7,"title":"T","author":{"username":"a"},"source_branch":"h","target_branch":"b","web_url":"u","draft":true}]"#;
        let parsed = parse_pull_requests(gh).expect("a list");
        assert_eq!(parse_pull_requests(glab), Some(parsed.clone()));
        assert_eq!(
            (
                parsed[0].number,
                parsed[0].branch.as_str(),
                parsed[0].is_draft
            ),
            (7, "h", true)
        );
    }

    #[test]
    fn other_output_gives_no_list() {
        assert_eq!(parse_pull_requests("no json"), None);
        assert_eq!(parse_pull_requests("{}"), None);
        assert_eq!(parse_pull_requests("[{}, 1, null]"), Some(Vec::new()));
    }
}

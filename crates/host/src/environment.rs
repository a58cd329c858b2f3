//! The environment of child processes: one allow-list for all of them.
//!
//! Secrets occur in variables of any name, so a child receives only the variables listed here and
//! those that the user's configuration names for it.
//!
//! Invariant: a variable that settings name as the source of a key is never passed on, whatever its
//! name (`withhold`).
//! Start at `variables`.

mod current;
mod login;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::{PoisonError, RwLock};

pub use login::{adopt_login_environment, login_shell, print_environment_main};

/// Prefix of the name of a tree's variable. The id of the program that started the tree follows,
/// then its start time, then a part that distinguishes its trees.
pub(crate) const MARK: &str = "BURIN_TREE_";

/// A variable's name and value.
pub type Variable = (OsString, OsString);

/// The kind of child process that receives the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// Code from third parties: agents' commands, hooks, MCP servers, external agents, checks,
    /// tools.
    Foreign,
    /// The user's own programs, such as git or a browser. They also receive the variables of the
    /// desktop session and of the SSH agent.
    Personal,
    /// A program named in the settings because it prints a key, such as a password manager.
    KeyCommand,
}

/// Returns the variables that `recipient` may see: of this process, or of the user's login shell if
/// that was adopted. Blocks while the shell is read (`adopt_login_environment`).
pub fn variables(recipient: Recipient) -> Vec<Variable> {
    let all = current::passable();
    all.iter()
        .filter(|(name, value)| is_allowed(name, value, recipient))
        .cloned()
        .collect()
}

/// Returns the variables that the user's configuration names for a child. Blocks as `variables`
/// does.
pub fn named_variables(names: &[String]) -> Vec<Variable> {
    let given = names.iter().filter(|name| may_pass_on(name));
    given
        .filter_map(|name| Some((name.into(), variable(name)?)))
        .collect()
}

/// Returns all variables for another program of Burin's own, keys included, without the marks of a
/// process tree. Blocks as `variables` does.
pub(crate) fn for_own_program() -> Vec<Variable> {
    let all = current::complete();
    all.iter()
        .filter(|(name, _)| !is_mark(name))
        .cloned()
        .collect()
}

/// Removes the marks of process trees. The child is then no part of trees that other programs started, and goes on when
/// those end.
pub fn remove_marks(variables: &mut Vec<Variable>) {
    variables.retain(|(name, _)| !is_mark(name));
}

fn is_mark(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(MARK)
}

/// Returns a variable, such as a key, if it is valid text. Blocks as `variables` does.
pub fn text_variable(name: &str) -> Option<String> {
    variable(name)?.into_string().ok()
}

fn variable(name: &str) -> Option<OsString> {
    let all = current::complete();
    let found = all.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

/// Returns all variables that are valid text, to resolve `${NAME}` in configuration. Never pass
/// them to a child.
pub fn all_text_variables() -> impl Iterator<Item = (String, String)> {
    let all = current::complete();
    let all = all.iter().filter_map(|(name, value)| {
        let name = name.to_str()?.to_owned();
        Some((name, value.to_str()?.to_owned()))
    });
    all.collect::<Vec<_>>().into_iter()
}

/// Withholds these variables from every child from now on: settings name them as sources of keys.
pub fn withhold(names: impl IntoIterator<Item = String>) {
    let mut withheld = WITHHELD.write().unwrap_or_else(PoisonError::into_inner);
    withheld.extend(names);
}

/// Returns whether a variable that a tool of the user set, such as direnv, may be passed on to a child.
pub fn may_pass_on(name: &str) -> bool {
    !is_withheld(name) && !is_loader_variable(name)
}

/// Returns whether a variable makes macOS load libraries into every program: never passed on.
fn is_loader_variable(name: &str) -> bool {
    name.starts_with("DYLD_")
}

static WITHHELD: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Returns whether settings name the variable as the source of a key.
fn is_withheld(name: &str) -> bool {
    let withheld = WITHHELD.read().unwrap_or_else(PoisonError::into_inner);
    withheld.contains(name)
}

/// Returns whether a variable may be passed on to `recipient`.
pub fn is_allowed(name: impl AsRef<OsStr>, value: impl AsRef<OsStr>, recipient: Recipient) -> bool {
    let Some(name) = name.as_ref().to_str() else {
        return false;
    };
    let is_among = |names: &[&str]| names.contains(&name);
    let is_listed = is_among(BASIC)
        || is_among(TOOLCHAINS)
        // Marks by which a parent process finds all its descendants.
        || name.starts_with(MARK)
        || (is_among(ADDRESSES) && !holds_password(value.as_ref()))
        || match recipient {
            Recipient::Foreign => false,
            Recipient::Personal => is_among(SESSION),
            Recipient::KeyCommand => {
                is_among(SESSION) || is_among(KEY_COMMANDS) || name.starts_with("OP_SESSION_")
            }
        };
    is_listed && !is_withheld(name)
}

/// Returns whether a URL has a user part, and so perhaps a password.
fn holds_password(address: &OsStr) -> bool {
    address.as_encoded_bytes().contains(&b'@')
}

/// Variables that programs need for paths, locale and terminal.
#[rustfmt::skip]
const BASIC: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "HOSTNAME", "TMPDIR", "TMP", "TEMP", "TZ", "TZDIR",
    "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
    "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME", "LOCPATH",
    "TERM", "TERMINFO", "TERMINFO_DIRS", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR",
    "CLICOLOR_FORCE", "LS_COLORS", "EDITOR", "VISUAL", "PAGER", "LESS", "MANPATH", "INFOPATH", "CI",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_BIN_HOME", "XDG_RUNTIME_DIR",
    "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "WSL_DISTRO_NAME", "__CF_USER_TEXT_ENCODING",
    // Burin's own folders, and the lease that a command works in.
    "BURIN_CONFIG_DIR", "BURIN_STATE_DIR", "BURIN_CACHE_DIR", "BURIN_LEASE", "BURIN_NAME", "BURIN_WORKTREE",
];

/// Toolchain locations and build options. No variable here is one that tools read keys from.
#[rustfmt::skip]
const TOOLCHAINS: &[&str] = &[
    // Git.
    "EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_CAINFO", "GIT_EXEC_PATH",
    // Certificate authorities.
    "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    // C and C++.
    "CC", "CXX", "CPP", "AR", "AS", "LD", "NM", "RANLIB", "STRIP", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS",
    "LIBS", "MAKE", "MAKEFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
    "LD_LIBRARY_PATH", "LIBCLANG_PATH", "LLVM_CONFIG",
    "PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR", "CMAKE_GENERATOR",
    "CMAKE_PREFIX_PATH", "CMAKE_BUILD_TYPE", "CMAKE_BUILD_PARALLEL_LEVEL", "CMAKE_TOOLCHAIN_FILE", "NINJA_STATUS",
    "CCACHE_DIR", "SCCACHE_DIR", "VCPKG_ROOT", "CONAN_HOME", "OPENSSL_DIR", "OPENSSL_LIB_DIR",
    "OPENSSL_INCLUDE_DIR", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "SOURCE_DATE_EPOCH", "SDKROOT",
    "DEVELOPER_DIR", "TOOLCHAINS", "MACOSX_DEPLOYMENT_TARGET", "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR",
    // Rust.
    "CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET", "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE", "CARGO_TERM_COLOR", "CARGO_PROFILE_DEV_DEBUG", "CARGO_ENCODED_RUSTFLAGS", "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_BOOTSTRAP", "RUSTFLAGS",
    "RUSTDOCFLAGS", "RUST_BACKTRACE", "RUST_LOG", "RUST_MIN_STACK", "RUST_TEST_THREADS",
    // Go.
    "GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "GOOS", "GOARCH", "GOARM",
    "GOAMD64", "GO111MODULE", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOWORK", "GOTMPDIR", "CGO_ENABLED",
    "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS",
    // The JVM and Android.
    "JAVA_HOME", "JDK_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "KOTLIN_HOME",
    "SCALA_HOME", "SDKMAN_DIR", "ANDROID_HOME", "ANDROID_SDK_ROOT", "ANDROID_NDK_HOME", "ANDROID_NDK_ROOT",
    // JavaScript.
    "NVM_DIR", "NVM_BIN", "NVM_INC", "VOLTA_HOME", "FNM_DIR", "FNM_MULTISHELL_PATH", "N_PREFIX", "NODE_ENV",
    "NODE_PATH", "NODE_OPTIONS", "NPM_CONFIG_CACHE", "NPM_CONFIG_PREFIX", "NPM_CONFIG_USERCONFIG",
    "npm_config_cache", "npm_config_prefix", "npm_config_userconfig", "COREPACK_HOME", "PNPM_HOME",
    "YARN_CACHE_FOLDER", "BUN_INSTALL", "DENO_DIR", "DENO_INSTALL",
    // Python.
    "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "CONDA_PYTHON_EXE",
    "CONDA_SHLVL", "MAMBA_EXE", "MAMBA_ROOT_PREFIX", "PYENV_ROOT", "PYENV_VERSION", "PYENV_SHELL", "PYTHONPATH",
    "PYTHONHOME", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED", "PYTHONWARNINGS", "PYTHONPYCACHEPREFIX", "PIP_CACHE_DIR", "PIPX_HOME", "PIPX_BIN_DIR",
    "POETRY_HOME", "POETRY_CACHE_DIR", "UV_CACHE_DIR", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "WORKON_HOME",
    "DJANGO_SETTINGS_MODULE",
    // Ruby, PHP, Elixir, Haskell, OCaml, .NET.
    "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "BUNDLE_GEMFILE", "RBENV_ROOT", "RBENV_VERSION", "RUBYLIB", "rvm_path",
    "COMPOSER_HOME", "COMPOSER_CACHE_DIR", "MIX_HOME", "MIX_ENV", "HEX_HOME", "GHCUP_INSTALL_BASE_PREFIX",
    "STACK_ROOT", "CABAL_DIR", "OPAMROOT", "OPAMSWITCH", "OPAM_SWITCH_PREFIX", "OCAMLPATH", "OCAML_TOPLEVEL_PATH",
    "CAML_LD_LIBRARY_PATH", "DOTNET_ROOT", "DOTNET_CLI_HOME", "DOTNET_CLI_TELEMETRY_OPTOUT", "NUGET_PACKAGES",
    // Version managers.
    "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "MISE_CONFIG_DIR", "DIRENV_DIR", "DIRENV_FILE",
    "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY", "HOMEBREW_CACHE", "HOMEBREW_LOGS", "HOMEBREW_TEMP",
    "HOMEBREW_NO_ANALYTICS", "HOMEBREW_NO_AUTO_UPDATE", "HOMEBREW_NO_INSTALL_CLEANUP", "NIX_PATH", "NIX_PROFILES", "NIX_STORE",
    "IN_NIX_SHELL", "GUIX_PROFILE",
];

/// Addresses of proxies and registries, passed on unless they contain a user name, which usually
/// comes with a password.
#[rustfmt::skip]
const ADDRESSES: &[&str] = &[
    "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "ftp_proxy",
    "all_proxy", "no_proxy", "GOPROXY", "GOSUMDB", "NPM_CONFIG_REGISTRY", "npm_config_registry", "PIP_INDEX_URL",
    "UV_INDEX_URL", "UV_DEFAULT_INDEX", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT",
];

/// Variables of the desktop session, of the SSH agent and of git's password prompts.
#[rustfmt::skip]
const SESSION: &[&str] = &[
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "BROWSER",
    "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GIT_SSH",
    "GIT_SSH_COMMAND", "GIT_ASKPASS", "GNUPGHOME", "GPG_TTY",
];

/// Variables that password managers need to open their store.
#[rustfmt::skip]
const KEY_COMMANDS: &[&str] = &[
    "OP_ACCOUNT", "OP_SERVICE_ACCOUNT_TOKEN", "OP_CONNECT_HOST", "OP_CONNECT_TOKEN", "OP_CONFIG_DIR", "BW_SESSION",
    "BITWARDENCLI_APPDATA_DIR", "VAULT_ADDR", "VAULT_TOKEN", "VAULT_NAMESPACE", "VAULT_CACERT",
    "PASSWORD_STORE_DIR", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_CONFIG", "CLOUDSDK_ACTIVE_CONFIG_NAME", "SOPS_AGE_KEY_FILE",
];

#[cfg(test)]
mod tests;

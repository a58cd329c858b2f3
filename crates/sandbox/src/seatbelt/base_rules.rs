//! The rules that every program needs to start at all, independent of the policy.
//!
//! Invariant: no service that starts programs, delivers events to other programs, or holds secrets
//! is listed: launch services, Apple events, the security server, the pasteboard, the window
//! server. `lsopen`, `appleevent-send` and `job-creation` are never allowed. A program cannot be
//! kept from being executed, since a copy of it could be; the services that it needs can.
//! Invariant: only names are used that every supported release of macOS knows, since a profile with
//! an unknown name does not compile.

/// The first part of every profile.
pub(super) const BASE: &str = r#"(version 1)
(deny default)

; Processes of the sandbox's own.
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))

; Facts about the machine. Java and V8 pass a buffer to these two, which counts as writing.
(allow sysctl-read)
(allow sysctl-write (sysctl-name "kern.grade_cputype"))
(allow sysctl-write (sysctl-name "kern.tcsm_enable"))
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))

; Semaphores of Python, the registration of OpenMP, the shared preferences.
(allow ipc-posix-sem)
(allow ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-unlink
  (ipc-posix-name-regex #"^/__KMP_REGISTERED_LIB_[0-9]+$"))
(allow ipc-posix-shm-read* (ipc-posix-name-prefix "apple.cfprefs."))
(allow user-preference-read)

; Services that only answer questions.
(allow mach-lookup (global-name "com.apple.system.logger"))
(allow mach-lookup (global-name "com.apple.logd"))
(allow mach-lookup (global-name "com.apple.system.notification_center"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.membership"))
(allow mach-lookup (global-name "com.apple.bsd.dirhelper"))
(allow mach-lookup (global-name "com.apple.PowerManagement.control"))
(allow mach-lookup (global-name "com.apple.cfprefsd.daemon"))
(allow mach-lookup (global-name "com.apple.cfprefsd.agent"))
(allow mach-lookup (local-name "com.apple.cfprefsd.agent"))

; Terminals: new ones, never those of other programs. An inherited one can be configured.
(allow pseudo-tty)
"#;

/// Folders shared by all programs of the machine: nothing in them is visible.
pub(super) const SHARED: &[&str] = &[
    "/private/tmp",
    "/private/var/tmp",
    "/private/var/run",
    "/private/var/folders",
    "/Volumes",
];

/// Devices: those that hold nothing, and the terminals of the sandbox's own.
pub(super) const DEVICES: &str = r#"(deny file-read-data file-read-xattr file-write* file-ioctl (subpath "/dev"))
(allow file-read* file-write-data file-ioctl
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (literal "/dev/tty")
  (literal "/dev/dtracehelper"))
(allow file-read* (literal "/dev/fd"))
(allow file-read* file-write-data (regex #"^/dev/fd/[0-9]+$"))
(allow file-read* file-write-data file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write-data
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (regex #"^/dev/ttys[0-9]+$"))
"#;

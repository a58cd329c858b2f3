//! Projects of CMake, built in the folder `build`.

use super::{DetectedProject, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    let file = "CMakeLists.txt";
    for folder in project.folders.iter().filter(|it| it.has(file)) {
        if project.is_below(folder, file) {
            continue;
        }
        let mut configure = folder.task(
            "cmake",
            file,
            "cmake configure",
            &["cmake", "-S", ".", "-B", "build"],
        );
        configure.matchers = matchers(&["$cmake"]);
        let mut build = folder.task("cmake", file, "cmake build", &["cmake", "--build", "build"]);
        build.group = Some(TaskGroup::Build);
        build.matchers = matchers(&["$gcc", "$cmake"]);
        let cache = folder.path.join("build/CMakeCache.txt");
        if !project.files.exists(&cache) {
            build.dependencies = vec![configure.label.clone()];
        }
        let mut test = folder.task(
            "cmake",
            file,
            "ctest",
            &["ctest", "--test-dir", "build", "--output-on-failure"],
        );
        test.group = Some(TaskGroup::Test);
        test.dependencies = vec![build.label.clone()];
        tasks.extend([configure, build, test]);
    }
}

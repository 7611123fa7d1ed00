//! Java: Error Prone and all of javac's warnings, the formatter, JUnit, Javadoc; the artifacts, deployed to a folder from which Maven installs them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::places::Places;
use crate::{java, logged};

use super::{Extent, Sdk};

const BUILD_MAX: Duration = Duration::from_secs(900);
/// What a build does without when only the classes are wanted.
const CLASSES_ONLY: [&str; 2] = ["-Dmaven.javadoc.skip", "-Dmaven.source.skip"];

/// Of every artifact there are the sources and the documentation as well, and in it the licence and the changelog.
const WHOLE: &str = "for jar in $(ls */*/*.jar | grep -v -e -sources -e -javadoc); do \
                     ls ${jar%.jar}-sources.jar ${jar%.jar}-javadoc.jar || exit 1; \
                     test $(jar tf $jar | grep -c -x -e META-INF/LICENSE -e META-INF/CHANGELOG.md) = 2 || exit 1; \
                     done; ls caudal-client/*/*.pom";

pub(super) const SDK: Sdk = Sdk {
    name: "java",
    transports: &["rest", "grpc", "kafka"],
    prepare: |places| java::install(places).and_then(|()| build(places)).into(),
    checks: |places, extent| {
        let mut verify = maven(places, &["verify"]);
        if extent == Extent::Usual {
            verify.args(CLASSES_ONLY);
        }
        vec![("verify", verify)]
    },
    scenarios: |places| {
        let folder = folder(places).join("caudal-client-scenarios");
        let mut command = program(&[folder.join("classes"), folder.join("lib").join("*")]);
        command.args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "io.caudal.scenarios.Main"]);
        command
    },
    bench: |places| Ok((SDK.scenarios)(places)),
    pack: |places, project| {
        let mut deploy = maven(places, &["deploy", "-DskipTests", "-Dspotless.check.skip", "-Dmaven.install.skip"]);
        deploy.arg(format!("-DaltDeploymentRepository=packed::file://{}", project.join("repository").display()));
        let mut whole = Command::new("sh");
        whole.args(["-c", WHOLE]).current_dir(project.join("repository/io/caudal"));
        let mut init = Command::new("sh");
        init.args(["-c", "printf '%s' \"$0\" > pom.xml"]).arg(manifest(project)).current_dir(project);
        let mut install = Command::new("mvn");
        install.args(["--quiet", "--batch-mode", "compile", "dependency:copy-dependencies", "-DoutputDirectory=lib"]);
        install.current_dir(project);
        vec![deploy, whole, init, install]
    },
    example: |_, project, file| {
        let mut command = program(&[project.join("target/classes"), project.join("lib").join("*")]);
        command.arg(Path::new(file).file_stem().unwrap_or_default());
        command
    },
};

/// The empty project. Maven asks a repository it has not seen yet, so nothing of an earlier run is taken for this one's.
fn manifest(project: &Path) -> String {
    let repository = project.join("repository");
    let plugin = |name: &str, version: &str| {
        format!(
            "<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-{name}-plugin</artifactId>\
             <version>{version}</version></plugin>"
        )
    };
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>empty</artifactId><version>1</version>\
         <properties><maven.compiler.release>17</maven.compiler.release>\
         <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\
         <repositories><repository><id>packed-{}</id><url>file://{}</url></repository></repositories>\
         <dependencies><dependency><groupId>io.caudal</groupId><artifactId>caudal-client</artifactId>\
         <version>0.1.0</version></dependency></dependencies>\
         <build><plugins>{}{}{}</plugins></build></project>",
        std::process::id(),
        repository.display(),
        plugin("compiler", "3.14.1"),
        plugin("dependency", "3.8.1"),
        plugin("resources", "3.3.1"),
    )
}

fn folder(places: &Places) -> PathBuf {
    places.own.join("sdk-java")
}

fn build(places: &Places) -> Result<(), String> {
    let mut build = maven(places, &["package"]);
    build.args(CLASSES_ONLY).arg("-DskipTests");
    logged::must(&mut build, &places.log("build-sdk-java"), BUILD_MAX).map(drop)
}

fn maven(places: &Places, arguments: &[&str]) -> Command {
    let mut command = Command::new("mvn");
    command.args(["--quiet", "--batch-mode"]).args(arguments);
    command.arg(format!("-Dbuild.folder={}", folder(places).display())).current_dir(SDK.folder(places));
    command
}

/// With the class path of these.
fn program(path: &[PathBuf]) -> Command {
    let mut command = Command::new("java");
    command.arg("-cp").arg(std::env::join_paths(path).unwrap_or_default());
    command
}

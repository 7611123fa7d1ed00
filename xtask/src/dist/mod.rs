//! `cargo xtask dist`: what others install, under `target/dist`: an archive with a static binary, a Debian package, a bill of materials and
//! checksums of all three.
//!
//! The binary is linked with musl, so that it runs on any Linux; the target comes from rustup, its C compiler from the system's packages.

mod bill;
pub(crate) mod part;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::book::copy_tree;
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::{Verdict, logged, packages};

const TARGET: &str = "x86_64-unknown-linux-musl";
/// How the server that others install is built; the container's the same way.
pub(crate) const BUILD: [&str; 7] = ["build", "--release", "--locked", "--package", "app", "--bin", "caudal"];
const BUILD_MAX: Duration = Duration::from_secs(3 * 3600);
const STEP_MAX: Duration = Duration::from_secs(300);
/// What the archive has beside the binary, manual pages and completions.
const FILES: [&str; 3] = ["README.md", "CHANGELOG.md", "LICENSE"];
const FOLDERS: [&str; 3] = ["docs", "examples", "deploy"];

pub(crate) fn run() -> Result<Verdict, String> {
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let binary = build(&places)?;
    let out = places.target.join("dist");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("cannot remove {}: {error}", out.display()))?;
    }
    let made = Made::stage(&places, &binary, env!("CARGO_PKG_VERSION"), &out)?;
    let files = [made.archive()?, made.package("xz")?, bill::write(&places, TARGET, made.version, &out)?];
    let sums = sums(&out, &files)?;
    for file in files.iter().chain([&sums]) {
        println!("{}", file.display());
    }
    Ok(Verdict::Good)
}

/// The static binary.
fn build(places: &Places) -> Result<PathBuf, String> {
    if !packages::found("musl-gcc") {
        packages::install(&packages::MUSL, &places.log("install-musl"))?;
    }
    let mut rustup = Command::new("rustup");
    logged::must(rustup.args(["target", "add", TARGET]), &places.log("install-target"), STEP_MAX)?;
    let mut cargo = places.cargo();
    cargo.args(BUILD).args(["--target", TARGET]);
    let log = places.log("dist-build");
    let finished = logged::run(&mut cargo, &log, logged::Audience::Terminal, BUILD_MAX)?;
    if let logged::End::Failure(why) = finished.end {
        return Err(why);
    }
    let binary = places.target.join(TARGET).join("release").join("caudal");
    let told = logged::must(Command::new("ldd").arg(&binary), &places.log("dist-ldd"), STEP_MAX);
    // It says so of a static one, by its words or by failing.
    if told.as_ref().is_ok_and(|told| told.contains("=>")) {
        return Err(format!("{} is not static:\n{}", binary.display(), told.unwrap_or_default()));
    }
    Ok(binary)
}

/// Everything that is packed, in one folder.
pub(crate) struct Made<'p> {
    places: &'p Places,
    pub(crate) version: &'p str,
    out: PathBuf,
    staged: PathBuf,
}

impl<'p> Made<'p> {
    pub(crate) fn stage(places: &'p Places, binary: &Path, version: &'p str, out: &Path) -> Result<Made<'p>, String> {
        let staged = out.join(format!("caudal-{version}-x86_64-linux"));
        make(&staged)?;
        let made = Made { places, version, out: out.to_owned(), staged };
        copy(binary, &made.staged.join("caudal"))?;
        for file in FILES {
            copy(&places.root.join(file), &made.staged.join(file))?;
        }
        for folder in FOLDERS {
            copy_tree(&places.root.join(folder), &made.staged.join(folder))?;
        }
        made.caudal(&["man", &made.staged.join("man/man1").display().to_string()])?;
        make(&made.staged.join("completions"))?;
        for (shell, name) in [("bash", "caudal.bash"), ("zsh", "_caudal"), ("fish", "caudal.fish")] {
            let script = made.caudal(&["completions", shell])?;
            write(&made.staged.join("completions").join(name), &script)?;
        }
        Ok(made)
    }

    fn caudal(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(self.staged.join("caudal"));
        logged::must(command.args(words), &self.places.log("dist-caudal"), STEP_MAX)
    }

    pub(crate) fn archive(&self) -> Result<PathBuf, String> {
        let name = self.staged.file_name().ok_or("the staged folder has no name")?;
        let archive = self.out.join(format!("{}.tar.gz", name.to_string_lossy()));
        let mut tar = Command::new("tar");
        tar.args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--file"]).arg(&archive);
        logged::must(tar.arg("--directory").arg(&self.out).arg(name), &self.places.log("dist-tar"), STEP_MAX)?;
        Ok(archive)
    }

    /// The Debian package: the same files, where Debian has them.
    pub(crate) fn package(&self, compression: &str) -> Result<PathBuf, String> {
        let root = self.out.join(format!("debian-{}", self.version));
        let debian = self.places.root.join("deploy/debian");
        for (from, to) in [
            ("caudal", "usr/bin/caudal"),
            ("completions/caudal.bash", "usr/share/bash-completion/completions/caudal"),
            ("completions/_caudal", "usr/share/zsh/vendor-completions/_caudal"),
            ("completions/caudal.fish", "usr/share/fish/vendor_completions.d/caudal.fish"),
            ("LICENSE", "usr/share/doc/caudal/copyright"),
            ("CHANGELOG.md", "usr/share/doc/caudal/CHANGELOG.md"),
        ] {
            copy(&self.staged.join(from), &root.join(to))?;
        }
        copy(&debian.join("caudal.service"), &root.join("lib/systemd/system/caudal.service"))?;
        let pages = root.join("usr/share/man/man1");
        copy_tree(&self.staged.join("man/man1"), &pages)?;
        let mut gzip = Command::new("gzip");
        logged::must(gzip.args(["--best", "--no-name", "--recursive"]).arg(&pages), &self.places.log("dist-gzip"), STEP_MAX)?;
        for folder in ["examples", "docs"] {
            copy_tree(&self.staged.join(folder), &root.join("usr/share/doc/caudal").join(folder))?;
        }
        let defaults = self.caudal(&["config"])?;
        let settings = defaults.replace("#data = \"./caudal-data\"", "data = \"/var/lib/caudal\"");
        if settings == defaults {
            return Err("the default configuration says its data folder in another way now".to_owned());
        }
        make(&root.join("etc/caudal"))?;
        write(&root.join("etc/caudal/caudal.toml"), &settings)?;
        self.control(&debian, &root)?;
        let package = self.out.join(format!("caudal_{}_amd64.deb", self.version));
        let mut build = Command::new("dpkg-deb");
        build.args(["--root-owner-group", &format!("-Z{compression}"), "--build"]).arg(&root).arg(&package);
        logged::must(&mut build, &self.places.log("dist-deb"), STEP_MAX)?;
        fs::remove_dir_all(&root).map_err(|error| format!("cannot remove {}: {error}", root.display()))?;
        Ok(package)
    }

    fn control(&self, debian: &Path, root: &Path) -> Result<(), String> {
        let read = |name: &str| fs::read_to_string(debian.join(name)).map_err(|error| format!("deploy/debian/{name}: {error}"));
        let kilobytes = size(root)?.div_ceil(1024);
        let control = read("control")?.replace("@VERSION@", self.version).replace("@SIZE@", &kilobytes.to_string());
        let folder = root.join("DEBIAN");
        make(&folder)?;
        write(&folder.join("control"), &control)?;
        write(&folder.join("conffiles"), "/etc/caudal/caudal.toml\n")?;
        ["postinst", "prerm", "postrm"].iter().try_for_each(|script| copy(&debian.join(script), &folder.join(script)))
    }
}

fn size(folder: &Path) -> Result<u64, String> {
    let told = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(told)? {
        let entry = entry.map_err(told)?;
        let found = entry.metadata().map_err(told)?;
        bytes += if found.is_dir() { size(&entry.path())? } else { found.len() };
    }
    Ok(bytes)
}

fn sums(out: &Path, files: &[PathBuf]) -> Result<PathBuf, String> {
    let names = files.iter().filter_map(|file| file.file_name());
    let mut command = Command::new("sha256sum");
    let output = command.args(names).current_dir(out).output().map_err(|error| format!("cannot run sha256sum: {error}"))?;
    let path = out.join("SHA256SUMS");
    write(&path, &String::from_utf8_lossy(&output.stdout))?;
    Ok(path)
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(folder) = to.parent() {
        make(folder)?;
    }
    fs::copy(from, to).map(drop).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

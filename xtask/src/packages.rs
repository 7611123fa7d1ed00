//! What the system's own package manager has to bring, where it is missing.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::logged;

const INSTALL_MAX: Duration = Duration::from_secs(600);

/// Software by its name in each family of systems.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) what: &'static str,
    apt: &'static [&'static str],
    dnf: &'static [&'static str],
    brew: &'static [&'static str],
}

pub(crate) const POSTGRES: Wanted = Wanted {
    what: "PostgreSQL server binaries (14 or later)",
    apt: &["postgresql"],
    dnf: &["postgresql-server"],
    brew: &["postgresql"],
};

pub(crate) const PGBOUNCER: Wanted = Wanted { what: "PgBouncer", apt: &["pgbouncer"], dnf: &["pgbouncer"], brew: &["pgbouncer"] };

pub(crate) const PYTHON: Wanted =
    Wanted { what: "Python 3 with venv", apt: &["python3", "python3-venv"], dnf: &["python3", "python3-pip"], brew: &["python"] };

pub(crate) const NODE: Wanted =
    Wanted { what: "Node.js with npm", apt: &["nodejs", "npm"], dnf: &["nodejs", "npm"], brew: &["node"] };

pub(crate) const MUSL: Wanted = Wanted {
    what: "a C compiler for musl",
    apt: &["musl-tools"],
    dnf: &["musl-gcc"],
    brew: &["filosottile/musl-cross/musl-cross"],
};

pub(crate) const JAVA: Wanted = Wanted {
    what: "a JDK with Maven",
    apt: &["default-jdk-headless", "maven"],
    dnf: &["java-latest-openjdk-devel", "maven"],
    brew: &["openjdk", "maven"],
};

/// Its `systemd-analyze` looks at a unit without systemd running.
pub(crate) const SYSTEMD: Wanted = Wanted { what: "systemd-analyze", apt: &["systemd"], dnf: &["systemd"], brew: &["systemd"] };

pub(crate) const SQLITE: Wanted =
    Wanted { what: "the sqlite3 command line", apt: &["sqlite3"], dnf: &["sqlite"], brew: &["sqlite"] };

pub(crate) fn install(wanted: &Wanted, log: &Path) -> Result<(), String> {
    let (name, commands) = if found("apt-get") {
        (
            "apt-get",
            vec![words(&["apt-get", "update"], &[]), words(&["apt-get", "install", "-y", "--no-install-recommends"], wanted.apt)],
        )
    } else if found("dnf") {
        ("dnf", vec![words(&["dnf", "install", "-y"], wanted.dnf)])
    } else if found("brew") {
        ("brew", vec![words(&["brew", "install"], wanted.brew)])
    } else {
        return Err(format!("{} not found, and no apt-get, dnf or brew to install it with: please install it", wanted.what));
    };
    println!("installing {} with {name} …", wanted.what);
    for command in commands {
        as_root(name, &command).and_then(|mut command| logged::must(&mut command, log, INSTALL_MAX).map(drop)).map_err(
            |why| format!("{} not found, and `{}` failed: {why}\nPlease install it by hand.", wanted.what, command.join(" ")),
        )?;
    }
    Ok(())
}

/// Whether a program of this name is on the path.
pub(crate) fn found(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Homebrew refuses to run as root, the others need it.
pub(crate) fn as_root(manager: &str, words: &[String]) -> Result<Command, String> {
    let mut command = if manager == "brew" || crate::postgres::we_are_root() {
        Command::new(&words[0])
    } else if found("sudo") {
        let mut command = Command::new("sudo");
        command.args(["-n", &words[0]]);
        command
    } else {
        return Err("it needs root, and there is no sudo".to_owned());
    };
    // RUNLEVEL keeps Debian from starting services of its own for what is installed.
    command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    Ok(command)
}

fn words(start: &[&str], rest: &[&str]) -> Vec<String> {
    start.iter().chain(rest).map(|word| (*word).to_owned()).collect()
}

//! Processes this tool starts, each in a process group of its own, so that none survives it: not at the end, not after a failure, not
//! after Ctrl-C.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Groups that live, the newest last.
static LIVING: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
/// Folders that are of no use without us.
static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// A signal came, and its thread is about to end this process.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// How long a process may take to leave after it was asked to.
const LEAVING_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy)]
struct Kept {
    pid: u32,
    farewell: Farewell,
}

/// How a process is asked to leave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Farewell {
    /// SIGTERM to the whole group.
    Terminate,
    /// SIGINT to the process alone: PostgreSQL's fast shutdown, which ends its own helpers.
    Interrupt,
}

/// A started process. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) child: Child,
    kept: Kept,
}

impl Running {
    pub(crate) fn start(command: &mut Command, farewell: Farewell) -> io::Result<Running> {
        let child = command.stdin(Stdio::null()).process_group(0).spawn()?;
        let kept = Kept { pid: child.id(), farewell };
        living().push(kept);
        Ok(Running { child, kept })
    }

    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// SIGKILL, now; what it was in the middle of stays undone.
    pub(crate) fn kill(&mut self) {
        kill(self.kept.pid);
        self.child.wait().ok();
    }

    /// Sends the process alone a signal by its name, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) -> Result<(), String> {
        let pid = self.kept.pid;
        if shell(&format!("kill -{name} {pid}")) { Ok(()) } else { Err(format!("cannot send SIG{name} to process {pid}")) }
    }

    /// Asks it to leave and waits; kills what does not go.
    pub(crate) fn stop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            ask(self.kept);
            if !gone_within(&mut self.child, LEAVING_MAX) {
                kill(self.kept.pid);
                self.child.wait().ok();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        // What it may have started and left behind.
        kill(self.kept.pid);
        living().retain(|kept| kept.pid != self.kept.pid);
    }
}

/// From now on Ctrl-C, SIGTERM and a closed terminal end every started process first, then this one.
pub(crate) fn end_with_us() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        STOPPING.store(true, Ordering::SeqCst);
        eprintln!("\nstopping what was started …");
        let kept: Vec<Kept> = living().iter().rev().copied().collect();
        kept.iter().for_each(|kept| ask(*kept));
        let deadline = Instant::now() + LEAVING_MAX;
        while Instant::now() < deadline && kept.iter().any(|kept| lives(kept.pid)) {
            std::thread::sleep(Duration::from_millis(50));
        }
        kept.iter().for_each(|kept| kill(kept.pid));
        scratch().iter().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
        std::process::exit(128 + signal);
    });
    Ok(())
}

/// Called at the very end: what failed because we are being stopped must not end this process before everything is cleaned up.
pub(crate) fn let_signals_finish() {
    while STOPPING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// The processes that one started itself, in whatever group they are.
pub(crate) fn of(parent: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-e", "-o", "pid=,ppid="]).output();
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let pairs = output.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    pairs.filter(|(_, started_by)| *started_by == parent).map(|(pid, _)| pid).collect()
}

/// SIGKILL to that process alone.
pub(crate) fn kill_one(pid: u32) {
    shell(&format!("kill -KILL {pid}"));
}

/// A folder to be removed as well if we are stopped by a signal.
pub(crate) fn remove_with_us(folder: &Path) {
    scratch().push(folder.to_owned());
}

fn scratch() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    SCRATCH.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn living() -> std::sync::MutexGuard<'static, Vec<Kept>> {
    LIVING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn ask(kept: Kept) {
    match kept.farewell {
        Farewell::Terminate => shell(&format!("kill -TERM -{}", kept.pid)),
        Farewell::Interrupt => shell(&format!("kill -INT {}", kept.pid)),
    };
}

fn kill(pid: u32) {
    shell(&format!("kill -KILL -{pid}"));
}

/// Whether the process exists and is more than an entry nobody has collected.
fn lives(pid: u32) -> bool {
    shell(&format!("kill -0 {pid} && ! ps -o stat= -p {pid} | grep -q Z"))
}

/// The shell's own `kill`: there may be no program of that name. Not every shell takes `--` before a group.
fn shell(script: &str) -> bool {
    let status =
        Command::new("sh").args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn gone_within(child: &mut Child, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};

    use super::*;

    #[test]
    fn what_a_process_started_ends_with_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
        let mut running = Running::start(&mut command, Farewell::Terminate).expect("there is a shell");
        let mut line = String::new();
        let output = running.child.stdout.take().expect("its output is a pipe");
        BufReader::new(output).read_line(&mut line).expect("it says what it started");
        let grandchild = line.trim().parse().expect("a process id");
        assert!(lives(grandchild));
        drop(running);
        assert!((0..1000).any(|_| !lives(grandchild)), "it is still there");
    }
}

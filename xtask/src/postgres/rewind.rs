//! What operators do with a PostgreSQL server to be able to go back to a moment, and how they do.

use std::fs;
use std::time::{Duration, Instant};

use super::{Cluster, Private, STEP_MAX, as_user, logged};

impl Cluster {
    /// From here on everything that is written is kept beside the server.
    pub(crate) fn keep_archive(&mut self) -> Result<(), String> {
        let private = self.own()?;
        let archive = private.folder.join("archive");
        logged::must(as_user("mkdir".as_ref(), private.user).arg(&archive), &private.log.with_extension("steps.log"), STEP_MAX)?;
        let copy = format!("ALTER SYSTEM SET archive_command = 'cp %p {}/%f'", archive.display());
        self.query("ALTER SYSTEM SET archive_mode = on")?;
        self.query(&copy)?;
        let private = self.own()?;
        private.server.stop();
        private.launch()
    }

    /// A copy of all databases, taken while they are used.
    pub(crate) fn base_backup(&mut self) -> Result<(), String> {
        let private = self.own()?;
        let mut backup = as_user(&private.binaries.program("pg_basebackup"), private.user);
        backup.args(["--host", "127.0.0.1", "--port", &private.port.to_string(), "--username", super::SUPERUSER]);
        backup.args(["--checkpoint", "fast", "--wal-method", "none", "--pgdata"]).arg(private.folder.join("base"));
        logged::must(&mut backup, &private.log.with_extension("steps.log"), STEP_MAX).map(drop)
    }

    /// Goes back to a point that was named, from the copy and the archive alone.
    pub(crate) fn rewind(&mut self, point: &str) -> Result<(), String> {
        self.query("SELECT pg_switch_wal()")?;
        let private = self.own()?;
        private.server.stop();
        let (data, base) = (private.folder.join("data"), private.folder.join("base"));
        fs::remove_dir_all(&data).map_err(|error| format!("cannot remove {}: {error}", data.display()))?;
        fs::rename(&base, &data).map_err(|error| format!("cannot rename {}: {error}", base.display()))?;
        let archive = private.folder.join("archive");
        let settings = format!(
            "restore_command = 'cp {}/%f %p'\nrecovery_target_name = '{point}'\nrecovery_target_action = 'promote'\n",
            archive.display()
        );
        // As its owner writes it, so that it can read it.
        let mut write = as_user("sh".as_ref(), private.user);
        write
            .args(["-c", "printf '%s' \"$1\" >> \"$0/postgresql.auto.conf\" && touch \"$0/recovery.signal\""])
            .arg(&data)
            .arg(settings);
        logged::must(&mut write, &private.log.with_extension("steps.log"), STEP_MAX)?;
        private.launch()?;
        let deadline = Instant::now() + STEP_MAX;
        while self.query("SELECT pg_is_in_recovery()")? != "f" {
            if deadline < Instant::now() {
                return Err("PostgreSQL is still recovering".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn own(&mut self) -> Result<&mut Private, String> {
        self.private.as_mut().ok_or_else(|| "only a private PostgreSQL server may be changed".to_owned())
    }
}

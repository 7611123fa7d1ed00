//! A store for the bench alone: made anew, gone at the end.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::database::Database;
use crate::config::{StoreUrl, store_url};

pub(super) enum Fresh {
    Folder(Folder),
    Database(Database),
    Memory,
}

/// A folder that vanishes with its owner.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn make(parent: &Path) -> Result<Self, String> {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = parent.join(format!("caudal-bench-{}-{nanos}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("caudal: {} is left behind: {error}", self.0.display());
        }
    }
}

impl Fresh {
    /// Beside the store named, or in the system's folder for temporary files.
    pub(super) async fn make(store: Option<&str>) -> Result<Self, String> {
        match store.map(store_url).transpose()? {
            None => Folder::make(&std::env::temp_dir()).map(Self::Folder),
            Some(StoreUrl::Sqlite(parent)) => Folder::make(&parent).map(Self::Folder),
            Some(StoreUrl::Postgres(url)) => Database::create(&url).await.map(Self::Database),
            Some(StoreUrl::Memory) => Ok(Self::Memory),
        }
    }

    /// As `caudal serve --store` takes it.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Folder(folder) => format!("sqlite:{}", folder.path().join("store").display()),
            Self::Database(database) => database.url(),
            Self::Memory => "memory:".to_owned(),
        }
    }

    /// Empties it, for another use.
    pub(super) async fn again(&self) -> Result<StoreUrl, String> {
        match self {
            Self::Folder(folder) => std::fs::remove_dir_all(folder.path().join("store")).map_err(|error| error.to_string())?,
            Self::Database(database) => database.recreate().await?,
            Self::Memory => {}
        }
        store_url(&self.url())
    }

    pub(super) fn database(&self) -> Option<&Database> {
        match self {
            Self::Database(database) => Some(database),
            Self::Folder(_) | Self::Memory => None,
        }
    }

    pub(super) async fn remove(self) -> Result<(), String> {
        match self {
            Self::Database(database) => database.drop_it().await,
            Self::Folder(_) | Self::Memory => Ok(()),
        }
    }
}

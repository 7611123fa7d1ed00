//! Documents in the embedded file, part by part: no write holds up a tick for longer than one part takes.

use std::sync::Arc;

use engine::InstanceKey;
use rusqlite::{Connection, OptionalExtension, Row, params};
use store::documents::{Document, Documents, Link, UNFINISHED_KEPT};
use store::{Error, Millis};

use crate::Sqlite;
use crate::failure::Failure;
use crate::statement::{
    COUNT_PURGEABLE_DOCUMENTS, DELETE_DOCUMENT, DELETE_DOCUMENT_LINKS, DELETE_DOCUMENT_PARTS, DOCUMENT, DOCUMENT_LINK,
    DOCUMENT_PART, EXPIRED_DOCUMENTS, INSERT_DOCUMENT, INSERT_DOCUMENT_LINK, INSERT_DOCUMENT_PART, PURGE_DOCUMENT_LINKS,
    PURGE_DOCUMENT_PARTS,
};

#[async_trait::async_trait]
impl Documents for Sqlite {
    async fn put_part(&self, upload: &str, number: u32, bytes: Vec<u8>, now: Millis) -> Result<(), Error> {
        let upload = upload.to_owned();
        let put = move |connection: &Connection| {
            connection.prepare_cached(INSERT_DOCUMENT_PART)?.execute(params![upload, number, now, bytes])?;
            Ok(())
        };
        self.writer.run(put).await
    }

    async fn finish(&self, document: &Document, now: Millis) -> Result<bool, Error> {
        let document = document.clone();
        let finish = move |connection: &Connection| {
            let there = find(connection, &document.tenant, &document.id)?;
            match there {
                Some(there) if there.expires.is_none_or(|expires| now < expires) => return Ok(false),
                Some(there) => remove(connection, &there)?,
                None => {}
            }
            insert(connection, &document)?;
            Ok(true)
        };
        self.writer.run(finish).await
    }

    async fn drop_upload(&self, upload: &str) -> Result<(), Error> {
        let upload = upload.to_owned();
        let drop = move |connection: &Connection| {
            connection.prepare_cached(DELETE_DOCUMENT_PARTS)?.execute([&upload])?;
            Ok(())
        };
        self.writer.run(drop).await
    }

    async fn get(&self, tenant: &str, id: &str, now: Millis) -> Result<Option<Document>, Error> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        let found = self.searches.run(move |connection| find(connection, &tenant, &id)).await?;
        Ok(found.filter(|document| document.expires.is_none_or(|expires| now < expires)))
    }

    async fn part(&self, upload: &str, number: u32) -> Result<Option<Vec<u8>>, Error> {
        let upload = upload.to_owned();
        let read = move |connection: &Connection| {
            let mut select = connection.prepare_cached(DOCUMENT_PART)?;
            Ok(select.query_row(params![upload, number], |row| row.get(0)).optional()?)
        };
        self.searches.run(read).await
    }

    async fn delete(&self, tenant: &str, id: &str, now: Millis) -> Result<bool, Error> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        let delete = move |connection: &Connection| {
            let Some(there) = find(connection, &tenant, &id)? else { return Ok(false) };
            remove(connection, &there)?;
            Ok(there.expires.is_none_or(|expires| now < expires))
        };
        self.writer.run(delete).await
    }

    async fn put_link(&self, link: &Link) -> Result<(), Error> {
        let link = link.clone();
        let put = move |connection: &Connection| {
            let row = params![link.token, link.tenant, link.id, link.expires];
            connection.prepare_cached(INSERT_DOCUMENT_LINK)?.execute(row)?;
            Ok(())
        };
        self.writer.run(put).await
    }

    async fn link(&self, token: &str, now: Millis) -> Result<Option<Link>, Error> {
        let token = token.to_owned();
        let read = move |connection: &Connection| {
            let mut select = connection.prepare_cached(DOCUMENT_LINK)?;
            let link =
                |row: &Row<'_>| Ok(Link { token: row.get(0)?, tenant: row.get(1)?, id: row.get(2)?, expires: row.get(3)? });
            Ok(select.query_row(params![token, now], link).optional()?)
        };
        self.searches.run(read).await
    }

    async fn purge(&self, now: Millis, limit: usize) -> Result<usize, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let purge = move |connection: &Connection| {
            let mut select = connection.prepare_cached(EXPIRED_DOCUMENTS)?;
            let over = select.query_map(params![now, limit], document)?.collect::<Result<Vec<_>, _>>()?;
            for document in &over {
                remove(connection, document)?;
            }
            let links = connection.prepare_cached(PURGE_DOCUMENT_LINKS)?.execute(params![now, limit])?;
            let before = now.saturating_sub(UNFINISHED_KEPT);
            let parts = connection.prepare_cached(PURGE_DOCUMENT_PARTS)?.execute(params![before, limit])?;
            Ok(over.len() + links + parts)
        };
        self.writer.run(purge).await
    }

    async fn count_purgeable(&self, now: Millis, limit: usize) -> Result<usize, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let count = move |connection: &Connection| {
            let mut count = connection.prepare_cached(COUNT_PURGEABLE_DOCUMENTS)?;
            let parts_before = now.saturating_sub(UNFINISHED_KEPT);
            Ok(count.query_row(params![now, parts_before, limit], |row| row.get::<_, i64>(0))? as usize)
        };
        self.searches.run(count).await
    }
}

fn find(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Document>, Failure> {
    Ok(connection.prepare_cached(DOCUMENT)?.query_row([tenant, id], document).optional()?)
}

fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        tenant: row.get(0)?,
        id: row.get(1)?,
        upload: row.get(2)?,
        size: row.get::<_, i64>(3)? as u64,
        hash: row.get(4)?,
        file_name: row.get(5)?,
        content_type: row.get(6)?,
        created: row.get(7)?,
        expires: row.get(8)?,
        process_id: row.get::<_, Option<Arc<str>>>(9)?,
        instance: row.get::<_, Option<i64>>(10)?.map(|key| InstanceKey(key as u64)),
        properties: row.get(11)?,
    })
}

fn insert(connection: &Connection, document: &Document) -> Result<(), Failure> {
    connection.prepare_cached(INSERT_DOCUMENT)?.execute(params![
        document.tenant,
        document.id,
        document.upload,
        document.size as i64,
        document.hash,
        document.file_name,
        document.content_type,
        document.created,
        document.expires,
        document.process_id,
        document.instance.map(|key| key.0 as i64),
        document.properties,
    ])?;
    Ok(())
}

fn remove(connection: &Connection, document: &Document) -> Result<(), Failure> {
    connection.prepare_cached(DELETE_DOCUMENT_PARTS)?.execute([&document.upload])?;
    connection.prepare_cached(DELETE_DOCUMENT_LINKS)?.execute([&document.tenant, &document.id])?;
    connection.prepare_cached(DELETE_DOCUMENT)?.execute([&document.tenant, &document.id])?;
    Ok(())
}

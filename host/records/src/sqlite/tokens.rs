//! Static tokens.

use std::collections::HashSet;
use std::io;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Sqlite, json};
use crate::store::{
    FirstToken, RecordsError, RecordsVersion, TokenRecord, TokenRecords, VaultBinding,
};

pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS tokens (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    vaults TEXT,                    -- JSON list of ids, or the word all; NULL is the default vault
    permissions TEXT,               -- JSON of CallerPermissions; NULL is as the config says
    created INTEGER NOT NULL,
    expires INTEGER,
    last_used INTEGER,
    revoked INTEGER,
    attended INTEGER NOT NULL       -- 1: its client is trusted to ask its user
) STRICT;";

/// The word of a token for all vaults.
const ALL: &str = "all";

const COLUMNS: &str =
    "name, hash, scopes, vaults, permissions, created, expires, last_used, revoked, attended";

impl TokenRecords for Sqlite {
    fn records_version(&self) -> Result<RecordsVersion, RecordsError> {
        let version = self.run("records version", |connection| {
            connection.pragma_query_value(None, "data_version", |row| row.get(0))
        })?;
        Ok(RecordsVersion(version))
    }

    fn any_token(&self) -> Result<bool, RecordsError> {
        self.run("find any token", |connection| any(connection))
    }

    fn insert_token(&self, token: &TokenRecord) -> Result<bool, RecordsError> {
        let inserted = self.run("insert token", |connection| insert(connection, token))?;
        Ok(inserted > 0)
    }

    fn insert_first_token(
        &self,
        token: &TokenRecord,
        publish: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<FirstToken, RecordsError> {
        self.run("insert first token", |connection| {
            // Immediate: from here on no other process writes.
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if any(&transaction)? {
                return Ok(FirstToken::NotFirst);
            }
            if let Err(error) = publish() {
                return Ok(FirstToken::NotPublished(error));
            }
            insert(&transaction, token)?;
            transaction.commit()?;
            Ok(FirstToken::Stored)
        })
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>, RecordsError> {
        self.run("list tokens", |connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM tokens ORDER BY created, name"
            ))?;
            statement.query_map([], record)?.collect()
        })
    }

    fn unrevoked_token(&self, hash: &[u8; 32]) -> Result<Option<TokenRecord>, RecordsError> {
        self.run("find token", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tokens WHERE hash = ?1 AND revoked IS NULL"
            ))?;
            statement.query_row([hash], record).optional()
        })
    }

    fn revoked_tokens(&self) -> Result<HashSet<String>, RecordsError> {
        self.run("list revoked tokens", |connection| {
            let mut statement =
                connection.prepare_cached("SELECT name FROM tokens WHERE revoked IS NOT NULL")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })
    }

    fn revoke_token(&self, name: &str, now: i64) -> Result<bool, RecordsError> {
        let revoked = self.run("revoke token", |connection| {
            connection.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, ?2) WHERE name = ?1",
                params![name, now],
            )
        })?;
        Ok(revoked > 0)
    }

    fn store_token_use(&self, name: &str, now: i64) -> Result<(), RecordsError> {
        self.run("store token use", |connection| {
            connection.execute(
                "UPDATE tokens SET last_used = ?2 WHERE name = ?1",
                params![name, now],
            )
        })?;
        Ok(())
    }
}

fn any(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM tokens)", [], |row| row.get(0))
}

/// Nothing is inserted if the name is taken.
fn insert(connection: &Connection, token: &TokenRecord) -> rusqlite::Result<usize> {
    connection.execute(
        &format!(
            "INSERT INTO tokens ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (name) DO NOTHING"
        ),
        params![
            token.name,
            token.hash,
            token.scopes,
            match &token.vaults {
                VaultBinding::Default => None,
                VaultBinding::All => Some(json(&ALL)),
                VaultBinding::Only(ids) => Some(json(ids)),
            },
            token.permissions.as_ref().map(json),
            token.created,
            token.expires,
            token.last_used,
            token.revoked,
            token.is_attended,
        ],
    )
}

fn record(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    Ok(TokenRecord {
        name: row.get(0)?,
        hash: row.get(1)?,
        scopes: row.get(2)?,
        vaults: vaults(row, 3)?,
        permissions: parsed(row, 4)?,
        created: row.get(5)?,
        expires: row.get(6)?,
        last_used: row.get(7)?,
        revoked: row.get(8)?,
        is_attended: row.get(9)?,
    })
}

/// The vaults in a column.
fn vaults(row: &Row<'_>, column: usize) -> rusqlite::Result<VaultBinding> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Word(String),
        Ids(Vec<String>),
    }
    Ok(match parsed(row, column)? {
        None => VaultBinding::Default,
        Some(Stored::Word(word)) if word == ALL => VaultBinding::All,
        // Unknown words must not become a token that may do more.
        Some(Stored::Word(_)) => VaultBinding::Only(Vec::new()),
        Some(Stored::Ids(ids)) => VaultBinding::Only(ids),
    })
}

/// The JSON of a column. An unreadable restriction is an error: without it the token could do more.
fn parsed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let value = text.map(|text| serde_json::from_str(&text)).transpose();
    value.map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

//! The tables of a store, and how those of older versions become them.

use std::time::Duration;

use rusqlite::Connection;

/// The version that is written.
pub const VERSION: i64 = 3;

/// The tables of that version.
const SCHEMA: &str = "
CREATE TABLE job (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL DEFAULT 'search',
  state TEXT NOT NULL,
  database TEXT NOT NULL,
  options TEXT NOT NULL,
  title TEXT NOT NULL,
  client TEXT NOT NULL,
  queries INTEGER NOT NULL,
  letters INTEGER NOT NULL,
  submitted INTEGER NOT NULL,
  started INTEGER,
  finished INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  hits INTEGER NOT NULL DEFAULT 0,
  with_hits INTEGER NOT NULL DEFAULT 0,
  problem TEXT,
  webhook TEXT,
  webhook_next INTEGER,
  webhook_attempts INTEGER NOT NULL DEFAULT 0,
  webhook_problem TEXT
);
CREATE INDEX job_state ON job (state, number);
CREATE INDEX job_webhook ON job (webhook_next) WHERE webhook_next IS NOT NULL;
CREATE TABLE content (
  id TEXT PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE,
  fasta BLOB NOT NULL,
  metadata BLOB
);
";

/// What a store of each version, from 1 on, lacks of the next.
const CHANGES: [&str; (VERSION - 1) as usize] = [
    "ALTER TABLE job ADD COLUMN kind TEXT NOT NULL DEFAULT 'search';",
    "ALTER TABLE job ADD COLUMN webhook TEXT;
     ALTER TABLE job ADD COLUMN webhook_next INTEGER;
     ALTER TABLE job ADD COLUMN webhook_attempts INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE job ADD COLUMN webhook_problem TEXT;
     CREATE INDEX job_webhook ON job (webhook_next) WHERE webhook_next IS NOT NULL;",
];

/// Settles how a store is written, and makes its tables where it is new; gives its version.
///
/// # Errors
/// The file is no store, or cannot be written.
pub fn prepare(connection: &Connection) -> rusqlite::Result<i64> {
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let version = || connection.pragma_query_value(None, "user_version", |row| row.get(0));
    let change = match version()? {
        0 => SCHEMA.to_string(),
        old @ 1..VERSION => CHANGES[old as usize - 1..].concat(),
        other => return Ok(other),
    };
    connection.execute_batch(&format!(
        "BEGIN; {change} PRAGMA user_version = {VERSION}; COMMIT;"
    ))?;
    version()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::tests::{asked, ids, submit};

    #[test]
    fn stores_of_older_versions_are_read() {
        let newer = [
            "kind TEXT NOT NULL DEFAULT 'search',",
            ",\n  webhook TEXT,\n  webhook_next INTEGER,\n  \
             webhook_attempts INTEGER NOT NULL DEFAULT 0,\n  webhook_problem TEXT",
        ];
        for version in 1..VERSION {
            let folder = tempfile::tempdir().unwrap();
            let lacks = newer[version as usize - 1..].iter();
            let old = lacks.fold(SCHEMA.to_string(), |text, new| text.replace(new, ""));
            let (old, _) = old.split_once("CREATE INDEX job_webhook").unwrap();
            let content = &SCHEMA[SCHEMA.find("CREATE TABLE content").unwrap()..];
            let path = folder.path().join("jobs.sqlite");
            let row = "INSERT INTO job (id, state, database, options, title, client, queries, \
                       letters, submitted) VALUES ('x', 'queued', 'nt', '[]', '', 'a', 1, 4, 0);";
            let connection = Connection::open(&path).unwrap();
            let text = format!("{old} {content} {row} PRAGMA user_version = {version};");
            connection.execute_batch(&text).unwrap();
            drop(connection);
            let store = Store::open(folder.path()).unwrap();
            assert_eq!(ids(&store.waiting_behind(0).unwrap()), ["x"]);
            let id = submit(&store, &asked("a", &[])).unwrap();
            assert_eq!(store.job(&id).unwrap().unwrap().webhook, None);
        }
    }
}

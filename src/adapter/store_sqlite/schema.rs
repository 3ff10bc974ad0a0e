//! The tables, as files of `schema/sqlite/`, and the migrations between versions.
//!
//! A migration is never changed once it was released. Before adding one, ask whether the old
//! program could read what the new one writes. It could not, so it refuses a newer store; the
//! backup made before the migration is the way back.

use rusqlite::{Connection, Result};

/// One migration from a version to the next.
#[derive(Clone, Copy)]
pub(super) struct Migration {
    pub(super) version: u32,
    pub(super) sql: &'static str,
}

/// All migrations, in order.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../../../schema/sqlite/0001_facts_and_state.sql") },
    Migration { version: CHAINED, sql: include_str!("../../../schema/sqlite/0002_hash_chain.sql") },
    Migration { version: 3, sql: include_str!("../../../schema/sqlite/0003_shares.sql") },
    Migration { version: 4, sql: include_str!("../../../schema/sqlite/0004_definitions.sql") },
    Migration { version: SHARED, sql: include_str!("../../../schema/sqlite/0005_share_of_the_cause.sql") },
];

/// Returns the version after all migrations.
pub(super) fn latest(migrations: &[Migration]) -> u32 {
    migrations.last().map_or(0, |migration| migration.version)
}

/// Runs the migrations above a version, in one transaction.
pub(super) fn migrate(connection: &mut Connection, from: u32, migrations: &[Migration]) -> Result<()> {
    let change = connection.transaction()?;
    for migration in migrations.iter().filter(|migration| migration.version > from) {
        change.execute_batch(migration.sql)?;
    }
    change.pragma_update(None, "user_version", latest(migrations))?;
    change.commit()
}

/// Returns the tables and indexes as the file describes them.
pub(super) fn tables(connection: &Connection) -> Result<Vec<(String, Option<String>)>> {
    let mut found = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Returns the tables and indexes that a store of a version has.
pub(super) fn tables_of(version: u32, migrations: &[Migration]) -> Result<Vec<(String, Option<String>)>> {
    // The migrations are run on an empty database: what they create is by definition correct.
    let mut model = Connection::open_in_memory()?;
    let known = migrations.iter().filter(|migration| migration.version <= version).count();
    migrate(&mut model, 0, &migrations[..known])?;
    tables(&model)
}

/// The version from which on facts have hashes.
pub(super) const CHAINED: u32 = 2;
/// The version from which on facts name the session in whose share they count.
pub(super) const SHARED: u32 = 5;
/// "Rvl" and 1, as `application_id` in the file's header: it tells a store from any other database.
pub(super) const APPLICATION: u32 = 0x5276_6c01;

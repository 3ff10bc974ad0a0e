//! A log that another program has changed while no daemon ran: the doctor names the fact, an export warns, and nothing is
//! imported into it.

use rusqlite::Connection;

use crate::harness::daemon::{Daemon, Ended, Home};

/// A store with some facts, whose daemon has stopped.
fn sample(name: &str) -> Home {
    let home = Home::new(name);
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    for number in 0..20 {
        let body = format!(
            "[(psi.scheduler/create {{:kind :message :message \"m\" :session-id \"main\" :durability :durable \
             :label \"{number}\" :delay-ms 3600000}})]"
        );
        assert!(daemon.eql(&body).keyword("reveille.error/why").is_none());
    }
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    home
}

/// Runs one statement as `sqlite3` would; `:middle` and `:last` stand for cursors. Returns the cursor behind the middle one.
fn change(home: &Home, sql: &str) -> (i64, i64, i64) {
    let connection = Connection::open(home.store("store.db")).expect("nobody has it");
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a cursor");
    let middle = one("SELECT cursor FROM fact ORDER BY cursor LIMIT 1 OFFSET 10");
    let next = one("SELECT cursor FROM fact ORDER BY cursor LIMIT 1 OFFSET 11");
    let last = one("SELECT max(cursor) FROM fact");
    let sql = sql.replace(":middle", &middle.to_string()).replace(":last", &last.to_string());
    assert_ne!(connection.execute(&sql, []).expect("it is SQL"), 0, "{sql}");
    (middle, next, last)
}

fn run(home: &Home, arguments: &[&str]) -> Ended {
    home.run(&mut home.command(arguments))
}

/// What the doctor says of a store that is not sound.
fn doctor(home: &Home) -> String {
    let ended = run(home, &["doctor", "--data-dir", "state"]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    assert!(ended.out.ends_with("not sound: restore a backup\n"), "{}", ended.out);
    ended.out
}

#[test]
fn the_doctor_names_the_fact_that_another_program_changed() {
    let home = sample("altered-text");
    let (middle, ..) = change(
        &home,
        "UPDATE fact SET payload = CAST(replace(payload, 'm', 'n') AS BLOB) WHERE cursor = :middle",
    );
    let said = doctor(&home);
    assert!(said.contains(&format!("fact {middle} is not what was written")), "{said}");

    let home = sample("altered-middle");
    let (_, next, _) = change(&home, "DELETE FROM fact WHERE cursor = :middle");
    let said = doctor(&home);
    let broken = format!("fact {next} does not follow from the one before it");
    assert!(said.contains(&broken), "{said}");
    let exported = run(&home, &["export", "--data-dir", "state", "out"]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    assert!(exported.err.contains(&broken), "{exported:?}");
    let imported = run(&home, &["import", "--data-dir", "state", "out"]);
    assert_eq!(imported.code, Some(1), "{imported:?}");
    assert!(imported.err.contains("nothing was imported") && imported.err.contains(&broken), "{imported:?}");

    let home = sample("altered-newest");
    let (.., last) = change(&home, "DELETE FROM fact WHERE cursor = :last");
    let said = doctor(&home);
    assert!(said.contains(&format!("fact {last} was acknowledged")), "{said}");
}

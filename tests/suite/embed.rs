//! The facade for embedders: what it accepts, what it refuses, and what it leaves unchanged.

use std::time::{Duration, SystemTime};

use reveille::calendar::parse_cron;
use reveille::domain::{Code, Trigger, Zone};
use reveille::prelude::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn start() -> Reveille {
    Reveille::start().expect("the system has a thread")
}

#[test]
fn a_schedule_is_created_changed_and_cancelled() {
    let reveille = start();
    let id =
        reveille.create("every day at 9").zone("Europe/Berlin").label("morning").message("Good morning.");
    let id = id.expect("a phrase");
    let [shown] = &reveille.schedules()[..] else { panic!("one schedule") };
    assert_eq!((&shown.id, shown.session.as_str(), &*shown.text), (&id, "main", "Good morning."));
    assert_eq!((shown.status, shown.label.as_deref(), shown.revision), (Status::Pending, Some("morning"), 1));

    reveille.pause(&id, Some("holidays")).expect("it runs");
    assert_eq!(reveille.schedule(&id).map(|it| (it.status, it.next)), Some((Status::Paused, None)));
    reveille.resume(&id).expect("it is paused");
    reveille.reschedule(&id, HOUR).text("Later.").if_revision(1).apply().expect_err("another revision");
    let revision = reveille.schedule(&id).expect("it is there").revision;
    reveille.reschedule(&id, HOUR).text("Later.").if_revision(revision).apply().expect("it is this revision");
    assert_eq!(&*reveille.schedule(&id).expect("it is there").text, "Later.");

    reveille.cancel(&id).expect("it waits");
    assert!(reveille.schedules().is_empty());
    assert_eq!(reveille.cancel(&id).expect_err("it has ended").code(), Code::Conflict);
    assert_eq!(reveille.pause(&id, None).expect_err("it has ended").code(), Code::Conflict);
    assert_eq!(reveille.resume(&id).expect_err("it has ended").code(), Code::Conflict);
}

#[test]
fn every_typed_time_is_taken_as_it_is() {
    let reveille = start();
    // A hundred years on: the facade has the system's clock, and a test reads none.
    let later = SystemTime::UNIX_EPOCH + 876_000 * HOUR;
    let instant = Moment::try_from(later).expect("within the calendar");
    let trigger = Trigger::At(instant);
    let due: [Due; 5] = [HOUR.into(), Span::from(HOUR).into(), instant.into(), trigger.into(), later.into()];
    for due in due {
        reveille.create(due.clone()).message("x").unwrap_or_else(|error| panic!("{due:?}: {error}"));
        let refused = reveille.create(due.clone()).zone("UTC").message("x");
        assert!(matches!(refused, Err(Error::ZoneWithoutPhrase)), "{due:?}: {refused:?}");
    }
    assert_eq!(reveille.schedules().len(), 5);
}

#[test]
fn what_is_refused_changes_nothing() {
    let reveille = start();
    let phrase = reveille.create("every blue moon").message("x").expect_err("no phrase");
    assert!(matches!(&phrase, Error::Phrase(_)) && phrase.hint().is_some(), "{phrase}");
    // The engine would read an unknown zone as the machine's own.
    let zone = reveille.create("every day at 9").zone("Europe/Berlni").message("x").expect_err("no zone");
    assert!(matches!(&zone, Error::Zone(_)), "{zone}");
    assert_eq!(zone.hint().as_deref(), Some("did you mean Europe/Berlin?"));
    let zone = reveille.create("every day at 9 PST").message("x").expect_err("no zone");
    assert!(zone.hint().is_some_and(|hint| hint.starts_with("say America/Los_Angeles")), "{zone}");
    let unknown = Zone::parse("Mars/Phobos").expect("a name");
    let cron = Trigger::Cron(parse_cron("0 9 * * *").expect("cron").into(), unknown.into());
    let zone = reveille.create(cron).message("x").expect_err("the engine would read it as local time");
    assert!(matches!(&zone, Error::Zone(_)), "{zone}");
    let durable = reveille.create(HOUR).durable().message("x").expect_err("there is no store");
    assert!(matches!(durable, Error::Refused(_)), "{durable}");
    let id = reveille.session(" ").expect_err("a blank");
    assert!(matches!(&id, Error::Id(_)), "{id}");
    assert!(reveille.schedules().is_empty());
}

#[test]
fn a_time_that_names_no_zone_is_in_that_of_the_scheduler() {
    let reveille = Reveille::builder().zone("Asia/Tokyo").start().expect("a zone");
    let id = reveille.create("every day at 9").message("x").expect("a phrase");
    assert_eq!(reveille.schedule(&id).expect("it is there").when, "every day at 09:00 Asia/Tokyo");
    let id = reveille.create("every day at 9").zone("Europe/Berlin").message("x").expect("a phrase");
    assert_eq!(reveille.schedule(&id).expect("it is there").when, "every day at 09:00 Europe/Berlin");
    let refused = Reveille::builder().zone("Tokio").start();
    assert!(refused.is_err_and(|error| error.hint().is_some()), "Asia/Tokyo is meant");
}

#[test]
fn a_period_never_fires_at_its_creation() {
    let reveille = start();
    let id = reveille.create("every 6 hours").message("x").expect("a phrase");
    let made = reveille.schedule(&id).expect("it is there");
    let next = made.next.expect("a next slot");
    assert!(reveille.handle().now().wall.since(next) == Span::ZERO, "{next} is ahead");
}

#[test]
fn a_key_makes_a_repeat_harmless() {
    let reveille = start();
    let create =
        || reveille.create(HOUR).idempotency_key("build").message("x").expect("created, or there already");
    assert_eq!(create(), create());
    assert_eq!(reveille.schedules().len(), 1);
}

#[test]
fn the_graph_answers_and_names_what_is_wrong() {
    let reveille = start();
    reveille.create(HOUR).message("x").expect("created");
    let answer = reveille.query("[{:psi.scheduler/schedules [:psi.scheduler/status]}]").expect("a query");
    assert_eq!(
        answer,
        "{:psi.scheduler/schedules [{:psi.scheduler/status :pending}]}".parse::<Value>().expect("EDN")
    );
    let error = reveille.query("[:psi.scheduler/shcedules]").expect_err("a misspelt attribute");
    assert!(error.to_string().contains("psi.scheduler/schedules"), "{error}");
    let error = reveille.query("[").expect_err("no EDN");
    assert!(matches!(error, Error::Query { .. }), "{error}");
}

#[test]
fn receivers_see_the_end() {
    let mut reveille = start();
    let deliveries = reveille.deliveries();
    reveille.shut_down();
    assert_eq!(deliveries.recv(), Err(Ended));
}

//! Fuzzes phrases such as "tomorrow at 7". The first byte chooses zone and time. A phrase that is
//! understood lies in the future, prints and is understood equally again; any other gets a hint.

use reveille::calendar::{PhraseContext, Slots, from_edn, print, print_duration, to_edn, understand};
use reveille::domain::{Moment, Span, Trigger, When, Zone};

use super::scene::{ZONES, moment};

/// Zones and times: an ordinary day, within an overlap, before a gap, at both ends of the calendar.
const SAID: [(&str, &str); 8] = [
    ("Europe/Berlin", "2026-04-22T13:00:00Z"),
    ("America/New_York", "2026-11-01T05:30:00.000000001Z"),
    ("America/New_York", "2026-03-08T06:59:59.999999999Z"),
    ("UTC", "1970-01-01T00:00:00Z"),
    ("local", "9999-12-31T23:59:59Z"),
    ("Pacific/Apia", "2011-12-30T09:59:59Z"),
    ("+05:45", "2024-02-29T00:00:00Z"),
    ("Mars/Olympus", "2026-12-31T23:00:00Z"),
];

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (zone, now) = SAID[usize::from(*choice) % SAID.len()];
    let asked = PhraseContext { now: moment(now), zone: Zone::parse(zone).expect("a zone"), zones: &ZONES };
    let understood = match understand(text, &asked) {
        Ok(understood) => understood,
        Err(error) => {
            return assert!(
                !error.code().is_empty() && !error.hint().is_empty() && !error.to_string().is_empty()
            );
        }
    };
    assert!(!understood.words.is_empty() && understood.next.len() <= 3, "{understood:?}");
    assert!(understood.next.windows(2).all(|pair| pair[0] < pair[1]), "{understood:?}");
    // "now" is due at once; everything else must lie in the future.
    let is_now = understood.meant == When::After(Span::ZERO);
    assert!(is_now || understood.next.iter().all(|next| *next > asked.now), "{understood:?}");
    again(&understood.meant, &asked);
}

/// Checks that the printed form is understood as the same time.
fn again(meant: &When, asked: &PhraseContext<'_>) {
    let printed = match meant {
        // An empty duration has no printed form.
        When::After(Span::ZERO) => "now".to_owned(),
        When::After(span) => print_duration(*span),
        When::At(moment) => moment.to_string(),
        When::Each(_) => return,
        When::By(trigger) => {
            recurring(trigger, asked.now);
            print(trigger)
        }
    };
    assert_eq!(understand(&printed, asked).map(|again| again.meant).as_ref(), Ok(meant), "{printed}");
}

fn recurring(trigger: &Trigger, now: Moment) {
    assert_eq!(from_edn(&to_edn(trigger)).as_ref(), Ok(trigger));
    let slots = Slots::new(trigger, &ZONES);
    let upcoming = slots.upcoming(now, 20);
    assert!(upcoming.windows(2).all(|pair| pair[0] < pair[1]), "{upcoming:?}");
    if let Some(last) = upcoming.last() {
        assert_eq!(slots.latest_in(now, *last), Some(*last), "backwards");
        assert_eq!(slots.between(now, *last, 20).slots, upcoming, "as a stretch");
    }
}

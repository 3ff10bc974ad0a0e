//! Reads `[primitives]` of the configuration file: which families of tools exist that do not by themselves.
//!
//! Invariant: everything is off unless the file says so, and what does not go together prevents the start.

use serde::Deserialize;

use crate::app::fault::AppFault;
use crate::domain::Primitives;

/// The section as it is written. Every key is optional.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(in crate::app) struct PrimitivesConfig {
    app: Option<String>,
    watchers: bool,
    scheduler: bool,
    memory: bool,
    wakes_per_hour: Option<u64>,
}

impl PrimitivesConfig {
    /// Checks the section.
    ///
    /// # Errors
    /// [`AppFault::Usage`] with the keys that it is about.
    pub(in crate::app) fn checked(self) -> Result<Primitives, AppFault> {
        let plain = Primitives::default();
        let PrimitivesConfig { app, watchers, scheduler, memory, wakes_per_hour } = self;
        let app: Box<str> = app.map_or(plain.app, Into::into);
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if !(1..=APP_BYTES).contains(&app.len()) || !app.bytes().all(is_part) {
            let message =
                format!("primitives: app is of 1 to {APP_BYTES} letters, digits, hyphens and underscores");
            return Err(AppFault::usage(message));
        }
        let wakes_per_hour = wakes_per_hour.unwrap_or(plain.wakes_per_hour);
        let primitives = Primitives { app, watchers, scheduler, memory, wakes_per_hour };
        primitives.check().map_err(|fault| AppFault::usage(fault.to_string()))?;
        Ok(primitives)
    }
}

/// Room for the name of a job behind it in an id.
const APP_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Primitives, String> {
        let written: PrimitivesConfig = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        written.checked().map_err(|fault| fault.to_string())
    }

    #[test]
    fn everything_is_off_unless_it_is_switched_on() {
        assert_eq!(read(""), Ok(Primitives::default()));
        let all = "app = \"ci\"\nwatchers = true\nscheduler = true\nmemory = true\nwakes-per-hour = 0\n";
        let expected = Primitives { app: "ci".into(), wakes_per_hour: 0, ..Primitives::all() };
        assert_eq!(read(all), Ok(expected));
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        let fault = read("scheduler = true").expect_err("watchers are off");
        assert!(fault.contains("scheduler = true") && fault.contains("watchers = true"), "{fault}");
        for app in ["", "a b", &"a".repeat(33)] {
            assert!(
                read(&format!("app = {app:?}")).is_err_and(|fault| fault.contains("app is of")),
                "{app:?}"
            );
        }
        assert!(read("watcher = true").is_err_and(|fault| fault.contains("unknown field")));
    }
}

//! Serializes instants as ISO 8601 text in JSON.

/// Instants as ISO 8601 text.
pub(super) mod iso {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::super::moment::Moment;

    pub(in super::super) fn serialize<S: Serializer>(
        moment: &Moment,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(moment)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Moment, D::Error> {
        let text = String::deserialize(deserializer)?;
        Moment::parse(&text).map_err(|error| D::Error::custom(format_args!("{text}: {error}")))
    }
}

/// Optional instants as ISO 8601 text.
pub(super) mod iso_option {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::super::moment::Moment;

    pub(in super::super) fn serialize<S: Serializer>(
        moment: &Option<Moment>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match moment {
            Some(moment) => serializer.collect_str(moment),
            None => serializer.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Moment>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let moment = Moment::parse(&text);
        moment.map(Some).map_err(|error| D::Error::custom(format_args!("{text}: {error}")))
    }
}

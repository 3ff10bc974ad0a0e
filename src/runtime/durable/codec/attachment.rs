//! The codec of attachments: the files that go with notices and messages.

use super::FactError;
use super::form::Form;
use super::parts::{own_text, text};
use super::printed::Printed;
use crate::domain::Attachment;

pub(super) fn of_file(file: &Attachment) -> Printed {
    Printed::new().with("path", &*file.path).with("name", file.name.as_deref())
}

pub(super) fn file(form: &Form<'_>) -> Result<Attachment, FactError> {
    Ok(Attachment { path: text(form, "path")?.into(), name: own_text(form, "name")? })
}

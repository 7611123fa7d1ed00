//! Forms: their versions. What is in one is between those who drew it and those who show it; here it is a JSON object with an id.

use std::sync::Arc;

use engine::FormKey;
use feel::Value;
use store::log::{Answer, DeployedForm};
use store::row;

use super::{File, Partition, no_resource};
use crate::partition::tick::Tick;
use crate::partition::unit::Stop;

/// As much of a form as deploying it needs to know.
pub(crate) struct Form {
    pub(crate) id: Arc<str>,
    version_tag: Option<Arc<str>>,
}

pub(crate) fn read(content: &[u8]) -> Result<Form, String> {
    let text = std::str::from_utf8(content).map_err(|error| format!("a form is JSON in UTF-8, and this is not: {error}"))?;
    let value = Value::from_json(text).map_err(|error| format!("a form is JSON, and this is not: {error}"))?;
    let entries = value.as_context().ok_or("a form is a JSON object, and this is none")?.entries();
    let text = |name: &str| match entries.iter().find(|(key, _)| &**key == name) {
        Some((_, Value::String(text))) if !text.trim().is_empty() => Ok(Some(text.clone())),
        Some((_, Value::Null | Value::String(_))) | None => Ok(None),
        Some(_) => Err(format!("the {name} of a form must be a string")),
    };
    let id = text("id")?.ok_or("a form needs an id, and this has none")?;
    Ok(Form { id, version_tag: text("versionTag")? })
}

impl Partition {
    fn latest_form(&self, id: &Arc<str>, tenant: &Arc<str>) -> Result<Option<&row::Form>, Stop> {
        let versions = self.forms_named(&(id.clone(), tenant.clone()))?;
        Ok(versions.iter().rfind(|form| !form.deleted))
    }

    pub(super) fn is_unchanged_form(&self, file: &File, form: &Form, tenant: &Arc<str>) -> Result<bool, Stop> {
        Ok(self.latest_form(&form.id, tenant)?.is_some_and(|latest| latest.checksum == file.checksum))
    }

    pub(super) fn form_as_deployed(&self, form: &Form, tenant: &Arc<str>) -> Result<Option<DeployedForm>, Stop> {
        Ok(self.latest_form(&form.id, tenant)?.map(deployed))
    }

    pub(super) fn write_form(
        &mut self,
        tick: &mut Tick,
        file: &File,
        form: Form,
        tenant: &Arc<str>,
    ) -> Result<DeployedForm, Stop> {
        let name = (form.id.clone(), tenant.clone());
        let mut versions = self.forms_named(&name)?.to_vec();
        let row = row::Form {
            key: FormKey(self.keys.take()),
            id: form.id,
            version: versions.last().map_or(0, |last| last.version) + 1,
            version_tag: form.version_tag,
            tenant: tenant.clone(),
            resource: file.resource,
            resource_name: file.name.clone(),
            deployment: file.deployment,
            checksum: file.checksum.clone(),
            deleted: false,
        };
        let deployed = deployed(&row);
        versions.push(row.clone());
        self.catalogue.forms.put(name, versions, tick.number);
        tick.unit.changes.forms_new.push(row);
        Ok(deployed)
    }

    /// The version before is the latest again. Tasks that have the form keep it.
    pub(super) fn delete_form(&mut self, tick: &mut Tick, form: &row::Form) -> Result<Answer, Stop> {
        let name = (form.id.clone(), form.tenant.clone());
        if self.forms_named(&name)?.iter().any(|known| known.key == form.key && known.deleted) {
            return Err(no_resource(form.key.0));
        }
        self.catalogue.forms.change(&name, tick.number, |versions| {
            versions.iter_mut().filter(|known| known.key == form.key).for_each(|known| known.deleted = true);
        });
        tick.unit.changes.forms_deleted.push(form.key);
        Ok(Answer::ResourceDeleted { key: form.key.0 })
    }
}

fn deployed(row: &row::Form) -> DeployedForm {
    DeployedForm { key: row.key, id: row.id.clone(), version: row.version, resource_name: row.resource_name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_a_json_object_with_an_id() {
        let form = read(br#"{"components": [], "id": "ask", "versionTag": "v2"}"#).unwrap();
        assert_eq!((&*form.id, form.version_tag.as_deref()), ("ask", Some("v2")));
        assert_eq!(read(br#"{"id": "ask", "versionTag": null}"#).unwrap().version_tag, None);
        for (bad, why) in [
            (&b"{oops"[..], "is JSON"),
            (b"\xff", "UTF-8"),
            (b"[]", "JSON object"),
            (b"{}", "needs an id"),
            (br#"{"id": " "}"#, "needs an id"),
            (br#"{"id": 5}"#, "must be a string"),
        ] {
            let problem = read(bad).err().unwrap();
            assert!(problem.contains(why), "{problem}");
        }
    }
}

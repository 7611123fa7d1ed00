//! What a tick needs that is not in memory: all of it in one round trip, from one snapshot.

use std::collections::HashMap;

use engine::{DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, PartitionId, VariableKey};
use model::ElementIx;
use store::row::{Availability, Element, ElementState, Idempotent, Incident, Instance, InstanceState, Job, JobState, Variable};
use store::{Error, Loaded, LoadedInstance, Millis, Wanted, format, words};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;
use crate::session::Isolation;

/// Each begins with the same question: which running instances are wanted.
const OF_INSTANCES: [&str; 5] = [
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_instances.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_elements.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_variables.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_jobs.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_incidents.sql")),
];

impl Postgres {
    pub(crate) async fn load_wanted(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let names_instances =
            !(wanted.instances.is_empty() && wanted.jobs.is_empty() && wanted.elements.is_empty() && wanted.incidents.is_empty());
        let mut calls = Vec::with_capacity(6);
        if names_instances {
            calls.extend(OF_INSTANCES.map(|sql| of_instances(sql, partition, wanted)));
        }
        if !wanted.idempotent.is_empty() {
            calls.push(first_answers(partition, wanted, now));
        }
        if calls.is_empty() {
            return Ok(Loaded::default());
        }
        let mut answers = self.owner.take().await?.transaction(Isolation::Snapshot, &calls).await?;
        let idempotent = match wanted.idempotent.is_empty() {
            true => Vec::new(),
            false => answers.pop().unwrap_or_default(),
        };
        Ok(Loaded {
            instances: assemble(&answers)?,
            idempotent: idempotent.iter().map(idempotent_row).collect::<Result<_, _>>()?,
        })
    }
}

fn of_instances<'a>(sql: &'static str, partition: PartitionId, wanted: &'a Wanted) -> Call<'a> {
    Call::new(sql)
        .int(partition.0.into())
        .keys(wanted.instances.iter().map(|key| key.0))
        .keys(wanted.jobs.iter().map(|key| key.0))
        .keys(wanted.elements.iter().map(|key| key.0))
        .keys(wanted.incidents.iter().map(|key| key.0))
}

fn first_answers(partition: PartitionId, wanted: &Wanted, now: Millis) -> Call<'_> {
    Call::new(include_str!("../sql/load_idempotent.sql"))
        .int(partition.0.into())
        .texts(wanted.idempotent.iter().map(|(tenant, _)| &**tenant))
        .texts(wanted.idempotent.iter().map(|(_, key)| &**key))
        .int(now)
}

/// Rows come by key, so whatever is pushed to an instance is in order.
fn assemble(answers: &[Vec<Row>]) -> Result<Vec<LoadedInstance>, Error> {
    let [instances, elements, variables, jobs, incidents] = answers else { return Ok(Vec::new()) };
    let mut loaded = Vec::with_capacity(instances.len());
    let mut places = HashMap::with_capacity(instances.len());
    for row in instances {
        let instance = instance(row)?;
        places.insert(instance.key, loaded.len());
        loaded.push(LoadedInstance {
            instance,
            elements: Vec::new(),
            variables: Vec::new(),
            jobs: Vec::new(),
            incidents: Vec::new(),
        });
    }
    let place = |key: InstanceKey| {
        places.get(&key).copied().ok_or_else(|| Error::corrupt(format!("rows of instance {key} without the instance")))
    };
    for row in elements {
        let element = element(row)?;
        loaded[place(element.instance)?].elements.push(element);
    }
    for row in variables {
        let variable = variable(row)?;
        loaded[place(variable.instance)?].variables.push(variable);
    }
    for row in jobs {
        let job = job(row)?;
        loaded[place(job.instance)?].jobs.push(job);
    }
    for row in incidents {
        let incident = incident(row)?;
        loaded[place(incident.instance)?].incidents.push(incident);
    }
    Ok(loaded)
}

fn instance(row: &Row) -> Result<Instance, Error> {
    let mut row = Reading::of(row);
    Ok(Instance {
        key: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        state: InstanceState::from_word(row.get()?)?,
        phase: words::phase_from_number(row.get::<i16>()?.into())?,
        started: row.get()?,
        ended: row.get()?,
        parent: row.key_maybe()?.map(InstanceKey).zip(row.key_maybe()?.map(ElementKey)),
        root: InstanceKey(row.key()?),
        tags: words::tags_from_text(row.get()?).into_iter().map(Into::into).collect(),
        business_id: row.text_maybe()?,
        tokens: format::decode_tokens(row.get()?)?,
        incidents: row.get::<i32>()? as u32,
    })
}

fn element(row: &Row) -> Result<Element, Error> {
    let mut row = Reading::of(row);
    Ok(Element {
        key: ElementKey(row.key()?),
        instance: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        element: ElementIx(row.get::<i32>()? as u32),
        scope: ElementKey(row.key()?),
        state: ElementState::from_stored(row.get()?, row.get::<i16>()?.into())?,
        started: row.get()?,
        ended: row.get()?,
        incident: row.key_maybe()?.map(IncidentKey),
    })
}

fn variable(row: &Row) -> Result<Variable, Error> {
    let mut row = Reading::of(row);
    Ok(Variable {
        key: VariableKey(row.key()?),
        instance: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        scope: ElementKey(row.key()?),
        name: row.text()?,
        value: row.text()?,
    })
}

fn job(row: &Row) -> Result<Job, Error> {
    let mut row = Reading::of(row);
    Ok(Job {
        key: JobKey(row.key()?),
        instance: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        element: ElementIx(row.get::<i32>()? as u32),
        element_instance: ElementKey(row.key()?),
        job_type: row.text()?,
        tenant: row.text()?,
        state: JobState::from_word(row.get()?)?,
        availability: Availability::from_stored(row.get()?, row.get()?)?,
        retries: row.get()?,
        worker: row.text()?,
        deadline: row.get()?,
        error_code: row.text()?,
        error_message: row.text()?,
        failed_with_retries_left: row.get()?,
        created: row.get()?,
        updated: row.get()?,
        ended: row.get()?,
    })
}

fn incident(row: &Row) -> Result<Incident, Error> {
    let mut row = Reading::of(row);
    Ok(Incident {
        key: IncidentKey(row.key()?),
        instance: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        element: ElementIx(row.get::<i32>()? as u32),
        element_instance: ElementKey(row.key()?),
        job: row.key_maybe()?.map(JobKey),
        kind: words::incident_kind_from_word(row.get()?)?,
        message: row.text()?,
        created: row.get()?,
        resolved: row.get()?,
    })
}

fn idempotent_row(row: &Row) -> Result<Idempotent, Error> {
    let mut row = Reading::of(row);
    Ok(Idempotent {
        tenant: row.text()?,
        key: row.text()?,
        fingerprint: row.key()?,
        position: row.key()?,
        answer: row.get()?,
        expires: row.get()?,
    })
}

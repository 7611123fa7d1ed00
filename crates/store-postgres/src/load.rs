//! What a tick needs that is not in memory: all of it in one round trip, from one snapshot.
//!
//! Only the key can serve, whatever the planner believes (see `commit`, ADR 11): every look-up is a LATERAL sub-select that stays one
//! (OFFSET 0), so that its keys are given and nothing can be joined the other way round, and its condition fits one index alone
//! (migration 3). What else there is to ask is asked of the rows found.

use std::collections::BTreeMap;

use engine::{
    CompensationKey, DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, PartitionId, Token, VariableKey, Wait, WaitKey,
    WaitKind,
};
use model::{ElementIx, FlowIx};
use store::row::{
    Availability, Compensation, Element, ElementState, Execution, Idempotent, Incident, Instance, InstanceState, Job, JobKind,
    JobOrigin, JobState, Tokens, Unique, UniqueHolder, Variable,
};
use store::{Broken, Error, Loaded, LoadedInstance, Millis, Wanted, format, words};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, cell};
use crate::session::Isolation;
use crate::waits;

/// Each begins with the same question: which running instances are wanted. Rows of what belongs to
/// one begin with a key and the instance.
const OF_INSTANCES: [&str; 6] = [
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_instances.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_elements.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_variables.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_tokens.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_waits.sql")),
    concat!(include_str!("../sql/load_wanted.sql"), include_str!("../sql/load_incidents.sql")),
];

/// Where `load_waits.sql` has what is left of a turn, and what a row is.
const STEP: usize = 21;
const WHAT: usize = 22;

impl Postgres {
    pub(crate) async fn load_wanted(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let of_instances = instances(partition, wanted);
        let (elements, incidents) = (wanted.elements.iter().map(|key| key.0), wanted.incidents.iter().map(|key| key.0));
        let jobs = by_keys(include_str!("../sql/load_jobs.sql"), partition, wanted.jobs.iter().map(|key| key.0));
        let elements = by_keys(include_str!("../sql/load_instances_of_elements.sql"), partition, elements);
        let incidents = by_keys(include_str!("../sql/load_instances_of_incidents.sql"), partition, incidents);
        // Nothing is sent for what nobody wants, and nothing comes back for it.
        let mut waits = waits::Asked::of(partition, wanted, now);
        let of_waits = std::mem::take(&mut waits.calls);
        let (first_answers, unique) = (first_answers(partition, wanted), unique(partition, wanted));
        let parts = [of_instances, jobs, elements, incidents, first_answers, of_waits, unique];
        let counts = parts.each_ref().map(Vec::len);
        let calls: Vec<Call<'_>> = parts.into_iter().flatten().collect();
        if calls.is_empty() {
            return Ok(Loaded::default());
        }
        let answers = self.owner.take().await?.transaction(Isolation::Snapshot, &calls).await?;
        let mut answers = answers.into_iter();
        let [of_instances, jobs, elements, incidents, first_answers, of_waits, unique] =
            counts.map(|count| answers.by_ref().take(count).collect::<Vec<_>>());
        let mut loaded = Loaded::default();
        assemble(&of_instances, &mut loaded)?;
        read_jobs(jobs.iter().flatten(), &mut loaded)?;
        loaded.elements = belonging(elements.iter().flatten(), ElementKey)?;
        loaded.incidents = belonging(incidents.iter().flatten(), IncidentKey)?;
        let first_answers = first_answers.iter().flatten().map(idempotent_row);
        loaded.idempotent = first_answers.collect::<Result<_, _>>()?;
        loaded.idempotent.retain(|row| now < row.expires);
        waits.read(&of_waits, &mut loaded)?;
        loaded.unique = unique.iter().flatten().map(unique_holder).collect::<Result<_, _>>()?;
        Ok(loaded)
    }
}

fn instances(partition: PartitionId, wanted: &Wanted) -> Vec<Call<'_>> {
    let Wanted { instances, instances_of_jobs, elements, incidents, .. } = wanted;
    if instances.is_empty() && instances_of_jobs.is_empty() && elements.is_empty() && incidents.is_empty() {
        return Vec::new();
    }
    let of_instances = |sql| {
        Call::new(sql)
            .int(partition.0.into())
            .keys(instances.iter().map(|key| key.0))
            .keys(instances_of_jobs.iter().map(|key| key.0))
            .keys(elements.iter().map(|key| key.0))
            .keys(incidents.iter().map(|key| key.0))
    };
    OF_INSTANCES.map(of_instances).into()
}

pub(crate) fn by_keys(sql: &'static str, partition: PartitionId, keys: impl ExactSizeIterator<Item = u64>) -> Vec<Call<'static>> {
    match keys.len() {
        0 => Vec::new(),
        _ => vec![Call::new(sql).int(partition.0.into()).keys(keys)],
    }
}

fn first_answers(partition: PartitionId, wanted: &Wanted) -> Vec<Call<'_>> {
    if wanted.idempotent.is_empty() {
        return Vec::new();
    }
    let call = Call::new(include_str!("../sql/load_idempotent.sql"))
        .int(partition.0.into())
        .texts(wanted.idempotent.iter().map(|(tenant, _)| &**tenant))
        .texts(wanted.idempotent.iter().map(|(_, key)| &**key));
    vec![call]
}

fn unique(partition: PartitionId, wanted: &Wanted) -> Vec<Call<'_>> {
    if wanted.unique.is_empty() {
        return Vec::new();
    }
    let call = Call::new(include_str!("../sql/load_unique.sql"))
        .int(partition.0.into())
        .texts(wanted.unique.iter().map(|(tenant, _, _)| &**tenant))
        .texts(wanted.unique.iter().map(|(_, action, _)| &**action))
        .texts(wanted.unique.iter().map(|(_, _, key)| &**key));
    vec![call]
}

/// Rows come by key, so whatever is pushed to an instance is in order.
fn assemble(answers: &[Vec<Row>], loaded: &mut Loaded) -> Result<(), Error> {
    let [instances, elements, variables, tokens, waits, incidents] = answers else { return Ok(()) };
    let mut found = Found::default();
    for row in instances {
        found.begin(row)?;
    }
    found.add("elements", elements, element, |of, element| of.elements.push(element))?;
    found.add("variables", variables, variable, |of, variable| of.variables.push(variable))?;
    found.add("tokens", tokens, one_of_tokens, |of, tokens| of.tokens.push(tokens))?;
    for row in waits {
        found.add_wait(row)?;
    }
    found.add("incidents", incidents, incident, |of, incident| of.incidents.push(incident))?;
    loaded.broken.extend(found.broken.into_values());
    loaded.instances.extend(found.whole.into_values());
    Ok(())
}

/// Instances as they are put together, by key. One of whose rows cannot be read is broken; the others are none the worse for it.
#[derive(Default)]
struct Found {
    whole: BTreeMap<InstanceKey, LoadedInstance>,
    broken: BTreeMap<InstanceKey, Broken>,
}

impl Found {
    fn begin(&mut self, row: &Row) -> Result<(), Error> {
        let key = InstanceKey(cell::<i64>(row, 0)? as u64);
        match instance(row) {
            Ok(instance) => {
                let (elements, variables, tokens, incidents) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
                let (waits, timers, subscriptions, compensations) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
                let one = LoadedInstance {
                    instance,
                    elements,
                    variables,
                    tokens,
                    waits,
                    timers,
                    subscriptions,
                    incidents,
                    compensations,
                };
                self.whole.insert(key, one);
            }
            Err(error) => self.give_up(key, broken("instances", row, key.0, error)?),
        }
        Ok(())
    }

    fn add<T>(
        &mut self,
        table: &str,
        rows: &[Row],
        read: fn(&Row) -> Result<T, Error>,
        put: fn(&mut LoadedInstance, T),
    ) -> Result<(), Error> {
        for row in rows {
            let key = InstanceKey(cell::<i64>(row, 1)? as u64);
            let Some(of) = self.whole.get_mut(&key) else { continue };
            match read(row) {
                Ok(one) => put(of, one),
                Err(error) => self.give_up(key, broken(table, row, key.0, error)?),
            }
        }
        Ok(())
    }

    fn add_wait(&mut self, row: &Row) -> Result<(), Error> {
        let rows = std::slice::from_ref(row);
        match cell(row, WHAT)? {
            "TIMER" => self.add("timers", rows, waits::timer, |of, timer| of.timers.push(timer)),
            "SUBSCRIPTION" => self.add("subscriptions", rows, waits::subscription, |of, one| of.subscriptions.push(one)),
            "COMPENSATION" => self.add("compensations", rows, compensation, |of, one| of.compensations.push(one)),
            "USER_TASK" => self.add("user_tasks", rows, person_waited_for, |of, wait| of.waits.push(wait)),
            "TURN" => self.add("turns", rows, turn, |of, wait| of.waits.push(wait)),
            _ => self.add("jobs", rows, job_waited_for, |of, wait| of.waits.push(wait)),
        }
    }

    fn give_up(&mut self, key: InstanceKey, broken: Broken) {
        self.whole.remove(&key);
        self.broken.insert(key, broken);
    }
}

/// What cannot be read is told apart from what cannot be reached. The first column tells which row it is.
pub(crate) fn broken(table: &str, row: &Row, key: u64, error: Error) -> Result<Broken, Error> {
    match error {
        Error::Corrupt { what } => Ok(Broken { key, what: format!("{table} {}: {what}", cell::<i64>(row, 0)?) }),
        other => Err(other),
    }
}

fn read_jobs<'a>(rows: impl Iterator<Item = &'a Row>, loaded: &mut Loaded) -> Result<(), Error> {
    for row in rows {
        match job(row) {
            Ok(job) => loaded.jobs.push(job),
            Err(error) => loaded.broken.push(broken("jobs", row, cell::<i64>(row, 0)? as u64, error)?),
        }
    }
    Ok(())
}

fn belonging<'a, K>(rows: impl Iterator<Item = &'a Row>, key: fn(u64) -> K) -> Result<Vec<(K, InstanceKey)>, Error> {
    let read = |row| {
        let mut row = Reading::of(row);
        Ok((key(row.key()?), InstanceKey(row.key()?)))
    };
    rows.map(read).collect()
}

fn instance(row: &Row) -> Result<Instance, Error> {
    let mut row = Reading::of(row);
    Ok(Instance {
        key: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        phase: words::phase_from_number(row.get::<i16>()?.into())?,
        started: row.get()?,
        ended: row.get()?,
        parent: row.key_maybe()?.map(InstanceKey).zip(row.key_maybe()?.map(ElementKey)),
        root: InstanceKey(row.key()?),
        tags: words::tags_from_text(row.get()?).into_iter().map(Into::into).collect(),
        business_id: row.text_maybe()?,
        depth: row.get::<i32>()? as u32,
        // Only what runs is loaded.
        state: InstanceState::of_running(row.get()?),
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
        progress: row.get::<Option<&str>>()?.map(words::progress_from_text).transpose()?,
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

fn one_of_tokens(row: &Row) -> Result<Tokens, Error> {
    let mut row = Reading::of(row);
    let _key = row.key()?;
    let instance = InstanceKey(row.key()?);
    let token = Token {
        scope: ElementKey(row.key()?),
        gateway: ElementIx(row.get::<i32>()? as u32),
        flow: FlowIx(row.get::<i32>()? as u32),
    };
    let count = u32::try_from(row.get::<i32>()?).map_err(Error::corrupt)?;
    Ok(Tokens { instance, token, count })
}

/// Where `load_waits.sql` has the number of an element.
const ELEMENT: usize = 5;

fn compensation(row: &Row) -> Result<Compensation, Error> {
    let activity = ElementIx(cell::<i32>(row, ELEMENT)? as u32);
    let mut row = Reading::of(row);
    let (key, instance, scope) = (CompensationKey(row.key()?), InstanceKey(row.key()?), ElementKey(row.key()?));
    Ok(Compensation { key, instance, scope, activity })
}

fn job_waited_for(row: &Row) -> Result<(ElementKey, Wait), Error> {
    wait(row, WaitKind::Job)
}

fn person_waited_for(row: &Row) -> Result<(ElementKey, Wait), Error> {
    wait(row, WaitKind::UserTask)
}

fn turn(row: &Row) -> Result<(ElementKey, Wait), Error> {
    wait(row, WaitKind::Turn(Box::new(format::decode_turn(cell(row, STEP)?)?)))
}

fn wait(row: &Row, kind: WaitKind) -> Result<(ElementKey, Wait), Error> {
    let mut row = Reading::of(row);
    let (key, _instance, element) = (WaitKey(row.key()?), row.key()?, ElementKey(row.key()?));
    Ok((element, Wait { key, catch: None, kind }))
}

fn job(row: &Row) -> Result<Job, Error> {
    let mut row = Reading::of(row);
    let due: Option<store::Millis>;
    let mut job = Job {
        key: JobKey(row.key()?),
        origin: origin(&mut row)?,
        job_type: row.text()?,
        tenant: row.text()?,
        priority: row.get()?,
        state: JobState::from_word(row.get()?)?,
        availability: {
            let word = row.get()?;
            due = row.get()?;
            Availability::from_stored(word, due)?
        },
        retries: row.get()?,
        worker: row.text()?,
        deadline: row.get()?,
        error_code: row.text()?,
        error_message: row.text()?,
        failed_with_retries_left: row.get()?,
        created: row.get()?,
        updated: row.get()?,
        ended: row.get()?,
        headers: row.text_maybe()?,
        kind: JobKind::from_stored(row.get()?)?,
        denied: row.text_maybe()?,
        group: row.text_maybe()?,
        execution: execution(&mut row)?,
        dispatched: row.get()?,
        wait_until: None,
        leases: 0,
        progress: None,
    };
    job.wait_until = Job::wait_of(job.availability, due);
    let leases = row.get::<Option<i32>>()?.map(u32::try_from).transpose().map_err(Error::corrupt)?;
    job.leases = leases.unwrap_or_else(|| job.leases_untold());
    job.progress = row.text_maybe()?;
    Ok(job)
}

/// Of a job that belongs to no process, what it is asked to do is there.
fn execution(row: &mut Reading<'_>) -> Result<Option<Box<Execution>>, Error> {
    let (input, result) = (row.text_maybe()?, row.text_maybe()?);
    let (attempts, started) = (row.get::<Option<i32>>()?, row.get()?);
    let (unique, until) = (row.text_maybe()?, row.get()?);
    let Some(input) = input else { return Ok(None) };
    let attempts = u32::try_from(attempts.unwrap_or_default()).map_err(Error::corrupt)?;
    Ok(Some(Box::new(Execution { input, result, attempts, started, unique: unique.map(|key| Unique { key, until }) })))
}

fn unique_holder(row: &Row) -> Result<UniqueHolder, Error> {
    let mut row = Reading::of(row);
    let name = (row.text()?, row.text()?, row.text()?);
    Ok(UniqueHolder { name, job: JobKey(row.key()?), until: row.get()? })
}

/// All four columns are there, or none.
fn origin(row: &mut Reading<'_>) -> Result<Option<JobOrigin>, Error> {
    let (instance, definition) = (row.key_maybe()?, row.key_maybe()?);
    let (element, element_instance) = (row.get::<Option<i32>>()?, row.key_maybe()?);
    let Some(instance) = instance else { return Ok(None) };
    let parts = definition.zip(element).zip(element_instance);
    let ((definition, element), element_instance) =
        parts.ok_or_else(|| Error::corrupt("a part of where it belongs is missing"))?;
    Ok(Some(JobOrigin {
        instance: InstanceKey(instance),
        definition: DefinitionKey(definition),
        element: ElementIx(element as u32),
        element_instance: ElementKey(element_instance),
    }))
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

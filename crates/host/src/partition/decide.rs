//! Evaluating decisions: for callers, and for tasks that ask for one.

use std::sync::Arc;

use engine::decision::{self, Subject};
use engine::{DecisionKey, Document, EvaluationKey, RequirementsKey};
use feel::{Context, Now, Value};
use model::Binding;
use model::decision::{Boxed, Logic};
use store::Error;
use store::log::{Answer, Code, DecisionRef, Evaluate, Evaluated, EvaluationFailure, Rejection};
use store::query::{Entity, Field, Filter, Items, Op, Order, Page, Query, Scalar, Sort};
use store::row::{DecisionRequirements, EvaluatedDecision, EvaluatedInput, EvaluatedOutput, EvaluationOrigin, MatchedRule};

use super::Partition;
use super::deploy::{DecisionPlace, Sought, deployed_decision};
use super::tick::Tick;
use crate::definitions::CompiledDecisions;

/// Bytes of what one evaluation looked at. Values are shared while it goes on, but written out one by one.
const EVALUATION_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A decision ready to be evaluated.
#[derive(Debug, Clone)]
pub(super) struct FoundDecision {
    pub(super) compiled: Arc<CompiledDecisions>,
    /// Among the decisions of the file.
    pub(super) index: usize,
}

impl Partition {
    /// Looks up a decision called from something of that deployment, for this tick.
    pub(super) async fn find_decision(
        &mut self,
        tick: &mut Tick,
        id: &Arc<str>,
        tenant: &Arc<str>,
        (binding, deployment): (&Binding, u64),
    ) -> Result<Option<FoundDecision>, Error> {
        let (id, tenant) = (id.clone(), tenant.clone());
        let place = match binding {
            Binding::Latest => self.catalogue.decision(&id, &tenant),
            Binding::Deployment => self.seek(tick, Sought::Deployed { id, tenant, deployment }).await?,
            Binding::VersionTag(tag) => self.seek(tick, Sought::Tagged { id, tenant, tag: tag.clone() }).await?,
        };
        match place {
            Some(place) => {
                self.load_decisions(tick, place.requirements).await?;
                Ok(found_at(tick, place))
            }
            None => Ok(None),
        }
    }

    /// Has what the command needs in memory.
    pub(super) async fn plan_evaluation(&mut self, tick: &mut Tick, evaluate: &Evaluate) -> Result<(), Error> {
        let place = match &evaluate.decision {
            DecisionRef::Key(key) => self.seek(tick, Sought::Key(*key)).await?,
            DecisionRef::Id(id) => self.catalogue.decision(id, &evaluate.tenant),
        };
        match place {
            Some(place) => match self.load_decisions(tick, place.requirements).await {
                Err(Error::Corrupt { what }) => {
                    self.quarantine(tick, [place.key.0], &what);
                    Ok(())
                }
                loaded => loaded,
            },
            None => Ok(()),
        }
    }

    pub(super) fn evaluate(&mut self, tick: &mut Tick, evaluate: &Evaluate) -> Answer {
        let (key, missing) = match &evaluate.decision {
            DecisionRef::Key(key) => {
                (Some(*key), format!("Expected to evaluate decision with key '{key}', but no decision found for key '{key}'"))
            }
            DecisionRef::Id(id) => (
                self.catalogue.decision(id, &evaluate.tenant).map(|place| place.key),
                format!("Expected to evaluate decision '{id}', but no decision found for id '{id}'"),
            ),
        };
        if let Some(what) = key.and_then(|key| tick.unusable.get(&key.0)) {
            let reason = format!("Expected to evaluate a decision, but {what}");
            return Answer::Rejected(Rejection { code: Code::InvalidState, reason });
        }
        let found = key.and_then(|key| tick.decisions.values().find_map(|compiled| found(tick, compiled, key)));
        let Some(found) = found.filter(|found| found.compiled.row.tenant == evaluate.tenant) else {
            return Answer::Rejected(Rejection { code: Code::NotFound, reason: missing });
        };
        match context(&evaluate.variables) {
            Ok(variables) => Answer::Evaluated(self.decide(tick, &found, &variables, None)),
            Err(reason) => Answer::Rejected(Rejection { code: Code::InvalidArgument, reason }),
        }
    }

    /// Evaluates a decision. What it looked at is recorded, unless it failed.
    pub(super) fn decide(
        &mut self,
        tick: &mut Tick,
        found: &FoundDecision,
        variables: &Context,
        origin: Option<EvaluationOrigin>,
    ) -> Evaluated {
        let FoundDecision { compiled, index } = found;
        let key = EvaluationKey(self.keys.take());
        let now = Now::utc(tick.now).seeded(key.0);
        let evaluation = decision::evaluate(&compiled.requirements, *index, variables, &now);
        // One key each, the first of them the evaluation's own.
        for _ in 1..evaluation.decisions.len() {
            self.keys.take();
        }
        let row = &compiled.row.decisions[*index];
        let mut report = Report { key, compiled, root: *index, at: tick.now, origin, room: EVALUATION_BYTES_MAX };
        let mut decisions: Vec<EvaluatedDecision> =
            (1..).zip(&evaluation.decisions).map(|(place, evaluated)| report.row(place, evaluated)).collect();
        let output = evaluation.output.as_ref().map_or_else(|_| "null".into(), |output| report.json(output));
        let failed = |index: usize, reason: &str| {
            let message = format!("Expected to evaluate decision '{}', but {reason}", row.id).into();
            EvaluationFailure { decision_id: compiled.requirements.decisions[index].id.clone(), message }
        };
        let failure = match &evaluation.output {
            Err(failure) => Some(failed(failure.decision, &failure.reason)),
            Ok(_) if report.room == 0 => {
                Some(failed(*index, &format!("what it looked at takes more than {EVALUATION_BYTES_MAX} bytes")))
            }
            Ok(_) => None,
        };
        if report.room == 0 {
            decisions.clear();
        }
        if failure.is_none() {
            tick.recorder.changes.evaluated_decisions_new.extend(decisions.iter().cloned());
        }
        let output = if failure.is_some() { "null".into() } else { output };
        Evaluated {
            key,
            decision: deployed_decision(row),
            requirements: compiled.row.key,
            requirements_id: compiled.row.id.clone(),
            tenant: compiled.row.tenant.clone(),
            output,
            failure,
            decisions,
        }
    }

    pub(super) async fn plan_evaluation_deletion(&self, tick: &mut Tick, evaluation: EvaluationKey) -> Result<(), Error> {
        let filter = is(Field::EvaluationKey, Scalar::Int(evaluation.0 as i64));
        let page = Page::From { from: 0, limit: 0 };
        let query = Query { filter, page, ..Query::of(Entity::EvaluatedDecisions) };
        if self.store.search(&query).await?.total != 0 {
            tick.evaluations.insert(evaluation);
        }
        Ok(())
    }

    async fn load_decisions(&self, tick: &mut Tick, key: RequirementsKey) -> Result<(), Error> {
        if !tick.decisions.contains_key(&key)
            && let Some(compiled) = self.definitions.decisions(key).await?
        {
            tick.decisions.insert(key, compiled);
        }
        Ok(())
    }

    /// Asks the store once. What this tick deletes is still there, so then nothing is remembered.
    async fn seek(&mut self, tick: &Tick, sought: Sought) -> Result<Option<DecisionPlace>, Error> {
        if let Some(place) = self.catalogue.found(&sought) {
            return Ok(place);
        }
        let mut filters = match &sought {
            Sought::Key(key) => vec![is(Field::DecisionKey, Scalar::Int(key.0 as i64))],
            Sought::Deployed { id, tenant, deployment } => {
                let mut filters = named(id, tenant);
                filters.push(is(Field::DeploymentKey, Scalar::Int(*deployment as i64)));
                filters
            }
            Sought::Tagged { id, tenant, tag } => {
                let mut filters = named(id, tenant);
                filters.push(is(Field::VersionTag, Scalar::Text(tag.to_string())));
                filters
            }
        };
        filters.push(is(Field::DefinitionState, Scalar::Text("ACTIVE".to_owned())));
        let place = self.highest(filters).await?;
        if tick.decisions_deleted.is_empty() {
            self.catalogue.remember_found(sought, place);
        }
        Ok(place)
    }

    /// The version of a decision before this one.
    pub(super) async fn decision_before(
        &self,
        id: &Arc<str>,
        tenant: &Arc<str>,
        version: i32,
    ) -> Result<Option<DecisionPlace>, Error> {
        let mut filters = named(id, tenant);
        filters.push(Filter::Is(Field::Version, Op::Lt(Scalar::Int(version.into()))));
        filters.push(is(Field::DefinitionState, Scalar::Text("ACTIVE".to_owned())));
        self.highest(filters).await
    }

    /// The version of a DMN file before this one.
    pub(super) async fn requirements_before(&self, row: &DecisionRequirements) -> Result<Option<DecisionRequirements>, Error> {
        let query = Query {
            filter: Filter::All(vec![
                is(Field::RequirementsId, Scalar::Text(row.id.to_string())),
                is(Field::Tenant, Scalar::Text(row.tenant.to_string())),
                Filter::Is(Field::RequirementsVersion, Op::Lt(Scalar::Int(row.version.into()))),
                is(Field::DefinitionState, Scalar::Text("ACTIVE".to_owned())),
            ]),
            sort: vec![Sort { field: Field::RequirementsVersion, order: Order::Descending }],
            page: Page::From { from: 0, limit: 1 },
            ..Query::of(Entity::Requirements)
        };
        let Items::Requirements(views) = self.store.search(&query).await?.items else { return Ok(None) };
        match views.first() {
            Some(view) => self.store.requirements(view.key).await,
            None => Ok(None),
        }
    }

    async fn highest(&self, filters: Vec<Filter>) -> Result<Option<DecisionPlace>, Error> {
        let query = Query {
            filter: Filter::All(filters),
            sort: vec![Sort { field: Field::Version, order: Order::Descending }],
            page: Page::From { from: 0, limit: 1 },
            ..Query::of(Entity::Decisions)
        };
        match self.store.search(&query).await?.items {
            Items::Decisions(views) => {
                Ok(views.first().map(|view| DecisionPlace { key: view.key, requirements: view.requirements }))
            }
            _ => Ok(None),
        }
    }
}

pub(super) fn delete_evaluation(tick: &mut Tick, evaluation: EvaluationKey) -> Answer {
    if !tick.evaluations.remove(&evaluation) {
        let reason = format!("Expected to delete decision evaluation with key '{evaluation}', but there is none");
        return Answer::Rejected(Rejection { code: Code::NotFound, reason });
    }
    tick.recorder.changes.evaluations_deleted.push(evaluation);
    Answer::Done
}

fn is(field: Field, value: Scalar) -> Filter {
    Filter::Is(field, Op::Eq(value))
}

fn named(id: &Arc<str>, tenant: &Arc<str>) -> Vec<Filter> {
    vec![is(Field::DecisionId, Scalar::Text(id.to_string())), is(Field::Tenant, Scalar::Text(tenant.to_string()))]
}

/// The decision, if this tick has it and has not deleted it.
fn found_at(tick: &Tick, place: DecisionPlace) -> Option<FoundDecision> {
    found(tick, tick.decisions.get(&place.requirements)?, place.key)
}

fn found(tick: &Tick, compiled: &Arc<CompiledDecisions>, key: DecisionKey) -> Option<FoundDecision> {
    let index = compiled.row.decisions.iter().position(|decision| decision.key == key)?;
    let deleted = compiled.row.deleted || tick.decisions_deleted.contains(&compiled.row.key);
    (!deleted).then(|| FoundDecision { compiled: compiled.clone(), index })
}

/// Variables as an evaluation takes them.
pub(super) fn context(variables: &Document) -> Result<Context, String> {
    let mut entries = Vec::with_capacity(variables.len());
    for (name, json) in variables {
        let value = Value::from_json(json).map_err(|error| format!("variable '{name}' is not valid JSON: {error}"))?;
        entries.push((name.clone(), value));
    }
    Ok(Context::from(entries))
}

/// What an evaluation looked at, as rows.
struct Report<'a> {
    key: EvaluationKey,
    compiled: &'a CompiledDecisions,
    root: usize,
    at: i64,
    origin: Option<EvaluationOrigin>,
    /// Bytes left; once there are none, nothing more is written out.
    room: usize,
}

impl Report<'_> {
    fn row(&mut self, place: u32, evaluated: &decision::Evaluated) -> EvaluatedDecision {
        let CompiledDecisions { row, requirements, .. } = self.compiled;
        let (id, name, logic, version) = match evaluated.subject {
            Subject::Decision(index) => {
                let decision = &requirements.decisions[index];
                (&decision.id, &decision.name, decision.logic.as_ref(), row.decisions.get(index))
            }
            Subject::Knowledge(index) => {
                let knowledge = &requirements.knowledge[index];
                (&knowledge.id, &knowledge.name, knowledge.lambda.body.as_ref(), None)
            }
        };
        EvaluatedDecision {
            evaluation: self.key,
            place,
            decision: version.map(|decision| decision.key),
            decision_id: id.clone(),
            name: name.clone(),
            version: version.map(|decision| decision.version),
            kind: kind_word(logic).into(),
            requirements: row.key,
            root_decision: row.decisions[self.root].key,
            tenant: row.tenant.clone(),
            evaluated: self.at,
            output: self.json(&evaluated.output),
            inputs: evaluated.inputs.iter().map(|input| self.input(input)).collect(),
            rules: evaluated.rules.iter().map(|rule| self.rule(rule)).collect(),
            origin: self.origin,
        }
    }

    fn json(&mut self, value: &Value) -> Arc<str> {
        if self.room == 0 {
            return "null".into();
        }
        let json = value.to_json();
        self.room = self.room.saturating_sub(json.len());
        json.into()
    }

    fn name(&mut self, name: &Arc<str>) -> Arc<str> {
        self.room = self.room.saturating_sub(name.len());
        if self.room == 0 { "".into() } else { name.clone() }
    }

    fn input(&mut self, input: &decision::Input) -> EvaluatedInput {
        EvaluatedInput { id: self.name(&input.id), name: self.name(&input.name), value: self.json(&input.value) }
    }

    fn rule(&mut self, rule: &decision::Matched) -> MatchedRule {
        let mut outputs = Vec::with_capacity(rule.outputs.len());
        for output in &rule.outputs {
            let (id, name) = (self.name(&output.id), self.name(&output.name));
            outputs.push(EvaluatedOutput { id, name, value: self.json(&output.value) });
        }
        MatchedRule { id: self.name(&rule.id), index: rule.index as u32, outputs }
    }
}

/// As clients of Camunda 8 know them; it does not take the others.
fn kind_word(logic: Option<&Boxed>) -> &'static str {
    match logic.map(|boxed| &boxed.logic) {
        Some(Logic::Table(_)) => "DECISION_TABLE",
        Some(Logic::Literal(_)) => "LITERAL_EXPRESSION",
        Some(Logic::Context(_)) => "CONTEXT",
        Some(Logic::List(_)) => "LIST",
        Some(Logic::Relation(..)) => "RELATION",
        Some(Logic::Invocation(_)) => "INVOCATION",
        Some(Logic::Function(_)) => "FUNCTION",
        Some(Logic::Conditional(_)) => "CONDITIONAL",
        Some(Logic::Filter(_)) => "FILTER",
        Some(Logic::For(_)) => "FOR",
        Some(Logic::Quantified(..)) => "QUANTIFIED",
        Some(Logic::Null | Logic::Unreadable(_)) | None => "UNKNOWN",
    }
}

//! Evaluating decisions: for callers, and for tasks that ask for one.

use std::sync::Arc;

use engine::decision::{self, Subject};
use engine::{Document, EvaluationKey};
use feel::{Context, Now, Value};
use model::Binding;
use model::decision::{Boxed, Logic};
use store::Error;
use store::log::{Answer, Code, DecisionRef, Evaluate, Evaluated, EvaluationFailure};
use store::query::{Entity, Field, Filter, Items, Op, Order, Page, Query, Scalar, Sort, Tenants};
use store::row::{DecisionRequirements, EvaluatedDecision, EvaluatedInput, EvaluatedOutput, EvaluationOrigin, MatchedRule};

use super::Partition;
use super::deploy::{DecisionPlace, Sought, deployed_decision};
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;
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
    /// Where a decision is that something of that deployment calls.
    pub(super) fn place_of_decision(
        &self,
        id: &Arc<str>,
        tenant: &Arc<str>,
        (binding, deployment): (&Binding, u64),
    ) -> Result<Option<DecisionPlace>, Stop> {
        let (id, tenant) = (id.clone(), tenant.clone());
        match binding {
            Binding::Latest => self.latest_decision(&(id, tenant)),
            Binding::Deployment => self.sought(Sought::Deployed { id, tenant, deployment }),
            Binding::VersionTag(tag) => self.sought(Sought::Tagged { id, tenant, tag: tag.clone() }),
        }
    }

    fn sought(&self, sought: Sought) -> Result<Option<DecisionPlace>, Stop> {
        match self.catalogue.found(&sought) {
            Some(place) => Ok(place),
            None => Err(Needs::at_rest(AtRest::Sought(sought)).into()),
        }
    }

    /// The decision, if it is there and not deleted.
    pub(super) fn found_at(&self, tick: &Tick, place: DecisionPlace) -> Result<Option<FoundDecision>, Stop> {
        let key = place.requirements;
        let known = self.catalogue.fresh_decisions.get(&key).or_else(|| tick.known.decisions.get(&key));
        let Some(compiled) = known else {
            return match tick.known.absent.contains(&key.0) {
                true => Ok(None),
                false => Err(Needs::requirements(key).into()),
            };
        };
        let index = compiled.row.decisions.iter().position(|decision| decision.key == place.key);
        Ok(index.map(|index| FoundDecision { compiled: compiled.clone(), index }))
    }

    pub(super) fn evaluate(&mut self, tick: &mut Tick, evaluate: &Evaluate) -> Result<Answer, Stop> {
        let (place, missing) = match &evaluate.decision {
            DecisionRef::Key(key) => (
                self.sought(Sought::Key(*key))?,
                format!("Expected to evaluate decision with key '{key}', but no decision found for key '{key}'"),
            ),
            DecisionRef::Id(id) => (
                self.latest_decision(&(id.clone(), evaluate.tenant.clone()))?,
                format!("Expected to evaluate decision '{id}', but no decision found for id '{id}'"),
            ),
        };
        let Some(place) = place else { return Err(Stop::not_found(missing)) };
        if let Some(what) = tick.known.unusable.get(&place.requirements.0) {
            return Err(Stop::refused(Code::InvalidState, format!("Expected to evaluate a decision, but {what}")));
        }
        let found = self.found_at(tick, place)?.filter(|found| found.compiled.row.tenant == evaluate.tenant);
        let Some(found) = found else { return Err(Stop::not_found(missing)) };
        let variables = context(&evaluate.variables).map_err(|reason| Stop::refused(Code::InvalidArgument, reason))?;
        Ok(Answer::Evaluated(self.decide(tick, &found, &variables, None)))
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
        let mut budget = feel::Budget::default();
        let evaluation = decision::evaluate_within(&compiled.requirements, *index, variables, &now, &mut budget);
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
        tick.unit.evaluated(&budget, EVALUATION_BYTES_MAX - report.room);
        if report.room == 0 {
            decisions.clear();
        }
        if failure.is_none() {
            tick.unit.changes.evaluated_decisions_new.extend(decisions.iter().cloned());
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

    pub(super) async fn has_evaluation(&self, evaluation: EvaluationKey) -> Result<bool, Error> {
        let filter = is(Field::EvaluationKey, Scalar::Int(evaluation.0 as i64));
        let page = Page::From { from: 0, limit: 0 };
        let query = Query { filter, page, ..Query::of(Entity::EvaluatedDecisions, Tenants::Everything) };
        Ok(self.store.search(&query).await?.total != 0)
    }

    pub(super) fn delete_evaluation(&mut self, tick: &mut Tick, evaluation: EvaluationKey) -> Result<Answer, Stop> {
        match self.rested.evaluations.get(&evaluation) {
            None => Err(Needs::at_rest(AtRest::Evaluation(evaluation)).into()),
            Some(false) => {
                let reason = format!("Expected to delete decision evaluation with key '{evaluation}', but there is none");
                Err(Stop::not_found(reason))
            }
            Some(true) => {
                tick.unit.changes.evaluations_deleted.push(evaluation);
                Ok(Answer::Done)
            }
        }
    }

    pub(super) async fn seek(&self, sought: &Sought) -> Result<Option<DecisionPlace>, Error> {
        let mut filters = match sought {
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
        self.highest(filters).await
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
            ..Query::of(Entity::Requirements, Tenants::These(vec![row.tenant.clone()]))
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
            // The filters name the tenant.
            ..Query::of(Entity::Decisions, Tenants::Everything)
        };
        match self.store.search(&query).await?.items {
            Items::Decisions(views) => {
                Ok(views.first().map(|view| DecisionPlace { key: view.key, requirements: view.requirements }))
            }
            _ => Ok(None),
        }
    }
}

fn is(field: Field, value: Scalar) -> Filter {
    Filter::Is(field, Op::Eq(value))
}

fn named(id: &Arc<str>, tenant: &Arc<str>) -> Vec<Filter> {
    vec![is(Field::DecisionId, Scalar::Text(id.to_string())), is(Field::Tenant, Scalar::Text(tenant.to_string()))]
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

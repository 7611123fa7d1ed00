//! Versions of requirements and their decisions, and what evaluations leave.

use std::sync::Arc;

use engine::RequirementsKey;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, EvaluatedDecisionView, Field, Filter, Items, Op, Query, Scalar, Tenants};
use crate::row::{DecisionRequirements, EvaluatedDecision, EvaluationOrigin, Instance, LatestDecision};
use crate::{Changes, Named, Store};

fn requirements(n: u64, id: &str, version: i32, tenant: &str) -> DecisionRequirements {
    let mut requirements = rows::requirements(rows::key(PARTITION, n), id, version);
    requirements.tenant = tenant.into();
    requirements
}

/// Versions 1 and 2 of `r`, each with decisions `a` and `b`; `c` has taken `b` over as its third version.
/// A file of one decision.
pub(super) fn requirements_of_one(key: u64, id: &str) -> DecisionRequirements {
    DecisionRequirements { decisions: vec![rows::decision(key + 1, id, 1)], ..rows::requirements(key, id, 1) }
}

fn three() -> Vec<DecisionRequirements> {
    let mut all = vec![requirements(10, "r", 1, "t"), requirements(20, "r", 2, "t"), requirements(30, "c", 1, "t")];
    for (n, requirements) in (0..).zip(&mut all[..2]) {
        let version = n as i32 + 1;
        requirements.decisions = vec![
            rows::decision(rows::key(PARTITION, 11 + 10 * n), "a", version),
            rows::decision(rows::key(PARTITION, 12 + 10 * n), "b", version),
        ];
        requirements.decisions[1].version_tag = Some("v".into());
    }
    all[2].decisions = vec![rows::decision(rows::key(PARTITION, 31), "b", 3)];
    all
}

fn latest(id: &str, requirements: &DecisionRequirements, index: usize) -> LatestDecision {
    let (tenant, key) = (requirements.tenant.clone(), requirements.decisions[index].key);
    LatestDecision { id: id.into(), tenant, key, requirements: requirements.key }
}

pub(super) async fn a_name_leads_to_the_highest_not_deleted(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let all = three();
    owner.commit(Changes { requirements_new: all.clone(), ..Changes::default() }).await;
    let file = async |id: &str, tenant: &str| store.requirements_named(PARTITION, id, tenant).await.unwrap();
    let decision = async |id: &str, tenant: &str| store.decision_named(PARTITION, id, tenant).await.unwrap();
    let known = |version_max, latest| Named { version_max, latest };
    assert_eq!(file("r", "t").await, Named { version_max: 2, latest: Some(all[1].clone()) });
    assert_eq!(file("c", "t").await, Named { version_max: 1, latest: Some(all[2].clone()) });
    assert_eq!(decision("a", "t").await, known(2, Some(latest("a", &all[1], 0))));
    assert_eq!(decision("b", "t").await, known(3, Some(latest("b", &all[2], 0))), "in whatever file");
    assert_eq!((file("r", "u").await, decision("a", "u").await), (Named::default(), Named::default()));
    assert_eq!((file("a", "t").await, decision("r", "t").await), (Named::default(), Named::default()));
    owner.commit(Changes { requirements_deleted: vec![all[1].key, all[2].key], ..Changes::default() }).await;
    assert_eq!(file("r", "t").await, Named { version_max: 2, latest: Some(all[0].clone()) }, "deleted ones count");
    assert_eq!(file("c", "t").await, Named { version_max: 1, latest: None });
    assert_eq!(decision("a", "t").await, known(2, Some(latest("a", &all[0], 0))));
    assert_eq!(decision("b", "t").await, known(3, Some(latest("b", &all[0], 1))));
}

pub(super) async fn requirements_by_key(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut all = three();
    owner.commit(Changes { requirements_new: all.clone(), ..Changes::default() }).await;
    assert_eq!(store.requirements(all[1].key).await.unwrap(), Some(all[1].clone()), "decisions in the order of the file");
    owner.commit(Changes { requirements_deleted: vec![all[1].key], ..Changes::default() }).await;
    all[1].deleted = true;
    assert_eq!(store.requirements(all[1].key).await.unwrap(), Some(all[1].clone()));
    assert_eq!(store.requirements(RequirementsKey(rows::key(PARTITION, 99))).await.unwrap(), None);
    assert_eq!(store.requirements(RequirementsKey(0)).await.unwrap(), None);
    let deleted = Filter::Is(Field::DefinitionState, Op::Eq(Scalar::Text("DELETED".into())));
    for (entity, expected) in [(Entity::Requirements, 1), (Entity::Decisions, 2)] {
        let found = store.search(&Query { filter: deleted.clone(), ..Query::of(entity, Tenants::Everything) }).await.unwrap();
        assert_eq!(found.total, expected, "{entity:?}");
    }
}

pub(super) async fn evaluations_come_back(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let requirements = three();
    let mut instance = rows::instance(rows::key(PARTITION, 40), rows::key(PARTITION, 1));
    instance.root = engine::InstanceKey(rows::key(PARTITION, 39));
    instance.business_id = Some("order-7".into());
    let origin = EvaluationOrigin {
        instance: instance.key,
        definition: instance.definition,
        element_instance: engine::ElementKey(rows::key(PARTITION, 41)),
    };
    let mut first = rows::evaluated_decision(rows::key(PARTITION, 50), &requirements[0]);
    (first.decision, first.version, first.rules) = (None, None, Vec::new());
    let second = EvaluatedDecision { place: 2, ..rows::evaluated_decision(rows::key(PARTITION, 50), &requirements[0]) };
    let of_task = EvaluatedDecision {
        origin: Some(origin),
        output: "\u{e9}".into(),
        ..rows::evaluated_decision(rows::key(PARTITION, 52), &requirements[0])
    };
    owner
        .commit(Changes {
            requirements_new: requirements,
            evaluated_decisions_new: vec![first.clone(), second.clone(), of_task.clone()],
            instances_new: vec![instance.clone()],
            ..Changes::default()
        })
        .await;
    assert_eq!(evaluated(&store, "50-1").await, Some(view(&first, None)));
    assert_eq!(evaluated(&store, "50-2").await, Some(view(&second, None)));
    assert_eq!(evaluated(&store, "52-1").await, Some(view(&of_task, Some(&instance))));
    let of_first = Filter::Is(Field::EvaluationKey, Op::Eq(Scalar::Int(first.evaluation.0 as i64)));
    let all_of_first = Query { filter: of_first, ..Query::of(Entity::EvaluatedDecisions, Tenants::Everything) };
    assert_eq!(store.search(&all_of_first).await.unwrap().total, 2);
    for nothing in ["51-1", "50-3", "50-02", "50", "-1", "50-", "50-0"] {
        assert_eq!(evaluated(&store, nothing).await, None, "{nothing}");
    }
    owner.commit(Changes { evaluations_deleted: vec![first.evaluation], ..Changes::default() }).await;
    assert_eq!(store.search(&all_of_first).await.unwrap().total, 0);
    assert_eq!(evaluated(&store, "52-1").await, Some(view(&of_task, Some(&instance))), "others stay");
}

/// By its id, whose number is counted from the partition's first key.
async fn evaluated(store: &Arc<dyn Store>, id: &str) -> Option<EvaluatedDecisionView> {
    let id = match id.split_once('-') {
        Some((n, place)) if !n.is_empty() => format!("{}-{place}", rows::key(PARTITION, n.parse().unwrap())),
        _ => id.to_owned(),
    };
    let filter = Filter::Is(Field::EvaluatedId, Op::Eq(Scalar::Text(id)));
    match store
        .search(&Query { filter, with_details: true, ..Query::of(Entity::EvaluatedDecisions, Tenants::Everything) })
        .await
        .unwrap()
        .items
    {
        Items::EvaluatedDecisions(mut found) => {
            assert!(found.len() < 2);
            found.pop()
        }
        other => panic!("{other:?}"),
    }
}

fn view(row: &EvaluatedDecision, instance: Option<&Instance>) -> EvaluatedDecisionView {
    EvaluatedDecisionView {
        evaluation: row.evaluation,
        place: row.place,
        decision: row.decision,
        decision_id: row.decision_id.to_string(),
        name: row.name.to_string(),
        version: row.version,
        kind: row.kind.to_string(),
        root_decision: row.root_decision,
        tenant: row.tenant.to_string(),
        evaluated: row.evaluated,
        output: row.output.to_string(),
        instance: row.origin.map(|origin| origin.instance),
        root: instance.map(|instance| instance.root),
        business_id: instance.and_then(|instance| instance.business_id.as_deref().map(str::to_owned)),
        definition: row.origin.map(|origin| origin.definition),
        element_instance: row.origin.map(|origin| origin.element_instance),
        inputs: row.inputs.clone(),
        rules: row.rules.clone(),
    }
}

//! Some operations over many, with some filters.

use proptest::prelude::*;

use super::some::{change_command, number, text};
use crate::batch::{BatchCommand, Work};
use crate::log::Command;
use crate::query::{Entity, Filter, Op, Scalar};

pub(super) fn batch_command() -> impl Strategy<Value = BatchCommand> {
    let change = change_command().prop_map(|command| match command {
        Command::Change { change, .. } => Work::Change(change),
        _ => Work::Cancel,
    });
    let work = prop_oneof![
        Just(Work::Cancel),
        Just(Work::ResolveIncidents),
        change,
        Just(Work::Delete),
        Just(Work::DeleteEvaluations),
        Just(Work::Suspend),
        Just(Work::Resume),
    ];
    prop_oneof![
        (work, filter()).prop_map(|(work, filter)| BatchCommand::Start { work, filter }),
        number().prop_map(|batch| BatchCommand::Suspend { batch }),
        number().prop_map(|batch| BatchCommand::Resume { batch }),
        number().prop_map(|batch| BatchCommand::Cancel { batch }),
        number().prop_map(|batch| BatchCommand::Due { batch }),
        (number(), number()).prop_map(|(batch, key)| BatchCommand::Item { batch, key }),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        any::<i64>().prop_map(Scalar::Int),
        text().prop_map(|text| Scalar::Text(text.to_string())),
    ];
    let several = prop::collection::vec(scalar.clone(), 0..3);
    let op = prop_oneof![
        scalar.clone().prop_map(Op::Eq),
        scalar.clone().prop_map(Op::Neq),
        several.clone().prop_map(Op::In),
        several.prop_map(Op::NotIn),
        any::<bool>().prop_map(Op::Exists),
        scalar.clone().prop_map(Op::Lt),
        scalar.clone().prop_map(Op::Lte),
        scalar.clone().prop_map(Op::Gt),
        scalar.prop_map(Op::Gte),
        text().prop_map(|text| Op::Like(text.to_string())),
    ];
    let fields = Entity::Instances.fields().iter().chain(Entity::BatchItems.fields()).copied().collect::<Vec<_>>();
    let leaf = prop_oneof![
        (prop::sample::select(fields), op.clone()).prop_map(|(field, op)| Filter::Is(field, op)),
        text().prop_map(Filter::HasTag),
        op.prop_map(|op| Filter::Candidate(crate::row::Candidates::Users, op)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::All),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Any),
            inner.clone().prop_map(|part| Filter::Related(Entity::Elements, Box::new(part))),
            inner.clone().prop_map(|part| Filter::OfInstance(Box::new(part))),
            inner.prop_map(|part| Filter::Not(Box::new(part))),
        ]
    })
}

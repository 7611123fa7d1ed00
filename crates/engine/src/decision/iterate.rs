//! Filters and iterations.

use std::sync::{Arc, LazyLock};

use feel::{Dialect, Error, Expression, List, Value};
use model::decision::{Filter, Iteration, Quantifier};

use super::Run;
use super::scope::Scope;

/// What FEEL iterates over, be it a list, a range or a single value.
static ITEMS: LazyLock<Option<Expression>> = LazyLock::new(|| feel::parse_with("for i in domain return i", Dialect::Dmn).ok());

impl Run<'_> {
    pub(super) fn filter(&mut self, filter: &Filter, outer: &Scope<'_>) -> Result<Value, Error> {
        let items = match self.value(&filter.list, outer)? {
            Value::Null => return Ok(Value::Null),
            Value::List(list) => list.items().to_vec(),
            single => vec![single],
        };
        let item_name = Arc::from("item");
        let mut kept = Vec::new();
        for item in &items {
            let mut scope = Scope::within(outer);
            if let Value::Context(context) = item {
                self.budget.charge(context.len() as u64)?;
                context.entries().iter().for_each(|(name, value)| scope.bind(name, value.clone()));
            }
            scope.bind(&item_name, item.clone());
            match self.value(&filter.matches, &scope)? {
                Value::Bool(true) => kept.push(item.clone()),
                Value::Bool(false) | Value::Null => {}
                Value::Number(number) => return Ok(at(&items, number.to_i64())),
                _ => return Ok(Value::Null),
            }
        }
        Value::list(kept).bounded(self.budget)
    }

    pub(super) fn each(&mut self, iteration: &Iteration, outer: &Scope<'_>) -> Result<Value, Error> {
        let Some(items) = self.items(iteration, outer)? else {
            return Ok(Value::Null);
        };
        let partial = Arc::from("partial");
        let mut results = List::from(Vec::new());
        for item in items {
            let mut scope = Scope::within(outer);
            scope.bind(&partial, Value::List(results.clone()));
            scope.bind(&iteration.variable, item);
            let value = self.value(&iteration.body, &scope)?;
            drop(scope);
            results.push_within(value, self.budget)?;
        }
        Ok(Value::List(results))
    }

    /// One item may decide, but all are looked at: what is neither true nor false nor `null` makes the whole `null`.
    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        iteration: &Iteration,
        outer: &Scope<'_>,
    ) -> Result<Value, Error> {
        let decisive = quantifier == Quantifier::Some;
        let Some(items) = self.items(iteration, outer)? else {
            return Ok(Value::Null);
        };
        let (mut decided, mut known) = (false, true);
        for item in items {
            let mut scope = Scope::within(outer);
            scope.bind(&iteration.variable, item);
            match self.value(&iteration.body, &scope)? {
                Value::Bool(holds) => decided |= holds == decisive,
                Value::Null => known = false,
                _ => return Ok(Value::Null),
            }
        }
        Ok(match (decided, known) {
            (true, _) => Value::Bool(decisive),
            (false, true) => Value::Bool(!decisive),
            (false, false) => Value::Null,
        })
    }

    fn items(&mut self, iteration: &Iteration, outer: &Scope<'_>) -> Result<Option<Vec<Value>>, Error> {
        let domain = self.value(&iteration.domain, outer)?;
        let Some(expression) = &*ITEMS else {
            return Ok(None);
        };
        let items = expression.evaluate_within(&[Some(domain)], self.now, self.budget, None)?;
        Ok(items.as_list().map(<[Value]>::to_vec))
    }
}

/// The item at a place counted from 1, or from the end if negative.
fn at(items: &[Value], place: Option<i64>) -> Value {
    let index = match place {
        Some(place) if 0 < place => usize::try_from(place - 1).ok(),
        Some(place) if place < 0 => usize::try_from(place.unsigned_abs()).ok().and_then(|back| items.len().checked_sub(back)),
        _ => None,
    };
    index.and_then(|index| items.get(index)).cloned().unwrap_or(Value::Null)
}

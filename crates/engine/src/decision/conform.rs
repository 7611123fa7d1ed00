//! Declared types: a value is of its type, becomes it, or is `null`.

use std::sync::Arc;

use feel::{Error, Expression, Value};
use model::decision::{ItemDefinition, Shape, Type};

use super::Run;
use super::scope::Scope;

impl Run<'_> {
    /// The value as its place declares it.
    pub(super) fn conform(&mut self, declared: Option<&Type>, value: Value) -> Result<Value, Error> {
        let Some(declared) = declared.filter(|_| !self.is_loose()) else {
            return Ok(value);
        };
        if self.fits(declared, &value)? {
            return Ok(value);
        }
        if let Some([item]) = value.as_list()
            && self.fits(declared, item)?
        {
            return Ok(item.clone());
        }
        if !matches!(value, Value::List(_)) {
            let list = Value::list(vec![value.clone()]);
            if self.fits(declared, &list)? {
                return Ok(list);
            }
        }
        let Some(converted) = self.plain(declared).coerce(value, self.budget)? else {
            return Ok(Value::Null);
        };
        Ok(if self.fits(declared, &converted)? { converted } else { Value::Null })
    }

    fn fits(&mut self, declared: &Type, value: &Value) -> Result<bool, Error> {
        let index = match declared {
            Type::Feel(plain) => return plain.admits(value, self.budget),
            Type::Item(index) => *index,
        };
        if value.is_null() {
            return Ok(true);
        }
        self.budget.charge(1)?;
        let model = self.model;
        let item = &model.types[index];
        let fits = match (item.collection, value) {
            (false, value) => self.fits_one(item, value)?,
            (true, Value::List(list)) => {
                for one in list.items() {
                    if !self.fits_one(item, one)? {
                        return Ok(false);
                    }
                }
                true
            }
            (true, _) => false,
        };
        Ok(fits && self.passes(item.constraint.as_ref(), value)?)
    }

    fn fits_one(&mut self, item: &ItemDefinition, value: &Value) -> Result<bool, Error> {
        if value.is_null() {
            return Ok(true);
        }
        let shaped = match (&item.shape, value) {
            (Shape::Same(base), value) => self.fits(base, value)?,
            (Shape::Function(count), Value::Function(function)) => function.parameters().len() == *count,
            (Shape::Members(members), Value::Context(context)) => {
                for (name, declared) in members {
                    let fits = match (context.get(name), declared) {
                        (None, _) => false,
                        (Some(_), None) => true,
                        (Some(value), Some(declared)) => self.fits(declared, value)?,
                    };
                    if !fits {
                        return Ok(false);
                    }
                }
                true
            }
            (Shape::Function(_) | Shape::Members(_), _) => false,
        };
        Ok(shaped && self.passes(item.allowed.as_ref(), value)?)
    }

    /// Whether a value passes unary tests.
    pub(super) fn passes(&mut self, tests: Option<&Expression>, value: &Value) -> Result<bool, Error> {
        let Some(tests) = tests else {
            return Ok(true);
        };
        let mut scope = Scope::new(feel::Context::empty());
        scope.bind(&Arc::from("?"), value.clone());
        Ok(self.feel(tests, &scope)? == Value::Bool(true))
    }
}

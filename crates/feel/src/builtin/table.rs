//! Every group of built-ins.

use super::{
    Builtin, aggregate, boolean, context, conversion, cycle, interval, list, list_shape, numeric, range, string, temporal,
    temporal_conversion, workflow,
};

pub(super) static ALL: [&[Builtin]; 14] = [
    boolean::ALL,
    string::ALL,
    numeric::ALL,
    list::ALL,
    list_shape::ALL,
    aggregate::ALL,
    context::ALL,
    conversion::ALL,
    temporal::ALL,
    temporal_conversion::ALL,
    interval::ALL,
    range::ALL,
    cycle::ALL,
    workflow::ALL,
];

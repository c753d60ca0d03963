//! What bounds a query: the size of its conditions and an estimate of its cost (`bounds`), its time (`deadline`, and
//! sorting that respects it in `order`), and the size of its answer (`answer_budget`).

pub(crate) mod answer_budget;
pub(crate) mod bounds;
pub(crate) mod deadline;
pub(crate) mod order;

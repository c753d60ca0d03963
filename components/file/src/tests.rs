//! The actions as callers call them: by name, with JSON.

mod changing;
mod exporting;
mod fixtures;
mod html;
mod looking;
mod reading;
mod templating;
mod using;

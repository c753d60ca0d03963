//! Conversions between the SDK's types and the records that bindings generate from the contract. The guest and the host
//! have bindings of their own, so each lists its records with these macros, in its direction.

/// Implements `From` for records with the same fields; `field: function` converts the value of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! same_fields {
    ($($from:ty => $to:ty { $($field:ident $(: $convert:expr)?),+ $(,)? })+) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                Self { $($field: $crate::converted!(value.$field $(, $convert)?)),+ }
            }
        }
    )+};
}

/// The value of a field, converted if there is a function for it.
#[doc(hidden)]
#[macro_export]
macro_rules! converted {
    ($value:expr) => {
        $value
    };
    ($value:expr, $convert:expr) => {
        $convert($value)
    };
}

/// Implements `From` for enums with the same cases.
#[doc(hidden)]
#[macro_export]
macro_rules! same_cases {
    ($($from:ty => $to:ty { $($case:ident),+ $(,)? })+) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value {
                    $(<$from>::$case => <$to>::$case),+
                }
            }
        }
    )+};
}

/// The list with each item converted.
pub fn list<From, To: std::convert::From<From>>(items: Vec<From>) -> Vec<To> {
    items.into_iter().map(To::from).collect()
}

/// The value converted, if there is one.
pub fn optional<From, To: std::convert::From<From>>(value: Option<From>) -> Option<To> {
    value.map(To::from)
}

/// The list with each item converted, if there is one.
pub fn optional_list<From, To: std::convert::From<From>>(
    items: Option<Vec<From>>,
) -> Option<Vec<To>> {
    items.map(list)
}

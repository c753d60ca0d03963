//! The attributes of `notehost-sdk`: `#[args]` and `#[reply]`. They add the derives and serde settings that every domain
//! needs, so that authors need no other dependency.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Data, DeriveInput, Expr, Fields, MetaNameValue, Type, parse_macro_input, parse_quote};

/// The arguments of an action: a struct whose fields are the arguments and whose doc comments a model reads. Fields of
/// type `Option<…>` are optional; unknown fields are errors. An enum is an argument with a fixed set of strings.
#[proc_macro_attribute]
pub fn args(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as DeriveInput);
    item.attrs.push(match item.data {
        Data::Enum(_) => parse_quote!(#[serde(rename_all = "snake_case")]),
        _ => parse_quote!(#[serde(deny_unknown_fields)]),
    });
    with_derives(&item, &quote!(::notehost_sdk::serde::Deserialize)).into()
}

/// The result of an action, or a part of it. Fields of type `Option<…>` that are `None` are omitted from the JSON.
///
/// `#[reply(text = Hits::sentence)]` names the function from `&Self` to the text of a reply; without it the text is made
/// of the fields.
#[proc_macro_attribute]
pub fn reply(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as DeriveInput);
    let text = match arguments.is_empty() {
        true => None,
        false => {
            let argument = parse_macro_input!(arguments as MetaNameValue);
            if !argument.path.is_ident("text") {
                let error = syn::Error::new_spanned(argument.path, "expected `text = FUNCTION`");
                return error.into_compile_error().into();
            }
            Some(argument.value)
        }
    };
    match &mut item.data {
        Data::Enum(_) => item
            .attrs
            .push(parse_quote!(#[serde(rename_all = "snake_case")])),
        Data::Struct(data) => omit_none(&mut data.fields),
        Data::Union(_) => {}
    }
    let readable = matches!(item.data, Data::Struct(_)).then(|| readable(&item, text));
    let item = with_derives(&item, &quote!(::notehost_sdk::serde::Serialize));
    quote!(#item #readable).into()
}

fn readable(item: &DeriveInput, text: Option<Expr>) -> Tokens {
    let name = &item.ident;
    let mut generics = item.generics.clone();
    let conditions = &mut generics.make_where_clause().predicates;
    conditions.push(parse_quote!(Self: ::notehost_sdk::serde::Serialize));
    let (of_impl, of_type, conditions) = generics.split_for_impl();
    let text = match text {
        Some(text) => quote! {
            let text: fn(&Self) -> String = #text;
            text(self)
        },
        None => quote!(::notehost_sdk::readable(self)),
    };
    quote! {
        impl #of_impl ::notehost_sdk::Readable for #name #of_type #conditions {
            fn to_readable(&self) -> String {
                #text
            }
        }
    }
}

fn with_derives(item: &DeriveInput, serde: &Tokens) -> Tokens {
    quote! {
        #[derive(Debug, Clone, #serde, ::notehost_sdk::schemars::JsonSchema)]
        #[serde(crate = "::notehost_sdk::serde")]
        #[schemars(crate = "::notehost_sdk::schemars")]
        #item
    }
}

fn omit_none(fields: &mut Fields) {
    for field in fields {
        let is_option = matches!(&field.ty, Type::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "Option"));
        if is_option {
            field
                .attrs
                .push(parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]));
        }
    }
}

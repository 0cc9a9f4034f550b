//! stand-in
#![allow(missing_docs)]
use std::borrow::Cow;
pub struct Redactor;
impl Redactor { pub fn shared() -> &'static Redactor { &Redactor } pub fn redact<'a>(&self, t: &'a str) -> (Cow<'a, str>, u32) { (Cow::Borrowed(t), 0) } }

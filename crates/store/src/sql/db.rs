//! What is asked of a database: one statement with its values, and what comes back. The two of them
//! differ in sqlx's types; the text of every statement is once, in a function over [`SqlConnection`].
//!
//! Where a unique key may be taken by a concurrent writer, `ON CONFLICT DO NOTHING` waits for that
//! writer, and the next statement sees its row: so every statement is right under READ COMMITTED.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::Hash;
use sqlx::query::Query as Bound;
use sqlx::{Database, Encode, SqlSafeStr, SqlStr, Type};

use super::{failed, signed};
use crate::error::StoreError;
use crate::types::{EventRow, Millis, NewEvent};

/// A connection to one of the databases.
pub trait SqlConnection: sqlx::Connection {
    /// Its rows.
    type Row: SqlRow;

    /// How a transaction that writes begins.
    const BEGIN: &'static str;
    /// Lets rows go that another worker holds, where several can write.
    const SKIP_LOCKED: &'static str;
    /// After a `SELECT` of a session's row: keeps it from being deleted until the transaction ends,
    /// where several can write.
    const HOLD: &'static str;
    /// The same, and waits for all who hold it.
    const TAKE: &'static str;
    /// Most events of one insert outside a transaction.
    const AT_ONCE: usize;

    /// Runs a statement; the rows that it changed.
    fn execute(
        &mut self,
        query: SqlQuery<'_>,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    /// Runs a statement; the rows that it gives.
    fn fetch(
        &mut self,
        query: SqlQuery<'_>,
    ) -> impl Future<Output = Result<Vec<Self::Row>, sqlx::Error>> + Send;

    /// Adds events that came in now. False when they do not follow the head, or there is no such
    /// session.
    fn insert_events(
        &mut self,
        no: i64,
        expected: u64,
        events: &[NewEvent],
        now: Millis,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The events of some runs, in order.
    fn run_events(
        &mut self,
        no: i64,
        runs: &[Range<u64>],
    ) -> impl Future<Output = Result<Vec<EventRow>, StoreError>> + Send;

    /// Adds the words of an event to the index.
    fn insert_words(
        &mut self,
        no: i64,
        seq: u64,
        words: &[String],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the words of a session out of the index, inside a transaction that deletes it.
    fn delete_words(&mut self, no: i64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The events of a range that have a word, in order.
    fn posting(
        &mut self,
        no: i64,
        range: &Range<u64>,
        word: &str,
    ) -> impl Future<Output = Result<Vec<u64>, StoreError>> + Send;
}

/// A row, column by column, from 0. The tables have three types.
pub trait SqlRow: Send + Sync {
    /// A number.
    fn integer(&self, at: usize) -> Result<Option<i64>, StoreError>;
    /// A text.
    fn text(&self, at: usize) -> Result<Option<&str>, StoreError>;
    /// Bytes.
    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, StoreError>;
}

/// A value of a statement.
pub enum SqlValue<'q> {
    /// A number.
    Integer(Option<i64>),
    /// A text.
    Text(Option<Cow<'q, str>>),
    /// Bytes.
    Bytes(Option<&'q [u8]>),
}

/// A statement with its values.
pub struct SqlQuery<'q> {
    sql: SqlStr,
    values: Vec<SqlValue<'q>>,
}

/// A statement without values.
pub(super) fn query<'q>(sql: impl SqlSafeStr) -> SqlQuery<'q> {
    SqlQuery { sql: sql.into_sql_str(), values: Vec::new() }
}

impl<'q> SqlQuery<'q> {
    /// The next value.
    pub fn bind(mut self, value: impl Into<SqlValue<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// How many rows it changed.
    pub async fn run<D: SqlConnection>(self, db: &mut D) -> Result<u64, StoreError> {
        db.execute(self).await.map_err(failed)
    }

    /// All rows.
    pub async fn all<D: SqlConnection>(self, db: &mut D) -> Result<Vec<D::Row>, StoreError> {
        db.fetch(self).await.map_err(failed)
    }

    /// The row, where there is one.
    pub async fn maybe<D: SqlConnection>(self, db: &mut D) -> Result<Option<D::Row>, StoreError> {
        Ok(self.all(db).await?.into_iter().next())
    }

    /// The row that is there.
    pub async fn one<D: SqlConnection>(self, db: &mut D) -> Result<D::Row, StoreError> {
        self.maybe(db).await?.ok_or_else(|| failed(sqlx::Error::RowNotFound))
    }

    /// The same for one database.
    pub fn bound<DB>(self) -> Bound<'static, DB, DB::Arguments>
    where
        DB: Database,
        Option<i64>: for<'t> Encode<'t, DB> + Type<DB>,
        Option<String>: for<'t> Encode<'t, DB> + Type<DB>,
        for<'t> Option<&'t str>: Encode<'t, DB> + Type<DB>,
        for<'t> Option<&'t [u8]>: Encode<'t, DB> + Type<DB>,
    {
        let mut bound = sqlx::query(self.sql);
        for value in self.values {
            bound = match value {
                SqlValue::Integer(number) => bound.bind(number),
                SqlValue::Text(text) => bound.bind(text.as_deref()),
                SqlValue::Bytes(bytes) => bound.bind(bytes),
            };
        }
        bound
    }
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<u32> for SqlValue<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(Some(number.into()))
    }
}

impl<'q> From<&'q Bytes> for SqlValue<'q> {
    fn from(bytes: &'q Bytes) -> Self {
        Self::Bytes(Some(bytes))
    }
}

impl From<u64> for SqlValue<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(Some(signed(number)))
    }
}

impl From<Option<u64>> for SqlValue<'_> {
    fn from(number: Option<u64>) -> Self {
        Self::Integer(number.map(signed))
    }
}

impl<'q> From<&'q str> for SqlValue<'q> {
    fn from(text: &'q str) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'q> From<&'q String> for SqlValue<'q> {
    fn from(text: &'q String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl From<String> for SqlValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl From<Option<String>> for SqlValue<'_> {
    fn from(text: Option<String>) -> Self {
        Self::Text(text.map(Cow::from))
    }
}

impl<'q> From<&'q Hash> for SqlValue<'q> {
    fn from(hash: &'q Hash) -> Self {
        Self::Bytes(Some(&hash.0))
    }
}

impl<'q> From<Option<&'q Hash>> for SqlValue<'q> {
    fn from(hash: Option<&'q Hash>) -> Self {
        Self::Bytes(hash.map(|hash| &hash.0[..]))
    }
}

//! The interface to a database: a statement with its values, and the rows that it returns. The two databases differ in
//! sqlx's types. The text of each statement is written once, in a function over [`SqlConnection`].
//!
//! Where a concurrent writer may take a unique key, `ON CONFLICT DO NOTHING` waits for that writer, and the next
//! statement sees its row. So all statements are correct under READ COMMITTED.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::Hash;
use sqlx::query::Query as Bound;
use sqlx::{Database, Encode, SqlSafeStr, SqlStr, Type};

use super::{failed, signed};
use crate::error::StoreError;
use crate::types::{EventRow, Millis, NewEvent};

/// A connection to one of the two databases.
pub trait SqlConnection: sqlx::Connection {
    /// The type of its rows.
    type Row: SqlRow;

    /// The statement that begins a transaction with writes.
    const BEGIN: &'static str;
    /// Added to a `SELECT`: skips rows that another worker has locked. Empty where only one connection can write.
    const SKIP_LOCKED: &'static str;
    /// Added to a `SELECT` of a session's row: prevents its deletion until the transaction ends. Empty where only one
    /// connection can write.
    const HOLD: &'static str;
    /// Added to a `SELECT` of a session's row: no other commit changes it until the transaction ends.
    const CHANGE: &'static str;
    /// Added to a `SELECT` of a session's row: locks it for deletion, and waits for all transactions that hold it.
    const TAKE: &'static str;
    /// Most events that may be inserted outside a transaction.
    const AT_ONCE: usize;

    /// Runs a statement, and returns how many rows it changed.
    fn execute(
        &mut self,
        query: SqlQuery<'_>,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    /// Runs a statement, and returns its rows.
    fn fetch(
        &mut self,
        query: SqlQuery<'_>,
    ) -> impl Future<Output = Result<Vec<Self::Row>, sqlx::Error>> + Send;

    /// Adds events that came in at `now`. Returns false where they do not follow the head, or there is no such
    /// session.
    fn insert_events(
        &mut self,
        no: i64,
        expected: u64,
        events: &[NewEvent],
        now: Millis,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The events in these runs, in order.
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

    /// Removes the words of a session from the index. Called in the transaction that deletes the session.
    fn delete_words(&mut self, no: i64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The numbers of the events in a range that contain a word, in order.
    fn posting(
        &mut self,
        no: i64,
        range: &Range<u64>,
        word: &str,
    ) -> impl Future<Output = Result<Vec<u64>, StoreError>> + Send;
}

/// A row of a result. Columns are counted from 0. The tables use three types.
pub trait SqlRow: Send + Sync {
    /// The number in a column; `None` for NULL.
    fn integer(&self, at: usize) -> Result<Option<i64>, StoreError>;
    /// The text in a column; `None` for NULL.
    fn text(&self, at: usize) -> Result<Option<&str>, StoreError>;
    /// The bytes in a column; `None` for NULL.
    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, StoreError>;
}

/// A value of a statement.
pub enum SqlValue<'q> {
    /// A number; `None` is NULL.
    Integer(Option<i64>),
    /// A text; `None` is NULL.
    Text(Option<Cow<'q, str>>),
    /// Bytes; `None` is NULL.
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
    /// Adds the next value.
    pub fn bind(mut self, value: impl Into<SqlValue<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs the statement, and returns how many rows it changed.
    pub async fn run<D: SqlConnection>(self, db: &mut D) -> Result<u64, StoreError> {
        db.execute(self).await.map_err(failed)
    }

    /// Runs the statement, and returns all rows.
    pub async fn all<D: SqlConnection>(self, db: &mut D) -> Result<Vec<D::Row>, StoreError> {
        db.fetch(self).await.map_err(failed)
    }

    /// Runs the statement, and returns its first row; `None` where there is none.
    pub async fn maybe<D: SqlConnection>(self, db: &mut D) -> Result<Option<D::Row>, StoreError> {
        Ok(self.all(db).await?.into_iter().next())
    }

    /// Runs a statement that always returns a row.
    pub async fn one<D: SqlConnection>(self, db: &mut D) -> Result<D::Row, StoreError> {
        self.maybe(db).await?.ok_or_else(|| failed(sqlx::Error::RowNotFound))
    }

    /// The statement with its values, in sqlx's type for one database.
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

impl<'q> From<&'q [u8]> for SqlValue<'q> {
    fn from(bytes: &'q [u8]) -> Self {
        Self::Bytes(Some(bytes))
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

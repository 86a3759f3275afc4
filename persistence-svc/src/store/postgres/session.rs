//! Statements over a connection of our own, or over a pooler that gives each transaction another
//! one (PgBouncer with `pool_mode = transaction`).
//!
//! Always: over a pooler no state outlives a transaction. So it gets no startup options, and no
//! statement has a name. A transaction gets its limits in the same packet as its first statement,
//! and a lone statement in the same packet as its transaction. Neither waits for the network once
//! more than over a connection of our own.

use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::{ClientWrapper, Object, StatementCache};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, IsolationLevel, Row};

use super::limits;

/// Values of one statement.
pub(super) type Values<'a> = &'a [&'a (dyn Value + Sync)];

/// A value of a statement that knows its type in SQL.
pub(super) trait Value: ToSql + Sync {
    /// Returns the type that the statement declares for the value.
    fn kind(&self) -> Type;
}

impl<T: Kind + ToSql + Sync> Value for T {
    fn kind(&self) -> Type {
        T::KIND
    }
}

/// The type in SQL of a type of ours.
pub(super) trait Kind {
    const KIND: Type;
    /// Type of many of them.
    const ARRAY: Type;
}

macro_rules! kinds {
    ($($ours:ty => $one:ident, $many:ident;)+) => {
        $(impl Kind for $ours {
            const KIND: Type = Type::$one;
            const ARRAY: Type = Type::$many;
        })+
    };
}

kinds! {
    bool => BOOL, BOOL_ARRAY;
    i32 => INT4, INT4_ARRAY;
    i64 => INT8, INT8_ARRAY;
    f32 => FLOAT4, FLOAT4_ARRAY;
    str => TEXT, TEXT_ARRAY;
    String => TEXT, TEXT_ARRAY;
    [u8] => BYTEA, BYTEA_ARRAY;
    Vec<u8> => BYTEA, BYTEA_ARRAY;
}

impl<T: Kind + ?Sized> Kind for &T {
    const KIND: Type = T::KIND;
    const ARRAY: Type = T::ARRAY;
}

impl<T: Kind> Kind for Option<T> {
    const KIND: Type = T::KIND;
    const ARRAY: Type = T::ARRAY;
}

impl<T: Kind> Kind for [T] {
    const KIND: Type = T::ARRAY;
    const ARRAY: Type = T::ARRAY;
}

impl<T: Kind> Kind for Vec<T> {
    const KIND: Type = T::ARRAY;
    const ARRAY: Type = T::ARRAY;
}

/// A statement that may be asked often.
pub(super) enum Statement {
    /// The connection has it under a name.
    Named(tokio_postgres::Statement),
    /// It goes to the server anew each time.
    Unnamed(String),
}

/// A statement as it goes to the server.
pub(super) enum Asked<'a> {
    Named(&'a tokio_postgres::Statement),
    Text(&'a str),
}

/// Anything that is a statement.
pub(super) trait Sql: Sync {
    fn asked(&self) -> Asked<'_>;
}

impl Sql for Statement {
    fn asked(&self) -> Asked<'_> {
        match self {
            Statement::Named(statement) => Asked::Named(statement),
            Statement::Unnamed(text) => Asked::Text(text),
        }
    }
}

impl Sql for str {
    fn asked(&self) -> Asked<'_> {
        Asked::Text(self)
    }
}

impl Sql for String {
    fn asked(&self) -> Asked<'_> {
        Asked::Text(self)
    }
}

/// A connection, for one call.
pub(super) struct Client {
    connection: Held,
    pooler: bool,
}

/// The connection of a [`Client`].
pub(super) enum Held {
    /// One of the pool.
    Shared(Object),
    /// One that ends with the call.
    Own(ClientWrapper),
}

impl Client {
    /// Makes a client; `pooler`: the server's connection changes with each transaction.
    pub(super) fn new(connection: Held, pooler: bool) -> Client {
        Client { connection, pooler }
    }

    fn wrapper(&mut self) -> &mut ClientWrapper {
        match &mut self.connection {
            Held::Shared(object) => object,
            Held::Own(wrapper) => wrapper,
        }
    }

    /// Returns whether the server's connection changes with each transaction.
    pub(super) fn is_pooled(&self) -> bool {
        self.pooler
    }

    /// Runs one statement that may not stand in a transaction. Over a pooler it has the limits of
    /// the database's role.
    pub(super) async fn outside_transaction(&self, sql: &str) -> Result<(), Error> {
        self.wire().client.batch_execute(sql).await
    }

    /// Begins a transaction that writes.
    pub(super) async fn transaction(&mut self) -> Result<Transaction<'_>, Error> {
        let pooler = self.pooler;
        let inner = self.wrapper().transaction().await?;
        Ok(Transaction::new(inner, pooler))
    }

    /// Begins a transaction that sees one moment.
    pub(super) async fn moment(&mut self, read_only: bool) -> Result<Transaction<'_>, Error> {
        let pooler = self.pooler;
        let builder = self.wrapper().build_transaction();
        let builder = builder.isolation_level(IsolationLevel::RepeatableRead);
        let builder = if read_only {
            builder.read_only(true)
        } else {
            builder
        };
        let inner = builder.start().await?;
        Ok(Transaction::new(inner, pooler))
    }
}

/// A transaction; it is rolled back unless it is committed.
pub(crate) struct Transaction<'a> {
    inner: deadpool_postgres::Transaction<'a>,
    /// Over a pooler: whether the limits have been sent.
    limited: Option<AtomicBool>,
}

impl<'a> Transaction<'a> {
    fn new(inner: deadpool_postgres::Transaction<'a>, pooler: bool) -> Transaction<'a> {
        let limited = pooler.then(|| AtomicBool::new(false));
        Transaction { inner, limited }
    }

    /// Runs statements without values.
    pub(super) async fn batch_execute(&self, sql: &str) -> Result<(), Error> {
        let wire = self.wire();
        wire.framed(wire.client.batch_execute(sql)).await
    }

    /// Commits the transaction.
    pub(super) async fn commit(self) -> Result<(), Error> {
        self.inner.commit().await
    }
}

/// A connection or a transaction, on which statements run.
pub(super) trait GenericClient: Sync {
    /// Returns the connection below.
    fn wire(&self) -> Wire<'_>;

    /// Makes a statement ready.
    fn prepare_cached(&self, sql: &str) -> impl Future<Output = Result<Statement, Error>> + Send {
        async move {
            let wire = self.wire();
            match wire.way {
                Way::Direct => {
                    let prepared = wire.cache.prepare(wire.client, sql).await;
                    prepared.map(Statement::Named)
                }
                Way::Alone | Way::Within(_) => Ok(Statement::Unnamed(sql.to_owned())),
            }
        }
    }

    /// Returns all rows of the answer.
    fn query<S: Sql + ?Sized>(
        &self,
        sql: &S,
        values: Values<'_>,
    ) -> impl Future<Output = Result<Vec<Row>, Error>> + Send {
        async move {
            let wire = self.wire();
            match wire.ask(sql) {
                Ask::Named(statement) => wire.client.query(statement, &plain(values)).await,
                Ask::Prepared(text) => wire.client.query(text, &plain(values)).await,
                Ask::Unnamed(text) => {
                    let typed = typed(values);
                    wire.framed(wire.client.query_typed(text, &typed)).await
                }
            }
        }
    }

    /// Returns the one row of the answer.
    fn query_one<S: Sql + ?Sized>(
        &self,
        sql: &S,
        values: Values<'_>,
    ) -> impl Future<Output = Result<Row, Error>> + Send {
        async move {
            let wire = self.wire();
            match wire.ask(sql) {
                Ask::Named(statement) => wire.client.query_one(statement, &plain(values)).await,
                Ask::Prepared(text) => wire.client.query_one(text, &plain(values)).await,
                Ask::Unnamed(text) => {
                    let typed = typed(values);
                    wire.framed(wire.client.query_typed_one(text, &typed)).await
                }
            }
        }
    }

    /// Returns the row of the answer, if there is one.
    fn query_opt<S: Sql + ?Sized>(
        &self,
        sql: &S,
        values: Values<'_>,
    ) -> impl Future<Output = Result<Option<Row>, Error>> + Send {
        async move {
            let wire = self.wire();
            match wire.ask(sql) {
                Ask::Named(statement) => wire.client.query_opt(statement, &plain(values)).await,
                Ask::Prepared(text) => wire.client.query_opt(text, &plain(values)).await,
                Ask::Unnamed(text) => {
                    let typed = typed(values);
                    wire.framed(wire.client.query_typed_opt(text, &typed)).await
                }
            }
        }
    }

    /// Returns the number of rows that the statement changed.
    fn execute<S: Sql + ?Sized>(
        &self,
        sql: &S,
        values: Values<'_>,
    ) -> impl Future<Output = Result<u64, Error>> + Send {
        async move {
            let wire = self.wire();
            match wire.ask(sql) {
                Ask::Named(statement) => wire.client.execute(statement, &plain(values)).await,
                Ask::Prepared(text) => wire.client.execute(text, &plain(values)).await,
                Ask::Unnamed(text) => {
                    let typed = typed(values);
                    wire.framed(wire.client.execute_typed(text, &typed)).await
                }
            }
        }
    }
}

impl GenericClient for Client {
    fn wire(&self) -> Wire<'_> {
        let wrapper: &ClientWrapper = match &self.connection {
            Held::Shared(object) => object,
            Held::Own(wrapper) => wrapper,
        };
        Wire {
            client: wrapper,
            cache: &wrapper.statement_cache,
            way: if self.pooler { Way::Alone } else { Way::Direct },
        }
    }
}

impl GenericClient for Transaction<'_> {
    fn wire(&self) -> Wire<'_> {
        Wire {
            client: self.inner.client(),
            cache: &self.inner.statement_cache,
            way: self.limited.as_ref().map_or(Way::Direct, Way::Within),
        }
    }
}

/// How statements reach the server.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// Over a connection of our own, which has the limits and named statements.
    Direct,
    /// Over a pooler, outside a transaction.
    Alone,
    /// Over a pooler, inside a transaction; whether it has its limits.
    Within(&'a AtomicBool),
}

/// How one statement is asked.
enum Ask<'a> {
    Named(&'a tokio_postgres::Statement),
    /// It gets a name for once.
    Prepared(&'a str),
    Unnamed(&'a str),
}

/// The connection below a client or a transaction.
pub(super) struct Wire<'a> {
    client: &'a tokio_postgres::Client,
    cache: &'a StatementCache,
    way: Way<'a>,
}

impl Wire<'_> {
    fn ask<'s, S: Sql + ?Sized>(&self, sql: &'s S) -> Ask<'s> {
        match (sql.asked(), self.way) {
            (Asked::Named(statement), _) => Ask::Named(statement),
            (Asked::Text(text), Way::Direct) => Ask::Prepared(text),
            (Asked::Text(text), Way::Alone | Way::Within(_)) => Ask::Unnamed(text),
        }
    }

    /// Sends the limits, and around a lone statement its transaction, together with `work`. All of
    /// it is on its way after the first poll: nothing is left open if the caller gives up.
    async fn framed<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        match self.way {
            Way::Direct => work.await,
            Way::Within(limited) if limited.swap(true, Ordering::Relaxed) => work.await,
            Way::Within(_) => {
                let limits = self.client.batch_execute(&limits::LOCAL);
                let (limited, done) = futures::join!(limits, work);
                limited?;
                done
            }
            Way::Alone => {
                let begin = format!("BEGIN; {}", *limits::LOCAL);
                let begin = self.client.batch_execute(&begin);
                // After an error of the statement, this rolls back.
                let end = self.client.batch_execute("COMMIT");
                let (begun, done, ended) = futures::join!(begin, work, end);
                begun?;
                let done = done?;
                ended?;
                Ok(done)
            }
        }
    }
}

fn plain<'a>(values: Values<'a>) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| *value as _).collect()
}

fn typed<'a>(values: Values<'a>) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let typed = values.iter().map(|value| (*value as _, value.kind()));
    typed.collect()
}

//! The ledger of a stored session: the hash-chained requests that were sent, and what they cost.

use midfold_core::event::Usage;
use midfold_core::fold::FoldJoin;
use midfold_core::inject;
use midfold_core::ledger::{CallInput, CallRecord, Ledger, ReportedCost};
use midfold_core::meter::Meter;
use midfold_core::project::{Context, project_with_void};

use super::{LoadedParts, SettledCall, StoredError, StoredSession, rows};
use crate::changes::CallUsage;
use crate::error::StoreError;
use crate::types::{CallRow, Millis, NewCall};

/// A request with the texts that hooks added, and its number in the ledger.
#[derive(Debug)]
pub struct InjectedRequest {
    /// The context to send.
    pub context: inject::InjectedContext,
    /// The number of the recorded call; `None` where it was not recorded.
    pub call: Option<u64>,
}

impl StoredSession {
    /// The context to send, as [`StoredSession::context`] gives it, with the output of hooks at its end. Folding sets
    /// room aside for them, so nothing is folded after the hooks ran.
    ///
    /// # Errors
    /// Fails as [`StoredSession::context`] does, and where a hook exceeds its reserve; that error has its name and
    /// size.
    pub async fn context_with(
        &mut self,
        outputs: &[(&str, &str)],
        record: bool,
        now: Millis,
    ) -> Result<InjectedRequest, StoredError> {
        let (context, injected, call) = self.request(Some(outputs), record, now).await?;
        let injected = match injected {
            Some(injected) => injected,
            None => self.inject(&context, outputs)?,
        };
        Ok(InjectedRequest { context: injected, call })
    }

    /// The context with the output of hooks at its end.
    pub(super) fn inject(
        &self,
        context: &Context,
        outputs: &[(&str, &str)],
    ) -> Result<inject::InjectedContext, inject::InjectError> {
        match &self.inner {
            LoadedParts::Brief(brief) => self.injections.apply(context, outputs, &brief.rules()),
            LoadedParts::Whole(session) => {
                let rules = inject::MessageRules { log: session.log(), meter: session.meter() };
                self.injections.apply(context, outputs, &rules)
            }
        }
    }

    /// All recorded calls, each with the usage that the provider reported; `None` where it has reported none.
    ///
    /// # Errors
    /// Fails where the store fails, or a record cannot be read.
    pub async fn calls(&self) -> Result<Vec<(CallRecord, Option<ReportedCost>)>, StoredError> {
        let rows = self.store.calls(&self.row.new.id).await?;
        rows.iter().map(|row| rows::call(&self.row.new.id, row)).collect()
    }

    /// All recorded calls as [`StoredSession::calls`] returns them, each with its row.
    ///
    /// # Errors
    /// Fails where the store fails, or a record cannot be read.
    pub async fn call_rows(
        &self,
    ) -> Result<Vec<(CallRow, CallRecord, Option<ReportedCost>)>, StoredError> {
        let rows = self.store.calls(&self.row.new.id).await?;
        let read = |row: CallRow| {
            let (record, settled) = rows::call(&self.row.new.id, &row)?;
            Ok((row, record, settled))
        };
        rows.into_iter().map(read).collect()
    }

    /// The end of the ledger, from which a session can be continued elsewhere.
    ///
    /// # Errors
    /// Fails where the store fails, or a record cannot be read.
    pub async fn end_of_ledger(&mut self) -> Result<Ledger, StoredError> {
        let context = self.whole().await?.view();
        self.load_ledger(&context).await?;
        Ok(self.ledger.clone().unwrap_or_default())
    }

    /// The call to record for a request with this context.
    pub(super) async fn next_call(
        &mut self,
        context: &Context,
        injected: Option<&inject::InjectedContext>,
        now: Millis,
    ) -> Result<NewCall, StoredError> {
        self.load_ledger(context).await?;
        let record = self.ledger_record(context, injected);
        Ok(NewCall {
            number: record.number,
            head: record.events.into(),
            fold: record.fold,
            hash: record.hash,
            body: rows::json(&record)?,
            now,
        })
    }

    /// Whether the usage of a call is new, and what has to be recorded of it.
    pub(super) async fn settle(
        &self,
        call: u64,
        usage: Usage,
    ) -> Result<(SettledCall, Vec<CallUsage>), StoredError> {
        let id = &self.row.new.id;
        let usage = rows::json(&ReportedCost { usage })?;
        let row = self.store.call(id, Some(call)).await?.ok_or(StoreError::NoCall(call))?;
        let is_new = match row.usage {
            Some(known) if known != usage => return Err(StoreError::Settled(call).into()),
            known => known.is_none(),
        };
        let newest = self.store.call(id, None).await?;
        let is_newest = newest.is_none_or(|newest| newest.call.number == call);
        let usages = if is_new { vec![CallUsage { call, usage }] } else { Vec::new() };
        Ok((SettledCall { is_new, is_newest }, usages))
    }

    /// The next record of the ledger, for a request with this context.
    fn ledger_record(
        &mut self,
        context: &Context,
        injected: Option<&inject::InjectedContext>,
    ) -> CallRecord {
        let state = self.state();
        let fold = match &self.inner {
            LoadedParts::Brief(brief) => Some(brief.fold()),
            LoadedParts::Whole(session) => session.active(),
        };
        let (turn, request) = match &self.inner {
            LoadedParts::Brief(brief) => (brief.turn(), brief.last().map_or(0, |event| event.step)),
            LoadedParts::Whole(session) => {
                session.log().events().last().map_or((0, 0), |event| (event.turn, event.step))
            }
        };
        let joining = FoldJoin { session: self.row.new.id.clone(), turn, request };
        let meter = state.meter.unwrap_or_else(Meter::exact);
        let call = CallInput {
            joining: &joining,
            events: u32::try_from(self.row.head).unwrap_or(u32::MAX),
            head_hash: self.row.head_hash,
            fold,
            void: state.void,
            pins: &state.pins,
            meter: &meter,
            client: None,
            newest_room: None,
        };
        let ledger = self.ledger.get_or_insert_default();
        match injected {
            Some(injected) => ledger.record_sent(injected, &call),
            None => ledger.record(context, &call),
        }
    }

    /// Loads the end of the ledger. The messages of the last call are the first ones of the context, unless a fold was
    /// made in between: then they are projected from the whole log.
    async fn load_ledger(&mut self, context: &Context) -> Result<(), StoredError> {
        if self.ledger.is_some() {
            return Ok(());
        }
        let Some(last) = self.store.call(&self.row.new.id, None).await? else {
            self.ledger = Some(Ledger::default());
            return Ok(());
        };
        let (last, _) = rows::call(&self.row.new.id, &last)?;
        let mut ledger = Ledger::after(&last);
        if last.fold == self.active() {
            ledger.resume(&context.first(last.messages as usize));
        } else if let LoadedParts::Whole(session) = &self.inner {
            let fold = session.folds().iter().find(|fold| Some(fold.id) == last.fold);
            let log = session.log().prefix(last.events as usize);
            ledger.resume(&project_with_void(&log, fold, last.void));
        }
        self.ledger = Some(ledger);
        Ok(())
    }
}

//! A model that narrates in one shot: it is asked, waited for and judged, and the fold is made with
//! what may stand of its answer.

use midfold::core::calendar::date;
use midfold::core::engine::Session;
use midfold::core::fold::{Fold, StandIn};
use midfold::model::ModelClient;
use midfold::{CompactionRequest, ModelNarration, PreparedConversation};
use midfold_args::NarratorArgs as Args;

use crate::error::CommandError;
use crate::runtime::{block_on, now};
use crate::summariser::SummariserModel;

/// A model behind a URL.
pub struct UrlNarrator {
    client: ModelClient,
}

impl UrlNarrator {
    /// The one that was asked for, if any.
    pub fn of(args: &Args) -> Result<Option<Self>, CommandError> {
        let Some(url) = &args.model else { return Ok(None) };
        let model = SummariserModel {
            url,
            name: &args.model_name,
            key_env: args.key_env.as_deref(),
            key_file: args.key_file.as_deref(),
            window: args.model_window,
            option: "--model",
        };
        Ok(Some(Self { client: model.client()? }))
    }

    /// Has the model narrate what a fold covers.
    pub fn tell(
        &self,
        prepared: &PreparedConversation,
        wish: &CompactionRequest,
        fold: &Fold,
    ) -> Result<ModelNarration, CommandError> {
        let id = prepared.source.id.as_deref().unwrap_or("compact");
        let mut session =
            Session::over(id, prepared.log.clone(), wish.policy().into_owned(), prepared.meter);
        let time = now();
        let Some(mut request) = session.request_for(fold, wish.focus.as_deref(), time) else {
            return Ok(ModelNarration::default());
        };
        request.today = Some(date(time));
        let answer = block_on(async { Ok(self.client.summarise(&request).await) })?;
        let verdict = session
            .complete(&request, answer, time)
            .map_err(|error| CommandError::failed(error.to_string()))?;
        let narrated = session.narration().ready.clone();
        Ok(ModelNarration { narrated, verdicts: vec![verdict], recap: None })
    }
}

/// One line where a model was asked and the fold stands without a narration.
pub fn warning(told: &ModelNarration, fold: Option<&Fold>) -> Option<String> {
    let verdict = told.verdicts.first()?;
    if fold.is_some_and(|fold| fold.narrated.is_some()) {
        return None;
    }
    let why = match &told.narrated {
        Some(_) => "the recap has no room for it".to_owned(),
        None => format!("{}: {}", verdict.code, verdict.detail),
    };
    let stands = match fold.and_then(|fold| fold.fallback) {
        Some(StandIn::Marker) => "a marker stands there",
        Some(StandIn::Static) => "a fixed sentence stands there",
        _ => "the recap is computed",
    };
    Some(format!("no narration, {stands} ({why})"))
}

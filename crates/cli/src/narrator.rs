//! Asks a model for a narration and waits for it. The answer is judged, and the fold is made with the accepted part of
//! it.

use midfold::core::calendar::date;
use midfold::core::engine::Session;
use midfold::core::fold::{Fold, StandIn, VerdictCode};
use midfold::model::ModelClient;
use midfold::{CompactionRequest, ModelNarration, PreparedConversation};
use midfold_args::NarratorArgs as Args;

use crate::error::CommandError;
use crate::runtime::{block_on, now};
use crate::summariser::SummariserModel;

/// A model server that is reached by a URL.
pub struct UrlNarrator {
    client: ModelClient,
}

impl UrlNarrator {
    /// The model that the flags name. `None` where they name none.
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

    /// Asks the model to narrate the events that a fold covers.
    pub fn narrate(
        &self,
        prepared: &PreparedConversation,
        compaction: &CompactionRequest,
        fold: &Fold,
    ) -> Result<ModelNarration, CommandError> {
        let id = prepared.source.id.as_deref().unwrap_or("compact");
        let mut session = Session::over(
            id,
            prepared.log.clone(),
            compaction.policy().into_owned(),
            prepared.meter,
        );
        let time = now();
        let Some(mut request) = session.request_for(fold, compaction.focus.as_deref(), time) else {
            return Ok(ModelNarration::default());
        };
        request.today = Some(date(time));
        let answer = block_on(async { Ok(self.client.summarise(&request).await) })?;
        let verdict = session
            .complete(&request, answer, time)
            .map_err(|error| CommandError::failed(error.to_string()))?;
        let narrated = session.narration().accepted().cloned();
        Ok(ModelNarration { narrated, verdicts: vec![verdict], recap: None })
    }
}

/// A warning where a model was asked, but the fold has no narration. `None` where it has one, or no model was asked.
pub fn warning(narration: &ModelNarration, fold: Option<&Fold>) -> Option<String> {
    let verdict = narration.verdicts.first()?;
    if fold.is_some_and(|fold| fold.narrated.is_some()) {
        return None;
    }
    let unused = fold.and_then(|fold| fold.verdicts.iter().find(|v| v.code == VerdictCode::Unused));
    let why = match unused {
        Some(unused) => unused.detail.clone(),
        None => format!("{}: {}", verdict.code, verdict.detail),
    };
    let stands = match fold.and_then(|fold| fold.fallback) {
        Some(StandIn::Marker) => "a marker stands there",
        Some(StandIn::Static) => "a fixed sentence stands there",
        _ => "the recap is computed",
    };
    Some(format!("no narration, {stands} ({why})"))
}
